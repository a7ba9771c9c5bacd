"""What all charts share."""

from __future__ import annotations

import subprocess
import sys

DRAWS_WHILE_ANOTHER_THREAD_LOADS_PANDAS = """
import sys, threading, time
from memdash.charts.canvas import Sheet

def draw():
    sheet = Sheet("Title", "light")
    sheet.traces.append({"type": "bar", "x": ["a"], "y": [1], "marker": {"color": "#123456"}})
    return sheet.figure()

draw()
assert "pandas" not in sys.modules
loading = threading.Thread(target=lambda: __import__("pandas"))
loading.start()
while "pandas" not in sys.modules:
    time.sleep(0)
while loading.is_alive():
    draw()
"""


def test_a_chart_can_be_drawn_while_a_table_of_another_page_loads_pandas() -> None:
    drawn = subprocess.run(
        [sys.executable, "-c", DRAWS_WHILE_ANOTHER_THREAD_LOADS_PANDAS],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert drawn.returncode == 0, drawn.stderr
