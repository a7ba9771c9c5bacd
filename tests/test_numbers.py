"""Numbers as people read them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash import numbers


@pytest.mark.parametrize(
    ("count", "text"),
    [(165_444, "165,444"), (0, "0"), (812.4, "812"), (-1500, "−1,500"), (None, "not reported")],
)
def test_tokens_in_full(count: float | None, text: str) -> None:
    assert numbers.tokens(count) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"), (812, "812"), (949, "949"), (950, "950"), (999, "999"), (999.6, "1k"), (1000, "1k"), (1049, "1k"),
        (28_400, "28.4k"), (165_444, "165k"), (999_949, "1M"), (1_234_567, "1.2M"), (133e6, "133M"), (2.5e9, "2.5B"),
        (None, "not reported"),
    ],
)  # fmt: skip
def test_tokens_on_a_card(count: float | None, text: str) -> None:
    assert numbers.tokens_short(count) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0.2619, "$0.2619"), (0, "$0"), (1, "$1.00"), (12.4, "$12.40"), (1234.5, "$1,234.50"), (0.99996, "$1.00"),
        (0.9999, "$0.9999"), (0.001, "$0.0010"), (0.000512, "$0.00051"), (0.000012, "$0.000012"), (0.00000096, "$0.00000096"),
        (-0.25, "−$0.2500"), (None, "n/a"),
    ],
)  # fmt: skip
def test_dollars(amount: float | None, text: str) -> None:
    assert numbers.usd(amount) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (1236.4, "$1,236"),
        (99.994, "$99.99"),
        (99.996, "$100"),
        (0.5, "$0.5000"),
        (-250_000.6, "−$250,001"),
        (0, "$0"),
    ],
)
def test_a_sum_that_is_known_roughly_has_no_cents(amount: float, text: str) -> None:
    assert numbers.usd_whole(amount) == text


@given(st.floats(min_value=1e-9, max_value=1e6))
def test_a_cost_that_is_not_nothing_never_reads_as_nothing(amount: float) -> None:
    assert re.search("[1-9]", numbers.usd(amount))


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.94, "94 %"), (0, "0 %"), (1, "100 %"), (0.001, "<1 %"), (0.996, ">99 %"), (0.005, "0 %"), (None, "not reported")],
)  # fmt: skip
def test_shares(share: float | None, text: str) -> None:
    assert numbers.percent(share) == text


def test_a_range_that_reads_the_same_at_both_ends_is_one_figure() -> None:
    assert numbers.span(0.12, 0.16, numbers.usd) == "$0.1200 to $0.1600"
    assert numbers.span(0.12001, 0.12002, numbers.usd) == "$0.1200"
    assert numbers.span(3, 4, str) == "3 to 4"


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(0.234, "+23 %"), (-0.35, "−35 %"), (0.001, "±0 %"), (12.5, "+1,250 %"), (None, "–")],
)
def test_changes(ratio: float | None, text: str) -> None:
    assert numbers.change(ratio) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (8900, "8.9 s"), (0, "0.0 s"), (20, "<0.1 s"), (59_940, "59.9 s"), (59_960, "1 min"), (125_000, "2 min 5 s"),
        (3_600_000, "1 h"), (5_400_000, "1 h 30 min"), (None, "–"),
    ],
)  # fmt: skip
def test_times(milliseconds: float | None, text: str) -> None:
    assert numbers.seconds(milliseconds) == text


def test_parts_counts_and_lists() -> None:
    assert numbers.part(3, 4) == "3 of 4"
    assert numbers.part(999, 1000) == "999 of 1,000"
    assert numbers.part(None, 4) == numbers.part(0, 0) == "–"
    assert numbers.count(1, "fact") == "1 fact"
    assert numbers.count(1200, "turn") == "1,200 turns"
    assert numbers.count(2, "summary", "summaries") == "2 summaries"
    assert numbers.listing([]) == ""
    assert numbers.listing(["a"]) == "a"
    assert numbers.listing(["a", "b", "c"]) == "a, b and c"
    assert numbers.listing(["a", "b", "c", "d", "e"], limit=3) == "a, b and 3 more"


def test_the_three_missing_values_differ_and_are_explained() -> None:
    assert len({numbers.NOT_REPORTED, numbers.NOT_AVAILABLE, numbers.NOTHING}) == 3
    assert set(numbers.MEANINGS) == {numbers.NOT_REPORTED, numbers.NOT_AVAILABLE, numbers.NOTHING}
