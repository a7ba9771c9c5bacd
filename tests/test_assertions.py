from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.assertions import Assertion, check_labels, parse_assertion
from memdash.errors import InputError


def a_replay(**fields: Any) -> dict[str, Any]:
    """A replay as the JSON contract prints it, as far as these tests look at it."""
    return {
        "label": "window of 4",
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
        check_labels([parse_assertion("window of 5: recall>=1")], ["window of 4", "full history"])


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
