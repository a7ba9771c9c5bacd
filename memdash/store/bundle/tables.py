"""Tables as Parquet, a limited number of bytes at a time, both ways.

Our files are neither compressed nor made of dictionaries: the zip around them compresses, and a reader that allows neither knows
from the size of a file how much can come out of it.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from memdash.store import queries
from memdash.store.bundle.archive import no_number
from memdash.store.bundle.footer import group_sizes
from memdash.store.reading import BY_WORKER

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

ROWS = 2_048
"""The most rows at a time."""
_GROUP = 2**20
"""About so many bytes are written, and can be read again, in one go."""
_MOST_DECODED = 64 * 2**20
"""So many bytes of rows are decoded in one go, at most."""
_MOST_GROWTH = 8
"""How many times its bytes a file may decode to: a column of nothing but nulls takes no bytes in it."""
_FREE = 4 * 2**20
"""So many bytes may come out of any file."""
_LEAST = {("replay_state", "seq"): BY_WORKER}
"""Whole numbers are from 0 on, but for these."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a table as they travel, and those in which a value must stand."""

    table: str
    schema: pa.Schema
    required: frozenset[str]

    @classmethod
    def of(cls, cursor: duckdb.DuckDBPyConnection, table: str) -> Shape:
        """Read the shape of a table from the database; the comparison that its rows belong to does not travel."""
        columns = cursor.execute(queries.COLUMNS_OF, [table]).fetchall()
        names = ", ".join(f'"{name}"' for name, _ in columns)
        schema = cursor.sql(f"select {names} from {table} limit 0").to_arrow_table().schema
        return cls(table, schema, frozenset(name for name, nullable in columns if nullable == "NO"))

    @property
    def columns(self) -> str:
        """Its columns, for a query."""
        return ", ".join(f'"{name}"' for name in self.schema.names)


def write_parquet(batches: Iterable[pa.RecordBatch], schema: pa.Schema, file: IO[bytes]) -> int:
    """Write rows as they come; returns how many there were."""
    import pyarrow.parquet as pq

    rows = 0
    with pq.ParquetWriter(
        _Told(file),
        schema,
        compression="none",
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
    ) as writer:
        for batch in batches:
            step = max(1, min(ROWS, batch.num_rows * _GROUP // max(batch.nbytes, 1)))
            for start in range(0, batch.num_rows, step):
                writer.write_batch(batch.slice(start, step))
            rows += batch.num_rows
    return rows


class _Told(io.RawIOBase):
    """A file that is only ever appended to, and knows how far it is: an entry of a zip does not."""

    def __init__(self, file: IO[bytes]) -> None:
        self._write: Callable[[Any], int] = file.write
        self._at = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, data: Any) -> int:
        count = memoryview(data).nbytes
        self._write(data)
        self._at += count
        return count


def read_parquet(file: IO[bytes], shape: Shape, *, older: bool) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file that nobody vouches for, in the columns of ``shape``.

    One of an ``older`` schema may lack columns that may be empty. Raises ``ValueError`` where the file is something else, or its
    rows are more than its bytes can be.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    groups = group_sizes(file)
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    try:
        parquet = pq.ParquetFile(file, memory_map=False, pre_buffer=False)
        _check_columns(parquet.schema_arrow, shape, older=older)
        decoded = 0
        for group, group_size in enumerate(groups):
            # each value may be as long as all the bytes of its row group
            rows = max(1, min(ROWS, _MOST_DECODED // max(1, group_size)))
            for batch in parquet.iter_batches(rows, row_groups=[group], use_threads=False):
                decoded += batch.nbytes
                if decoded > _FREE + _MOST_GROWTH * size:
                    raise ValueError("holds more than its bytes can be")
                yield _conform(batch, shape)
    except (pa.ArrowException, OSError, OverflowError, UnicodeError) as error:
        raise ValueError(f"is no Parquet file of ours ({' '.join(str(error).split())[:160]})") from error


def _check_columns(found: pa.Schema, shape: Shape, *, older: bool) -> None:
    for name in found.names:
        if name not in shape.schema.names or found.names.count(name) > 1:
            raise ValueError(f"has a column {name[:60]!r} that is not known")
    for field in shape.schema:
        if field.name not in found.names:
            if older and field.name not in shape.required:
                continue
            raise ValueError(f"lacks the column {field.name!r}")
        if found.field(field.name).type != field.type:
            raise ValueError(
                f"has {found.field(field.name).type} in the column {field.name!r}, not {field.type}"
            )


def _conform(batch: pa.RecordBatch, shape: Shape) -> pa.RecordBatch:
    """Put a batch into the columns of ``shape``, checked; columns that an older schema did not have are empty."""
    import pyarrow as pa

    columns = [
        batch.column(field.name) if field.name in batch.schema.names else pa.nulls(batch.num_rows, field.type)
        for field in shape.schema
    ]
    whole = pa.RecordBatch.from_arrays([_as(column, field) for column, field in zip(columns, shape.schema, strict=True)],
                                       schema=shape.schema)  # fmt: skip
    check_rows(whole, shape)
    return whole


def _as(column: pa.Array, field: pa.Field) -> pa.Array:
    return column if column.type.equals(field.type, check_metadata=True) else column.cast(field.type)


def check_rows(batch: pa.RecordBatch, shape: Shape) -> None:
    """Raise ``ValueError`` for a value that cannot be in a column of ours, whatever the column is about."""
    import pyarrow as pa
    import pyarrow.compute as pc

    batch.validate(full=True)  # texts are UTF-8, offsets lie within
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name in shape.required and column.null_count:
            raise ValueError(f"has no value in {name!r} of a row")
        if pa.types.is_floating(column.type) and not pc.all(pc.is_finite(column), min_count=0).as_py():
            raise ValueError(f"has something that is no number in {name!r}")
        if pa.types.is_integer(column.type) and (pc.min(column).as_py() or 0) < _LEAST.get(
            (shape.table, name), 0
        ):
            raise ValueError(f"has a negative number in {name!r}")


_LOOKED_UP = ("type", "id", "name", "tool_use_id")
"""What blocks, tools and edits are found by."""


def check_json(batch: pa.RecordBatch, columns: Mapping[str, type]) -> None:
    """Raise ``ValueError`` where a column does not hold the JSON it is there for."""
    import pyarrow.compute as pc

    for name, kind in columns.items():
        for text in pc.unique(batch.column(name)).to_pylist():
            if text is None:
                continue
            try:
                value = json.loads(text, parse_constant=no_number)
            except RecursionError:
                raise ValueError(f"has JSON of no end in {name!r}") from None
            except ValueError as error:
                raise ValueError(f"has something that is no JSON in {name!r} ({error})") from None
            parts = value if isinstance(value, list) else []
            if not isinstance(value, kind) or not all(isinstance(one, dict) for one in parts):
                raise ValueError(f"has JSON of another kind in {name!r}")
            for one in [value] if isinstance(value, dict) else parts:
                if any(isinstance(one.get(key), dict | list) for key in _LOOKED_UP):
                    raise ValueError(f"has JSON in {name!r} with a name that is none")
