"""From which turn on one strategy has cost more than another."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.metrics import break_even_turn, measure, overtakes_at
from memdash.metrics.result import ReplayResult
from memdash.prices import PriceTable
from tests.builders import replay_log, spec, turn


def costing(*millions: int | None) -> ReplayResult:
    """A replay whose turns take so many million input tokens, at $4 each; None is a model without a price."""
    turns = [
        turn(n, input=(count or 0) * 1_000_000, **({} if count is not None else {"model": "unpriced"}))
        for n, count in enumerate(millions, 1)
    ]
    return measure(replay_log(spec(turns=len(millions)), *turns), PriceTable.load())


@pytest.mark.parametrize(
    ("costs", "others", "index"),
    [
        ([1, 2, 5], [1, 3, 4], 2),
        ([2, 3], [1, 2], 0),
        ([1, 4, 3], [1, 2, 3], None),  # equal at the end is not dearer
        ([3, 1, 3], [2, 2, 2], 2),  # dearer, cheaper, dearer for good
        ([1, 2], [2, 3], None),
        ([], [1], None),
        ([1, 2, 9, 9], [1, 1], 1),  # compared as far as both go
    ],
)
def test_overtaking_is_for_good(costs: list[float], others: list[float], index: int | None) -> None:
    assert overtakes_at(costs, others) == index


def test_break_even_is_told_as_a_turn_of_cumulative_cost() -> None:
    # so far: 1, 2, 5, 8 against 2, 4, 5, 6
    assert break_even_turn(costing(1, 1, 3, 3), costing(2, 2, 1, 1)) == 4


def test_rounding_of_sums_is_no_difference() -> None:
    assert break_even_turn(costing(1, 2, 3), costing(3, 2, 1)) is None
    assert overtakes_at([0.1 + 0.2], [0.3]) is None


def test_an_unknown_cost_has_no_break_even() -> None:
    assert break_even_turn(costing(1, None), costing(1, 1)) is None


def test_replays_of_different_length_are_compared_where_both_have_turns() -> None:
    assert break_even_turn(costing(1, 2), costing(1, 1, 100)) == 2


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=12))
def test_before_the_break_even_it_was_not_dearer_and_after_it_always(pairs: list[tuple[int, int]]) -> None:
    costs, others = [a for a, _ in pairs], [b for _, b in pairs]
    index = overtakes_at(costs, others)
    if index is None:
        assert costs[-1] <= others[-1]
    else:
        assert all(a > b for a, b in pairs[index:])
        assert index == 0 or costs[index - 1] <= others[index - 1]
