"""What the user waited for in each turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from memdash import numbers
from memdash.charts.canvas import Line, Sheet, called, common_notes
from memdash.charts.series import TurnSeries
from memdash.charts.text import tell
from memdash.palette import Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go


def title(series: Sequence[TurnSeries]) -> str:
    """Say whose longest wait is the longest, and whose the shortest."""
    known = _known(series)
    if not known:
        return "Wait per turn"
    longest = {one.name: float(np.nanmax(one.wait_s)) for one in known}
    worst, best = max(known, key=lambda one: longest[one.name]), min(known, key=lambda one: longest[one.name])
    turn = int(worst.turns[int(np.nanargmax(worst.wait_s))])
    high, low = numbers.seconds(longest[worst.name] * 1000), numbers.seconds(longest[best.name] * 1000)
    if len(known) > 1 and high == low:
        return f"Wait per turn: never longer than {high}, whatever the strategy"
    rest = f", {called(best)} never over {low}" if len(known) > 1 else ""
    return f"Wait per turn: {called(worst)} takes up to {high} (turn {turn}){rest}"


def wait_per_turn(series: Sequence[TurnSeries], styles: Mapping[str, Style], theme: Theme) -> go.Figure:
    """Draw the wait of each finished turn, compaction that blocks it included."""
    lines = [Line.of(one, "wait_s") for one in series]
    sheet = Sheet(
        title(series), theme, notes=common_notes(lines, of="not known"), legend=[one.name for one in series]
    )
    if not _known(series):
        sheet.say_empty("No turn is finished yet")
        return sheet.figure()
    sheet.draw_lines(lines, styles, hover="%{y:.1f} s")
    sheet.turn_axis(series)
    sheet.amount_axis("seconds")
    return sheet.figure()


def alt(series: Sequence[TurnSeries]) -> str:
    """Tell the chart in words."""
    told = [
        f"{one.name}: usually {numbers.seconds(float(np.median(values)) * 1000)}, "
        f"at most {numbers.seconds(float(values.max()) * 1000)}"
        for one in series
        if (values := one.wait_s[~np.isnan(one.wait_s)]).size
    ]
    return tell("Line chart", title(series), told)


def _known(series: Sequence[TurnSeries]) -> list[TurnSeries]:
    known = [one for one in series if not np.isnan(one.wait_s).all()]
    return [one for one in known if one.complete] or known
