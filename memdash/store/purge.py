"""Really erasing: the file is written anew without what nobody refers to any more, and takes the old one's place."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import duckdb

from memdash.store.database import Database, create_schema, inbox_of

_KEPT = "comparison in (select id from present_comparison)"
_KEPT_REPLAY = "replay in (select number from present_replay)"

_CONDITIONS = {
    "script": "hash in (select script_hash from present_replay)",
    "comparison": "id in (select id from present_comparison)",
    "price": _KEPT,
    "replay": _KEPT,
    "replay_state": _KEPT_REPLAY,
    "request": _KEPT_REPLAY,
    "usage_iteration": _KEPT_REPLAY,
    "block": _KEPT_REPLAY,
    "block_text": _KEPT,
    "event": _KEPT_REPLAY,
    "turn": _KEPT_REPLAY,
    "job": _KEPT_REPLAY,
    "probe": _KEPT_REPLAY,
    "fact": _KEPT_REPLAY,
    "comparison_change": _KEPT,
    "ledger": "true",
}
"""What is kept of each table. Tombstones have done their duty, and what was spent stays spent; the schema's version is
written with the schema."""


def purge(database: Database) -> None:
    """Erase every comparison that has been deleted, and every text that only it used.

    The old file stays as it is until the new one is complete. Raises :class:`~memdash.errors.StoreError` where it cannot be
    written.
    """
    with database.alone() as connection:
        if database.path is None:
            _delete(connection)
            return
        fresh = Path(f"{database.path}.purge")
        _remove(fresh)
        try:
            with duckdb.connect(str(fresh)) as empty:
                create_schema(empty)
            _copy(connection, fresh)
        except BaseException:
            _remove(fresh)
            raise
        database.swap_file(fresh)


def erase_leftovers(database: Path, deleted: Collection[str]) -> None:
    """Remove what lies in the inbox of ``database`` of comparisons that were deleted: it can never be taken in any more."""
    folder = inbox_of(database)
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name.partition(".")[0] in deleted:
            path.unlink(missing_ok=True)


def _copy(connection: duckdb.DuckDBPyConnection, fresh: Path) -> None:
    target = str(fresh).replace("'", "''")
    connection.execute(f"attach '{target}' as fresh")
    try:
        for table, condition in _CONDITIONS.items():
            connection.execute(
                f"insert into fresh.{table} select * from {table} where {condition} order by rowid"
            )
        connection.execute("checkpoint fresh")
    finally:
        connection.execute("detach fresh")


def _delete(connection: duckdb.DuckDBPyConnection) -> None:
    """In memory there is no file to write anew."""
    connection.begin()
    for table, condition in reversed(_CONDITIONS.items()):
        connection.execute(f"delete from {table} where not ({condition})")
    connection.execute("delete from tombstone")
    connection.commit()


def _remove(path: Path) -> None:
    for one in (path, Path(f"{path}.wal")):
        one.unlink(missing_ok=True)
