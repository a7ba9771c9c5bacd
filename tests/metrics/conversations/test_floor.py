"""The floor: what a perfect memory would send, priced by hand."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import pytest

from memdash import tokens as counters
from memdash.claude import connect
from memdash.fixed_part import fixed_part_tokens, fixed_parts
from memdash.metrics import measure_all
from memdash.metrics.conversations import (
    Floor,
    conversation_keys,
    floor_json,
    floor_of,
    floor_so_far,
    floors,
    multiples,
)
from memdash.metrics.outcome import outcome_of
from memdash.models import TokenFamily
from memdash.prices import PriceTable
from memdash.records import Status
from memdash.replay import replay
from memdash.replay_log import ReplayLog
from memdash.scripts import Script, Step, ToolCall, find_scripts
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, ReplaySpec
from memdash.strategies import parse
from memdash.tokens import counter
from tests import builders
from tests.builders import fact
from tests.metrics.outcomes import outcome

PRICES = PriceTable.load()
MILLION = 1e6
INPUT, WRITE, LONG_WRITE, READ, OUTPUT = 4.0, 5.0, 8.0, 0.2, 20.0
"""Dollars per million tokens of the builders' model."""


def tokens(text: str) -> int:
    return counter("estimate").count(text, TokenFamily.NEW)


def said(script: Script, turn: int, text: str) -> Script:
    """``script`` with another user text in one turn."""
    turns = list(script.turns)
    turns[turn - 1] = dataclasses.replace(turns[turn - 1], content=({"type": "text", "text": text},))
    return dataclasses.replace(script, turns=tuple(turns))


def large(script: Script) -> Script:
    """``script`` with a fixed part that can be cached."""
    return dataclasses.replace(script, fixed_tokens=3000)


def floor(spec: ReplaySpec, *, costs: float = 1.0, output: Sequence[float] | None = None) -> Floor:
    whole = outcome(costs=[costs] * spec.turns, output=output, id=spec.id)
    found = floor_of(spec, whole, PRICES)
    assert found is not None
    return found


def fixed(spec: ReplaySpec) -> int:
    part = fixed_parts(spec.script, TokenFamily.NEW, "estimate")[1]
    return fixed_part_tokens(part, spec.model, "estimate")


USER = tokens("Message 1")
TOLD = tokens("budget 1")


def test_without_caching_each_turn_sends_the_fixed_part_the_facts_still_asked_for_and_its_own_words() -> None:
    script = said(builders.script(turns=4, facts=[fact(probe_after=(3,))]), 1, "The budget 1 is it.")
    spec = builders.spec(script=script, cache=CacheLifetime.OFF)
    first = tokens("The budget 1 is it.")
    found = floor(spec, output=[10, 20, 30, 40])
    # Stated in turn 1, told in turns 2 and 3, after which it is asked for the last time.
    sent = [first, TOLD + USER, TOLD + USER, USER]
    expected = [
        (count * INPUT + made * OUTPUT) / MILLION for count, made in zip(sent, [10, 20, 30, 40], strict=True)
    ]
    assert found.turns_usd.tolist() == pytest.approx(expected)
    assert found.cost_usd == pytest.approx(math.fsum(expected))
    assert found.full_history_usd == 4.0


def test_of_a_fact_that_changes_the_latest_value_is_told_and_none_in_the_turn_that_changes_it() -> None:
    script = builders.script(turns=4, facts=[fact(updated=3)])
    script = said(said(script, 1, "The budget 1."), 3, "Now the budget 3.")
    found = floor(builders.spec(script=script, cache=CacheLifetime.OFF))
    sent = [tokens("The budget 1."), TOLD + USER, tokens("Now the budget 3."), tokens("budget 3") + USER]
    assert found.turns_usd.tolist() == pytest.approx([count * INPUT / MILLION for count in sent])


def test_the_fixed_part_is_written_once_and_read_after_and_a_fact_written_when_it_is_first_told() -> None:
    script = large(said(builders.script(turns=3, facts=[fact()]), 1, "The budget 1."))
    spec = builders.spec(script=script)
    size = fixed(spec)
    assert size > 2900
    found = floor(spec)
    expected = [
        size * WRITE + tokens("The budget 1.") * INPUT,
        size * READ + TOLD * WRITE + USER * INPUT,
        (size + TOLD) * READ + USER * INPUT,
    ]
    assert found.turns_usd.tolist() == pytest.approx([cost / MILLION for cost in expected])


def test_what_is_never_read_again_is_not_written() -> None:
    spec = builders.spec(script=large(builders.script(turns=1)))
    assert floor(spec).cost_usd == pytest.approx((fixed(spec) + USER) * INPUT / MILLION)


