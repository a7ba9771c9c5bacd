"""Assertions that compare with a baseline."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.assertions import Baseline, check, check_comparable, parse_assertion
from memdash.errors import InputError
from tests.comparisons import a_comparison, a_group, a_replay, repeats

Replays = list[dict[str, Any]]


def told(text: str, before: dict[str, Any], after: dict[str, Any], **options: bool) -> list[str | None]:
    """What an assertion says of each replay or group it speaks of; None where it holds."""
    series = {one["id"]: one["label"] for one in after["replays"]}
    params = ["keep", "thinking"]
    baseline = Baseline(before, after, **options)
    return [one.failure for one in check([parse_assertion(text, params)], after, series, baseline)]


def one(text: str, before: dict[str, Any], after: dict[str, Any]) -> str | None:
    (failure,) = told(text, a_comparison(a_replay(**before)), a_comparison(a_replay(**after)))
    return failure


# -- how it is written -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("cost_usd<=baseline", 200.0),
        ("cost_usd<=1.05*baseline", 210.0),
        ("cost_usd <= 1.05 * baseline", 210.0),
        ("cost_usd<=baseline+5%", 210.0),
        ("cost_usd>=baseline - 10 %", 180.0),
        ("cost_usd<=baseline+0.5", 200.5),
        ("cost_usd<=2*baseline-1_000", -600.0),
        ("cost_usd<=1e-1*baseline", 20.0),
        ("window of 4: cost_usd_mean<=.5*baseline", 100.0),
    ],
)
def test_a_limit_follows_from_the_baseline(text: str, limit: float) -> None:
    value = parse_assertion(text).value
    assert not isinstance(value, (float, str))
    assert value.of(200.0) == pytest.approx(limit)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("cost_usd<=baseline*", "cannot be read; write baseline, 1.05*baseline"),
        ("cost_usd<=-1*baseline", "cannot be read"),
        ("cost_usd<=baseline*baseline", "cannot be read"),
        ("cost_usd!=baseline", "compare with the baseline by"),
        ("status>=baseline", "status is no number; compare it by ==baseline"),
        ("model==1.1*baseline", "model is no number"),
    ],
)
def test_what_cannot_be_compared_with_a_baseline_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint.replace("*", r"\*").replace("+", r"\+")):
        parse_assertion(text)


def test_baseline_in_quotes_or_as_another_word_is_a_text() -> None:
    assert parse_assertion("label=='baseline'").value == "baseline"
    assert parse_assertion("label==baseline_2").value == "baseline_2"


def test_a_log_of_requests_has_no_baseline() -> None:
    with pytest.raises(InputError, match="edits is a number"):
        parse_assertion("edits<=baseline", numbers=["edits"])


# -- simulated: exactly ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "cost_usd<=baseline",
        "cost_usd>=baseline",
        "cost_usd==baseline",
        "cost_usd<1.01*baseline",
        "kept>=baseline",
        "wait_ms.p95<=baseline+0",
        "cost_by_purpose_usd.turn<=baseline",
        "errors<=baseline",
        "status==baseline",
        "params.keep==baseline",
        "simulator_only==baseline",
    ],
)
def test_what_stayed_as_it_was_is_not_worse(text: str) -> None:
    assert one(text, {}, {}) is None


def test_a_simulated_replay_is_held_to_the_last_digit() -> None:
    assert one("cost_usd<=baseline", {"cost_usd": 0.1}, {"cost_usd": 0.1000001}) == (
        "assertion failed: cost_usd<=baseline: window of 4: cost_usd is 0.1000001, and baseline is 0.1"
    )
    assert (
        one("cost_usd<=baseline", {"cost_usd": 0.1}, {"cost_usd": 0.1 + 1e-14}) is None
    )  # noise of addition


def test_a_tolerance_is_told_with_what_it_comes_to() -> None:
    assert one("cost_usd<=1.05*baseline", {"cost_usd": 0.1}, {"cost_usd": 0.105}) is None
    assert one("cost_usd<=1.05*baseline", {"cost_usd": 0.1}, {"cost_usd": 0.106}) == (
        "assertion failed: cost_usd<=1.05*baseline: window of 4: cost_usd is 0.106, and 1.05*baseline is 0.105 (baseline 0.1)"
    )


@given(st.floats(1e-9, 1e6), st.floats(1e-9, 1e6))
def test_what_holds_with_a_small_factor_holds_with_a_larger_one(before: float, after: float) -> None:
    sides = {"cost_usd": before}, {"cost_usd": after}
    if one("cost_usd<=1.05*baseline", *sides) is None:
        assert one("cost_usd<=1.10*baseline", *sides) is None


@pytest.mark.parametrize(
    ("text", "before", "after", "found"),
    [
        ("cost_usd<=baseline", {}, {"cost_usd": None}, "cost_usd is not reported or unknown"),
        ("cost_usd<=baseline", {"cost_usd": None}, {}, "0.1, and not reported or unknown in the baseline"),
        ("recall>=baseline", {"recall": None}, {"recall": None}, "recall is not reported or unknown"),
        ("status==baseline", {}, {"status": "failed"}, "status is failed, and done in the baseline"),
        ("errors<=baseline", {}, {"errors": ["no"]}, "errors is 1, and baseline is 0"),
        (
            "cost_usd<=baseline",
            {},
            {"status": "rejected", "turns_completed": 4, "cost_usd": 0.01},
            "cost_usd is not comparable: it was done in the baseline, and is rejected at turn 5 of 30 now",
        ),
        (
            "cost_usd<=baseline",
            {},
            {"turns_planned": 10, "turns_completed": 10, "cost_usd": 0.03},
            "cost_usd is not comparable: the baseline played 30 turns, this run 10",
        ),
    ],
)
def test_what_cannot_be_shown_to_hold_fails(
    text: str, before: dict[str, Any], after: dict[str, Any], found: str
) -> None:
    assert found in (one(text, before, after) or "")


def test_what_the_baseline_does_not_have_fails_and_what_only_it_has_does_not() -> None:
    before = a_comparison(a_replay(), a_replay("window of 2", params={"keep": 2}))
    new = a_comparison(
        a_replay(), a_replay("compaction at 2000", strategy="compaction", params={"trigger": 2000})
    )
    assert told("kept>=baseline", before, new) == [
        None,
        "assertion failed: kept>=baseline: compaction at 2000: kept is not known in the baseline, which has no such setting; "
        "write the baseline anew",
    ]
    again = a_comparison(
        a_replay("window of 4 · repeat 1"), a_replay("window of 4 · repeat 2", repeat=2, id="r2")
    )
    assert "no such repeat" in (told("kept>=baseline", a_comparison(), again)[1] or "")


def test_a_label_names_what_it_speaks_of() -> None:
    after = a_comparison(a_replay(), a_replay("window of 2", params={"keep": 2}))
    assert told("window of 2: kept>=baseline", after, after) == [None]


def test_costs_at_the_baselines_prices_say_so() -> None:
    before, after = a_comparison(), a_comparison(a_replay(cost_usd=0.2))
    (failure,) = told("cost_usd<=baseline", before, after, repriced=True)
    assert failure is not None
    assert failure.endswith("cost_usd is 0.2, and baseline is 0.1, at the baseline's prices")


# -- groups ------------------------------------------------------------------------------------------------------------------


def estimate(mean: float, reach: float | None = None) -> dict[str, float | None]:
    ends = (None, None) if reach is None else (mean - reach, mean + reach)
    return {"mean": mean, "low": ends[0], "high": ends[1], "worst": mean}


def grouped(replays: Replays, **fields: Any) -> dict[str, Any]:
    return a_comparison(*replays, groups=[a_group(**fields)])


def test_a_simulated_group_is_compared_exactly() -> None:
    before = grouped([a_replay()], loss=estimate(0.25))
    assert told("loss_mean<=baseline", before, grouped([a_replay()], loss=estimate(0.25))) == [None]
    (failure,) = told("loss_mean<=baseline", before, grouped([a_replay()], loss=estimate(0.26)))
    assert failure == (
        "assertion failed: loss_mean<=baseline: window of 4 on trip: loss_mean is 0.26, and baseline is 0.25"
    )


def test_a_group_that_did_not_finish_fails_on_either_side() -> None:
    whole, broken = grouped([a_replay()], loss=estimate(0.1)), grouped([a_replay()], n=1, unfinished=1)
    assert "1 of 2 replays did not finish" in (told("loss_mean<=baseline", whole, broken)[0] or "")
    assert (told("loss_mean<=baseline", broken, whole)[0] or "").endswith("did not finish, in the baseline")


def test_a_group_of_an_older_file_without_groups_is_not_in_the_baseline() -> None:
    after = grouped([a_replay()], loss=estimate(0.1))
    assert "no such group" in (told("loss_mean<=baseline", a_comparison(groups=[]), after)[0] or "")


def test_a_live_group_fails_only_outside_the_intervals() -> None:
    before = grouped(repeats([0.1, 0.1]), n=2, loss=estimate(0.2, 0.05))
    near = grouped(repeats([0.1, 0.1]), n=2, loss=estimate(0.29, 0.05))
    far = grouped(repeats([0.1, 0.1]), n=2, loss=estimate(0.31, 0.05))
    assert told("loss_mean<=baseline", before, near) == [None]
    assert told("loss_mean<=baseline", before, far) == [
        "assertion failed: loss_mean<=baseline: window of 4 on trip: loss_mean is 0.31 (95 % 0.26 to 0.36), and the baseline "
        "0.2 (95 % 0.15 to 0.25)"
    ]
    assert told("loss_worst<=baseline", before, near)[0] is not None  # a single replay, compared as it is


# -- live --------------------------------------------------------------------------------------------------------------------


def test_live_replays_fail_together_and_only_outside_their_intervals() -> None:
    before = a_comparison(*repeats([0.10, 0.12, 0.11]))
    near, far = a_comparison(*repeats([0.11, 0.13, 0.12])), a_comparison(*repeats([0.20, 0.22, 0.21]))
    assert told("cost_usd<=baseline", before, near) == [None]
    (failure,) = told("cost_usd<=baseline", before, far)
    assert failure is not None
    assert failure.startswith(
        "assertion failed: cost_usd<=baseline: window of 4 on trip: cost_usd is 0.21 (95 % 0.185"
    )
    assert told("cost_usd<=2*baseline", before, far) == [None]
    assert told("cost_usd>=baseline", before, far) == [None]
    assert told("cost_usd==baseline", before, near) == [None]
    assert told("cost_usd==baseline", before, far) != [None]


def test_live_repeats_that_never_vary_are_held_exactly() -> None:
    before = a_comparison(*repeats([0.1, 0.1], kept=2))
    assert told("kept>=baseline", before, a_comparison(*repeats([0.1, 0.1], kept=2))) == [None]
    assert told("kept>=baseline", before, a_comparison(*repeats([0.1, 0.1], kept=1))) != [None]


def test_a_live_replay_without_an_interval_or_without_an_end_fails() -> None:
    before = a_comparison(*repeats([0.1, 0.2]))
    alone = told("cost_usd<=baseline", before, a_comparison(*repeats([0.1])))
    assert "one live replay has no interval" in (alone[0] or "")
    broken = a_comparison(*repeats([0.1, 0.1]))
    broken["replays"][0]["status"] = "failed"
    assert "1 of 2 replays did not finish" in (told("cost_usd<=baseline", before, broken)[0] or "")


def test_the_status_of_live_replays_is_no_number_and_held_one_by_one() -> None:
    before = a_comparison(*repeats([0.1, 0.1]))
    after = a_comparison(*repeats([0.1, 0.1]))
    after["replays"][1]["status"] = "rejected"
    assert [failure is None for failure in told("status==baseline", before, after)] == [True, False]


# -- before anything runs ------------------------------------------------------------------------------------------------------


def comparable(before: dict[str, Any], text: str = "cost_usd<=baseline", **run: Any) -> None:
    given = {"live": False, "repeats": 1, "token_counter": "estimate"} | run
    check_comparable("b.json", before, [parse_assertion(text)], **given)


def test_a_baseline_that_can_be_compared_is_taken() -> None:
    comparable(a_comparison())
    comparable(a_comparison(*repeats([0.1, 0.1])), live=True, repeats=3)
    comparable(a_comparison(token_counter="ctok 1.2.0"), token_counter="ctok")
    comparable(a_comparison(token_counter="ctok 1.2.0"), "recall>=1")  # nothing is asserted of it


@pytest.mark.parametrize(
    ("before", "run", "complaint"),
    [
        (a_comparison(), {"live": True, "repeats": 5}, "b.json: is simulated, and this run is live"),
        (a_comparison(*repeats([0.1, 0.1])), {}, "b.json: is live, and this run is simulated"),
        (a_comparison(), {"token_counter": "ctok"}, "run with --token-counter estimate"),
        (a_comparison(*repeats([0.1, 0.1])), {"live": True}, "this run has one repeat"),
        (a_comparison(*repeats([0.1])), {"live": True, "repeats": 2}, "b.json has one repeat"),
    ],
)
def test_a_baseline_that_nothing_could_hold_against_is_refused(
    before: dict[str, Any], run: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        comparable(before, **run)
