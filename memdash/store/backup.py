"""A copy of the whole database as it is at one moment, in a file of its own, while everybody else goes on reading and writing."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

import duckdb

from memdash.errors import StoreError
from memdash.store.database import Database, create_schema

_TABLES = """
select table_name
from duckdb_tables()
where database_name = current_database() and not internal and table_name <> 'schema_version'
"""


def back_up(database: Database, target: Path) -> None:
    """Write all there is in ``database`` into a file at ``target``, which any memdash of this version or later opens as its own.

    All tables are read in one transaction, so they are of one moment. What stood at ``target`` is replaced once all is copied.
    Raises :class:`StoreError` where it cannot be written.
    """
    part = Path(f"{target}.part")
    _remove(part)
    try:
        with duckdb.connect(str(part)) as empty:
            create_schema(empty)
        if database.path is not None:
            shutil.copymode(database.path, part)  # it holds the same texts: nobody else may read it either
        _copy(database, part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
    except duckdb.Error as error:
        raise StoreError(f"{target}: cannot be written: {str(error).splitlines()[0]}") from error
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror}") from error
    finally:
        _remove(part)


def _copy(database: Database, part: Path) -> None:
    name = f"backup_{secrets.token_hex(4)}"
    path = str(part).replace("'", "''")
    with database.cursor() as cursor:
        tables = [table for (table,) in cursor.execute(_TABLES).fetchall()]
        cursor.execute(f"attach '{path}' as {name}")
        try:
            cursor.begin()
            for table in tables:
                cursor.execute(f"insert into {name}.{table} select * from {table}")
            cursor.commit()
            cursor.execute(f"checkpoint {name}")
        finally:
            cursor.execute(f"detach {name}")


def _remove(part: Path) -> None:
    for one in (part, Path(f"{part}.wal")):
        one.unlink(missing_ok=True)
