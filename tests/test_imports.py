"""What a program brings into memory: the SDK takes over a second and 80 MB, and only who plays a replay needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("modules", "without"),
    [
        ("memdash.report", "anthropic, pandas, plotly, pyarrow, scipy, streamlit"),
        ("memdash.views.server", "anthropic, pandas, plotly.express, pyarrow, scipy"),
        ("memdash.views.results, memdash.views.setup_form", "anthropic, pandas, pyarrow, scipy"),
        (
            "memdash.inspection.requests, memdash.replay.contexts",
            "anthropic, duckdb, pandas, plotly, pyarrow, scipy",
        ),
        ("memdash.child", "duckdb, numpy, pandas, plotly, pyarrow, scipy, streamlit"),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(modules: str, without: str) -> None:
    heavy = {name.strip() for name in without.split(",")}
    code = f"import sys, {modules}; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
