"""The JSON contract of architecture.md, held by a schema that allows nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import jsonschema
import pytest

from memdash.metrics import comparison_json, measure_all, replay_json, schema, settings_json
from memdash.metrics.conversations import Traffic, from_quantiles
from memdash.metrics.result import Mark
from memdash.prices import PriceTable
from memdash.records import EventKind, MissReason, Purpose, Status, Survival
from memdash.replay_log import ReplayLog
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Provider, Sweep
from memdash.strategies import Axis, Family, choose
from tests.builders import (
    compaction_spec,
    event,
    fact,
    kept,
    probe,
    replay_log,
    request,
    script,
    spec,
    status,
    turn,
    turn_end,
    usage,
    window_spec,
)

TRIP = script("trip", turns=2, facts=[fact("budget")])
LOGS = [
    replay_log(
        spec(script=TRIP),
        turn(1, input=500, write=1500, output=100, miss=MissReason.FIRST_REQUEST, first_text_ms=500),
        turn(2, input=3, write=300, read=1500, output=100),
        probe("budget", 2),
        kept("budget"),
    ),
    replay_log(
        window_spec(script=TRIP),
        turn(1, input=500, output=100, write=None, read=None),
        event(EventKind.TRIM, 2, kind="sly", dropped_turns=[1]),
        request(2, error="prompt is too long"),
        status(Status.REJECTED, 1, "prompt is too long"),
        end=None,
    ),
    replay_log(
        compaction_spec(script=TRIP, model="unpriced", effort="low"),
        request(1, of=usage(input=10), model="unpriced"),
        request(1, Purpose.SUMMARY, of=usage(input=10), model="unpriced"),
        event(EventKind.COMPACTION, 1, used=True, before_tokens=10, after_tokens=5),
        turn_end(1),
        end=Status.CANCELLED,
    ),
    replay_log(spec("queued", script=TRIP), end=None),
]
RESULTS = measure_all(LOGS, PriceTable.load())


CHOSEN = (choose("window", {"keep": 3}),)


def contract(logs: Sequence[ReplayLog] = LOGS, **changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "comparison": "cmp_1",
        "title": "A trip",
        "created_at": datetime(2026, 11, 30, 15, 0, tzinfo=UTC),
        "settings": settings_json(ComparisonSpec((TRIP,), CHOSEN)),
        "token_counter": "ctok 1.3.0",
        "versions": {"memdash": "0.1.0"},
        "specs": [log.spec for log in logs],
        "prices": PriceTable.load(),
    }
    return comparison_json(measure_all(logs, PriceTable.load()), **{**given, **changes})


def check(value: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(schema(), format_checker=jsonschema.FormatChecker())
    validator.validate(json.loads(json.dumps(value, allow_nan=False)))


def objects_of(node: Any) -> list[dict[str, Any]]:
    below = (
        [found for one in (node.values() if isinstance(node, dict) else node) for found in objects_of(one)]
        if isinstance(node, (dict, list))
        else []
    )
    return [node, *below] if isinstance(node, dict) and "properties" in node else below


def test_the_schema_itself_is_valid_and_closed() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    open_objects = [one for one in objects_of(schema()) if one.get("additionalProperties") is not False]
    assert [list(one["properties"]) for one in open_objects] == [
        ["kind"]
    ]  # an event's data depends on its kind


def test_a_comparison_with_every_kind_of_replay_obeys_the_contract() -> None:
    check(contract())


def a_sweep(*, facts: bool = True) -> dict[str, Any]:
    """The contract of a sweep: full history, a window that forgets and costs a tenth, a compaction that was refused."""
    trip = TRIP if facts else script("trip", turns=2)
    logs = [
        replay_log(
            one(script=trip, repeat=repeat, id=f"{one.__name__}{repeat}"),
            turn(1, input=tokens),
            turn(2, input=tokens),
            *([kept("budget", survival)] if facts else []),
        )
        for repeat in (1, 2)
        for one, tokens, survival in (
            (spec, 10_000, Survival.VERBATIM),
            (window_spec, 1_000, Survival.GONE),
        )
    ]
    logs.append(replay_log(compaction_spec(script=trip), request(1, error="no"), end=Status.REJECTED))
    sweep = Sweep((Family("window", {}, (Axis("keep", (4, 8)),)),))
    return contract(logs, sweep=sweep, settings=settings_json(ComparisonSpec((trip,), CHOSEN, sweep=sweep)))


def test_a_sweep_obeys_the_contract_with_its_recommendation_and_its_front() -> None:
    value = a_sweep()
    check(value)
    assert value["recommendation"]["label"] == "full history"
    assert value["recommendations"] == [value["recommendation"]]
    assert value["unrecommended"] is None
    # 20,000 tokens at $4 a million; the window 2,000, whose lost fact costs the difference
    assert value["recommendation"]["cost_usd"] == 0.08
    assert [(one["label"], one["cost_usd"], one["kept"], one["dominated"]) for one in value["pareto"]] == [
        ("full history", 0.08, 1.0, False),
        ("window of 4", 0.008, 0.0, False),
    ]
    assert [(one["label"], one["facts_lost"], one["break_even_usd"]) for one in value["worth"]] == [
        ("window of 4", 1.0, 0.072)
    ]
    assert value["settings"]["sweep"] == {
        "families": ["window:4|8"],
        "max_loss": 0.05,
        "refine": False,
        "limit": 1000,
    }


def test_a_sweep_without_facts_says_why_it_recommends_nothing() -> None:
    value = a_sweep(facts=False)
    check(value)
    assert (value["recommendation"], value["recommendations"]) == (None, [])
    assert "no fact to lose" in value["unrecommended"]


def test_only_a_sweep_has_a_recommendation_and_every_comparison_has_groups() -> None:
    value = contract()
    alone = ("recommendation", "recommendations", "unrecommended", "pareto", "worth")
    assert [value[name] for name in alone] == [None] * len(alone)
    assert [(one["label"], one["script"], one["n"], one["unfinished"]) for one in value["groups"]] == [
        ("full history", "trip", 1, 0),
        ("window of 4", "trip", 0, 1),
        ("compaction at 2000", "trip", 0, 1),
        ("queued", "trip", 0, 1),
    ]
    assert value["groups"][0]["kept"] == {"mean": 1.0, "low": None, "high": None, "worst": 1.0}


def test_a_group_holds_the_interval_over_its_repeats() -> None:
    window = next(one for one in a_sweep()["groups"] if one["label"] == "window of 4")
    assert window["n"] == 2
    assert window["loss"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "worst": 1.0}


@pytest.mark.parametrize(
    "path",
    [(), ("replays", 0), ("replays", 0, "turns", 0), ("replays", 0, "probes", 0), ("groups", 0, "cost_usd")],
)
def test_an_unknown_field_breaks_the_contract(path: tuple[str | int, ...]) -> None:
    with_a_stranger(contract(), path)


@pytest.mark.parametrize("path", [("recommendation",), ("pareto", 0), ("worth", 0)])
def test_an_unknown_field_of_a_sweep_breaks_the_contract(path: tuple[str | int, ...]) -> None:
    with_a_stranger(a_sweep(), path)


def with_a_stranger(value: dict[str, Any], path: tuple[str | int, ...]) -> None:
    """Expect that one more field at ``path`` is refused."""
    place: Any = value
    for step in path:
        place = place[step]
    place["extra"] = 1
    with pytest.raises(jsonschema.ValidationError, match="extra"):
        check(value)


def test_every_field_is_required() -> None:
    for name in list(replay_json(RESULTS[0])):
        value = contract()
        del value["replays"][0][name]
        with pytest.raises(jsonschema.ValidationError, match=name):
            check(value)


def test_the_schema_knows_every_word_that_the_program_can_say() -> None:
    defined = schema()["$defs"]
    fields = defined["replay"]["properties"]
    assert fields["status"]["enum"] == [str(one) for one in Status]
    assert fields["provider"]["enum"] == [str(one) for one in Provider]
    assert fields["cache"]["enum"] == [str(one) for one in CacheLifetime]
    assert fields["cache_marks"]["enum"] == [str(one) for one in CacheMarks]
    assert fields["marks"]["items"]["enum"] == [str(one) for one in Mark]
    assert defined["event"]["properties"]["kind"]["enum"] == [
        str(one) for one in EventKind if one is not EventKind.VERDICT
    ]
    assert defined["turn"]["properties"]["cache_miss_reason"]["enum"] == [
        None,
        *(str(one) for one in MissReason),
    ]


def test_values_stand_where_the_contract_puts_them() -> None:
    full, window, compaction, queued = contract()["replays"]
    assert full["cost_by_purpose_usd"] == {"turn": full["cost_usd"], "tool": 0.0, "summary": 0.0}
    assert full["recall"] == 1.0
    assert full["turns"][0]["cache_miss_reason"] == "first_request"
    assert full["ttft_ms"] == {"p50": 500, "p95": 500}
    assert window["cache_share"] is None
    assert window["status"] == "rejected"
    assert window["errors"] == ["prompt is too long"]
    assert window["turns"][1]["events"] == [{"kind": "trim", "dropped_turns": [1]}]
    assert compaction["cost_usd"] is None
    assert compaction["compactions"] == 1
    assert queued["wait_ms"] == {"p50": None, "p95": None, "max": None, "total": None}


def test_times_are_given_in_utc() -> None:
    east = datetime(2026, 11, 30, 17, 0, tzinfo=timezone(timedelta(hours=2)))
    assert contract(created_at=east)["created_at"] == "2026-11-30T15:00:00Z"
    assert contract(created_at=datetime(2026, 11, 30, 15, 0))["created_at"] == "2026-11-30T15:00:00Z"


def test_settings_name_scripts_and_strategies() -> None:
    settings = contract()["settings"]
    assert settings["scripts"] == ["trip"]
    assert settings["strategies"] == [
        {"name": "window", "params": dict(choose("window", {"keep": 3}).params), "label": "window of 3"}
    ]
    assert settings["caches"] == ["5m"]


def test_the_contract_holds_with_what_is_known_of_your_conversations() -> None:
    traffic = Traffic(from_quantiles("p50=2,p100=9"), 100, 0.2, 50_000)
    told = contract(traffic=traffic)
    check(told)
    assert told["conversations"]["conversations_per_day"] == 100
    assert {one["label"] for one in told["conversations"]["left_out"]} >= {"queued"}
    assert contract()["conversations"] is None


def test_the_prices_of_the_models_that_are_used_come_along_and_an_unknown_one_is_left_out() -> None:
    told = contract()["prices"]
    assert [one["model"] for one in told] == [LOGS[0].spec.model]  # "unpriced" has no price
    known = PriceTable.load().price(LOGS[0].spec.model)
    assert known is not None
    assert told[0]["tiers"][0] == {
        "above": 0,
        "input": known.tiers[0].input,
        "write_5m": known.tiers[0].write_5m,
        "write_1h": known.tiers[0].write_1h,
        "read": known.tiers[0].read,
        "output": known.tiers[0].output,
    }
    summaries = compaction_spec(script=TRIP, params={"summary_model": "claude-haiku-4-5"})
    assert [one["model"] for one in contract([replay_log(summaries, end=None)])["prices"]] == [
        summaries.model,
        "claude-haiku-4-5",
    ]
