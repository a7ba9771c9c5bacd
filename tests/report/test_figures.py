from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest

from memdash import charts
from memdash.charts import Chart
from memdash.metrics import measure_all
from memdash.palette import Theme, assign
from memdash.prices import PriceTable
from memdash.report.figures import Drawn, Sketch, drawn, template
from tests.builders import replay_log, spec, turn, window_spec

RESULTS = measure_all(
    [
        replay_log(
            spec(turns=3), *(turn(n, input=500 * n, write=100, read=30, output=10) for n in (1, 2, 3))
        ),
        replay_log(window_spec(turns=3), *(turn(n, input=400, write=100, output=10) for n in (1, 2, 3))),
    ],
    PriceTable.load(),
)
SERIES = charts.turn_series(RESULTS)
STYLES = assign((one.series, one.strategy) for one in RESULTS)


def draw(chart: Chart, theme: Theme) -> go.Figure:
    return charts.draw(chart, SERIES, STYLES, theme)


def darkened(one: Drawn) -> Any:
    """What the page makes of a figure in the dark."""
    figure: Any = copy.deepcopy(one.figure)
    for way, value in one.dark:
        inner = figure
        for name in way[:-1]:
            inner = inner[name]
        inner[way[-1]] = value
    return figure


def test_a_chart_in_the_dark_is_the_light_one_with_its_differences() -> None:
    for chart in Chart:
        both = drawn(Sketch(lambda theme, chart=chart: draw(chart, theme), "title", "alt"))  # type: ignore[misc]
        dark = drawn(Sketch(lambda _theme, chart=chart: draw(chart, "dark"), "title", "alt"))  # type: ignore[misc]
        assert both.dark
        assert darkened(both) == dark.figure
        assert dark.dark == ()


def test_a_chart_carries_its_numbers_and_neither_title_nor_template() -> None:
    one = drawn(Sketch(lambda theme: draw(Chart.TOKENS, theme), "title", "alt"))
    assert one.figure["data"][0]["x"] == [1, 2, 3]
    assert one.figure["data"][0]["y"] == [630, 1130, 1630]
    assert "title" not in one.figure["layout"]
    assert "template" not in one.figure["layout"]
    assert one.height == draw(Chart.TOKENS, "light").layout.height


def test_the_template_is_plotlys_own_whatever_the_default_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pio.templates, "default", "none")
    shared = template()
    assert shared["layout"]["xaxis"]["automargin"] is True
    assert shared["layout"]["colorway"][0] == "#636efa"


def test_what_is_not_known_is_null_and_no_number_is_longer_than_anybody_reads() -> None:
    values = np.array([math.nan, math.inf, 1 / 3, 12_345_678.0, 0.0])
    figure = go.Figure({"data": [{"type": "scatter", "y": values}], "layout": {"height": 300}})
    one = drawn(Sketch(lambda _theme: go.Figure(figure), "title", "alt"))
    assert json.loads(json.dumps(one.figure, allow_nan=False))["data"][0]["y"] == [
        None,
        None,
        0.3333333,
        12_345_678,
        0,
    ]


def test_a_note_is_plain_text() -> None:
    titled = {"text": "t", "subtitle": {"text": "a &lt;b&gt;<br>c"}}
    figure = go.Figure({"data": [], "layout": {"height": 300, "title": titled}})
    assert drawn(Sketch(lambda _theme: go.Figure(figure), "title", "alt")).note == "a <b> c"
