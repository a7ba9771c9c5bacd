"""Writing a bundle: from one moment of the database, a few rows in memory at a time."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import memdash
from memdash.store import queries
from memdash.store.bundle.document import TABLES, Document, read_document
from memdash.store.bundle.layout import MANIFEST, RECORD_KEYS, Manifest, Part
from memdash.store.bundle.tables import ROWS, Shape, write_parquet
from memdash.store.database import SCHEMA_VERSION
from memdash.store.reading import spans

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_ORDINARY_FILE = 0o100644 << 16

Told = Callable[[int, int], None]
"""Is told how many comparisons are done, of how many."""


def untold(done: int, of: int) -> None:
    """Tell nobody."""


_shapes: dict[str, Shape] = {}


def all_shapes(cursor: duckdb.DuckDBPyConnection) -> Mapping[str, Shape]:
    """Return the shape of every table that travels, by name. It is the same in every database: all are of one schema."""
    if not _shapes:
        _shapes.update({table: Shape.of(cursor, table) for table in (*TABLES, *RECORD_KEYS)})
    return _shapes


def write_bundle(
    cursor: duckdb.DuckDBPyConnection, comparison_ids: Sequence[str], file: BinaryIO, told: Told = untold
) -> None:
    """Write comparisons that are there to ``file``, which need not be seekable; ``cursor`` must see one moment."""
    shapes = all_shapes(cursor)
    parts: list[Part] = []
    with zipfile.ZipFile(file, "w") as archive:
        for comparison_id in comparison_ids:
            parts.append(_write_part(cursor, shapes, comparison_id, archive))
            told(len(parts), len(comparison_ids))
        now = datetime.now(UTC)
        manifest = Manifest(
            SCHEMA_VERSION, memdash.__version__, now.isoformat(timespec="seconds"), tuple(parts)
        )
        with _entry(archive, MANIFEST, now) as entry:
            entry.write(_json(manifest.to_data()))


def _write_part(
    cursor: duckdb.DuckDBPyConnection,
    shapes: Mapping[str, Shape],
    comparison_id: str,
    archive: zipfile.ZipFile,
) -> Part:
    document = read_document(cursor, shapes, comparison_id)
    (launched,) = document["comparison"]
    moment = datetime.fromisoformat(launched["created_at"])
    (title,) = cursor.execute(queries.TITLE, [comparison_id]).fetchall()[0]
    part = Part(comparison_id, title, {})
    with _entry(archive, part.document, moment) as entry:
        entry.write(_json(document))
    rows: dict[str, int] = {}
    for table in RECORD_KEYS:
        batches = record_batches(cursor, shapes[table], comparison_id)
        first = next(batches, None)
        if first is not None:
            with _entry(archive, part.table(table), moment) as entry:
                rows[table] = write_parquet(_chain(first, batches), shapes[table].schema, entry)
    return Part(comparison_id, title, rows)


def record_batches(
    cursor: duckdb.DuckDBPyConnection, shape: Shape, comparison_id: str
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table of records in the order they were written, replays by their place in the comparison."""
    if shape.table == "block_text":
        yield from _batches(
            cursor, queries.BUNDLED_TEXTS.format(columns=shape.columns), {"comparison": comparison_id}
        )
        return
    numbers = [number for number, _id in cursor.execute(queries.REPLAY_NUMBERS, [comparison_id]).fetchall()]
    query = queries.BUNDLED_RECORDS.format(table=shape.table, columns=shape.columns)
    for first, last in spans(numbers):
        for batch in _batches(cursor, query, {"first": first, "last": last}):
            yield replaced(batch, numbers, backwards=True)


def replaced(batch: pa.RecordBatch, numbers: Sequence[int], *, backwards: bool = False) -> pa.RecordBatch:
    """Give rows the numbers of their replays in place of their places in ``numbers``, which rise, or the other way round."""
    import numpy as np
    import pyarrow as pa

    column = batch.column(0).to_numpy()
    known = np.asarray(numbers, np.int32)
    new = np.searchsorted(known, column).astype(np.int32) if backwards else known[column]
    return pa.RecordBatch.from_arrays([pa.array(new), *batch.columns[1:]], schema=batch.schema)


def _batches(
    cursor: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, object]
) -> Iterator[pa.RecordBatch]:
    for batch in cursor.sql(query, params=dict(values)).to_arrow_reader(ROWS):
        if batch.num_rows:
            yield batch


def _chain(first: pa.RecordBatch, others: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from others


def _entry(archive: zipfile.ZipFile, name: str, moment: datetime) -> IO[bytes]:
    """Open an entry to write to, stamped with a moment that is its own: the same comparison gives the same bytes."""
    year = min(max(moment.year, 1980), 2107)  # what a zip can say
    info = zipfile.ZipInfo(name, (year, *moment.timetuple()[1:6]))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = _ORDINARY_FILE
    return archive.open(info, "w", force_zip64=True)


def _json(data: Document | dict[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False).encode()
