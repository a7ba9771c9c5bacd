from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.assertions import GROUP_FIELDS, Assertion, check_labels, failures, parse_assertion
from memdash.errors import InputError
from memdash.metrics import schema


def a_replay(**fields: Any) -> dict[str, Any]:
    """A replay as the JSON contract prints it, as far as these tests look at it."""
    return {
        "label": "window of 4",
        "script": "trip",
        "status": "done",
        "recall": 0.75,
        "cost_usd": 0.1,
        "cache_share": None,
        "wait_ms": {"p50": 4000, "p95": 9000.5},
        "errors": [],
        "marks": ["fires_every_turn"],
        "params": {"keep": 4, "thinking": "strip"},
        "recall_simulated": True,
        "turns_completed": 30,
    } | fields


@pytest.mark.parametrize(
    "text",
    [
        "recall>=0.75",
        "recall > 0.5",
        "recall<1",
        "cost_usd<=0.10",
        "status==done",
        "status != rejected",
        "wait_ms.p95<=9001",
        "wait_ms.p50==4000",
        "turns_completed==30",
        "errors==0",
        "marks!=never_fires",
        "marks==fires_every_turn",
        "recall_simulated==true",
        "params.keep==4",
        "params.thinking==strip",
        "window of 4: recall>=0.5",
    ],
)
def test_an_assertion_holds(text: str) -> None:
    assert parse_assertion(text, params=["keep", "thinking"]).failure(a_replay()) is None


@pytest.mark.parametrize(
    ("text", "actual"),
    [
        ("recall>=1", "recall is 0.75"),
        ("recall!=0.75", "recall is 0.75"),
        ("wait_ms.p95<=9000", "wait_ms.p95 is 9000.5"),
        ("status!=done", "status is done"),
        ("errors>=1", "errors is 0"),
        ("marks==never_fires", "marks is fires_every_turn"),
        ("recall_simulated==false", "recall_simulated is true"),
        ("cache_share>=0.5", "cache_share is not reported or unknown"),
        ("cache_share!=0.5", "cache_share is not reported or unknown"),
    ],
)
def test_a_failed_assertion_says_what_was_found_in_one_line(text: str, actual: str) -> None:
    assert parse_assertion(text).failure(a_replay()) == f"assertion failed: {text}: window of 4: {actual}"


