"""Taking part in a database that another process owns."""

from __future__ import annotations

import http.client
import io
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, TypeVar
from urllib.parse import urlencode

from memdash.errors import StoreError
from memdash.records import Record, Status, from_line
from memdash.replay_columns import ReplayColumns
from memdash.replay_log import ReplayLog, ReplayOutline
from memdash.spec import ComparisonSpec
from memdash.spending import Entry
from memdash.store.bundle import Arrived
from memdash.store.handover import (
    Adopt,
    Append,
    Delete,
    Extend,
    NoteEntries,
    NoteState,
    Order,
    Purge,
    Rename,
    carry_out,
    from_lines,
    only_new,
    to_lines,
)
from memdash.store.owner import OwnerFile, arrived_adapter, summaries_adapter
from memdash.store.protocol import AnyStore
from memdash.store.reading import ComparisonSummary
from memdash.store.settings import StoredComparison
from memdash.store.store import GONE, MEMORY, Store, as_launched_now

if TYPE_CHECKING:
    from memdash.metrics.sweep.refinement import Proposal

T = TypeVar("T")

_PATIENCE_SECONDS = 60.0
_PATIENCE_OVER_FILES_SECONDS = 3600.0
"""A bundle may hold a whole library, and a backup does; the owner says nothing until it is done."""


class OwnerGone(Exception):  # never leaves this package
    """Raised when the process that owned the database does not listen any more."""


