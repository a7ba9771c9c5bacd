"""A backup is of one moment, whatever is written meanwhile, and is a database like any other."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from memdash.cli import main
from memdash.errors import StoreError
from memdash.spending import Entry, EntryKind
from memdash.store import MEMORY, Ownership, RemoteStore, Store
from memdash.store.owner import OwnerFile
from memdash.store.remote import Owner
from tests.store.samples import a_comparison, some_records

PATIENCE = 60.0


def test_a_backup_holds_everything_and_opens_as_a_database(tmp_path: Path) -> None:
    path, copy, spec = tmp_path / "lab.duckdb", tmp_path / "it's a copy.duckdb", a_comparison()
    with Store.open(path) as store:
        store.save_comparison(spec)
        for replay in spec.replays():
            store.append(replay.id, some_records())
        store.rename(spec.id, "Kept for good")
        store.add_note(spec.id, "Ship this one", "ann@example.com")
        gone = a_comparison()
        store.save_comparison(gone)
        store.delete(gone.id)
        store.note_entries(
            [Entry(EntryKind.SET_ASIDE, datetime.now(UTC), spec.id, "ann@example.com", usd=0.25)]
        )
        store.back_up(copy)
        original = (
            store.comparison(spec.id),
            store.journal(spec.replays()[0].id),
            store.comparisons(),
            store.expenses(),
        )
    with Store.open(copy) as restored:
        again = (
            restored.comparison(spec.id),
            restored.journal(spec.replays()[0].id),
            restored.comparisons(),
            restored.expenses(),
        )
        assert again == original
        later = a_comparison()
        restored.save_comparison(later)  # numbers go on where they were
        restored.append(later.replays()[0].id, some_records())
        assert len(restored.comparisons()) == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["it's a copy.duckdb", "lab.duckdb"]


def test_every_table_is_copied_whole(tmp_path: Path) -> None:
    path, copy, spec = tmp_path / "lab.duckdb", tmp_path / "copy.duckdb", a_comparison()
    with Store.open(path) as store:
        store.save_comparison(spec)
        store.append(spec.replays()[0].id, some_records(50))
        store.back_up(copy)

    def rows(file: Path) -> dict[str, list[tuple[object, ...]]]:
        with duckdb.connect(str(file), read_only=True) as plain:
            tables = [one for (one,) in plain.execute("select table_name from duckdb_tables()").fetchall()]
            return {
                one: plain.execute(f"select * from {one} order by rowid").fetchall()
                for one in tables
                if one != "schema_version"
            }

    assert rows(copy) == rows(path)
    assert rows(path)["request"]


def test_a_backup_is_of_one_moment_while_others_write(tmp_path: Path) -> None:
    """A request and its turn are always written together: a copy in which their numbers differ would be of two moments."""
    spec = a_comparison("full_history", turns=400)
    (replay,) = spec.replays()
    records = some_records(400, end=None)
    begun, stop = threading.Event(), threading.Event()
    with Store.open(tmp_path / "lab.duckdb") as store:
        store.save_comparison(spec)
        store.append(replay.id, records[:1])

        def write() -> None:
            for place in range(1, len(records), 2):
                store.append(replay.id, records[place : place + 2])
                store.flush()
                begun.set()
                if stop.is_set():
                    return

        writer = threading.Thread(target=write)
        writer.start()
        assert begun.wait(PATIENCE)
        copies = [tmp_path / f"copy-{number}.duckdb" for number in range(3)]
        for copy in copies:
            store.back_up(copy)
        stop.set()
        writer.join(PATIENCE)
    for copy in copies:
        with duckdb.connect(str(copy), read_only=True) as plain:
            ((requests, turns),) = plain.execute(
                "select (select count(*) from request), (select count(*) from turn)"
            ).fetchall()
        assert requests == turns > 0


def test_the_owner_of_the_file_makes_the_backup_for_a_command(tmp_path: Path) -> None:
    path, copy, spec = tmp_path / "lab.duckdb", tmp_path / "copy.duckdb", a_comparison()
    with Store.open(path) as store, Ownership(store):
        store.save_comparison(spec)
        file = OwnerFile.read(path)
        assert file is not None
        remote = RemoteStore(path, Owner(file), lambda: store)
        remote.back_up(copy)
        with pytest.raises(StoreError, match="cannot be written"):
            remote.back_up(tmp_path / "no such folder" / "copy.duckdb")
    with Store.open(copy) as restored:
        assert restored.comparison(spec.id).spec == spec


def test_a_backup_that_fails_leaves_the_older_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "copy.duckdb"
    with Store.open(MEMORY) as store:
        store.back_up(copy)
        before = copy.read_bytes()
        monkeypatch.setattr(
            "os.fsync", lambda _file: (_ for _ in ()).throw(OSError(28, "No space left on device"))
        )
        with pytest.raises(StoreError, match=r"copy\.duckdb: cannot be written: No space left on device"):
            store.back_up(copy)
    assert copy.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["copy.duckdb"]


def test_nobody_else_may_read_a_backup_of_what_only_its_owner_may(tmp_path: Path) -> None:
    path, copy = tmp_path / "lab.duckdb", tmp_path / "copy.duckdb"
    with Store.open(path) as store:
        path.chmod(0o600)
        store.back_up(copy)
    assert copy.stat().st_mode & 0o777 == 0o600


def test_the_command_writes_a_backup_and_refuses_the_database_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, copy = tmp_path / "lab.duckdb", tmp_path / "copy.duckdb"
    Store.open(path).close()
    assert main(["backup", str(copy), "--db", str(path)]) == 0
    assert copy.exists()
    assert main(["backup", str(tmp_path / "." / "lab.duckdb"), "--db", str(path)]) == 2
    assert "is the database itself" in capsys.readouterr().err
