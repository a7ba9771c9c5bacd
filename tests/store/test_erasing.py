"""Delete erases: after a purge no byte of a text that nobody else uses is anywhere beside the database, nor in it."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memdash.errors import StoreError
from memdash.records import EventKind, EventRecord, Status
from memdash.spec import ComparisonSpec
from memdash.store import InboxStore, Store
from memdash.store.database import inbox_of
from memdash.store.inbox import take_in
from tests.store.samples import a_comparison, a_request, a_script, some_records

SECRET = "orchid-fjord-774"
SHARED = "plain-words-552"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lab" / "memdash.duckdb"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as opened:
        yield opened


def stored(store: Store, *texts: str, script: str = "chat", title: str = "") -> ComparisonSpec:
    """Store a comparison that says each text in a message and in a summary."""
    spec = a_comparison("full_history", title=title, scripts=(a_script(script),))
    store.save_comparison(spec)
    records = some_records(turns=0, end=None)
    for turn, text in enumerate(texts, start=1):
        records.append(a_request(len(records), turn, text=text))
        records.append(
            EventRecord(len(records), EventKind.COMPACTION, turn, 1.0, {"text": f"summary of {text}"})
        )
    store.append(spec.replays()[0].id, records)
    store.flush()
    return spec


def left_of(path: Path, text: str) -> list[str]:
    """Which files beside the database, itself included, hold a text: its log, its copies, its inbox."""
    return [
        str(one.relative_to(path.parent))
        for one in path.parent.rglob("*")
        if one.is_file() and text.encode() in one.read_bytes()
    ]


def test_nothing_is_left_of_what_was_deleted_while_the_database_stays_open(store: Store, path: Path) -> None:
    gone = stored(store, SECRET, script="private-script", title="private title 9931")
    kept = stored(store, SHARED, title="kept title 1207")
    store.add_note(gone.id, "private note 4410", "ada@example.org")
    store.flush()
    traces = [
        SECRET,
        f"summary of {SECRET}",
        "private-script",
        "private title 9931",
        "private note 4410",
        gone.id,
    ]
    for trace in traces:
        assert left_of(path, trace), trace
    store.delete(gone.id)
    assert left_of(path, SECRET) != []  # hidden is not erased
    store.purge()
    for trace in traces:
        assert left_of(path, trace) == [], trace
    assert left_of(path, SHARED) == ["memdash.duckdb"]
    assert store.comparison(kept.id).title == "kept title 1207"


def test_a_text_that_another_comparison_uses_stays_there(store: Store, path: Path) -> None:
    gone = stored(store, SHARED, SECRET, script="shared-script")
    kept = stored(store, SHARED, script="shared-script")
    before = store.journal(kept.replays()[0].id)
    store.delete(gone.id)
    store.purge()
    assert (left_of(path, SECRET), left_of(path, gone.id)) == ([], [])
    assert left_of(path, SHARED) == left_of(path, "shared-script") == ["memdash.duckdb"]
    assert store.journal(kept.replays()[0].id) == before
    store.delete(kept.id)
    store.purge()
    assert (left_of(path, SHARED), left_of(path, "shared-script"), left_of(path, kept.id)) == ([], [], [])


def test_what_lies_in_the_inbox_of_a_deleted_comparison_is_erased_too(store: Store, path: Path) -> None:
    """A file of it that could not be taken in was set aside; it will never be of use."""
    gone, kept = stored(store, SECRET), stored(store, SHARED)
    folder = inbox_of(path)
    folder.mkdir()
    for spec, text in ((gone, SECRET), (kept, SHARED)):
        (folder / f"{spec.id}.123.jsonl.damaged").write_text(text)
    store.delete(gone.id)
    store.purge()
    assert left_of(path, SECRET) == []
    assert left_of(path, SHARED) == ["memdash.duckdb", f"memdash.duckdb.inbox/{kept.id}.123.jsonl.damaged"]


def test_what_came_in_through_the_inbox_is_erased_like_anything_else(store: Store, path: Path) -> None:
    inbox = InboxStore(path)
    spec = stored(inbox, SECRET)
    inbox.close()
    take_in(store)
    store.delete(spec.id)
    assert left_of(path, SECRET) != []
    store.purge()
    assert left_of(path, SECRET) == []


def test_a_copy_that_a_broken_purge_left_is_gone_after_the_next(store: Store, path: Path) -> None:
    gone = stored(store, SECRET)
    stored(store, SHARED)
    for name in ("memdash.duckdb.purge", "memdash.duckdb.purge.wal"):
        (path.parent / name).write_text(SECRET)
    store.delete(gone.id)
    store.purge()
    assert left_of(path, SECRET) == []
    assert sorted(one.name for one in path.parent.iterdir()) == ["memdash.duckdb"]


def test_a_log_that_was_not_yet_taken_into_the_file_is_not_taken_into_the_new_one(
    store: Store, path: Path
) -> None:
    gone, kept = stored(store, SECRET), stored(store, SHARED)
    with store._database.alone() as connection:
        connection.execute("set checkpoint_threshold = '1GB'")
        connection.execute("pragma disable_checkpoint_on_shutdown")
    stored(store, SECRET)
    store.delete(gone.id)
    for one in store.comparisons():
        if one.id != kept.id:
            store.delete(one.id)
    assert "memdash.duckdb.wal" in left_of(path, SECRET)
    store.purge()
    assert left_of(path, SECRET) == []
    assert [one.id for one in store.comparisons()] == [kept.id]


def test_what_runs_goes_on_through_a_purge_and_nothing_of_it_is_lost(store: Store, path: Path) -> None:
    running = a_comparison("full_history")
    store.save_comparison(running)
    (replay,) = running.replays()
    store.append(replay.id, some_records(turns=0, end=None))
    begun, purged = threading.Event(), threading.Event()

    def play() -> None:
        for seq in range(1, 301):
            store.append(replay.id, [a_request(seq, seq % 4 + 1, text=f"{SHARED} {seq}")])
            if seq == 100:
                begun.set()
            if seq == 200:
                purged.wait(60)

    player = threading.Thread(target=play)
    player.start()
    begun.wait(60)
    gone = stored(store, SECRET)
    store.delete(gone.id)
    store.purge()
    assert left_of(path, SECRET) == []
    purged.set()
    player.join()
    store.flush()
    assert [record.seq for record in store.journal(replay.id)] == list(range(301))


def test_nothing_of_a_deleted_comparison_comes_after_its_purge(store: Store, path: Path) -> None:
    """A replay that is being cancelled may still hand in what it had begun."""
    spec = stored(store, SHARED)
    (replay,) = spec.replays()
    key = store._key(replay.id)
    store.delete(spec.id)
    store._keys[replay.id] = key  # as a thread has it that looked it up before
    with pytest.raises(StoreError, match="there is no comparison"):
        store.append(replay.id, [a_request(9, 1, text=SECRET)])
    store.purge()
    store.flush()
    assert left_of(path, SECRET) == left_of(path, SHARED) == []


def test_an_import_brings_back_what_was_erased_and_it_can_go_on(store: Store, path: Path) -> None:
    spec = stored(store, SHARED)
    bundle = io.BytesIO()
    store.export_bundle(bundle, [spec.id])
    store.delete(spec.id)
    assert store.deleted() == 1
    store.purge()
    assert store.deleted() == 0
    store.import_bundle(bundle, "back.zip")
    (replay,) = spec.replays()
    store.append(replay.id, [a_request(20, 4, text="more")])
    store.append_state(replay.id, Status.CANCELLED)
    assert [one.turn for one in store.replay_logs(spec.id)[0].requests] == [1, 4]
