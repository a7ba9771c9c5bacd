"""A stored comparison as a file: a report to read (HTML, Markdown), or its numbers (JSON, CSV one row a turn, Parquet).

    content = report.made(store, comparison_id, report.ending_of(path), redact=True)
    report.write(content, path)

What a script or a model wrote stays text in each of them; with ``redact`` it is left out of all of them.
"""

from memdash.report.basis import (
    LIVE_BASIS,
    NOT_COMPARED,
    SIMULATOR_RULES,
    basis,
    simulator_basis,
    token_counter,
)
from memdash.report.files import ENDINGS, ending_of, made, replacing, write
from memdash.report.reading import assemble, measured, read
from memdash.report.rows import (
    TURN_COLUMNS,
    Comparison,
    safe_cell,
    to_csv,
    to_json,
    to_parquet,
    turn_rows,
)

__all__ = [
    "ENDINGS",
    "LIVE_BASIS",
    "NOT_COMPARED",
    "SIMULATOR_RULES",
    "TURN_COLUMNS",
    "Comparison",
    "assemble",
    "basis",
    "ending_of",
    "made",
    "measured",
    "read",
    "replacing",
    "safe_cell",
    "simulator_basis",
    "to_csv",
    "to_json",
    "to_parquet",
    "token_counter",
    "turn_rows",
    "write",
]
