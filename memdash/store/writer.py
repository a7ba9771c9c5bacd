"""The one thread that writes: takes rows from everybody and commits them in batches."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from threading import Condition, Thread
from time import monotonic
from typing import NamedTuple

import duckdb

from memdash.errors import StoreError
from memdash.store import queries
from memdash.store.database import Database
from memdash.store.rows import Rows

_log = logging.getLogger(__name__)

_DELAY_SECONDS = 0.25
"""How long a row waits for company, at most: what a killed process can lose."""
_ENOUGH_ROWS = 2_000
"""So many rows are written at once without waiting."""
_MOST_WAITING = 50_000
"""More rows than these are not taken until the file has caught up."""
_RETRY_SECONDS = 1.0
"""Pause before a batch that found no room is tried again."""

UNFIT = (duckdb.DataError, duckdb.ProgrammingError, duckdb.IntegrityError, duckdb.NotSupportedError)
"""What DuckDB raises where the rows themselves are at fault; everything else is the file, the disk or the memory."""


class Unit(NamedTuple):
    """Rows that belong together: all of them are committed, or none. ``comparison`` is what they are about."""

    comparison: str
    rows: Rows


class Writer:
    """Writes in the order in which rows were handed in.

    Where the file cannot be written (a full disk), rows are kept and tried again; :meth:`flush` and, once too many wait,
    :meth:`put` raise :class:`StoreError` until there is room. ``on_commit`` is called with the comparisons that have changed.
    """

    def __init__(self, database: Database, on_commit: Callable[[Iterable[str]], None]) -> None:
        self._database = database
        self._on_commit = on_commit
        self._changed = Condition()
        self._waiting: deque[Unit] = deque()
        self._rows_waiting = 0
        self._oldest = 0.0
        self._taken = 0
        self._written = 0
        self._urgent = 0
        self._problem: StoreError | None = None
        self._doubtful = 0
        """So many of the units that wait were in a batch that could not be written, or not for certain."""
        self._rejected: dict[str, StoreError] = {}
        self._retired: dict[str, StoreError] = {}
        self._stopping = False
        self._thread = Thread(target=self._run, name="memdash-writer", daemon=True)
        self._thread.start()

    @property
    def problem(self) -> StoreError | None:
        """Why rows are waiting that cannot be written now, if there are any."""
        return self._problem

    def put(self, unit: Unit) -> None:
        """Hand in rows to be written soon."""
        size = sum(map(len, unit.rows.values()))
        with self._changed:
            while self._rows_waiting > _MOST_WAITING and not self._stopping:
                if self._problem:
                    raise self._problem
                self._changed.wait(_RETRY_SECONDS)
            if self._stopping:
                raise StoreError(f"{self._database.name} is closed")
            rejected = self._rejected.get(unit.comparison)
            if rejected:
                raise rejected
            retired = self._retired.get(unit.comparison)
            if retired and unit.rows.keys() != {"ledger"}:
                raise retired
            if not self._waiting:
                self._oldest = monotonic()
                self._changed.notify_all()
            self._waiting.append(unit)
            self._rows_waiting += size
            self._taken += 1
            if self._rows_waiting >= _ENOUGH_ROWS > self._rows_waiting - size:
                self._changed.notify_all()

    def retire(self, comparison: str, why: StoreError) -> None:
        """Take no more rows of a comparison: from now on :meth:`put` raises ``why``; what was handed in before is written.

        So nothing of it can come after a purge. What it cost is still taken: that stays spent.
        """
        with self._changed:
            self._retired[comparison] = why

    def welcome(self, comparison: str) -> None:
        """Take rows of a comparison that was retired, which is there again."""
        with self._changed:
            self._retired.pop(comparison, None)

    def flush(self) -> None:
        """Return once everything handed in so far is in the file.

        Raises :class:`StoreError` where it cannot be written now; it is kept and tried again.
        """
        with self._changed:
            goal = self._taken
            self._urgent = max(self._urgent, goal)
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._written >= goal or self._problem is not None or not self._thread.is_alive()
            )
            if self._written >= goal:
                return
            raise self._problem or StoreError(f"{self._database.name} is closed")

    def close(self) -> None:
        """Write what is waiting and end the thread; raises :class:`StoreError` where rows could not be written."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join()
        if self._waiting:
            raise StoreError(f"{self._rows_waiting} rows could not be written: {self._problem}")

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopping)
                if not self._waiting:
                    return
                if self._problem is None:
                    self._changed.wait_for(self._is_due, timeout=self._oldest + _DELAY_SECONDS - monotonic())
                batch = list(self._waiting)
            written = self._write(batch)
            with self._changed:
                for unit in batch[:written]:
                    self._waiting.popleft()
                    self._rows_waiting -= sum(map(len, unit.rows.values()))
                self._written += written
                self._oldest = monotonic()
                self._changed.notify_all()
                if written < len(batch):
                    if self._stopping:
                        return
                    self._changed.wait_for(lambda: self._stopping, timeout=_RETRY_SECONDS)
            if written:
                self._on_commit({unit.comparison for unit in batch[:written]})

    def _is_due(self) -> bool:
        return self._rows_waiting >= _ENOUGH_ROWS or self._stopping or self._urgent > self._written

    def _write(self, batch: list[Unit]) -> int:
        """Write a batch in one transaction; returns how many of its units are settled."""
        try:
            if self._doubtful and self._is_there(batch[: self._doubtful]):
                settled, self._doubtful = self._doubtful, 0
                self._problem = None
                return settled
            self._doubtful = 0
            self._insert(batch)
        except StoreError as error:
            if isinstance(error.__cause__, UNFIT):
                return self._write_singly(batch)
            self._put_off(error)
            self._doubtful = self._doubtful or len(batch)
            return 0
        self._problem = None
        return len(batch)

    def _is_there(self, batch: list[Unit]) -> bool:
        """Whether a batch is in the file although writing it failed.

        DuckDB may say so after a commit that took effect, when the checkpoint that followed found the disk full. A batch is there
        whole or not at all, so one row tells; a state or a title that is written twice does no harm.
        """
        for unit in batch:
            for table, rows in unit.rows.items():
                if table in queries.ROW_IS_THERE:
                    with self._database.cursor() as cursor:
                        return bool(cursor.execute(queries.ROW_IS_THERE[table], rows[0][:2]).fetchall())
        return False

    def _write_singly(self, batch: list[Unit]) -> int:
        """One unit cannot be stored as it is: write the others, and refuse what comes after it of the same comparison."""
        for settled, unit in enumerate(batch):
            if unit.comparison in self._rejected:
                continue
            try:
                self._insert([unit])
            except StoreError as error:
                if not isinstance(error.__cause__, UNFIT):
                    self._put_off(error)
                    self._doubtful = 1
                    return settled
                _log.error("rows of %s cannot be stored: %s", unit.comparison, error)
                self._rejected[unit.comparison] = error
        return len(batch)

    def _put_off(self, error: StoreError) -> None:
        """The file cannot be written now: keep what waits, and tell whoever asks."""
        if self._problem is None:
            _log.error("%s; what could not be written is kept and tried again", error)
        self._problem = error

    def _insert(self, batch: list[Unit]) -> None:
        rows: Rows = {}
        for unit in batch:
            for table, more in unit.rows.items():
                rows.setdefault(table, []).extend(more)
        with self._database.transaction() as cursor:
            for table, together in rows.items():
                with cursor.appender(table) as appender:
                    appender.append_rows(together)