class Owner:
    """The process that owns a database, as another one talks to it."""

    def __init__(self, file: OwnerFile) -> None:
        self._file = file

    def is_there(self) -> bool:
        """Return whether it listens and knows its token."""
        try:
            return self.ask("/alive") == b"memdash"
        except (OwnerGone, StoreError):
            return False

    def ask(self, path: str, body: bytes | None = None) -> bytes:
        """Ask something, or with a ``body`` hand something in, and return the answer.

        Raises :class:`StoreError` with what the owner says where it refuses, :class:`OwnerGone` where it is not there any more.
        """
        content = io.BytesIO()
        self._ask(path, body, content, _PATIENCE_SECONDS)
        return content.getvalue()

    def fetch_bundle(self, comparison_ids: Sequence[str] | None, file: BinaryIO) -> None:
        """Have comparisons, or all of them, written to ``file`` as a bundle; raises as :meth:`ask` does."""
        query = urlencode([("id", one) for one in comparison_ids or ()])
        self._ask(f"/bundle?{query}", None, file, _PATIENCE_OVER_FILES_SECONDS)

    def back_up(self, target: Path) -> None:
        """Have the whole database copied to a file; raises as :meth:`ask` does."""
        self._ask("/backup", os.fsencode(target), io.BytesIO(), _PATIENCE_OVER_FILES_SECONDS)

    def hand_in_bundle(self, file: BinaryIO, name: str) -> bytes:
        """Hand in a bundle and return what became of it; raises as :meth:`ask` does."""
        content = io.BytesIO()
        file.seek(0)
        self._ask(f"/bundle?{urlencode({'name': name})}", file, content, _PATIENCE_OVER_FILES_SECONDS)
        return content.getvalue()

    def _ask(self, path: str, body: bytes | BinaryIO | None, into: BinaryIO, patience: float) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._file.port, timeout=patience)
        headers = {"Authorization": f"Bearer {self._file.token}", "X-Memdash-Pid": str(os.getpid())}
        if body is not None:
            headers["Content-Length"] = str(len(body) if isinstance(body, bytes) else _size(body))
        try:
            connection.request("GET" if body is None else "POST", path, body=body, headers=headers)
            answer = connection.getresponse()
            refusal = b"" if answer.status == 200 else answer.read()
            if answer.status == 200:
                shutil.copyfileobj(answer, into)
                if answer.length:
                    raise http.client.IncompleteRead(b"", answer.length)
        except TimeoutError as error:
            raise StoreError(
                f"process {self._file.pid}, which has the database open, does not answer"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise OwnerGone from error
        finally:
            connection.close()
        if answer.status == 403:
            raise OwnerGone  # another process listens there now
        if answer.status != 200:
            raise StoreError(refusal.decode(errors="replace"))


def _size(file: BinaryIO) -> int:
    at = file.tell()
    size = file.seek(0, os.SEEK_END)
    file.seek(at)
    return size - at


class RemoteStore:
    """A store whose file another process owns: everything goes through that process, and what it has confirmed is in the file.

    Where it goes away, whatever takes its place (see :func:`memdash.store.open_for_command`) is used from then on, and what this
    process had begun goes on there.
    """

    def __init__(self, path: Path, owner: Owner, succeed: Callable[[], AnyStore]) -> None:
        self.path = path
        self._owner = owner
        self._succeed = succeed
        self._changing = Lock()
        self._successor: AnyStore | None = None
        self._begun: dict[str, StoredComparison] = {}

    def save_comparison(self, spec: ComparisonSpec) -> None:
        """Have a comparison kept."""
        self.adopt(as_launched_now(spec))

    def adopt(self, comparison: StoredComparison) -> None:
        """Have a comparison kept as it was launched."""
        self._hand_in(Adopt(comparison))
        self._begun[comparison.id] = comparison

    def extend(self, comparison_id: str, proposal: Proposal) -> None:
        """Have replays added that a round of refinement asks for."""
        self._hand_in(Extend(comparison_id, proposal))
        if comparison_id in self._begun:
            self._begun[comparison_id] = self._begun[comparison_id].extended(proposal)

    def append(self, replay_id: str, records: Iterable[Record]) -> None:
        """Have records kept; returns once they are in the file."""
        self._hand_in(Append(replay_id, list(records)))

    def append_lines(self, replay_id: str, lines: Iterable[bytes]) -> list[Record]:
        """Have records kept; returns them."""
        try:
            records = [from_line(line) for line in lines]
        except ValueError as error:
            raise StoreError(f"{replay_id}: got a line that is no record: {error}") from error
        self.append(replay_id, records)
        return records

    def append_state(self, replay_id: str, status: Status, message: str | None = None) -> None:
        """Have a state noted."""
        self.append_states([replay_id], status, message)

    def append_states(self, replay_ids: Sequence[str], status: Status, message: str | None = None) -> None:
        """Have a state of many replays noted."""
        self._hand_in(NoteState(tuple(replay_ids), status, message))

    def note_entries(self, entries: Iterable[Entry]) -> None:
        """Have entries written into the ledger."""
        self._hand_in(NoteEntries(list(entries)))

    def flush(self) -> None:
        """Return at once: what was handed in is in the file already."""
        if self._successor is not None:
            self._successor.flush()

    def rename(self, comparison_id: str, title: str) -> None:
        """Have a comparison renamed."""
        self._hand_in(Rename(comparison_id, title))

    def delete(self, comparison_id: str) -> None:
        """Have a comparison deleted."""
        self._hand_in(Delete(comparison_id))

    def purge(self) -> None:
        """Have what was deleted erased."""
        self._hand_in(Purge())

    def back_up(self, target: Path) -> None:
        """Have the whole database copied to a file by its owner."""
        self._ask(lambda owner: owner.back_up(target.resolve()), lambda store: store.back_up(target))

    def import_bundle(self, file: BinaryIO, name: str) -> tuple[Arrived, ...]:
        """Have a bundle taken in."""
        return self._ask(
            lambda owner: arrived_adapter().validate_json(owner.hand_in_bundle(file, name)),
            lambda store: store.import_bundle(file, name),
        )

    def export_bundle(self, file: BinaryIO, comparison_ids: Sequence[str] | None = None) -> None:
        """Have comparisons, or all of them, written to a file as a bundle."""
        start = file.tell()

        def here(store: AnyStore) -> None:
            file.seek(start)  # what the owner sent before it went away
            file.truncate()
            store.export_bundle(file, comparison_ids)

        self._ask(lambda owner: owner.fetch_bundle(comparison_ids, file), here)

    def comparisons(self) -> list[ComparisonSummary]:
        """Return every comparison, the newest first."""
        return self._ask(
            lambda owner: summaries_adapter().validate_json(owner.ask("/comparisons")),
            lambda store: store.comparisons(),
        )

    def comparison(self, comparison_id: str) -> StoredComparison:
        """Return a comparison."""
        return self._look_into(comparison_id, lambda store: store.comparison(comparison_id))

    def replay_logs(self, comparison_id: str, only: Collection[str] | None = None) -> list[ReplayLog]:
        """Return what happened in a comparison's replays, or only in some, without the texts."""
        return self._look_into(comparison_id, lambda store: store.replay_logs(comparison_id, only))

    def replay_outlines(self, comparison_id: str, only: Collection[str] | None = None) -> list[ReplayOutline]:
        """Return what the results of a comparison's replays, or only of some, are made of."""
        return self._look_into(comparison_id, lambda store: store.replay_outlines(comparison_id, only))

    def columns(self, comparison_id: str) -> ReplayColumns:
        """Return what the outcomes of a comparison's replays are made of, as columns."""
        return self._look_into(comparison_id, lambda store: store.columns(comparison_id))

    @contextmanager
    def at_hand(self, comparison_id: str, *, texts: bool = False) -> Iterator[AnyStore]:
        """Give a copy of a comparison, fetched once for many questions; journals and blocks are in it with ``texts``."""
        with ExitStack() as open_copies:

            def copy(owner: Owner) -> AnyStore:
                return open_copies.enter_context(_copy_of(owner, comparison_id, texts=texts))

            yield self._ask(copy, lambda store: store)

    def journal(self, replay_id: str) -> list[Record]:
        """Return everything a replay yielded, in the order of its sequence."""
        return self._look_into(_comparison_of(replay_id), lambda store: store.journal(replay_id), texts=True)

    def blocks(self, replay_id: str, ids: Sequence[str]) -> dict[str, str]:
        """Return the JSON of blocks of a replay by id."""
        return self._look_into(
            _comparison_of(replay_id), lambda store: store.blocks(replay_id, ids), texts=True
        )

    def close(self) -> None:
        """Let go."""
        if self._successor is not None:
            self._successor.close()

    # -- within ----------------------------------------------------------------------------------------------------------

    def _hand_in(self, order: Order) -> None:
        if self._successor is None:
            try:
                self._owner.ask("/orders", b"\n".join(to_lines(order)))
                return
            except OwnerGone:
                self._take_over()
        store = self._present()
        carry_out(only_new([order], store), store)  # the owner may have kept it before it went away

    def _look_into(self, comparison_id: str, question: Callable[[AnyStore], T], *, texts: bool = False) -> T:
        """Ask a question of a copy of a comparison."""

        def copy_and_ask(owner: Owner) -> T:
            with _copy_of(owner, comparison_id, texts=texts) as copy:
                return question(copy)

        return self._ask(copy_and_ask, question)

    def _ask(self, remotely: Callable[[Owner], T], here: Callable[[AnyStore], T]) -> T:
        if self._successor is None:
            try:
                return remotely(self._owner)
            except OwnerGone:
                self._take_over()
        return here(self._present())

    def _present(self) -> AnyStore:
        if self._successor is None:
            raise StoreError(f"{self.path}: the program that had it open is gone")
        return self._successor

    def _take_over(self) -> None:
        """Go on with what has taken the owner's place. What that marked as interrupted is ours and still runs."""
        with self._changing:
            if self._successor is not None:
                return
            store = self._succeed()
            carry_out([Adopt(comparison) for comparison in self._begun.values()], store)
            for comparison_id in self._begun:
                logs = store.replay_logs(comparison_id)
                marked = [log.spec.id for log in logs if log.statuses and log.statuses[-1].message == GONE]
                store.append_states(marked, Status.RUNNING)
            self._successor = store


@contextmanager
def _copy_of(owner: Owner, comparison_id: str, *, texts: bool) -> Iterator[Store]:
    """A comparison in memory, as its owner has it now."""
    lines = owner.ask(f"/comparison?{urlencode({'id': comparison_id, 'texts': int(texts)})}").split(b"\n")
    with Store.open(MEMORY) as copy:
        carry_out(from_lines(lines), copy)
        yield copy


def _comparison_of(replay_id: str) -> str:
    """The id of a replay begins with that of its comparison."""
    return replay_id.rpartition("_")[0]
