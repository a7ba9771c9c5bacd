"""Notes on a comparison, and the one comparison that others are held against."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memdash.errors import InputError, NotStored
from memdash.store import MEMORY, Store
from memdash.store.handover import carry_out, comparison_lines, from_lines
from memdash.store.notes import Additions, read_additions
from tests.store.samples import a_comparison


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.duckdb") as opened:
        yield opened


def stored(store: Store) -> str:
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    return spec.id


def reopened(store: Store) -> Store:
    assert store.path is not None
    store.close()
    return Store.open(store.path)


# -- notes ---------------------------------------------------------------------------------------------------------------


def test_a_note_says_who_wrote_it_when_and_what(store: Store) -> None:
    one, other = stored(store), stored(store)
    store.add_note(one, "  looks <b>wrong</b>\nat turn 9 ", "ann@team.example")
    store.add_note(one, "was the old prompt", None)
    with reopened(store) as again:
        first, second = again.comparison(one).notes
        assert (first.text, first.who) == ("looks <b>wrong</b>\nat turn 9", "ann@team.example")
        assert (second.text, second.who) == ("was the old prompt", None)
        assert first.at.tzinfo is UTC
        assert first.at <= second.at <= datetime.now(UTC) < first.at + timedelta(minutes=5)
        assert again.comparison(other).notes == ()
        listed = {found.id: found.notes for found in again.comparisons()}
        assert listed == {one: (first, second), other: ()}


def test_a_list_that_was_read_before_sees_a_new_note(store: Store) -> None:
    one = stored(store)
    assert store.comparisons()[0].notes == ()
    before = store.version(one)
    store.add_note(one, "new", None)
    assert [note.text for note in store.comparisons()[0].notes] == ["new"]
    assert store.additions(one) == Additions(store.comparison(one).notes, baseline=False)
    assert store.version(one) > before


@pytest.mark.parametrize(
    ("text", "why"), [(" \n ", "needs a text"), ("x" * 2_001, "at most 2,000 characters")]
)
def test_a_note_has_a_text_of_a_remarks_length(store: Store, text: str, why: str) -> None:
    one = stored(store)
    with pytest.raises(InputError, match=why):
        store.add_note(one, text, None)
    assert store.comparison(one).notes == ()


def test_a_note_needs_a_comparison(store: Store) -> None:
    with pytest.raises(NotStored) as raised:
        store.add_note("cmp_none", "hello", None)
    assert raised.value.problem == "there is no comparison 'cmp_none'"
    assert str(store.path) in str(raised.value)
    assert str(store.path) not in raised.value.problem


def test_notes_go_with_a_comparison_that_is_handed_on(store: Store) -> None:
    one = stored(store)
    store.add_note(one, "half a pair: \ud83d, and a rest", "ann")
    lines = list(comparison_lines(store, one, texts=False))
    with Store.open(MEMORY) as copy:
        carry_out(from_lines(lines), copy)
        assert copy.comparison(one).notes == store.comparison(one).notes


def test_a_purge_keeps_the_notes_of_what_is_kept(store: Store) -> None:
    kept, gone = stored(store), stored(store)
    store.add_note(kept, "stays", None)
    store.add_note(gone, "goes", None)
    store.delete(gone)
    store.purge()
    assert [note.text for note in store.comparison(kept).notes] == ["stays"]
    assert store.path is not None
    store.close()
    assert b"goes" not in store.path.read_bytes()


@pytest.mark.parametrize("value", ["", "[]", "{}", '{"who": null, "text": 5}', '{"who": [], "text": "x"}'])
def test_what_is_no_note_is_not_read_as_one(value: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        read_additions([("cmp_1", datetime(2026, 11, 30), "note", value)])


# -- the baseline --------------------------------------------------------------------------------------------------------


def test_there_is_one_baseline_at_most(store: Store) -> None:
    first, second = stored(store), stored(store)
    assert store.baseline() is None
    store.pin_baseline(first)
    assert store.baseline() == first
    store.pin_baseline(second)
    assert store.baseline() == second
    assert {one.id: one.baseline for one in store.comparisons()} == {first: False, second: True}
    assert [store.additions(one).baseline for one in (first, second)] == [False, True]
    with reopened(store) as again:
        assert again.baseline() == second
        again.pin_baseline(None)
        assert again.baseline() is None


def test_a_baseline_that_is_deleted_leaves_none_behind(store: Store) -> None:
    first, second = stored(store), stored(store)
    store.pin_baseline(first)
    store.pin_baseline(second)
    store.delete(second)
    assert store.baseline() is None
    store.purge()
    assert store.baseline() is None, "what was the baseline before does not come back"


def test_only_what_is_there_can_be_the_baseline(store: Store) -> None:
    one = stored(store)
    store.pin_baseline(one)
    with pytest.raises(NotStored):
        store.pin_baseline("cmp_none")
    assert store.baseline() == one
