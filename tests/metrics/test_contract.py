"""The JSON contract of architecture.md, held by a schema that allows nothing else."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import jsonschema
import pytest

from memdash.metrics import comparison_json, measure_all, replay_json, schema, settings_json
from memdash.metrics.conversations import Traffic, from_quantiles
from memdash.metrics.result import Mark
from memdash.prices import PriceTable
from memdash.records import EventKind, MissReason, Purpose, Status
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Provider
from memdash.strategies import choose
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


def contract(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "comparison": "cmp_1",
        "title": "A trip",
        "created_at": datetime(2026, 11, 30, 15, 0, tzinfo=UTC),
        "settings": settings_json(ComparisonSpec((TRIP,), (choose("window", {"keep": 3}),))),
        "token_counter": "ctok 1.3.0",
        "versions": {"memdash": "0.1.0"},
        "specs": [log.spec for log in LOGS],
        "prices": PriceTable.load(),
    }
    return comparison_json(RESULTS, **{**given, **changes})


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


def test_the_contract_holds_with_a_recommendation_and_a_front() -> None:
    point = {"label": "x", "strategy": "window", "params": {"keep": 4}, "cost_usd": 0.1, "recall": 0.5}
    recommendation = {
        **point,
        "recall_low": 0.2,
        "recall_high": 0.8,
        "loss_vs_full_history": 0.5,
        "loss_high": 0.8,
        "saving_vs_full_history": -0.1,
        "decisive": False,
        "sentence": "This ranking is not decisive.",
    }
    check(contract(recommendation=recommendation, pareto=[{**point, "dominated": True}]))


@pytest.mark.parametrize("where", ["top", "replay", "turn", "probe"])
def test_an_unknown_field_breaks_the_contract(where: str) -> None:
    value = contract()
    replay = value["replays"][0]
    {"top": value, "replay": replay, "turn": replay["turns"][0], "probe": replay["probes"][0]}[where][
        "extra"
    ] = 1
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
