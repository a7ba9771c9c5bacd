"""Replays of several comparisons held against each other: their names, and their differences from a baseline."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.metrics import measure_all
from memdash.metrics.side_by_side import (
    Chosen,
    Delta,
    Origin,
    against_baseline,
    counterparts,
    letters,
    named,
)
from memdash.prices import PriceTable
from memdash.records import Record, Status
from memdash.spec import CacheLifetime, ReplaySpec
from tests.builders import compaction_spec, fact, kept, probe, replay_log, script, spec, turn, window_spec

PRICES = PriceTable.load()
SCRIPT = script(turns=2, facts=[fact()])


def chosen(
    of: ReplaySpec, *parts: Record | list[Record], comparison: str = "cmp_1", end: Status = Status.DONE
) -> Chosen:
    """A replay of ``comparison`` with the records that a test is about."""
    its = dataclasses.replace(of, comparison_id=comparison, id=f"{comparison}_{of.id.rpartition('_')[2]}")
    (result,) = measure_all([replay_log(its, *parts, end=end)], PRICES)
    origin = Origin(
        comparison, comparison.upper(), datetime(2026, 11, 30, tzinfo=UTC), "estimate", {}, PRICES
    )
    return Chosen(origin, its, result)


def played(comparison: str, of: ReplaySpec | None = None, **cost: Any) -> Chosen:
    """Two turns; ``cost`` are the tokens of the second."""
    its = of or spec(script=SCRIPT)
    return chosen(its, turn(1, input=1000), turn(2, **cost), kept(), probe(after=2), comparison=comparison)


def deltas(mine: list[Chosen], baseline: list[Chosen]) -> list[Delta]:
    pairs = counterparts((one.spec for one in mine), [one.spec for one in baseline])
    known = [*mine, *(one for one in baseline if one not in mine)]
    return against_baseline(mine, pairs, known, named(known))


# -- names ---------------------------------------------------------------------------------------------------------------


def test_within_one_comparison_names_stay_what_they_are() -> None:
    some = [chosen(spec()), chosen(window_spec())]
    assert [(one.label, one.series) for one in named(some)] == [
        ("full history", "full history"),
        ("window of 4", "window of 4"),
    ]


def test_the_letter_of_the_comparison_stands_before_every_name() -> None:
    some = [chosen(window_spec(), comparison="cmp_9"), chosen(window_spec()), chosen(spec())]
    assert letters(some) == {"cmp_9": "A", "cmp_1": "B"}
    assert [one.series for one in named(some)] == ["A · window of 4", "B · window of 4", "B · full history"]
    assert [one.label for one in named(some)] == [one.series for one in named(some)]


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from([2, 4, 6])), min_size=1, unique=True))
def test_names_are_unique_however_many_comparisons_there_are(picked: list[tuple[int, int]]) -> None:
    found = named([_unplayed(f"cmp_{place}", keep) for place, keep in picked])
    assert len({one.series for one in found}) == len(picked)


def _unplayed(comparison: str, keep: int) -> Chosen:
    return dataclasses.replace(
        WINDOWS[keep], origin=dataclasses.replace(WINDOWS[keep].origin, comparison=comparison)
    )


WINDOWS = {keep: chosen(window_spec(keep), end=Status.QUEUED) for keep in (2, 4, 6)}


def test_the_letters_go_on_after_z() -> None:
    found = letters([_unplayed(f"cmp_{place}", 4) for place in range(28)])
    assert list(found.values())[24:] == ["Y", "Z", "AA", "AB"]


# -- against the baseline ------------------------------------------------------------------------------------------------


def test_a_replay_differs_from_the_one_with_its_script_setting_and_repeat() -> None:
    mine = played("cmp_2", input=1000, output=100)  # 2,000 × $4 + 100 × $20 a million: $0.010
    base = played("cmp_1", input=500, output=100)  # $0.008
    [delta] = deltas([mine], [base])
    assert delta.counterpart is not None
    assert delta.counterpart.label == "B · full history"
    assert delta.cost == pytest.approx(0.25)
    assert delta.prompt_tokens == pytest.approx(2000 / 1500 - 1)
    assert (delta.kept, delta.recall, delta.cache_share, delta.wait_p95) == (0, 0, 0.0, 0.0)
    assert delta.unlike == ()


def test_facts_and_answers_that_were_lost_are_counted() -> None:
    base = played("cmp_1")
    mine = chosen(
        spec(script=SCRIPT), turn(1, input=1000), turn(2), probe(after=2, passed=False), comparison="cmp_2"
    )
    mine = dataclasses.replace(mine, result=dataclasses.replace(mine.result, kept=0))
    [delta] = deltas([mine], [base])
    assert (delta.kept, delta.recall) == (-1, -1)


def test_another_setting_script_or_repeat_has_no_counterpart() -> None:
    base = [played("cmp_1"), played("cmp_1", window_spec(4, script=SCRIPT))]
    mine = [
        played("cmp_2", window_spec(6, script=SCRIPT)),
        played("cmp_2", spec(script=script("other", turns=2))),
        played("cmp_2", spec(script=SCRIPT, repeat=2)),
        played("cmp_2", compaction_spec(script=SCRIPT)),
    ]
    assert [(one.counterpart, one.cost) for one in deltas(mine, base)] == [(None, None)] * 4


def test_of_several_counterparts_the_one_with_most_in_common_is_taken() -> None:
    other_model = spec(script=SCRIPT, model="claude-sonnet-5", id="cmp_1_a")
    no_cache = spec(script=SCRIPT, cache=CacheLifetime.OFF, model="claude-sonnet-5", id="cmp_1_b")
    [delta] = deltas([played("cmp_2")], [played("cmp_1", no_cache), played("cmp_1", other_model)])
    assert delta.counterpart is not None
    assert delta.counterpart.model == "claude-sonnet-5"
    assert delta.counterpart.cache == "5m"
    assert delta.unlike == ("model",)


@pytest.mark.parametrize("end", [Status.RUNNING, Status.REJECTED, Status.CANCELLED])
def test_what_did_not_come_to_its_end_has_a_counterpart_and_no_differences(end: Status) -> None:
    mine = chosen(spec(script=SCRIPT), turn(1, input=1000), comparison="cmp_2", end=end)
    [delta] = deltas([mine], [played("cmp_1")])
    assert delta.counterpart is not None
    assert delta.reason == "not played to the end"
    assert delta[4:] == (None,) * 6


def test_conversations_of_another_length_are_not_held_against_each_other() -> None:
    mine = chosen(spec(script=SCRIPT, turns=1), turn(1, input=1000), comparison="cmp_2")
    [delta] = deltas([mine], [played("cmp_1")])
    assert (delta.reason, delta.cost) == ("1 turn and not 2", None)


def test_the_baselines_own_replays_differ_in_nothing() -> None:
    base = played("cmp_1", input=500)
    [delta] = deltas([base], [base])
    assert delta.counterpart is not None
    assert delta.counterpart.id == base.spec.id
    assert (delta.cost, delta.kept, delta.recall) == (0.0, 0, 0)
