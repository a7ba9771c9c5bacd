"""Charts are drawn at any moment while another thread loads pandas."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memdash.charts.beside_pandas import beside_pandas

DRAWS_BEFORE_AND_WHILE_PANDAS_IS_LOADED = """
import sys, threading
from memdash.charts.canvas import Sheet
import plotly.io

def draw():
    sheet = Sheet("Title", "light")
    sheet.traces.extend({"type": "bar", "x": ["a"], "y": [1], "marker": {"color": "#123456"}} for _ in range(20))
    return sheet.figure()

draw()
assert "pandas" not in sys.modules
began, ended, drawn = threading.Event(), threading.Event(), []

def draws():
    while not ended.is_set():
        drawn.append(draw())
        began.set()
    drawn.append(None)

drawing = threading.Thread(target=draws)
drawing.start()
began.wait()
import pandas
ended.set()
drawing.join()
assert drawn[-1] is None, "the thread that draws has failed"
"""


def test_a_chart_is_drawn_while_a_table_of_another_page_begins_to_load_pandas() -> None:
    drawn = subprocess.run(
        [sys.executable, "-c", DRAWS_BEFORE_AND_WHILE_PANDAS_IS_LOADED],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert drawn.returncode == 0, drawn.stderr


def test_what_met_half_of_pandas_is_done_once_more() -> None:
    pytest.importorskip("pandas")
    done: list[int] = []

    def work() -> str:
        done.append(1)
        if len(done) == 1:
            raise AttributeError("partially initialized module 'pandas' has no attribute 'Series'")
        return "a chart"

    assert (beside_pandas(work), len(done)) == ("a chart", 2)


def test_a_mistake_of_ones_own_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        raise AttributeError("no attribute 'colour'")

    with pytest.raises(AttributeError, match="colour"):
        beside_pandas(work)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    with pytest.raises(AttributeError, match="colour"):
        beside_pandas(work)
