"""A heat map of two swept parameters: one measure in every cell, as a colour and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memdash.charts.canvas import Sheet, row_height
from memdash.charts.sweep.curves import Cell, Grid
from memdash.charts.sweep.measures import LOOKS, Look, Measure, in_words
from memdash.charts.text import NAME, escape, shorten, tell
from memdash.metrics.sweep import Setting
from memdash.palette import Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MOST_CELLS = 5_000
_MOST_FIGURES = 150
"""Beyond this many cells figures would touch one another; hovering tells them."""

_SCALES: dict[Theme, list[str]] = {"light": ["#eef3fb", "#0127aa"], "dark": ["#1f2a40", "#8db4ff"]}
"""From little to much; one hue, so that dark and light say it without colour."""


def title(measure: Measure, grid: Grid) -> str:
    """Say which cell is best."""
    known = [one for one in grid.cells if LOOKS[measure].value(one.setting)]
    label = {Measure.COST: "Cost", Measure.KEPT: "Kept"}.get(measure, str(measure).capitalize())
    what = f"{label} of {shorten(grid.name, NAME)}"
    if not known:
        return f"{what}: not known yet"
    look = LOOKS[measure]
    pick = min if measure is Measure.COST else max
    best = pick(known, key=lambda one: _mean(look, one.setting))
    found = look.spell(_mean(look, best.setting))
    if measure is Measure.COST:
        return f"{what}: cheapest at {_where(grid, best)}, {found}"
    as_good = sum(_mean(look, one.setting) == _mean(look, best.setting) for one in known)
    if as_good > 1:
        return f"{what}: {found} at {as_good} of {len(known)} combinations"
    return f"{what}: most at {_where(grid, best)}, {found}"


def grid_chart(measure: Measure, grid: Grid, theme: Theme, *, recommended: str | None = None) -> go.Figure:
    """Draw one measure of a grid; a combination that cannot be run, or is not finished, is an empty cell."""
    look = LOOKS[measure]
    across, up = list(grid.across.values), list(grid.up.values)
    values = np.full((len(up), len(across)), np.nan)
    figures = [["" for _ in across] for _ in up]
    told = [["" for _ in across] for _ in up]
    few = len(grid.cells) <= _MOST_FIGURES
    for cell in grid.cells[:_MOST_CELLS]:
        row, column = up.index(cell.up), across.index(cell.across)
        if look.value(cell.setting) is None:
            continue
        values[row, column] = _mean(look, cell.setting) * look.scale
        figures[row][column] = escape(look.spell(_mean(look, cell.setting))) if few else ""
        told[row][column] = _hover(measure, cell.setting)
    sheet = Sheet(title(measure, grid), theme, height=row_height(len(up)))
    if np.isnan(values).all():
        sheet.say_empty("The cells fill in as settings are played")
        return sheet.figure()
    sheet.traces.append(
        {
            "type": "heatmap",
            "x": np.arange(len(across)),
            "y": np.arange(len(up)),
            "z": values,
            "text": figures,
            "texttemplate": "%{text}",
            "customdata": told,
            "hovertemplate": "%{customdata}<extra></extra>",
            "hoverongaps": False,
            "colorscale": [[0, _SCALES[theme][0]], [1, _SCALES[theme][1]]],
            "showscale": False,
            "xgap": 2,
            "ygap": 2,
        }
    )
    chosen = [one for one in grid.cells if one.setting.series == recommended]
    for cell in chosen:
        _frame(sheet, across.index(cell.across), up.index(cell.up))
    _axis(sheet, sheet.x, across, f"{_words(grid.across.name)}{_unit(grid.across_unit)}")
    _axis(sheet, sheet.y, up, f"{_words(grid.up.name)}{_unit(grid.up_unit)}")
    sheet.layout["hovermode"] = "closest"
    return sheet.figure()


def alt(measure: Measure, grid: Grid) -> str:
    """Tell the chart in words."""
    told = [f"{_where(grid, one)}: {in_words(measure, one.setting)}" for one in grid.cells[:_MOST_FIGURES]]
    return tell("Heat map", title(measure, grid), told)


def _mean(look: Look, setting: Setting) -> float:
    found = look.value(setting)
    return float("nan") if found is None else found.mean


def _where(grid: Grid, cell: Cell) -> str:
    return f"{_words(grid.across.name)} {_spelled(cell.across)}, {_words(grid.up.name)} {_spelled(cell.up)}"


def _hover(measure: Measure, setting: Setting) -> str:
    lines = [f"<b>{escape(shorten(setting.series, 2 * NAME))}</b>"]
    beside = Measure.KEPT if measure is Measure.COST else Measure.COST
    lines += [escape(f"{one}: {in_words(one, setting)}") for one in (measure, beside)]
    return "<br>".join(lines)


def _frame(sheet: Sheet, column: int, row: int) -> None:
    """A frame around the recommended cell."""
    sheet.shapes.append(
        {
            "type": "rect",
            "x0": column - 0.48,
            "x1": column + 0.48,
            "y0": row - 0.48,
            "y1": row + 0.48,
            "line": {"color": sheet.ink.text, "width": 3},
        }
    )


def _axis(sheet: Sheet, axis: dict[str, Any], values: Sequence[Any], words: str) -> None:
    sheet.label(axis, words)
    axis.update(
        tickvals=list(range(len(values))),
        ticktext=[escape(_spelled(value)) for value in values],
        showgrid=False,
        zeroline=False,
    )


def _spelled(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _unit(unit: str) -> str:
    return f", {unit}" if unit else ""
