"""The DuckDB file: opened by one process, read through one cursor a unit of work, and reopened after a full disk.

What was measured about DuckDB and threads decides the form: a connection serves one thread at a time, so everybody gets a cursor
of their own; a commit that finds the disk full leaves the instance unusable, so it is dropped and opened again before its next
use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from threading import Condition, Lock

import duckdb

import memdash
from memdash.errors import StoreError

SCHEMA_VERSION = 3

_STEPS: Mapping[int, str] = {
    1: """
    alter table request add column diagnosis varchar;
    alter table replay add column strategy_file varchar;
    """,
    2: """
    create table ledger (
        ticket varchar not null, moment timestamp not null, kind varchar not null, person varchar, comparison varchar not null,
        own_key boolean not null, model varchar, usd double
    );
    """,
}
"""What makes a database of this version one of the next; a column is only ever added at the end of its table."""

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "128MB",
    "threads": 2,
    # Extensions would be downloaded: nothing leaves the machine, and a mistyped path fails at once.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


class StoreLocked(StoreError):
    """Raised when another process has the database open; ``pid`` is that process where it is known."""

    def __init__(self, path: Path, pid: int | None) -> None:
        self.path = path
        self.pid = pid
        who = f"process {pid}{_command_of(pid)}" if pid else "another process"
        super().__init__(f"{path}: {who} has this database open; close it, or choose another file with --db")


def _command_of(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    command = " ".join(word.decode(errors="replace") for word in words if word)
    return f" ({command[:80]})" if command else ""


def inbox_of(database: Path) -> Path:
    """Return the folder in which other processes leave results for ``database``."""
    return Path(f"{database}.inbox")


class Database:
    """One DuckDB database, in a file or in memory; safe to use from several threads.

    Raises :class:`StoreError` on opening a file that cannot be used and :class:`StoreLocked` where another process has it open.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._gate = _Gate()
        self._making = Lock()
        self._broken = False
        self._closed = False
        self._connection = _connect(path)
        try:
            _prepare(self._connection, self.name)
        except BaseException:
            self._connection.close()
            raise

    @property
    def name(self) -> str:
        """What error messages call it."""
        return str(self.path) if self.path else "the database in memory"

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a cursor for one unit of work; results must be fetched whole before it ends.

        Raises :class:`StoreError` for everything DuckDB raises. Must not be nested.
        """
        if self._broken:
            self._reopen()
        with self._gate.shared():
            if self._closed:
                raise StoreError(f"{self.name} is closed")
            with self._making:  # a connection refuses two calls at once
                cursor = self._connection.cursor()
            try:
                yield cursor
            except duckdb.FatalException as error:
                self._broken = True
                raise StoreError(f"{self.name}: {_first_line(error)}; is the disk full?") from error
            except duckdb.Error as error:
                raise StoreError(f"{self.name}: {_first_line(error)}") from error
            finally:
                cursor.close()

    @contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a cursor whose inserts take effect together, or not at all where the block raises."""
        with self.cursor() as cursor:
            cursor.begin()
            try:
                yield cursor
            except BaseException:
                _roll_back(cursor)
                raise
            cursor.commit()

    @contextmanager
    def snapshot(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a cursor that sees the database as it is now, whatever is written meanwhile."""
        with self.cursor() as cursor:
            cursor.begin()
            try:
                yield cursor
            finally:
                _roll_back(cursor)

    @contextmanager
    def alone(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give the connection itself once every cursor is done; nobody else gets in meanwhile."""
        with self._gate.exclusive():
            try:
                yield self._connection
            except duckdb.Error as error:
                raise StoreError(f"{self.name}: {_first_line(error)}") from error

    def swap_file(self, fresh: Path) -> None:
        """Put the database at ``fresh`` in the place of this one; only inside :meth:`alone`."""
        if self.path is None:
            raise ValueError("a database in memory has no file")
        self._connection.execute("checkpoint")  # from here on the old file is complete without its log
        self._connection.close()
        try:
            _log_of(self.path).unlink(missing_ok=True)  # it holds texts, and does not fit the new file
            fresh.replace(self.path)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be replaced: {error.strerror}") from error
        finally:
            self._connection = _connect(self.path)

    def close(self) -> None:
        """Wait for running queries and close the file."""
        with self._gate.exclusive():
            self._closed = True
            self._connection.close()

    def _reopen(self) -> None:
        with self._gate.exclusive():
            if self._broken and not self._closed and self.path:
                self._connection.close()
                self._connection = _connect(self.path)
                self._broken = False


def _log_of(path: Path) -> Path:
    """Where DuckDB keeps what it has committed and not yet put into the file."""
    return Path(f"{path}.wal")


def _roll_back(cursor: duckdb.DuckDBPyConnection) -> None:
    """Roll back; where the failure has already ended the transaction there is nothing to do."""
    try:
        cursor.rollback()
    except duckdb.Error:
        return


def _bring_up_to_date(connection: duckdb.DuckDBPyConnection, version: int) -> None:
    """Take a database of an earlier version through every step to the present one, all of them or none."""
    connection.begin()
    for step in range(version, SCHEMA_VERSION):
        connection.execute(_STEPS[step])
    _write_version(connection)
    connection.commit()


def _write_version(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "insert into schema_version values (?, ?, ?)",
        [SCHEMA_VERSION, memdash.__version__, datetime.now(UTC).replace(tzinfo=None)],
    )


def create_schema(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables of the present schema in an empty database."""
    connection.execute(resources.files("memdash.store").joinpath("schema.sql").read_text(encoding="utf-8"))
    _write_version(connection)


def _connect(path: Path | None) -> duckdb.DuckDBPyConnection:
    if path is None:
        return duckdb.connect(":memory:", config=_SETTINGS)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_folder = path.is_dir()
    except OSError as error:
        raise StoreError(f"{path}: its folder cannot be used: {error.strerror}") from error
    if is_folder:
        raise StoreError(f"{path}: is a folder; name a file in it, for instance {path / 'memdash.duckdb'}")
    try:
        return duckdb.connect(str(path), config={**_SETTINGS, "temp_directory": f"{path}.tmp"})
    except duckdb.Error as error:
        raise _opening_problem(path, error) from error


def _opening_problem(path: Path, error: duckdb.Error) -> StoreError:
    text = str(error)
    if "Could not set lock" in text or "Conflicting lock" in text:
        pid = re.search(r"\(PID (\d+)\)", text)
        return StoreLocked(path, int(pid.group(1)) if pid else None)
    if "not a valid DuckDB database" in text:
        return StoreError(
            f"{path}: is no memdash database (nor any DuckDB file); choose another file with --db"
        )
    if "version number" in text or "newer version" in text:
        return StoreError(f"{path}: was written by a newer DuckDB; upgrade the duckdb package to open it")
    if "Permission denied" in text or "Read-only" in text:
        return StoreError(f"{path}: cannot be written; choose a file in a folder you may write to with --db")
    return StoreError(f"{path}: cannot be opened: {_first_line(error)}")


def _prepare(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Make the schema in a new database, and bring an older one up to date, and refuse one that is not ours or newer."""
    tables = {
        table
        for (table,) in connection.execute(
            "select table_name from information_schema.tables where table_schema = 'main'"
        ).fetchall()
    }
    if not tables:
        connection.begin()
        create_schema(connection)
        connection.commit()
        return
    if "schema_version" not in tables:
        raise StoreError(f"{name}: is a DuckDB database, but not memdash's; choose another file with --db")
    rows = connection.execute("select version, memdash from schema_version order by version").fetchall()
    version, by = rows[-1] if rows else (0, "unknown")
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{name}: was written by memdash {by} (schema {version}); this is memdash {memdash.__version__} "
            f"(schema {SCHEMA_VERSION}): upgrade memdash, or choose another file with --db"
        )
    if version < SCHEMA_VERSION:
        if version not in _STEPS:
            raise StoreError(
                f"{name}: was written by memdash {by} (schema {version}), which this version no longer reads "
                f"(schema {SCHEMA_VERSION}): open it with that version, or choose another file with --db"
            )
        _bring_up_to_date(connection, version)


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0].strip()


class _Gate:
    """Many may be inside at once, or one alone; who waits to be alone is not overtaken."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside = 0
        self._alone = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._alone = True
            self._changed.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