@pytest.mark.parametrize(
    "text", ["", "recall", "recall>=", "recall=1", "recall => 1", ">=1", "1>=recall", "recall>=1 and 1"]
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"--assert"):
        parse_assertion(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("recal>=1", "did you mean 'recall'"),
        ("wait_ms.p59<=1", "did you mean 'wait_ms.p95' or 'wait_ms.p50'"),
        ("status==dnoe", "did you mean 'done'"),
        ("status>=done", "needs a number"),
        ("recall==high", "recall is a number"),
        ("recall>=nan", "recall is a number"),
        ("recall<=inf", "recall is a number"),
        ("simulator_only==1", "simulator_only is true or false"),
        ("params.keep==4", "there is no field 'params.keep'"),
        ("__class__==x", "there is no field"),
    ],
)
def test_a_wrong_field_or_value_is_told_with_what_comes_near(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_assertion(text)


def test_a_label_may_hold_colons_and_comparisons() -> None:
    parsed = parse_assertion("full history · llama3:8b: recall>=0.5")
    assert (parsed.label, parsed.field) == ("full history · llama3:8b", "recall")


def test_a_label_names_one_replay_and_a_series_all_its_repeats() -> None:
    named = parse_assertion("window of 4: recall>=1")
    assert named.concerns("window of 4", "window of 4")
    assert named.concerns("window of 4 · repeat 2", "window of 4")
    assert not named.concerns("window of 4 (naive)", "window of 4 (naive)")
    assert parse_assertion("recall>=1").concerns("anything", "at all")


def test_an_unknown_label_is_told_with_what_comes_near() -> None:
    with pytest.raises(InputError, match="did you mean 'window of 4'"):
        check_labels([parse_assertion("window of 5: recall>=1")], ["window of 4", "full history"], [])


def a_group(**fields: Any) -> dict[str, Any]:
    """A group of three repeats as the JSON contract prints it, as far as these tests look at it."""
    blank = {"mean": None, "low": None, "high": None, "worst": None}
    return {
        "label": "window of 4",
        "script": "trip",
        "n": 3,
        "unfinished": 0,
        "loss": {"mean": 0.1, "low": 0.0, "high": 0.2, "worst": 0.25},
        "cost_usd": {"mean": 0.1, "low": 0.09, "high": 0.11, "worst": 0.12},
        "recall": blank,
    } | fields


def told(text: str, *groups: dict[str, Any]) -> list[str]:
    return failures(
        [parse_assertion(text)], {"replays": [a_replay(id="r1")], "groups": groups}, {"r1": "window of 4"}
    )


@pytest.mark.parametrize(
    "text",
    [
        "loss_high<=0.2",
        "loss_mean<0.2",
        "cost_usd_mean<=0.10",
        "cost_usd_worst<=0.12",
        "window of 4: loss_low>=0",
    ],
)
def test_an_assertion_over_repeats_holds(text: str) -> None:
    assert told(text, a_group()) == []


def test_a_failed_assertion_over_repeats_names_the_setting_and_the_script() -> None:
    assert told("loss_high<=0.05", a_group(), a_group(script="long", loss={"mean": 0.0, "high": 0.0})) == [
        "assertion failed: loss_high<=0.05: window of 4 on trip: loss_high is 0.2"
    ]


@pytest.mark.parametrize(
    ("text", "group", "why"),
    [
        (
            "loss_high<=0.05",
            {"n": 1, "loss": {"mean": 0.0, "low": None, "high": None, "worst": 0.0}},
            "loss_high is not known: one replay has no interval; play more of them with --repeats",
        ),
        (
            "loss_high<=0.05",
            {"loss": {"mean": None, "low": None, "high": None, "worst": None}},
            "loss_high is not known: there is no full history beside it, or no fact to lose",
        ),
        ("recall_mean>=0", {}, "recall_mean is not reported or unknown"),
        (
            "cost_usd_mean<=9",
            {"n": 2, "unfinished": 1},
            "cost_usd_mean is not known: 1 of 3 replays did not finish",
        ),
    ],
)
def test_what_is_not_known_of_the_repeats_has_not_been_shown(
    text: str, group: dict[str, Any], why: str
) -> None:
    assert told(text, a_group(**group)) == [f"assertion failed: {text}: window of 4 on trip: {why}"]


def test_an_assertion_over_repeats_speaks_of_a_setting_and_not_of_one_replay() -> None:
    asserted = [parse_assertion("window of 4 · repeat 2: loss_high<=0.2")]
    with pytest.raises(
        InputError, match="there is no group 'window of 4 · repeat 2'; did you mean 'window of 4'"
    ):
        check_labels(asserted, ["window of 4 · repeat 2"], ["window of 4", "full history"])
    assert told("full history: loss_high<=0.05", a_group()) == []


def test_replays_and_groups_are_asserted_side_by_side() -> None:
    comparison = {
        "replays": [a_replay(id="r1"), a_replay(id="r2", label="full history")],
        "groups": [a_group()],
    }
    asserted = [
        parse_assertion(text) for text in ("recall>=1", "loss_high<=0.1", "window of 4: status==done")
    ]
    assert failures(asserted, comparison, {"r1": "window of 4", "r2": "full history"}) == [
        "assertion failed: recall>=1: window of 4: recall is 0.75",
        "assertion failed: recall>=1: full history: recall is 0.75",
        "assertion failed: loss_high<=0.1: window of 4 on trip: loss_high is 0.2",
    ]


def test_everything_that_can_be_asserted_of_a_group_is_in_the_contract() -> None:
    defined = schema()["$defs"]
    for name, part in GROUP_FIELDS.values():
        (kind,) = {defined["group"]["properties"][name]["$ref"].rpartition("/")[2]}
        assert part in defined[kind]["properties"]


def test_an_unknown_number_of_a_group_is_told_with_what_comes_near() -> None:
    with pytest.raises(InputError, match="did you mean 'loss_high'"):
        parse_assertion("loss_hihg<=0.05")


@settings(max_examples=100)
@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(parse_assertion(text), Assertion)


@settings(max_examples=100)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_compare_as_numbers_do(actual: float, bound: float) -> None:
    held = parse_assertion(f"cost_usd<={bound!r}").failure(a_replay(cost_usd=actual)) is None
    assert held == (actual <= bound)
