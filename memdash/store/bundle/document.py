"""What was launched, as JSON: the rows of the small tables of one comparison, as objects by the names of their columns.

Paths of files that hold somebody's own strategies never travel: they say where that person keeps files, and a strategy runs as
code, so a path may come from the command line or the environment only (:mod:`memdash.strategies.own`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from memdash.store import queries
from memdash.store.bundle.layout import DOCUMENT_TABLES
from memdash.store.bundle.tables import Shape, check_rows

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Row = dict[str, Any]
Document = dict[str, list[Row]]
"""Rows by table; of ``comparison`` there is one."""

TABLES = ("comparison", *DOCUMENT_TABLES)


def read_document(
    cursor: duckdb.DuckDBPyConnection, shapes: Mapping[str, Shape], comparison_id: str
) -> Document:
    """Return what the database holds of a comparison's launch, and of what was changed since."""
    document: Document = {}
    for table in TABLES:
        query = queries.BUNDLED[table].format(columns=shapes[table].columns)
        rows = cursor.execute(query, [comparison_id]).fetchall()
        document[table] = [
            {
                name: _plain(value)
                for name, value in zip(shapes[table].schema.names, row, strict=True)
                if name != "number"
            }
            for row in rows
        ]
    return without_files(document)


def check_document(data: Any, shapes: Mapping[str, Shape], comparison_id: str, *, older: bool) -> Document:
    """Return a document that nobody vouches for, with what its own strategies' files are called left out.

    Raises ``ValueError`` where it is something else. Whether its texts can be read is seen once it is in the database.
    """
    if not isinstance(data, dict) or data.keys() != set(TABLES):
        raise ValueError("does not hold what was launched")
    document: Document = {
        table: [_check_row(row, shapes[table], older=older) for row in _rows(data, table)] for table in TABLES
    }
    for table in TABLES:
        as_batch(document[table], shapes[table])
    if [row["id"] for row in document["comparison"]] != [comparison_id]:
        raise ValueError("is about another comparison")
    for script in document["script"]:
        # a script is kept once by its hash: under a wrong one it would take the place of another comparison's
        if hashlib.sha256(script["body"].encode()).hexdigest() != script["hash"]:
            raise ValueError(f"has a script {script['id'][:60]!r} that is not the one it was")
    ids = [row["id"] for row in document["replay"]]
    if not ids or len(set(ids)) < len(ids) or any(one.rpartition("_")[0] != comparison_id for one in ids):
        raise ValueError("has replays that are not its own")
    return without_files(document)


def as_batch(rows: list[Row], shape: Shape, numbers: Mapping[str, int] | None = None) -> pa.RecordBatch:
    """Return rows as a batch for the database; ``numbers`` are those of replays by id.

    Raises ``ValueError`` where a value is of another type than its column.
    """
    import pyarrow as pa

    columns = []
    for field in shape.schema:
        values = [
            (numbers or {}).get(row["id"], 0) if field.name == "number" else row[field.name] for row in rows
        ]
        try:
            columns.append(pa.array([_typed(value, field.type) for value in values], field.type))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"has something in {field.name!r} that does not belong there ({error})"
            ) from error
    batch = pa.RecordBatch.from_arrays(columns, schema=shape.schema)
    check_rows(batch, shape)
    return batch


def without_files(document: Document) -> Document:
    """Leave out where somebody's own strategies are written; everything else stays as it is, to the byte."""
    return {
        **document,
        "comparison": [
            {**row, "settings": _edited(row["settings"], _settings_without_files)}
            for row in document["comparison"]
        ],
        "replay": [{**row, "strategy_file": None} for row in document["replay"]],
        "comparison_change": [
            {**row, "value": _edited(row["value"], _drop_files)} if row["kind"] == "refinement" else row
            for row in document["comparison_change"]
        ],
    }


def _settings_without_files(settings: Any) -> bool:
    """The specification stands in the settings as JSON within JSON."""
    if not isinstance(settings, dict) or not isinstance(settings.get("spec"), str):
        return False
    spec = json.loads(settings["spec"])
    if not _drop_files(spec):
        return False
    settings["spec"] = json.dumps(spec, ensure_ascii=False, separators=(",", ":"))
    return True


def _drop_files(data: Any) -> bool:
    """Empty every ``file`` beside the name of a strategy; returns whether there was one."""
    if isinstance(data, list):
        return any([_drop_files(one) for one in data])
    if not isinstance(data, dict):
        return False
    found = any([_drop_files(one) for one in data.values()])
    if ("name" in data or "strategy" in data) and data.get("file") is not None:
        data["file"] = None
        return True
    return found


def _edited(text: str, edit: Callable[[Any], bool]) -> str:
    data = json.loads(text)
    return json.dumps(data) if edit(data) else text


def _rows(data: Mapping[str, Any], table: str) -> list[Any]:
    rows = data[table]
    if not isinstance(rows, list):
        raise ValueError(f"{table} is no list")
    return rows


def _check_row(row: Any, shape: Shape, *, older: bool) -> Row:
    names = [name for name in shape.schema.names if name != "number"]
    if not isinstance(row, dict) or not row.keys() <= set(names):
        raise ValueError(f"has a row of {shape.table} that is not known")
    missing = [name for name in names if name not in row and not (older and name not in shape.required)]
    if missing:
        raise ValueError(f"has a row of {shape.table} without {missing[0]!r}")
    return {name: row.get(name) for name in names}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _typed(value: Any, kind: pa.DataType) -> Any:
    """A value of JSON as one of Arrow: moments are texts there, and what is true is no number."""
    import pyarrow as pa

    if value is None:
        return None
    if pa.types.is_timestamp(kind):
        return datetime.fromisoformat(_of(value, str))
    if pa.types.is_date(kind):
        return date.fromisoformat(_of(value, str))
    if pa.types.is_boolean(kind):
        return _of(value, bool)
    if pa.types.is_floating(kind):
        return float(_of(value, int, float))
    if pa.types.is_integer(kind):
        return _of(value, int)
    return _of(value, str)


def _of(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise ValueError(f"{str(value)[:60]!r} is of another kind")
    return value
