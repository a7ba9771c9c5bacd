"""Settings compared two by two."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep import Pair, Verdict, analyse
from memdash.records import Status
from tests.metrics.sweep.outcomes import on_scripts, outcome

WINDOW = "window of 4"


def pairs(*outcomes: ReplayOutcome) -> dict[tuple[str, str], Pair]:
    return {(one.series, one.other): one for one in analyse(outcomes).pairs}


def verdict(full: Sequence[float], window: Sequence[float]) -> Verdict:
    return pairs(*on_scripts("full history", full), *on_scripts(WINDOW, window))[
        "full history", WINDOW
    ].verdict


def test_a_difference_on_every_script_is_one() -> None:
    assert verdict([1.0, 10.0, 100.0], [0.9, 9.8, 99.7]) is Verdict.DEARER
    assert verdict([0.9, 9.8, 99.7], [1.0, 10.0, 100.0]) is Verdict.CHEAPER


def test_a_difference_that_changes_sides_is_a_tie() -> None:
    assert verdict([1.0, 10.0, 100.0], [0.9, 9.8, 100.1]) is Verdict.TIE


def test_the_same_cost_but_for_the_noise_of_addition_is_a_tie() -> None:
    assert verdict([0.1 + 0.2, 0.6], [0.3, 0.6]) is Verdict.TIE


def test_one_replay_each_is_told_by_its_difference_without_an_interval() -> None:
    it = pairs(outcome(cost=1.0), outcome(WINDOW, cost=0.75))["full history", WINDOW]
    assert (it.verdict, it.difference_usd.mean, it.difference_usd.low) == (Verdict.DEARER, 0.25, None)


def test_what_is_not_ranked_is_not_compared() -> None:
    assert pairs(outcome(), outcome(WINDOW, status=Status.REJECTED)) == {}
    assert pairs(outcome(), outcome(WINDOW, cost=None)) == {}


def test_settings_of_different_models_are_not_compared() -> None:
    assert pairs(outcome("full history · a", model="a"), outcome("full history · b", model="b")) == {}


def test_twelve_settings_make_66_pairs_and_more_only_those_that_are_asked_for() -> None:
    full = outcome(cost=1.0)
    windows = [
        outcome(f"window of {n}", cost=1 - n / 100, lost=["budget"] if n > 3 else ()) for n in range(1, 13)
    ]
    assert len(pairs(full, *windows[:11])) == 66
    many = pairs(full, *windows)
    # With full history 12, and with the recommended window of 3 another 11.
    assert len(many) == 23
    assert all({"full history", "window of 3"} & {*names} for names in many)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), min_size=1, max_size=6))
def test_turned_round_a_comparison_says_the_opposite(costs: list[tuple[float, float]]) -> None:
    ours, theirs = [one for one, _ in costs], [other for _, other in costs]
    opposite = {Verdict.CHEAPER: Verdict.DEARER, Verdict.DEARER: Verdict.CHEAPER, Verdict.TIE: Verdict.TIE}
    assert verdict(ours, theirs) is opposite[verdict(theirs, ours)]


@pytest.mark.parametrize("cost", [0.0, 5.0])
def test_a_setting_ties_with_its_like(cost: float) -> None:
    assert verdict([cost, cost], [cost, cost]) is Verdict.TIE
