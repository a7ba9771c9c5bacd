"""The Pareto front of cost against what is kept, and against recall."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep import FrontPoint, analyse
from memdash.records import Status
from tests.metrics.sweep.outcomes import FACTS, live, outcome


def front(*outcomes: ReplayOutcome) -> dict[str, FrontPoint]:
    return {point.setting.series: point for point in analyse(outcomes).frontier}


def on_front(*outcomes: ReplayOutcome) -> list[str]:
    return [name for name, point in front(*outcomes).items() if not point.dominated]


def test_dearer_and_forgetting_more_is_dominated() -> None:
    found = on_front(
        outcome(cost=1.0),
        outcome("cheap", cost=0.5, lost=["budget"]),
        outcome("dear", cost=0.6, lost=["budget", "city"]),
        outcome("dearer", cost=1.1),
    )
    assert found == ["full history", "cheap"]


def test_the_same_cost_with_more_kept_dominates_and_so_does_less_cost_with_the_same_kept() -> None:
    assert on_front(outcome("a", cost=1.0), outcome("b", cost=1.0, lost=["budget"])) == ["a"]
    assert on_front(outcome("a", cost=1.0), outcome("b", cost=0.9)) == ["b"]


def test_settings_that_are_the_same_in_both_stay_on_the_front() -> None:
    assert on_front(outcome("a", cost=0.3), outcome("b", cost=0.1 + 0.2)) == ["a", "b"]


def test_what_is_not_ranked_or_has_no_cost_is_no_point() -> None:
    points = front(outcome(), outcome("a", status=Status.REJECTED, cost=0.1), outcome("b", cost=None))
    assert list(points) == ["full history"]


def test_models_do_not_dominate_each_other() -> None:
    assert on_front(outcome("a", cost=1.0, model="m1"), outcome("b", cost=0.5, model="m2")) == ["a", "b"]


def test_kept_and_recall_may_tell_different_fronts_and_the_basis_decides() -> None:
    replays = [
        outcome("full history", cost=1.0, recall_passed=4),
        outcome("a", cost=0.5, lost=["budget"], recall_passed=4),
        outcome("b", cost=0.6, recall_passed=3),
    ]
    simulated, lived = front(*replays), front(*live(*replays))
    assert [point.dominated_on_kept for point in simulated.values()] == [True, False, False]
    assert [point.dominated_on_recall for point in simulated.values()] == [True, False, True]
    assert [point.dominated for point in simulated.values()] == [True, False, False]
    assert [point.dominated for point in lived.values()] == [True, False, True]


def test_without_facts_it_is_not_known_what_dominates() -> None:
    (point,) = front(outcome(facts=())).values()
    assert (point.dominated, point.dominated_on_kept, point.dominated_on_recall) == (False, None, None)


points = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 4)), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(points)
def test_a_point_is_dominated_exactly_where_another_is_no_worse_in_both_and_better_in_one(
    values: list[tuple[int, int]],
) -> None:
    outcomes = [outcome(f"x{i}", cost=cost / 10, lost=FACTS[:lost]) for i, (cost, lost) in enumerate(values)]
    expected = [any(o <= c and p <= k and (o, p) != (c, k) for o, p in values) for c, k in values]
    assert [point.dominated for point in front(*outcomes).values()] == expected
