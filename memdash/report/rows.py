"""A comparison as JSON, CSV (one row a turn) and Parquet (the same rows, typed).

What a script or a model wrote stays text: a CSV cell that a spreadsheet would take for a formula is marked as text.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

Comparison = Mapping[str, Any]
"""The object of ``--format json``."""

TURN_COLUMNS = (
    "comparison", "title", "created_at", "basis", "script", "strategy", "params", "label", "model", "provider", "cache",
    "cache_marks", "repeat", "status", "turn", "prompt_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
    "input_tokens", "output_tokens", "cost_usd", "wait_ms", "cache_miss_reason", "events",
)  # fmt: skip
"""The columns of the CSV and Parquet files, in order; ``basis`` says whether the row is simulated, and by which rules."""

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def to_json(comparison: Comparison) -> bytes:
    """Return the comparison as indented JSON in UTF-8; half a surrogate pair, which UTF-8 cannot hold, stays escaped."""
    text = json.dumps(comparison, ensure_ascii=False, indent=2, allow_nan=False)
    return f"{text}\n".encode(errors="backslashreplace")


def to_csv(comparison: Comparison) -> bytes:
    """Return one row a turn in UTF-8; an empty cell is a value that is not known, several events are joined by spaces."""
    text = io.StringIO()
    writer = csv.writer(text)  # lines end in CR LF (RFC 4180), and a cell that holds either is quoted
    writer.writerow(TURN_COLUMNS)
    for row in turn_rows(comparison):
        row["events"] = " ".join(row["events"])
        writer.writerow([safe_cell(row[name]) for name in TURN_COLUMNS])
    return text.getvalue().encode(errors="backslashreplace")


def to_parquet(comparison: Comparison) -> bytes:
    """Return the rows of :func:`to_csv` as Parquet; the settings and versions stand in the file's metadata as JSON."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = dict.fromkeys(
        ("repeat", "turn", *(name for name in TURN_COLUMNS if name.endswith("_tokens"))), pa.int64()
    )
    types = whole | {"cost_usd": pa.float64(), "wait_ms": pa.float64(), "events": pa.list_(pa.string())}
    about = {
        name: comparison.get(name)
        for name in ("comparison", "title", "settings", "token_counter", "versions")
    }
    schema = pa.schema(
        [(name, types.get(name, pa.string())) for name in TURN_COLUMNS],
        metadata={"memdash": json.dumps(about)},
    )
    rows = [{name: _encodable(value) for name, value in row.items()} for row in turn_rows(comparison)]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
    return file.getvalue()


def turn_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the turns of every replay with what tells them apart, by :data:`TURN_COLUMNS`."""
    for replay in comparison["replays"]:
        shared = {
            "comparison": comparison["comparison"],
            "title": comparison["title"],
            "created_at": comparison["created_at"],
            "basis": comparison["versions"]["rules"],
            "params": json.dumps(replay["params"], ensure_ascii=False),
            **{
                name: replay[name]
                for name in (
                    "script", "strategy", "label", "model", "provider", "cache", "cache_marks", "repeat", "status"
                )
            },
        }  # fmt: skip
        for turn in replay["turns"]:
            yield {**shared, **turn, "events": [event["kind"] for event in turn["events"]]}


def safe_cell(value: Any) -> Any:
    """Keep a spreadsheet from running a text as a formula."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def _encodable(value: Any) -> Any:
    """Half a surrogate pair, which Parquet's UTF-8 cannot hold, as its escape."""
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value
