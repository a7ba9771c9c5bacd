"""What a conversation costs by its length, and the length from which another setting is the cheaper one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memdash import numbers
from memdash.charts.canvas import MAX_POINTS, Sheet, thin
from memdash.charts.series import Floats
from memdash.charts.text import NAME, escape, shorten, tell
from memdash.metrics.conversations.curves import Curve
from memdash.metrics.conversations.lengths import Lengths
from memdash.metrics.conversations.pairs import BreakEven, break_evens
from memdash.metrics.summary import BASELINE
from memdash.palette import Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

_FLOOR = "the floor"
_MOST_MARKED = 4


def title(curves: Sequence[Curve]) -> str:
    """Say at which length the cheapest setting of long conversations becomes the cheapest, else which one it is throughout."""
    if not curves:
        return "Cost by length of the conversation"
    cheapest = _cheapest(curves)
    first, last = cheapest[0], cheapest[-1]
    if len(curves) == 1:
        return f"Cost by length: {_named(last)} comes to {numbers.usd(last.cost_of(len(cheapest)))} at {_turns(len(cheapest))}"
    if all(one is first for one in cheapest):
        return f"Cost by length: {_named(first)} is the cheapest at every length"
    since = len(cheapest) - next(
        (place for place, one in enumerate(reversed(cheapest)) if one is not last), len(cheapest)
    )
    return f"Cost by length: from {_turns(since + 1)} on {_named(last)} is the cheapest"


def cost_by_length(
    curves: Sequence[Curve],
    styles: Mapping[str, Style],
    theme: Theme,
    *,
    floor: Floats | None = None,
    lengths: Lengths | None = None,
) -> go.Figure:
    """Draw one line a setting, a cross at each break-even with the full history, and the floor below them.

    ``lengths`` marks the usual and the long conversation (p50 and p95), where they are not longer than any replayed.
    """
    names = [curve.series for curve in curves] + ([_FLOOR] if floor is not None and floor.size else [])
    sheet = Sheet(title(curves), theme, notes=_notes(curves), legend=names)
    if not curves:
        sheet.say_empty("No setting is finished and priced yet")
        return sheet.figure()
    each = max(MAX_POINTS // (len(curves) + 1), 4)
    for curve in curves:
        style = styles[curve.series]
        sheet.traces.append(
            _line(
                curve.series,
                curve.cost_usd,
                {"color": style.colour(theme), "dash": style.dash, "width": 2},
                each,
                marker={"symbol": style.marker, "size": 7, "color": style.colour(theme), "maxdisplayed": 10},
            )
        )
    if floor is not None and floor.size:
        sheet.traces.append(
            _line(_FLOOR, floor, {"color": sheet.ink.quiet, "dash": "dot", "width": 1.5}, each)
        )
    longest = max(curve.longest for curve in curves)
    _mark_break_evens(sheet, curves)
    if lengths is not None:
        for share, name in ((0.5, "p50"), (0.95, "p95")):
            if lengths.quantile(share) <= longest:
                _mark_length(sheet, lengths.quantile(share), name)
    sheet.label(sheet.x, "turns of the conversation")
    sheet.x.update(tickformat="d", showgrid=False, zeroline=False, ticks="outside", ticklen=4)
    sheet.x["range"] = [0.5, longest + 0.5] if longest <= 12 else [1 - longest * 0.02, longest * 1.02]
    highest = max(float(curve.cost_usd[-1]) for curve in curves)
    decimals = max(2, math.ceil(-math.log10(highest / 4))) if highest > 0 else 2
    sheet.amount_axis("US dollars a conversation", tickprefix="&#36;", tickformat=f",.{decimals}f")
    return sheet.figure()


def alt(curves: Sequence[Curve], *, floor: Floats | None = None) -> str:
    """Tell the chart in words."""
    told = [
        f"{curve.series} {numbers.usd(float(curve.cost_usd[-1]))} at {_turns(curve.longest)}"
        for curve in curves
    ]
    if floor is not None and floor.size:
        told.append(f"{_FLOOR} {numbers.usd(float(floor[-1]))}")
    told += [pair.words for pair in _with_baseline(curves)]
    return tell("Line chart", title(curves), told)


def _line(
    name: str, values: Floats, line: dict[str, Any], points: int, marker: dict[str, Any] | None = None
) -> dict[str, Any]:
    shown = thin(values, points)
    return {
        "type": "scatter",
        "x": shown + 1,
        "y": values[shown],
        "name": escape(shorten(name)),
        "mode": "lines" if marker is None else "lines+markers",
        "line": line,
        "marker": marker or {},
        "hovertemplate": "&#36;%{y:.4f}",
    }


def _cheapest(curves: Sequence[Curve]) -> list[Curve]:
    """The cheapest setting at each length that all of them have; of equals the first."""
    shared = min(curve.longest for curve in curves)
    costs = np.vstack([curve.cost_usd[:shared] for curve in curves])
    return [curves[place] for place in costs.argmin(axis=0).tolist()]


def _with_baseline(curves: Sequence[Curve]) -> list[BreakEven]:
    """The pairs with the full history; the others are too many for a chart."""
    baselines = {curve.series for curve in curves if curve.strategy == BASELINE}
    return [pair for pair in break_evens(curves) if (pair.short in baselines) != (pair.other in baselines)]


def _mark_break_evens(sheet: Sheet, curves: Sequence[Curve]) -> None:
    pairs = _with_baseline(curves)
    if not pairs:
        return
    known = {curve.series: curve for curve in curves}
    points = [(pair.turns, known[pair.short].cost_of(pair.turns), pair.words) for pair in pairs]
    sheet.traces.append(
        {
            "type": "scatter",
            "x": [turns for turns, _, _ in points],
            "y": [cost for _, cost, _ in points],
            "text": [escape(words) for _, _, words in points],
            "mode": "markers",
            "name": "break-even",
            "marker": {"symbol": "x-thin", "size": 11, "line": {"width": 2, "color": sheet.ink.text}},
            "hovertemplate": "%{text}<extra></extra>",
            "showlegend": False,
        }
    )
    for turns, cost, _ in points[:_MOST_MARKED]:
        sheet.annotations.append(
            {
                "x": turns,
                "y": cost,
                "text": f"{turns}",
                "showarrow": False,
                "yshift": 12,
                "font": {"size": 11, "color": sheet.ink.text},
            }
        )


def _mark_length(sheet: Sheet, turns: int, name: str) -> None:
    sheet.shapes.append(
        {
            "type": "line",
            "x0": turns,
            "x1": turns,
            "y0": 0,
            "y1": 1,
            "yref": "paper",
            "line": {"color": sheet.ink.quiet, "width": 1, "dash": "dot"},
        }
    )
    sheet.annotations.append(
        {
            "x": turns,
            "y": 1,
            "yref": "paper",
            "yanchor": "top",
            "xanchor": "left",
            "xshift": 3,
            "text": f"{name}: {turns}",
            "showarrow": False,
            "font": {"size": 11, "color": sheet.ink.quiet},
        }
    )


def _notes(curves: Sequence[Curve]) -> list[str]:
    if not curves:
        return []
    notes = ["a cross is where a setting and full history change order"] if _with_baseline(curves) else []
    scripts = curves[0].scripts
    if scripts.size and scripts[0] != scripts[-1]:
        last = int(np.flatnonzero(scripts == scripts[0])[-1]) + 1
        notes.append(f"beyond {_turns(last)} fewer scripts speak")
    return notes


def _named(curve: Curve) -> str:
    return shorten(curve.series, NAME)


def _turns(count: int) -> str:
    return numbers.count(count, "turn")
