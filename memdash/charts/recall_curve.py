"""Recall along the way: the share of questions answered right, by the turn after which they were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from memdash import numbers
from memdash.charts.canvas import MAX_POINTS, Sheet
from memdash.charts.series import Band
from memdash.charts.text import NAME, escape, shorten, tell
from memdash.metrics.recall_curve import RecallCurve, RecallPoint
from memdash.palette import Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go


def title(curves: Sequence[RecallCurve]) -> str:
    """Say who answers most at the end, and who fewest."""
    label = (
        "Simulated recall along the way" if any(one.simulated for one in curves) else "Recall along the way"
    )
    if not curves:
        return f"{label}: the script asks at one point only"
    last = max(one.points[-1].asked_after for one in curves)
    there = [one for one in curves if one.points[-1].asked_after == last]
    best = max(there, key=lambda one: one.points[-1].recall)
    worst = min(there, key=lambda one: one.points[-1].recall)
    high, low = (numbers.percent(one.points[-1].recall) for one in (best, worst))
    end = _when(max((one.points[-1] for one in there), key=lambda point: point.asked_after - point.since))
    if high == low:
        whose = shorten(best.series, NAME) if len(there) == 1 else "every strategy"
        return f"{label}: {whose} answers {high} {end}"
    return (
        f"{label}: {end} {shorten(best.series, NAME)} answers {high}, "
        f"{shorten(worst.series, NAME)} answers {low}"
    )


def recall_along_the_way(
    curves: Sequence[RecallCurve], styles: Mapping[str, Style], theme: Theme
) -> go.Figure:
    """Draw one line a series; the axis says after which turn was asked, and of how many questions each share is."""
    spread = any(point.low < point.high for curve in curves for point in curve.points)
    notes = ["the band goes from the worst to the best repeat"] if spread else []
    sheet = Sheet(title(curves), theme, notes=notes, legend=[one.series for one in curves])
    if not curves:
        sheet.say_empty("Recall is asked at one point only, so there is no curve")
        return sheet.figure()
    for curve in curves:
        style = styles[curve.series]
        colour = style.colour(theme)
        if any(point.low < point.high for point in curve.points):
            turns_asked = np.array([point.asked_after for point in curve.points])
            band = np.array([(point.low * 100, point.high * 100) for point in curve.points])
            sheet.draw_band(turns_asked, Band(band[:, 0], band[:, 1]), colour, MAX_POINTS // len(curves))
        sheet.traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": escape(shorten(curve.series)),
                "x": [point.asked_after for point in curve.points],
                "y": [point.recall * 100 for point in curve.points],
                "text": [
                    f"{numbers.percent(point.recall)} ({_when(point)}: {numbers.part(point.passed, point.total)}; "
                    f"text of {point.visible} in sight{_repeats(point)})"
                    for point in curve.points
                ],
                "line": {"color": colour, "dash": style.dash, "width": 2},
                "marker": {"symbol": style.marker, "size": 8, "color": colour},
                "hovertemplate": "%{text}",
            }
        )
    asked: dict[int, int] = {}
    bands = any(point.since < point.asked_after for curve in curves for point in curve.points)
    for curve in curves:
        for point in curve.points:
            asked[point.asked_after] = max(asked.get(point.asked_after, 0), point.total)
    turns = sorted(asked)
    sheet.label(sheet.x, "asked up to turn (n = questions)" if bands else "asked after turn (n = questions)")
    sheet.x.update(zeroline=False, showgrid=False)
    if len(turns) <= 12:
        sheet.x.update(tickvals=turns, ticktext=[f"{turn}<br>n = {asked[turn]}" for turn in turns])
        sheet.margin["b"] += 14
    sheet.label(sheet.y, "questions answered right")
    ticks = [0, 25, 50, 75, 100]
    sheet.y.update(range=[-3, 103], tickvals=ticks, ticktext=[f"{tick} %" for tick in ticks])
    return sheet.figure()


def _repeats(point: RecallPoint) -> str:
    if point.low == point.high:
        return ""
    return f"; {numbers.percent(point.low)} to {numbers.percent(point.high)} in the repeats"


def _when(point: RecallPoint) -> str:
    if point.since == point.asked_after:
        return f"after turn {point.asked_after}"
    return f"after turns {point.since} to {point.asked_after}"


def alt(curves: Sequence[RecallCurve]) -> str:
    """Tell the chart in words."""
    told = [
        f"{one.series}: "
        + ", ".join(f"{numbers.part(point.passed, point.total)} {_when(point)}" for point in one.points)
        for one in curves
    ]
    return tell("Line chart", title(curves), told)
