"""What a setting loses that full history keeps, and what so few scripts can show of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.metrics.outcome import ProbeOutcome, ReplayOutcome
from memdash.metrics.sweep import Basis
from memdash.metrics.sweep.losses import (
    CellLoss,
    basis_of,
    bounds,
    cell_losses,
    exact_bounds,
    losses,
    scripts_needed,
)
from memdash.records import Status, Survival
from tests.metrics.sweep.outcomes import live, outcome

WINDOW = "window of 4"


def lost_by(*outcomes: ReplayOutcome, basis: Basis = Basis.KEPT) -> dict[str, CellLoss]:
    return cell_losses(outcomes, basis)


def upper(*scripts: float) -> float:
    return float(bounds(np.array([scripts])).high[0])


def test_a_loss_is_what_full_history_keeps_and_the_setting_does_not() -> None:
    found = lost_by(outcome(), outcome(WINDOW, lost=["budget"]))
    assert found == {"full history/trip/1": CellLoss(0, 4), f"{WINDOW}/trip/1": CellLoss(1, 4)}


def test_what_full_history_does_not_keep_either_is_no_loss_and_no_gain() -> None:
    found = lost_by(outcome(lost=["budget", "city"]), outcome(WINDOW, lost=["budget", "diet"]))
    assert found[f"{WINDOW}/trip/1"] == CellLoss(1, 2)


@pytest.mark.parametrize(
    ("survival", "lost"),
    [(Survival.VERBATIM, 0), (Survival.RESTATED, 0), (Survival.STALE, 1), (Survival.GONE, 1)],
)
def test_a_restated_fact_is_kept_and_a_stale_one_is_lost(survival: Survival, lost: int) -> None:
    ours = outcome(WINDOW, facts=["budget"], survival={"budget": survival})
    assert lost_by(outcome(facts=["budget"]), ours)[ours.id] == CellLoss(lost, 1)


@pytest.mark.parametrize(
    "other",
    [{"repeat": 2}, {"script": "else"}, {"model": "m"}, {"cache": "1h"}, {"cache_marks": "fixed+auto"}],
)
def test_only_the_full_history_of_the_same_cell_is_compared_with(other: dict[str, object]) -> None:
    ours = outcome(WINDOW)
    assert ours.id not in lost_by(outcome(**other), ours)


def test_nothing_is_told_before_the_last_context_was_looked_at_or_the_end_was_reached() -> None:
    unseen = outcome(WINDOW, survival={}, kept=None)
    unfinished = outcome("window of 8", status=Status.CANCELLED)
    assert lost_by(outcome(), unseen, unfinished).keys() == {"full history/trip/1"}
    assert lost_by(outcome(status=Status.REJECTED), outcome(WINDOW)) == {}


def test_a_script_without_facts_has_nothing_to_lose() -> None:
    assert lost_by(outcome(facts=()), outcome(WINDOW, facts=()))[f"{WINDOW}/trip/1"] == CellLoss(0, 0)


def test_live_a_loss_is_counted_in_right_answers_to_questions_that_are_tests() -> None:
    def asked(passed: str, no_test: str = "") -> tuple[ProbeOutcome, ...]:
        return tuple(
            ProbeOutcome(
                fact, after, f"{fact}{after}" in passed.split(), False, True, f"{fact}{after}" != no_test
            )
            for fact in "ab"
            for after in (10, 20)
        )

    full = outcome(probes=asked("a10 a20 b10", no_test="a20"))
    ours = outcome(WINDOW, probes=asked("a10 a20 b20", no_test="a20"))
    assert lost_by(*live(full, ours), basis=Basis.RECALL)[ours.id] == CellLoss(1, 2)  # b10 of a10 and b10


def test_a_ranking_rests_on_recall_only_where_a_live_model_was_asked() -> None:
    assert basis_of([outcome()]) is Basis.KEPT
    assert basis_of(live(outcome())) is Basis.RECALL
    assert basis_of(live(outcome(recall_total=0))) is Basis.KEPT
    assert basis_of([]) is Basis.KEPT


def test_no_loss_on_three_scripts_may_still_be_a_loss_of_63_percent() -> None:
    assert upper(0, 0, 0) == pytest.approx(1 - 0.05 ** (1 / 3))


def test_59_scripts_show_a_five_point_loss_and_58_do_not() -> None:
    found = exact_bounds(np.zeros(2), np.array([58.0, 59.0])).high
    assert found[1] == pytest.approx(1 - 0.05 ** (1 / 59))
    assert found[1] <= 0.05 < found[0]


def test_three_scripts_that_lose_everything_show_that_much_is_lost() -> None:
    ends = exact_bounds(np.array([1.0]), np.array([3.0]))
    assert (ends.low[0], ends.high[0]) == (pytest.approx(0.05 ** (1 / 3)), 1.0)


def test_one_failure_in_ten_is_bounded_by_clopper_and_pearson() -> None:
    # Published one-sided 95 % limits for 1 of 10: 0.0051 and 0.3942.
    ends = exact_bounds(np.array([0.1]), np.array([10.0]))
    assert (ends.low[0], ends.high[0]) == (pytest.approx(0.0051, abs=1e-4), pytest.approx(0.3942, abs=1e-4))


@pytest.mark.parametrize(("max_loss", "needed"), [(0.05, 59), (0.2, 14), (0.5, 5), (1.0, 1)])
def test_how_many_scripts_without_a_loss_would_do(max_loss: float, needed: int) -> None:
    assert scripts_needed([0.0], max_loss) == [needed]


def test_a_loss_that_one_script_shows_needs_that_one_beside_losses_that_need_more() -> None:
    assert scripts_needed([0.0], 0.99) == [1]
    few, many = scripts_needed([0.0, 0.9], 0.99)
    assert (few, [many]) == (1, scripts_needed([0.9], 0.99))


def test_no_number_of_scripts_shows_a_loss_smaller_than_it_is() -> None:
    assert scripts_needed([0.05, 0.3, 1.0], 0.05) == [None, None, None]
    assert scripts_needed([0.0], 0.0) == [None]
    assert scripts_needed([], 0.05) == []


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 0.15), st.floats(0.2, 0.9))
def test_the_number_of_scripts_needed_is_the_smallest_that_does(mean: float, max_loss: float) -> None:
    (needed,) = scripts_needed([mean], max_loss)
    assert needed is not None
    high = exact_bounds(np.array([mean, mean]), np.array([float(needed), needed - 1.0 or 0.5])).high
    assert high[0] <= max_loss
    assert needed == 1 or high[1] > max_loss


@settings(max_examples=50, deadline=None)
@given(st.lists(st.fractions(0, 1, max_denominator=40).map(float), min_size=1, max_size=8))
def test_bounds_hold_the_mean_and_are_never_inside_what_so_few_scripts_can_show(scripts: list[float]) -> None:
    ends, mean = bounds(np.array([scripts])), float(np.mean(scripts))
    exact = exact_bounds(np.array([mean]), np.array([float(len(scripts))]))
    assert 0 <= ends.low[0] <= exact.low[0] <= mean + 1e-12
    assert mean - 1e-12 <= exact.high[0] <= ends.high[0] <= 1


def test_a_setting_loses_the_mean_of_its_scripts_which_is_that_of_their_repeats() -> None:
    repeats = [CellLoss(1, 4), CellLoss(3, 4)]
    found = losses({WINDOW: [repeats, [CellLoss(0, 2), CellLoss(0, 2)]]}, 0.05)[WINDOW]
    assert (found.mean, found.worst, found.facts, found.scripts) == (0.25, 0.75, 1.0, 2)
    assert found.scripts_needed is None
    assert found.high == pytest.approx(exact_bounds(np.array([0.25]), np.array([2.0])).high[0])


@pytest.mark.parametrize("lost", [(1, 1, 1), (0, 1, 2), (2, 0, 1)])
def test_one_fact_of_20_on_each_of_three_scripts_is_five_percent_and_not_a_hair_more(
    lost: tuple[int, ...],
) -> None:
    found = losses({WINDOW: [[CellLoss(one, 20)] for one in lost]}, 0.05)[WINDOW]
    assert found.mean == 0.05


def test_a_script_that_loses_everything_leaves_a_loss_of_just_five_percent_possible() -> None:
    found = losses({WINDOW: [[CellLoss(4, 4)]]}, 0.05)[WINDOW]
    assert (found.low, found.high) == (0.05, 1.0)


def test_a_script_without_facts_lowers_the_facts_lost_a_conversation_but_not_the_share() -> None:
    found = losses({WINDOW: [[CellLoss(2, 4)], [CellLoss(0, 0)]]}, 0.05)[WINDOW]
    assert (found.mean, found.facts, found.scripts) == (0.5, 1.0, 1)


def test_without_any_fact_there_is_no_loss_to_tell() -> None:
    assert losses({WINDOW: [[CellLoss(0, 0)]]}, 0.05) == {}


def test_the_same_loss_on_more_scripts_is_known_better() -> None:
    few, many = (losses({WINDOW: [[CellLoss(1, 4)]] * n}, 0.5)[WINDOW] for n in (3, 30))
    assert few.high > many.high > 0.25 > many.low > few.low
    assert dataclasses.replace(few, low=0, high=0, scripts=0) == dataclasses.replace(
        many, low=0, high=0, scripts=0
    )
