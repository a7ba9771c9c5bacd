"""What each replay cost so far, and the turn at which one overtakes another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memdash import numbers
from memdash.charts.canvas import Line, Sheet, called, common_notes
from memdash.charts.series import TurnSeries
from memdash.charts.text import tell
from memdash.metrics.breakeven import overtakes_at
from memdash.metrics.summary import BASELINE
from memdash.palette import Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Crossing(NamedTuple):
    """From ``turn`` on, ``dearer`` has cost more than ``cheaper``, having cost no more before."""

    dearer: TurnSeries
    cheaper: TurnSeries
    turn: int
    cost: float


def title(series: Sequence[TurnSeries]) -> str:
    """Say which series overtakes the baseline and when, else who ends cheapest."""
    known = _known(series)
    if not known:
        return (
            "Cost so far: n/a, a price or a count is not known"
            if any(one.turns.size for one in series)
            else "Cost so far"
        )
    crossing = break_even(series)
    if crossing:
        return f"Cost so far: {called(crossing.dearer)} overtakes {called(crossing.cheaper)} at turn {crossing.turn}"
    ends = {one.name: float(one.cost_usd[-1]) for one in known}
    cheapest, dearest = min(known, key=lambda one: ends[one.name]), max(known, key=lambda one: ends[one.name])
    low, high = numbers.usd(ends[cheapest.name]), numbers.usd(ends[dearest.name])
    if len(known) == 1:
        return f"Cost so far: {called(cheapest)} comes to {low}"
    if low == high:
        return f"Cost so far: every strategy comes to {low}"
    return f"Cost so far: {called(cheapest)} comes to {low}, {called(dearest)} to {high}"


def break_even(series: Sequence[TurnSeries]) -> Crossing | None:
    """Return the crossing worth telling: the dearest series that overtakes the full history, else the cheapest it overtakes."""
    known = _known(series)
    base = next((one for one in known if one.strategy == BASELINE), None)
    if base is None:
        return None
    others = sorted((one for one in known if one is not base), key=lambda one: -float(one.cost_usd[-1]))
    risen = [crossing for other in others if (crossing := _crossing(other, base))]
    fallen = [crossing for other in reversed(others) if (crossing := _crossing(base, other))]
    return next(iter([*risen, *fallen]), None)


def cost_so_far(series: Sequence[TurnSeries], styles: Mapping[str, Style], theme: Theme) -> go.Figure:
    """Draw the cost of each series up to each turn, summaries included, with the break-even turn."""
    lines = [Line.of(one, "cost_usd") for one in series]
    sheet = Sheet(
        title(series), theme, notes=common_notes(lines, of="n/a"), legend=[one.name for one in series]
    )
    if not any(one.turns.size and not np.isnan(one.cost_usd).all() for one in series):
        sheet.say_empty("No costs to draw")
        return sheet.figure()
    sheet.draw_lines(lines, styles, hover="&#36;%{y:.4f}")
    crossing = break_even(series)
    if crossing:
        _draw_crossing(sheet, crossing)
    sheet.turn_axis(series)
    sheet.amount_axis("US dollars so far", tickprefix="&#36;", tickformat=f",.{_decimals(series)}f")
    return sheet.figure()


def alt(series: Sequence[TurnSeries]) -> str:
    """Tell the chart in words."""
    told = [f"{one.name} comes to {numbers.usd(float(one.cost_usd[-1]))}" for one in series if _priced(one)]
    unknown = [one.name for one in series if one.turns.size and not _priced(one)]
    if unknown:
        told.append(f"not known for {numbers.listing(unknown)}")
    return tell("Line chart", title(series), told)


def _priced(one: TurnSeries) -> bool:
    return bool(one.cost_usd.size) and not np.isnan(one.cost_usd[-1])


def _known(series: Sequence[TurnSeries]) -> list[TurnSeries]:
    priced = [one for one in series if _priced(one)]
    return [one for one in priced if one.complete] or priced


def _decimals(series: Sequence[TurnSeries]) -> int:
    """Decimals that tell the axis' four or five ticks apart."""
    highest = max(
        (float(np.nanmax(one.cost_usd)) for one in series if not np.isnan(one.cost_usd).all()), default=0.0
    )
    return max(2, math.ceil(-math.log10(highest / 4))) if highest > 0 else 2


def _crossing(dearer: TurnSeries, cheaper: TurnSeries) -> Crossing | None:
    turns, ours, theirs = np.intersect1d(dearer.turns, cheaper.turns, return_indices=True)
    costs, others = dearer.cost_usd[ours], cheaper.cost_usd[theirs]
    index = overtakes_at(costs.tolist(), others.tolist())
    if index is None or index == 0:
        return None
    return Crossing(dearer, cheaper, int(turns[index]), float(costs[index]))


def _draw_crossing(sheet: Sheet, crossing: Crossing) -> None:
    sheet.shapes.append(
        {
            "type": "line",
            "x0": crossing.turn,
            "x1": crossing.turn,
            "y0": 0,
            "y1": 1,
            "yref": "paper",
            "line": {"color": sheet.ink.quiet, "width": 1, "dash": "dot"},
        }
    )
    sheet.annotations.append(
        {
            "x": crossing.turn,
            "y": 1,
            "yref": "paper",
            "yanchor": "top",
            "xanchor": "left",
            "xshift": 4,
            "text": f"break-even: turn {crossing.turn}",
            "showarrow": False,
            "font": {"size": 11, "color": sheet.ink.quiet},
        }
    )
