"""The ledger's rows. They outlive their comparison: nothing that is deleted or erased gives money back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC

from memdash.spending import Entry, EntryKind, Expense, Started
from memdash.store.rows import Row
from memdash.store.settings import timestamp

LEDGER = "ledger"
"""What the writer takes entries for: they are no comparison's own, and are written after it is gone as well."""


def entry_row(entry: Entry) -> Row:
    """Return the row of an entry."""
    return (
        entry.ticket,
        timestamp(entry.at),
        entry.kind.value,
        entry.person,
        entry.comparison_id,
        entry.own_key,
        entry.model,
        entry.usd,
    )


def read_entries(rows: Iterable[Row]) -> list[Entry]:
    """Read rows of ``ledger``."""
    return [
        Entry(EntryKind(kind), at.replace(tzinfo=UTC), comparison_id, person, own_key, model, usd, ticket)
        for ticket, at, kind, person, comparison_id, own_key, model, usd in rows
    ]


def read_expenses(rows: Iterable[Row]) -> list[Expense]:
    """Read the rows that answer ``queries.EXPENSES``."""
    return [Expense(*row) for row in rows]


def read_started(rows: Iterable[Row]) -> list[Started]:
    """Read the rows that answer ``queries.STARTED``."""
    return [Started(at.replace(tzinfo=UTC), *others) for at, *others in rows]