@pytest.mark.parametrize(("pause", "cold"), [(300.0, False), (301.0, True)])
def test_a_pause_longer_than_the_cache_lives_is_paid_for(pause: float, cold: bool) -> None:
    script = large(builders.script(turns=3))
    turns = (script.turns[0], script.turns[1], dataclasses.replace(script.turns[2], pause=pause))
    spec = builders.spec(script=dataclasses.replace(script, turns=turns))
    size = fixed(spec)
    last = size * (INPUT if cold else READ)  # plain: nothing comes after it that would read
    assert floor(spec).turns_usd[2] == pytest.approx((last + USER * INPUT) / MILLION)
    long = dataclasses.replace(spec, cache=CacheLifetime.ONE_HOUR)
    assert floor(long).turns_usd[2] == pytest.approx((size * READ + USER * INPUT) / MILLION)
    assert floor(long).turns_usd[0] == pytest.approx((size * LONG_WRITE + USER * INPUT) / MILLION)


def test_the_pace_stands_where_the_script_has_no_pause() -> None:
    spec = builders.spec(script=large(builders.script(turns=2)), pace=600.0)
    assert floor(spec).cost_usd == pytest.approx(2 * (fixed(spec) + USER) * INPUT / MILLION)


def test_a_stable_part_below_the_models_minimum_is_sent_plainly_or_filled_up_whichever_is_cheaper() -> None:
    short = builders.spec(script=builders.script(turns=3))
    assert floor(short).cost_usd == pytest.approx(3 * USER * INPUT / MILLION)
    script = dataclasses.replace(builders.script(turns=20), fixed_tokens=200)
    spec = builders.spec(script=script)
    size, minimum = fixed(spec), 512
    assert size < minimum
    filled = minimum * WRITE + 19 * minimum * READ
    assert filled < 20 * size * INPUT
    assert floor(spec).cost_usd == pytest.approx((filled + 20 * USER * INPUT) / MILLION)


def test_a_fixed_part_that_others_keep_warm_is_read_from_the_start() -> None:
    script = large(builders.script(turns=2))
    spec = builders.spec(script=script, warm=True, cache_marks=CacheMarks.FIXED_AND_AUTO)
    assert floor(spec).cost_usd == pytest.approx(2 * (fixed(spec) * READ + USER * INPUT) / MILLION)


def test_a_changed_fixed_part_is_written_anew() -> None:
    script = large(builders.script(turns=4))
    changed = dataclasses.replace(script.turns[2], system="Answer in verse.")
    spec = builders.spec(
        script=dataclasses.replace(script, turns=(*script.turns[:2], changed, script.turns[3]))
    )
    part = fixed_parts(spec.script, TokenFamily.NEW, "estimate")[3]
    size = fixed_part_tokens(part, spec.model, "estimate")
    assert floor(spec).turns_usd[2] == pytest.approx((size * WRITE + USER * INPUT) / MILLION)


def test_a_tool_loop_sends_the_calls_and_results_again_and_reads_them_where_that_is_cheaper() -> None:
    script = large(builders.script(turns=1))
    result = "line of a log file with an error code in it " * 40
    calls = tuple(ToolCall(f"c{n}", "look", {"q": n}, result) for n in range(2))
    turn = dataclasses.replace(script.turns[0], steps=(Step((calls[0],)), Step((calls[1],), "Then")))
    spec = builders.spec(script=dataclasses.replace(script, turns=(turn,)))
    size = fixed(spec)
    first = tokens("look") + tokens('{"q":0}') + tokens(result)
    second = tokens("Then") + tokens("look") + tokens('{"q":1}') + tokens(result)
    expected = (
        (size * WRITE + USER * INPUT)
        + (size * READ + (USER + first) * WRITE)
        + ((size + USER + first) * READ + second * INPUT)
    )
    marked = ((size + USER) * WRITE) + ((size + USER) * READ + first * WRITE)
    marked += (size + USER + first) * READ + second * INPUT
    assert floor(spec).cost_usd == pytest.approx(min(expected, marked) / MILLION)
    off = dataclasses.replace(spec, cache=CacheLifetime.OFF)
    plain = 3 * (size + USER) + 2 * first + second
    assert floor(off).cost_usd == pytest.approx(plain * INPUT / MILLION)


def test_the_floor_is_never_above_full_history_which_remembers_everything_too() -> None:
    spec = builders.spec(script=large(builders.script(turns=2)))
    assert floor(spec, costs=0.000001).turns_usd.tolist() == [0.000001, 0.000001]


