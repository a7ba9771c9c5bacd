"""Means with their intervals; Student's t of 2 degrees of freedom at 97.5 % is 4.302653."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.metrics.sweep import Estimate
from memdash.metrics.sweep.intervals import Sample, estimates

shares = st.floats(0, 1).map(lambda share: round(share, 6))


def estimate(
    *scripts: list[float], worst: float = 9.0, least: float = -math.inf, most: float = math.inf
) -> Estimate:
    return estimates({"it": Sample(scripts, worst, least, most)})["it"]


def test_one_value_has_no_interval() -> None:
    assert estimate([5.0]) == Estimate(5.0, None, None, 9.0, 1)


def test_repeats_of_one_script_scatter_by_students_t() -> None:
    it = estimate([1.0, 2.0, 3.0])
    reach = 4.302652729911275 / math.sqrt(3)  # the standard deviation is 1
    assert (it.mean, it.low, it.high, it.n) == (2.0, pytest.approx(2 - reach), pytest.approx(2 + reach), 3)


def test_an_interval_stays_where_its_mean_can_be() -> None:
    it = estimate([0.0, 0.0, 1.0], least=0.0, most=1.0)
    assert (it.low, it.high) == (0.0, 1.0)


def test_repeats_that_agree_have_an_interval_without_width() -> None:
    assert estimate([0.1, 0.1, 0.1]) == Estimate(0.1, 0.1, 0.1, 9.0, 3)


def test_every_script_counts_the_same_however_often_it_was_repeated() -> None:
    it = estimate([1.0], [4.0, 4.0, 4.0, 4.0])
    assert (it.mean, it.n) == (2.5, 2)


def test_over_scripts_whole_scripts_are_resampled() -> None:
    # Two scripts: either twice comes one time in four. Three: any one of them three times comes one time in 27, over 2.5 %.
    assert (estimate([1.0, 3.0], [8.0]).low, estimate([1.0, 3.0], [8.0]).high) == (2.0, 8.0)
    it = estimate([0.0], [3.0], [6.0])
    assert (it.low, it.high) == (0.0, 6.0)


def test_ten_scripts_narrow_the_interval() -> None:
    it = estimate(*([float(n)] for n in range(10)))
    # The standard error is 0.908, so by the normal approximation 4.5 ± 1.8.
    assert it.low == pytest.approx(4.5 - 1.8, abs=0.3)
    assert it.high == pytest.approx(4.5 + 1.8, abs=0.3)


def test_an_interval_is_the_same_every_time_and_whatever_stands_beside_it() -> None:
    one = Sample([[1.0], [2.0], [4.0], [8.0]], 8.0)
    other = Sample([[5.0], [1.0], [1.0], [0.0]], 5.0)
    alone = estimates({"one": one})["one"]
    assert estimates({"other": other, "one": one})["one"] == alone


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(shares, min_size=1, max_size=4), min_size=1, max_size=6))
def test_the_mean_lies_in_its_interval_and_a_share_stays_a_share(scripts: list[list[float]]) -> None:
    it = estimate(*scripts, least=0.0, most=1.0)
    if it.n == 1:
        assert (it.low, it.high) == (None, None)
    else:
        assert it.low is not None
        assert it.high is not None
        assert 0 <= it.low <= it.mean <= it.high <= 1
