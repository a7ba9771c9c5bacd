"""The inbox beside a database: where results are left while another process has the file, for its next owner to take in.

``<db>.inbox/<comparison>.<pid>.part`` is being written; renamed to ``.jsonl``, or a bundle to ``.zip``, it is finished. What
cannot be read is set aside as
``.damaged``; nothing is ever thrown away unread.
"""

from __future__ import annotations

import io
import logging
import os
import secrets
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from memdash.errors import InputError, StoreError
from memdash.records import Record, Status
from memdash.spec import ComparisonSpec
from memdash.spending import Entry
from memdash.store.bundle import Arrived, Told, untold
from memdash.store.database import Database, inbox_of
from memdash.store.handover import (
    Adopt,
    Append,
    Extend,
    NoteEntries,
    NoteState,
    Order,
    carry_out,
    from_lines,
    only_new,
    to_lines,
)
from memdash.store.settings import StoredComparison
from memdash.store.store import Store, as_launched_now

if TYPE_CHECKING:
    from memdash.metrics.sweep.refinement import Proposal

_log = logging.getLogger(__name__)


class InboxStore(Store):
    """A store in memory that leaves everything handed in for the next owner of ``database``.

    For the process itself it is a store like any other, but for what the file holds already.
    """

    def __init__(self, database: Path) -> None:
        super().__init__(Database(None))
        self._folder = inbox_of(database)
        self._files: dict[str, io.FileIO] = {}
        self._of_replay: dict[str, str] = {}

    def save_comparison(self, spec: ComparisonSpec) -> None:
        """Keep a comparison and leave it for the owner."""
        self.adopt(as_launched_now(spec))

    def adopt(self, comparison: StoredComparison) -> None:
        """Keep a comparison as it was launched, and leave it for the owner."""
        super().adopt(comparison)
        try:
            self._folder.mkdir(exist_ok=True)
            path = self._folder / f"{comparison.id}.{os.getpid()}.part"
            self._files[comparison.id] = path.open("ab", buffering=0)
        except OSError as error:
            raise StoreError(f"{self._folder}: cannot be written: {error.strerror}") from error
        self._of_replay |= {replay.id: comparison.id for replay in comparison.replays}
        self._leave(comparison.id, Adopt(comparison))

    def extend(self, comparison_id: str, proposal: Proposal) -> None:
        """Add replays and leave the order for the owner."""
        super().extend(comparison_id, proposal)
        self._of_replay |= {one.id: comparison_id for one in self.comparison(comparison_id).replays}
        self._leave(comparison_id, Extend(comparison_id, proposal))

    def append(self, replay_id: str, records: Iterable[Record]) -> None:
        """Keep records and leave them for the owner."""
        records = list(records)
        super().append(replay_id, records)
        self._leave(self._of_replay[replay_id], Append(replay_id, records))

    def append_states(self, replay_ids: Sequence[str], status: Status, message: str | None = None) -> None:
        """Note a state of replays and leave it for the owner."""
        super().append_states(replay_ids, status, message)
        for comparison_id in sorted({self._of_replay[one] for one in replay_ids}):
            own = tuple(one for one in replay_ids if self._of_replay[one] == comparison_id)
            self._leave(comparison_id, NoteState(own, status, message))

    def note_entries(self, entries: Iterable[Entry]) -> None:
        """Write entries into the ledger and leave them for the owner."""
        entries = list(entries)
        super().note_entries(entries)
        for comparison_id in sorted({one.comparison_id for one in entries}):
            own = [one for one in entries if one.comparison_id == comparison_id]
            self._leave(comparison_id, NoteEntries(own))

    def import_bundle(self, file: BinaryIO, name: str, told: Told = untold) -> tuple[Arrived, ...]:
        """Check a bundle by taking it in here, and leave it for the owner."""
        arrived = super().import_bundle(file, name, told)
        part = self._folder / f"bundle-{secrets.token_hex(6)}.{os.getpid()}.part"
        try:
            self._folder.mkdir(exist_ok=True)
            file.seek(0)
            with part.open("xb") as copy:
                shutil.copyfileobj(file, copy)
                copy.flush()
                os.fsync(copy.fileno())
            part.rename(part.with_suffix(".zip"))
        except OSError as error:
            part.unlink(missing_ok=True)
            raise StoreError(f"{self._folder}: cannot be written: {error.strerror}") from error
        return arrived

    def flush(self) -> None:
        """Return once everything handed in so far is on the disk."""
        super().flush()
        for file in self._files.values():
            os.fsync(file.fileno())

    def close(self) -> None:
        """Finish what is left for the owner."""
        super().close()
        for file in self._files.values():
            part = Path(os.fsdecode(file.name))
            os.fsync(file.fileno())
            file.close()
            part.rename(part.with_suffix(".jsonl"))
        self._files.clear()

    def _leave(self, comparison_id: str, order: Order) -> None:
        data = memoryview(b"".join(line + b"\n" for line in to_lines(order)))
        file = self._files[comparison_id]
        try:
            while data:
                data = data[file.write(data) :]
        except OSError as error:
            raise StoreError(f"{file.name!s}: cannot be written: {error.strerror}") from error


def take_in(store: Store) -> None:
    """Take in what other processes have left for the owner of this store's file.

    Taking the same file in twice does no harm, so a crash on the way loses nothing. Raises :class:`StoreError` only where the
    store itself cannot be used; then everything stays where it is.
    """
    if store.path is None:
        return
    folder = inbox_of(store.path)
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.suffix == ".jsonl" or (path.suffix == ".part" and not _is_being_written(path)):
            _take_in(store, path)
        elif path.suffix == ".zip":
            _take_in_bundle(store, path)


def _take_in_bundle(store: Store, path: Path) -> None:
    try:
        with path.open("rb") as file:
            store.import_bundle(file, path.name)
    except (InputError, OSError) as error:
        _set_aside(path, error)
        return
    path.unlink()


def _take_in(store: Store, path: Path) -> None:
    try:
        lines = path.read_bytes().split(b"\n")
        lines.pop()  # what follows the last line's end: nothing, or a line that was never finished
        orders = list(from_lines(lines))
    except (OSError, ValueError, KeyError, TypeError) as error:
        _set_aside(path, error)
        return
    adopted = [order.comparison.id for order in orders if isinstance(order, Adopt)]
    if not all(isinstance(order, Adopt | Extend | Append | NoteState | NoteEntries) for order in orders):
        _set_aside(path, ValueError("it holds orders that have no place in an inbox"))
        return
    try:
        carry_out(only_new(orders, store), store)
    except StoreError as error:
        if store.problem is not None:
            raise
        store.check()  # else it is the store that cannot be used, not the file
        _set_aside(path, error)
        return
    for comparison_id in adopted:
        store.mark_interrupted(comparison_id)
    path.unlink()


def _is_being_written(path: Path) -> bool:
    pid = path.stem.rpartition(".")[2]
    return pid.isdigit() and is_alive(int(pid))


def is_alive(pid: int) -> bool:
    """Return whether there is a process of this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _set_aside(path: Path, error: Exception) -> None:
    aside = path.with_name(f"{path.name}.damaged")
    path.rename(aside)
    _log.error("%s cannot be taken in and was set aside as %s: %s", path, aside.name, error)
