"""Prompt tokens per turn, with what was done to the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memdash import numbers
from memdash.charts.canvas import Ink, Line, Sheet, called, common_notes
from memdash.charts.series import MarkKind, TurnMark, TurnSeries
from memdash.charts.text import tell
from memdash.palette import Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

_SYMBOLS = {MarkKind.SUMMARY: "arrow-down", MarkKind.CUT: "line-ns", MarkKind.REFUSED: "x-thin"}


_MANY = 6
"""Beyond this many series marks are drawn smaller."""


def title(series: Sequence[TurnSeries]) -> str:
    """Say whose prompts grow largest and whose stay smallest."""
    drawn = _drawn(series)
    if not drawn:
        return (
            "Prompt per turn: not reported by the server"
            if any(one.turns.size for one in series)
            else "Prompt per turn"
        )
    peaks = {one.name: float(np.nanmax(one.prompt_tokens)) for one in drawn}
    largest = max(drawn, key=lambda one: peaks[one.name])
    smallest = min(drawn, key=lambda one: peaks[one.name])
    high, low = numbers.tokens_short(peaks[largest.name]), numbers.tokens_short(peaks[smallest.name])
    if len(drawn) == 1:
        return f"Prompt per turn: {called(largest)} peaks at {high} tokens"
    if high == low:
        return f"Prompt per turn: every strategy peaks at {high} tokens"
    return f"Prompt per turn: {called(largest)} peaks at {high} tokens, {called(smallest)} at {low}"


def tokens_per_turn(series: Sequence[TurnSeries], styles: Mapping[str, Style], theme: Theme) -> go.Figure:
    """Draw each series' prompt tokens per turn, and mark summaries, cuts and refusals on its line."""
    lines = [Line.of(one, "prompt_tokens") for one in series]
    kinds = [kind for kind in MarkKind if any(mark.kind is kind for one in series for mark in one.marks)]
    sheet = Sheet(
        title(series),
        theme,
        notes=common_notes(lines, of="not reported"),
        legend=[*(one.name for one in series), *kinds],
    )
    if not _drawn(series):
        sheet.say_empty("Nothing to draw yet")
        return sheet.figure()
    sheet.draw_lines(lines, styles, hover="%{y:,.0f} tokens")
    for kind in kinds:
        sheet.traces.append(_marks(kind, series, sheet.ink))
    sheet.turn_axis(series)
    sheet.amount_axis("prompt tokens", tickformat="~s")
    return sheet.figure()


def alt(series: Sequence[TurnSeries]) -> str:
    """Tell the chart in words."""
    told = [
        f"{one.name}: from {numbers.tokens(values[0])} to {numbers.tokens(values[-1])} tokens, "
        f"at most {numbers.tokens(values.max())}"
        for one in series
        if (values := one.prompt_tokens[~np.isnan(one.prompt_tokens)]).size
    ]
    return tell("Line chart", title(series), told)


def _drawn(series: Sequence[TurnSeries]) -> list[TurnSeries]:
    """The series that a title may speak of: complete ones, all that have numbers while none is."""
    known = [one for one in series if not np.isnan(one.prompt_tokens).all()]
    return [one for one in known if one.complete] or known


def _marks(kind: MarkKind, series: Sequence[TurnSeries], ink: Ink) -> dict[str, Any]:
    """The marks of one kind on all lines, as one trace."""
    placed = [
        (mark.turn, height, _meaning(mark))
        for one in series
        for mark in one.marks
        if mark.kind is kind and (height := _height(one, mark.turn)) is not None
    ]
    many = len(series) > _MANY
    return {
        "type": "scatter",
        "x": np.array([turn for turn, _, _ in placed]),
        "y": np.array([height for _, height, _ in placed]),
        "name": kind.value,
        "mode": "markers",
        "marker": {
            "symbol": _SYMBOLS[kind],
            "size": (14 if kind is MarkKind.CUT else 11) - (3 if many else 0),
            "opacity": 0.7 if many else 1,
            "color": ink.text,
            "line": {"color": ink.text, "width": 0 if kind is MarkKind.SUMMARY else 2},
        },
        "text": [meaning for _, _, meaning in placed],
        "hovertemplate": "%{text}",
    }


def _height(one: TurnSeries, turn: int) -> float | None:
    """Where on its line a mark stands; a refused turn has no tokens, so its mark stands at the height of the turn before."""
    known = ~np.isnan(one.prompt_tokens) & (one.turns <= turn)
    return float(one.prompt_tokens[known][-1]) if known.any() else None


def _meaning(mark: TurnMark) -> str:
    if mark.through > mark.turn:
        return f"every turn from {mark.turn} to {mark.through}"
    return f"turn {mark.turn}"
