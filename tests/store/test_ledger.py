"""The ledger in the store: what was spent stays spent, whoever hands it in and whatever becomes of the comparison."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memdash.spending import Entry, EntryKind, Expense
from memdash.store import MEMORY, InboxStore, Ownership, RemoteStore, Store
from memdash.store.handover import NoteEntries, from_lines, to_lines
from memdash.store.owner import OwnerFile
from memdash.store.remote import Owner
from tests.store.samples import a_comparison

NOW = datetime.now(UTC).replace(microsecond=0) + timedelta(
    days=1
)  # what is opened past midnight still tells of it
TODAY = NOW.date()
ANN = "ann@example.com"


def a_request(
    comparison: str = "cmp_1", *, usd: float | None = 0.1, at: datetime = NOW, own_key: bool = False
) -> Entry:
    return Entry(EntryKind.SET_ASIDE, at, comparison, ANN, own_key, "claude-opus-5-5", usd)


def paid(asked: Entry, usd: float | None) -> list[Entry]:
    return [asked, asked.answered(EntryKind.PAID, usd)]


def expense(
    requests: int, usd: float, *, unanswered: int = 0, unpriced: int = 0, day: date = TODAY, own: bool = False
) -> Expense:
    return Expense(day, ANN, "cmp_1", own, requests, pytest.approx(usd), unanswered, unpriced)


def test_expenses_are_told_by_day_person_comparison_and_kind_of_key() -> None:
    with Store.open(MEMORY) as store:
        store.note_entries([*paid(a_request(), 0.02), *paid(a_request(), 0.03), a_request(usd=0.5)])
        store.note_entries([*paid(a_request(own_key=True), 0.04), *paid(a_request(usd=None), None)])
        store.note_entries(paid(a_request(at=NOW - timedelta(days=1)), 0.2))
        store.note_entries(
            [a_request(), (simulated := a_request()), simulated.answered(EntryKind.UNSENT, None)]
        )
        store.flush()
        assert store.expenses() == [
            expense(1, 0.2, day=TODAY - timedelta(days=1)),
            expense(5, 0.02 + 0.03 + 0.5 + 0.1, unanswered=2, unpriced=1),
            expense(1, 0.04, own=True),
        ]
        assert store.spent_on(TODAY) == pytest.approx(0.69)


def test_who_started_a_live_run_is_told_with_the_moment() -> None:
    with Store.open(MEMORY) as store:
        store.note_entries([Entry(EntryKind.STARTED, NOW, "cmp_1", ANN, own_key=True)])
        store.flush()
        assert [(one.at, one.person, one.comparison_id, one.own_key) for one in store.started()] == [
            (NOW, ANN, "cmp_1", True)
        ]
        assert store.expenses() == []


def test_what_a_day_came_to_survives_a_restart_delete_and_purge(tmp_path: Path) -> None:
    path, spec = tmp_path / "memdash.duckdb", a_comparison()
    with Store.open(path) as store:
        store.save_comparison(spec)
        store.note_entries([*paid(a_request(spec.id), 0.02), a_request(spec.id, usd=0.3)])
        store.delete(spec.id)
        store.purge()
        assert store.spent_on(TODAY) == pytest.approx(0.32)
    with Store.open(path) as store:
        assert store.spent_on(TODAY) == pytest.approx(0.32)
        assert [(one.requests, one.usd, one.unanswered) for one in store.expenses()] == [
            (2, pytest.approx(0.32), 1)
        ]


def test_an_answer_is_paid_for_also_after_its_comparison_was_deleted() -> None:
    with Store.open(MEMORY) as store:
        spec = a_comparison()
        store.save_comparison(spec)
        asked = a_request(spec.id)
        store.note_entries([asked])
        store.delete(spec.id)
        store.note_entries([asked.answered(EntryKind.PAID, 0.02)])
        store.flush()
        assert [(one.usd, one.unanswered) for one in store.expenses()] == [(0.02, 0)]


def test_entries_travel_between_processes_unchanged() -> None:
    entries = [*paid(a_request(), 0.02), Entry(EntryKind.STARTED, NOW, "cmp_1")]
    assert list(from_lines(to_lines(NoteEntries(entries)))) == [NoteEntries(entries)]


def test_what_another_process_spends_counts_at_once_for_the_owner_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "memdash.duckdb"
    with Store.open(path) as store, Ownership(store):
        file = OwnerFile.read(path)
        assert file is not None
        RemoteStore(path, Owner(file), lambda: store).note_entries(paid(a_request(), 0.02))
        assert store.spent_on(TODAY) == pytest.approx(0.02)


def test_what_was_spent_while_nobody_could_take_it_in_is_taken_in_later_and_once(tmp_path: Path) -> None:
    path, spec = tmp_path / "memdash.duckdb", a_comparison()
    left = InboxStore(path)
    left.save_comparison(spec)
    left.note_entries(paid(a_request(spec.id), 0.02))
    left.close()
    (file,) = (tmp_path / "memdash.duckdb.inbox").iterdir()
    lines = file.read_bytes()
    with Store.open(path) as store:
        with Ownership(store) as owner:
            file.write_bytes(lines)  # as after a crash between taking in and removing
            owner.care()
        assert store.spent_on(TODAY) == pytest.approx(0.02)
        assert [(one.requests, one.usd) for one in store.expenses()] == [(1, pytest.approx(0.02))]
