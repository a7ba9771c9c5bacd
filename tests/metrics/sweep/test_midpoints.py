"""The value between two values of a swept parameter."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memdash.metrics.sweep.midpoints import midpoint


@pytest.mark.parametrize(
    ("low", "high", "between"),
    [
        (1000, 2000, 2000 - 600),  # the geometric mean is 1414; 1400 is easier to remember
        (4000, 8000, 6000),  # 5657: one digit is near enough to the middle
        (500, 8000, 2000),  # four octaves
        (1.0, 2.0, 1.4),
    ],
)
def test_on_a_geometric_axis_it_is_near_the_geometric_mean(low: float, high: float, between: float) -> None:
    assert midpoint(low, high, geometric=True) == between


@pytest.mark.parametrize(
    ("low", "high", "between"),
    [(1000, 2000, 1500), (2, 24, 10), (4, 6, 5), (4, 7, 6), (0.2, 0.8, 0.5), (0, 2, 1), (-2, 2, 0)],
)
def test_on_a_linear_axis_it_is_near_the_mean(low: float, high: float, between: float) -> None:
    assert midpoint(low, high, geometric=False) == between


@pytest.mark.parametrize(("low", "high"), [(4, 5), (1000, 1050), (0.58, 0.6), (3, 3)])
def test_what_is_adjacent_has_nothing_between(low: float, high: float) -> None:
    assert midpoint(low, high, geometric=False) is None
    assert midpoint(low, high, geometric=True) is None


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.booleans())
def test_a_whole_number_lies_between_whole_numbers(one: int, other: int, geometric: bool) -> None:
    low, high = sorted((one, other))
    value = midpoint(low, high, geometric=geometric)
    if high - low > max(1, 0.05 * high):
        assert isinstance(value, int)
        assert low < value < high
    else:
        assert value is None


@given(st.floats(0.001, 1000), st.floats(0.001, 1000), st.booleans())
def test_a_number_lies_in_the_inner_half_and_has_few_digits(
    one: float, other: float, geometric: bool
) -> None:
    low, high = sorted((one, other))
    assume(high - low > 0.05 * high)
    value = midpoint(low, high, geometric=geometric)
    assert value is not None
    assert low < value < high
    assert value == float(f"{value:g}")
