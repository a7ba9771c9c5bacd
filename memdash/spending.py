"""What live requests cost: the entries of the ledger, and what they come to by day, person and comparison.

The ledger says what was paid whatever becomes of the comparison: deleting one, or erasing its texts, gives no money back. A day
is a day in UTC, the same for everybody who shares a budget.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from threading import Lock

_DAYS_KEPT = 2
"""A request that is let through just before midnight may be answered after it."""


class EntryKind(StrEnum):
    """What an entry of the ledger says."""

    STARTED = "started"
    """A live run was started, or went on."""
    SET_ASIDE = "set_aside"
    """A request was let through; the amount is the most it can cost. It counts until an answer comes, and if none does."""
    PAID = "paid"
    """The same request was answered; the amount is what it cost."""
    UNSENT = "unsent"
    """The same request was answered by the simulator after all (recorded replies)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger. ``ticket`` is what entries about one request share; ``at`` is when it was let through.

    ``usd`` is None where the model has no known price, and where nothing is paid.
    """

    kind: EntryKind
    at: datetime
    comparison_id: str
    person: str | None = None
    own_key: bool = False
    model: str | None = None
    usd: float | None = None
    ticket: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def day(self) -> date:
        """The day in UTC that it counts for."""
        return self.at.astimezone(UTC).date()

    def answered(self, kind: EntryKind, usd: float | None) -> Entry:
        """Return what follows this one once its request is answered; it counts for the same day."""
        return replace(self, kind=kind, usd=usd)


@dataclass(frozen=True, slots=True)
class Expense:
    """What one person spent in one comparison on one day (UTC), with one kind of key.

    ``usd`` holds every request with a known price, those without an answer at the most they can cost; ``unanswered`` is how many
    those are. ``unpriced`` is how many requests are missing from ``usd`` because their model has no price.
    """

    day: date
    person: str | None
    comparison_id: str
    own_key: bool
    requests: int
    usd: float
    unanswered: int
    unpriced: int


@dataclass(frozen=True, slots=True)
class Started:
    """A live run as somebody started it, or let it go on."""

    at: datetime
    person: str | None
    comparison_id: str
    own_key: bool


class DaySums:
    """What the requests of the present days come to so far, in memory beside the ledger; safe to use from several threads."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._lock = Lock()
        self._tickets: dict[date, dict[str, Entry]] = {}
        self._sums: dict[date, float] = {}
        self.add(entries)

    def add(self, entries: Iterable[Entry]) -> None:
        """Take in entries, in any order and also twice."""
        with self._lock:
            for entry in entries:
                if entry.kind is not EntryKind.STARTED:
                    self._add(entry)
            for day in sorted(self._tickets)[:-_DAYS_KEPT]:
                del self._tickets[day], self._sums[day]

    def of(self, day: date) -> float:
        """Return the dollars of a day, those set aside for requests without an answer included."""
        with self._lock:
            return self._sums.get(day, 0.0)

    def _add(self, entry: Entry) -> None:
        tickets = self._tickets.setdefault(entry.day, {})
        before = tickets.get(entry.ticket)
        if before is not None and (
            before.kind is not EntryKind.SET_ASIDE or entry.kind is EntryKind.SET_ASIDE
        ):
            return
        tickets[entry.ticket] = entry
        taken_back = (before.usd or 0.0) if before is not None else 0.0
        self._sums[entry.day] = self._sums.get(entry.day, 0.0) + (entry.usd or 0.0) - taken_back


@dataclass(frozen=True, slots=True)
class Account:
    """What some expenses come to: dollars today (UTC), in the last thirty days with today, and in all."""

    today: float = 0.0
    month: float = 0.0
    total: float = 0.0
    requests: int = 0
    own_key: float = 0.0
    """Dollars in all that were paid with people's own keys."""
    unanswered: int = 0
    unpriced: int = 0

    @classmethod
    def of(cls, expenses: Iterable[Expense], today: date) -> Account:
        """Add up expenses as of a day."""
        found = list(expenses)
        since = today - timedelta(days=DAYS_OF_MONTH - 1)
        return cls(
            today=math.fsum(one.usd for one in found if one.day == today),
            month=math.fsum(one.usd for one in found if since <= one.day <= today),
            total=math.fsum(one.usd for one in found),
            requests=sum(one.requests for one in found),
            own_key=math.fsum(one.usd for one in found if one.own_key),
            unanswered=sum(one.unanswered for one in found),
            unpriced=sum(one.unpriced for one in found),
        )


DAYS_OF_MONTH = 30


def by_comparison(expenses: Iterable[Expense], today: date) -> dict[str, Account]:
    """Return each comparison's account, by its id."""
    comparisons: dict[str, list[Expense]] = {}
    for one in expenses:
        comparisons.setdefault(one.comparison_id, []).append(one)
    return {comparison_id: Account.of(own, today) for comparison_id, own in comparisons.items()}


def by_person(expenses: Iterable[Expense], today: date) -> dict[str | None, Account]:
    """Return each person's account, who spent most comes first."""
    people: dict[str | None, list[Expense]] = {}
    for one in expenses:
        people.setdefault(one.person, []).append(one)
    accounts = {person: Account.of(own, today) for person, own in people.items()}
    return dict(sorted(accounts.items(), key=lambda item: -item[1].total))


def by_day(
    expenses: Iterable[Expense], today: date, days: int = DAYS_OF_MONTH
) -> dict[str | None, list[float]]:
    """Return each person's dollars on each of the last ``days`` days, today last; whoever spent most comes first."""
    first = today - timedelta(days=days - 1)
    sums: dict[str | None, list[float]] = {}
    for one in expenses:
        if first <= one.day <= today:
            sums.setdefault(one.person, [0.0] * days)[(one.day - first).days] += one.usd
    return dict(sorted(sums.items(), key=lambda item: -math.fsum(item[1])))
