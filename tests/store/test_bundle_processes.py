"""Bundles beside the process that has the database: over its loopback route, or left in its inbox."""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path

import pytest

from memdash.errors import InputError, StoreError
from memdash.store import MEMORY, Arrival, InboxStore, Ownership, RemoteStore, Store, open_for_command
from memdash.store.bundle.layout import MANIFEST
from memdash.store.database import inbox_of
from memdash.store.inbox import take_in
from memdash.store.owner import OwnerFile
from memdash.store.remote import Owner
from tests.store.bundles import bundle_of, entries_of, everything, something_of_everything


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memdash.duckdb"


@pytest.fixture(scope="module")
def bundle() -> bytes:
    with Store.open(MEMORY) as store:
        something_of_everything(store)
        return bundle_of(store)


def served(path: Path) -> closing[RemoteStore]:
    """A store through the owner, as a command of another process would have it."""
    file = OwnerFile.read(path)
    assert file is not None
    return closing(RemoteStore(path, Owner(file), lambda: open_for_command(path, wait=0.0)))


def test_a_command_imports_and_exports_through_the_owner(path: Path, bundle: bytes) -> None:
    with Store.open(path) as store, Ownership(store), served(path) as remote:
        (arrived,) = remote.import_bundle(io.BytesIO(bundle), "a file.zip")
        assert (arrived.arrival, arrived.title) == (Arrival.NEW, "Renamed")
        assert remote.import_bundle(io.BytesIO(bundle), "a file.zip")[0].arrival is Arrival.KNOWN
        file = io.BytesIO()
        remote.export_bundle(file, [arrived.id])
        with Store.open(MEMORY) as other:
            other.import_bundle(file, "back.zip")
            assert everything(other) == everything(store)
        whole = io.BytesIO()
        remote.export_bundle(whole)
        told, again = entries_of(file.getvalue()), entries_of(whole.getvalue())
        assert MANIFEST in told
        del told[MANIFEST], again[MANIFEST]  # it says when it was written
        assert told == again


def test_what_the_owner_refuses_is_told_in_its_words(path: Path, bundle: bytes) -> None:
    with Store.open(path) as store, Ownership(store), served(path) as remote:
        with pytest.raises(StoreError, match=r"^a file\.zip: is no zip, or only a part of one"):
            remote.import_bundle(io.BytesIO(bundle[:-40]), "a file.zip")
        with pytest.raises(StoreError, match="there is no comparison 'nope'"):
            remote.export_bundle(io.BytesIO(), ["nope"])
        assert store.comparisons() == []


def test_an_owner_that_goes_away_is_done_without(path: Path, bundle: bytes) -> None:
    store = Store.open(path)
    ownership = Ownership(store)
    with served(path) as remote:
        ownership.close()
        store.close()
        (arrived,) = remote.import_bundle(io.BytesIO(bundle), "a file.zip")
        assert arrived.arrival is Arrival.NEW
        file = io.BytesIO()
        remote.export_bundle(file)
        assert file.getvalue()[:2] == b"PK"


def test_a_bundle_is_left_in_the_inbox_where_nobody_can_be_asked(path: Path, bundle: bytes) -> None:
    with InboxStore(path) as inbox:
        assert inbox.import_bundle(io.BytesIO(bundle), "a file.zip")[0].arrival is Arrival.NEW
        expected = everything(inbox)
        with pytest.raises(InputError, match="is no zip"):
            inbox.import_bundle(io.BytesIO(b"no"), "a file.zip")
    assert [one.suffix for one in inbox_of(path).iterdir()] == [".zip"]
    with Store.open(path) as store:
        take_in(store)
        take_in(store)
        assert everything(store) == expected
    assert list(inbox_of(path).iterdir()) == []


def test_a_damaged_bundle_in_the_inbox_is_set_aside(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    inbox_of(path).mkdir()
    (inbox_of(path) / "bundle-1.1.zip").write_bytes(b"PK nothing")
    with Store.open(path) as store:
        take_in(store)
        assert store.comparisons() == []
    assert [one.name for one in inbox_of(path).iterdir()] == ["bundle-1.1.zip.damaged"]
    assert "set aside" in caplog.text
