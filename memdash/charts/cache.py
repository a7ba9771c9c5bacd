"""The cache share of each turn."""

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
    """Say who reads most of its prompt from the cache, and who least."""
    shares = _shares(series)
    if not shares:
        return (
            "Cache share: not reported by the server"
            if any(one.turns.size for one in series)
            else "Cache share"
        )
    best, worst = max(shares, key=lambda one: one[1]), min(shares, key=lambda one: one[1])
    high, low = numbers.percent(best[1]), numbers.percent(worst[1])
    if high == low:
        whose = called(best[0]) if len(shares) == 1 else "every strategy"
        return f"Cache share: {whose} reads {high} of its prompt from the cache"
    return f"Cache share: {called(best[0])} reads {high} from the cache, {called(worst[0])} reads {low}"


def cache_share_per_turn(
    series: Sequence[TurnSeries], styles: Mapping[str, Style], theme: Theme
) -> go.Figure:
    """Draw how much of each turn's prompt came from the cache; a turn whose server reports nothing is a gap, not 0 %."""
    lines = [Line(one, one.cache_share * 100) for one in series]
    sheet = Sheet(
        title(series),
        theme,
        notes=common_notes(lines, of="not reported"),
        legend=[one.name for one in series],
    )
    if not _shares(series):
        sheet.say_empty("The server does not report cache use")
        return sheet.figure()
    sheet.draw_lines(lines, styles, hover="%{y:.0f} %")
    sheet.turn_axis(series)
    sheet.label(sheet.y, "share of prompt tokens")
    ticks = [0, 25, 50, 75, 100]
    sheet.y.update(range=[-3, 103], tickvals=ticks, ticktext=[f"{tick} %" for tick in ticks])
    return sheet.figure()


def alt(series: Sequence[TurnSeries]) -> str:
    """Tell the chart in words."""
    told = [f"{one.name} {numbers.percent(share)}" for one, share in _shares(series)]
    return tell("Line chart", title(series), told)


def _shares(series: Sequence[TurnSeries]) -> list[tuple[TurnSeries, float]]:
    """The share of each whole series, of complete ones where there are any."""
    shares = []
    for one in series:
        reads = [
            result.cache_read_input_tokens
            for result in one.results
            if result.cache_read_input_tokens is not None
        ]
        prompt = [result.prompt_tokens for result in one.results if result.prompt_tokens]
        if reads and prompt and not np.isnan(one.cache_share).all():
            shares.append((one, sum(reads) / sum(prompt)))
    return [pair for pair in shares if pair[0].complete] or shares
