"""The sums of a day: what counts against its budget, and for which day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.spending import Account, DaySums, Entry, EntryKind, Expense, by_comparison, by_day, by_person

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TODAY = date(2026, 11, 30)


def set_aside(usd: float | None, at: datetime = NOON) -> Entry:
    return Entry(EntryKind.SET_ASIDE, at, "cmp_1", model="claude-opus-5-5", usd=usd)


def test_a_request_counts_at_its_most_until_it_is_answered_and_at_its_cost_from_then_on() -> None:
    sums = DaySums()
    asked = set_aside(0.1)
    sums.add([asked])
    assert sums.of(TODAY) == 0.1
    sums.add([asked.answered(EntryKind.PAID, 0.0064)])
    assert sums.of(TODAY) == pytest.approx(0.0064)


def test_a_request_that_the_simulator_answered_costs_nothing() -> None:
    asked = set_aside(0.1)
    assert DaySums([asked, asked.answered(EntryKind.UNSENT, None)]).of(TODAY) == 0.0


def test_an_unknown_price_adds_nothing_and_a_start_is_no_request() -> None:
    assert DaySums([set_aside(None), Entry(EntryKind.STARTED, NOON, "cmp_1", usd=9.0)]).of(TODAY) == 0.0


def test_a_day_is_a_day_in_utc() -> None:
    late_in_new_york = datetime(2026, 11, 30, 20, tzinfo=timezone(timedelta(hours=-5)))
    sums = DaySums([set_aside(0.1), set_aside(0.5, late_in_new_york)])
    assert (sums.of(TODAY), sums.of(date(2026, 12, 1))) == (0.1, 0.5)


def test_an_answer_after_midnight_counts_for_the_day_its_request_was_let_through() -> None:
    asked = set_aside(0.1, NOON.replace(hour=23, minute=59))
    sums = DaySums([asked, set_aside(0.5, NOON + timedelta(days=1)), asked.answered(EntryKind.PAID, 0.02)])
    assert sums.of(TODAY) == pytest.approx(0.02)


def test_days_long_past_are_let_go() -> None:
    sums = DaySums(set_aside(0.1, NOON + timedelta(days=day)) for day in range(5))
    assert [sums.of(TODAY + timedelta(days=day)) for day in range(5)] == [0.0, 0.0, 0.0, 0.1, 0.1]


@given(st.lists(st.tuples(st.integers(1, 100), st.none() | st.integers(0, 100)), max_size=8), st.randoms())
def test_neither_order_nor_repetition_of_entries_changes_the_sum(
    requests: list[tuple[int, int | None]], chance: object
) -> None:
    entries: list[Entry] = []
    for most, cost in requests:
        asked = set_aside(float(most))
        entries += [asked] if cost is None else [asked, asked.answered(EntryKind.PAID, float(cost))]
    expected = float(sum(most if cost is None else cost for most, cost in requests))
    shuffled = entries * 2
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert DaySums(shuffled).of(TODAY) == expected


# -- accounts ------------------------------------------------------------------------------------------------------------


def spent(
    person: str | None,
    usd: float,
    *,
    ago: int = 0,
    comparison: str = "cmp_1",
    requests: int = 1,
    own: bool = False,
) -> Expense:
    return Expense(
        TODAY - timedelta(days=ago), person, comparison, own, requests, usd, unanswered=0, unpriced=0
    )


EXPENSES = [
    spent("ann", 8.0, ago=30),
    spent("ann", 4.0, ago=29, own=True),
    spent("ben", 2.0, ago=1, comparison="cmp_2", requests=3),
    spent("ann", 1.0),
    spent(None, 0.5, comparison="cmp_2"),
]


def test_an_account_tells_today_thirty_days_and_all() -> None:
    account = Account.of(EXPENSES, TODAY)
    assert (account.today, account.month, account.total) == (1.5, 7.5, 15.5)
    assert (account.requests, account.own_key) == (7, 4.0)


def test_accounts_by_person_and_by_comparison_add_up_to_the_whole() -> None:
    people, comparisons = by_person(EXPENSES, TODAY), by_comparison(EXPENSES, TODAY)
    assert {name: one.total for name, one in people.items()} == {"ann": 13.0, "ben": 2.0, None: 0.5}
    assert list(people) == ["ann", "ben", None]  # who spent most comes first
    assert {name: one.total for name, one in comparisons.items()} == {"cmp_1": 13.0, "cmp_2": 2.5}
    whole = Account.of(EXPENSES, TODAY)
    for accounts in (people, comparisons):
        for name in ("today", "month", "total", "requests", "own_key"):
            assert sum(getattr(one, name) for one in accounts.values()) == getattr(whole, name)


def test_days_stand_in_their_order_with_today_last_and_older_ones_left_out() -> None:
    days = by_day(EXPENSES, TODAY, days=3)
    assert days == {"ben": [0.0, 2.0, 0.0], "ann": [0.0, 0.0, 1.0], None: [0.0, 0.0, 0.5]}
    assert list(days) == ["ben", "ann", None]
