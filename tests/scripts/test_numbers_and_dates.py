"""Numbers and dates are found however they are written, and nothing else passes for them."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.scripts.dates import holds_date, parse_date
from memdash.scripts.numbers import holds_number, parse_number


@pytest.mark.parametrize(
    "text",
    [
        "2400",
        "It is 2,400.",
        "2 400",
        "2\u202f400 €",
        "2.400 euros",
        "2'400",
        "€2400",
        "$2,400.00",
        "2.400,00",
        "2400EUR",
        "EUR2400",
        "**2,400**",
        "2400-2600",
        "a line\nbudget: 2,400\nanother",
        "2400/night",
    ],
)
def test_an_amount_is_found_however_it_is_written(text: str) -> None:
    assert holds_number(text, Decimal(2400))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12400",
        "24000",
        "12,400",
        "2,4000",
        "2 4000",
        "2400.50",
        "2,400.5",
        "-2400",
        "A2400",
        "INC_2400",
        "2400k",
        "24:00",
        "1.2.400",
        "240 0",
        "two thousand four hundred",
    ],
)
def test_another_number_is_not_it(text: str) -> None:
    assert not holds_number(text, Decimal(2400))


def test_clock_times_dates_and_fractions_are_no_numbers() -> None:
    assert not holds_number("14:30", Decimal(14))
    assert not holds_number("14:30", Decimal(30))
    assert not holds_number("2026-06-14", Decimal(6))
    assert not holds_number("2026-06-14", Decimal(14))
    assert not holds_number("3/4 of it", Decimal(3))


def test_signs_and_decimals_count() -> None:
    assert holds_number("minus: -5 degrees", Decimal(-5))
    assert not holds_number("-5 degrees", Decimal(5))
    assert holds_number("between 3-5 days", Decimal(5))
    assert holds_number("2,5 km", Decimal("2.5"))
    assert holds_number("2.50 km", Decimal("2.5"))
    assert holds_number("rooms 1,2,3", Decimal(2))


def test_what_is_a_number_for_a_script() -> None:
    assert parse_number("2400") == Decimal(2400)
    assert parse_number("-3.50") == Decimal("-3.5")
    for text in ("2,400", "1e3", "", "nan", "9" * 41, "12 "[:2] + "x"):
        assert parse_number(text) is None


@settings(max_examples=100)
@given(st.integers(0, 10**9), st.text(max_size=20))
def test_a_number_is_found_with_any_grouping_after_any_words(number: int, words: str) -> None:
    for written in (
        str(number),
        f"{number:,}",
        f"{number:,}".replace(",", " "),
        f"{number:,}".replace(",", "."),
    ):
        assert holds_number(f"{words}\nis {written} in all", Decimal(number))


@pytest.mark.parametrize(
    "text",
    [
        "14 June 2026",
        "June 14th",
        "Sunday, June 14th, 2026",
        "the 14th of June",
        "on 14\nJune",
        "Jun. 14",
        "14-Jun-2026",
        "2026-06-14",
        "2026-06-14T18:40",
        "14/06/2026",
        "06/14/2026",
        "14.06.2026",
        "14.6.26",
        "14/06",
        "June 14, 18:40",
        "**June 14**",
    ],
)
def test_a_date_is_found_however_it_is_written(text: str) -> None:
    assert holds_date(text, datetime.date(2026, 6, 14))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "14",
        "June",
        "14 June 2025",
        "14/06/2025",
        "114 June",
        "June 140",
        "June 14:30",
        "14 July",
        "2026-06-15",
        "14 Juneau",
        "14/06/2026/3",
    ],
)
def test_another_date_is_not_it(text: str) -> None:
    assert not holds_date(text, datetime.date(2026, 6, 14))


def test_a_date_whose_day_and_month_could_change_places_does_not_count() -> None:
    fifth_of_june = datetime.date(2026, 6, 5)
    assert not holds_date("05/06/2026", fifth_of_june)
    assert not holds_date("06/05/2026", fifth_of_june)
    assert holds_date("5.6.2026", fifth_of_june)  # parted by dots, the day comes first
    assert holds_date("06/06/2026", datetime.date(2026, 6, 6))  # the same either way


def test_a_year_is_not_taken_for_a_day() -> None:
    assert not holds_date("14 June 2025", datetime.date(2025, 6, 20))


def test_what_is_a_date_for_a_script() -> None:
    assert parse_date("2026-06-14") == datetime.date(2026, 6, 14)
    for text in ("2026-02-30", "14 June", "20260614", "2026-W24-7", ""):
        assert parse_date(text) is None


@settings(max_examples=100)
@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)))
def test_every_date_is_found_in_words_and_in_iso_form(date: datetime.date) -> None:
    for written in (
        f"{date:%d %B %Y}",
        f"{date:%B} {date.day}, {date.year}",
        date.isoformat(),
        f"{date.day} {date:%b}",
    ):
        assert holds_date(f"It is {written}.", date)
