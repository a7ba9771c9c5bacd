"""Tables for other programs, written by the database itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from memdash.errors import StoreError
from memdash.store.queries import EXPORT

RequestCost = tuple[int, int, float | None]
"""Replay number, sequence number and dollars (None for "n/a") of a request."""


def export_requests(
    cursor: duckdb.DuckDBPyConnection, comparison_id: str, costs: Sequence[RequestCost], path: Path
) -> None:
    """Write one row for each request of a comparison to ``path``: CSV where it ends in ``.csv``, else Parquet.

    A file that is there is replaced. Raises :class:`StoreError` where it cannot be written.
    """
    cursor.execute("create or replace temp table request_cost (replay integer, seq integer, usd double)")
    with cursor.appender("request_cost") as appender:
        appender.append_rows(list(costs))
    form = "format csv, header" if path.suffix == ".csv" else "format parquet, compression zstd"
    question = EXPORT.replace("$comparison", _quoted(comparison_id))
    try:
        cursor.execute(f"copy ({question}) to {_quoted(str(path))} ({form})")
    except duckdb.IOException as error:
        raise StoreError(f"{path}: cannot be written: {str(error).splitlines()[0]}") from error


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