def test_there_is_no_floor_without_a_known_model_all_counts_and_the_end_of_the_full_history() -> None:
    spec = builders.spec()
    whole = outcome(costs=[1, 1, 1], id=spec.id)
    assert floor_of(dataclasses.replace(spec, model="someones-model"), whole, PRICES) is None
    assert floor_of(spec, outcome(costs=[1, 1, 1], output=[1, math.nan, 1]), PRICES) is None
    assert floor_of(spec, outcome(costs=[1, math.nan, 1]), PRICES) is None
    unfinished = dataclasses.replace(whole, status=Status.CANCELLED)
    assert floors([spec], [unfinished], PRICES) == ()
    assert len(floors([spec], [whole], PRICES)) == 1


def test_a_floor_is_told_where_the_counter_of_its_replays_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = builders.spec(script=large(builders.script(turns=2)))
    whole = outcome(costs=[1, 1], id=spec.id)
    by_estimate = floors([dataclasses.replace(spec, token_counter="estimate")], [whole], PRICES)
    monkeypatch.setattr(counters, "_has_ctok", lambda: False)
    by_ctok = [dataclasses.replace(spec, token_counter="ctok")]
    assert floors(by_ctok, [whole], PRICES)[0].cost_usd == by_estimate[0].cost_usd
    assert conversation_keys([whole], by_ctok, PRICES, None)["floor"]["token_counter"] == "estimate"


def test_a_multiple_is_of_all_replays_of_a_setting_and_of_none_that_is_unfinished() -> None:
    spec = builders.spec(script=large(builders.script(turns=2)))
    whole = outcome(costs=[1, 1], id=spec.id)
    under = floors([spec], [whole], PRICES)
    dear = outcome("window", [3, 3])
    cut = outcome("cut", [1], status=Status.REJECTED)
    elsewhere = outcome("elsewhere", [1, 1], model="claude-sonnet-5")
    found = multiples([whole, dear, cut, elsewhere], under)
    base = under[0].cost_usd
    assert found["full history"] == pytest.approx(2 / base)
    assert found["window"] == pytest.approx(6 / base)
    assert (found["cut"], found["elsewhere"]) == (None, None)
    shown = floor_json([whole, cut], under, "estimate")
    assert shown["token_counter"] == "estimate"
    assert shown["scripts"][0]["cost_usd"] == pytest.approx(base)
    assert shown["settings"] == [
        {"label": "full history", "multiple": pytest.approx(2 / base)},
        {"label": "cut", "multiple": None},
    ]
    assert floor_so_far(under).tolist() == pytest.approx(under[0].turns_usd.cumsum().tolist())


@pytest.mark.parametrize("cache", ["5m", "off"])
@pytest.mark.parametrize(
    "name", ["trip-planning", "trip-change", "support-tools", "coffee-breaks", "long-project", "big-tools"]
)
def test_the_floor_is_below_full_history_on_every_bundled_script(name: str, cache: str) -> None:
    comparison = ComparisonSpec(
        scripts=tuple(find_scripts(name)),
        strategies=(parse("full_history"),),
        caches=(CacheLifetime(cache),),
        turns=40,
        token_counter="estimate",
    )
    [spec] = comparison.replays()
    client, clock = connect(spec)
    log = ReplayLog.of(spec, replay(spec, client, clock))
    outcomes = [outcome_of(result) for result in measure_all([log], PRICES)]
    [found] = floors([spec], outcomes, PRICES)
    # Strictly below: it is a floor of its own, and not full history taken for one.
    assert found.cost_usd < 0.85 * found.full_history_usd
    assert found.cost_usd > float(outcomes[0].turns.output_tokens.sum()) * OUTPUT / MILLION


def test_a_strategy_that_keeps_every_fact_does_not_fall_below_the_floor() -> None:
    comparison = ComparisonSpec(
        scripts=tuple(find_scripts("trip-planning")),
        strategies=tuple(
            parse(one) for one in ("full_history", "compaction:2000", "running_brief:context_limit=3000")
        ),
        token_counter="estimate",
    )
    specs = comparison.replays()
    logs = [ReplayLog.of(spec, replay(spec, *connect(spec))) for spec in specs]
    outcomes = [outcome_of(result) for result in measure_all(logs, PRICES)]
    found = multiples(outcomes, floors(specs, outcomes, PRICES))
    keeping = [one.series for one in outcomes if one.kept == one.facts_total]
    assert "full history" in keeping
    assert [series for series in keeping if not (found[series] or 0) > 1] == []
