"""What the tokens of each replay were made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memdash import numbers
from memdash.charts.canvas import Sheet, called, row_height
from memdash.charts.series import Floats, TurnSeries
from memdash.charts.text import tell
from memdash.metrics.result import Buckets
from memdash.metrics.summary import counted
from memdash.palette import LIME, ORANGE, ROSE, TEAL, VIOLET, Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go


class _Piece(NamedTuple):
    """One kind of token: its colours, and the pattern that tells it apart without them."""

    name: str
    light: str
    dark: str
    pattern: str
    value: Callable[[Buckets], int | None]


_PIECES = (
    _Piece("cache read", TEAL.light, TEAL.dark, "", lambda one: one.cache_read_input_tokens),
    _Piece("cache write, 5 min", ORANGE.light, ORANGE.dark, "/", lambda one: _short_writes(one)),
    _Piece("cache write, 1 h", LIME.light, LIME.dark, "x", lambda one: one.ephemeral_1h_input_tokens),
    _Piece("uncached input", ROSE.light, ROSE.dark, "\\", lambda one: one.input_tokens),
    _Piece("output", VIOLET.light, VIOLET.dark, ".", lambda one: one.output_tokens),
)


def title(series: Sequence[TurnSeries]) -> str:
    """Say who read most from the cache, and who paid anew for most."""
    shares = [(one, share) for one in _ranked(series) if (share := _read_share(one)) is not None]
    if not shares:
        return "What was sent: cache use is not reported" if _known(series) else "What was sent"
    best, worst = max(shares, key=lambda pair: pair[1]), min(shares, key=lambda pair: pair[1])
    if best[1] == 0:
        return "What was sent: nothing came from the cache"
    read, anew = numbers.percent(best[1]), numbers.percent(1 - worst[1])
    if len(shares) == 1:
        return f"What was sent: {called(best[0])} read {read} of its prompt from the cache"
    if best[1] == worst[1]:
        return f"What was sent: every strategy read {read} of its prompt from the cache"
    return f"What was sent: {called(best[0])} read {read} from the cache, {called(worst[0])} paid anew for {anew}"


def prompt_made_of(series: Sequence[TurnSeries], styles: Mapping[str, Style], theme: Theme) -> go.Figure:
    """Draw one bar a series: reads, writes, uncached input and output of the whole replay, summaries included."""
    known = _known(series)
    pieces = [
        (piece, values)
        for piece in _PIECES
        if np.nansum(values := np.array([_mean(one, piece.value) for one in known], dtype=np.float64)) > 0
    ]
    repeats = max((len(counted(one.results)) for one in series), default=1)
    notes = (
        [f"mean of {repeats} repeats; the whisker goes from the lowest to the highest"] if repeats > 1 else []
    )
    unreported = [one for one in known if _read_share(one) is None]
    if unreported:
        notes.append(
            f"cache use not reported: {numbers.listing([called(one) for one in unreported], limit=2)}"
        )
    sheet = Sheet(
        title(series),
        theme,
        notes=notes,
        legend=[piece.name for piece, _ in pieces],
        height=row_height(len(known)),
    )
    if not pieces:
        sheet.say_empty("No tokens to draw yet")
        return sheet.figure()
    rows = np.arange(len(known))
    for piece, values in pieces:
        colour = piece.light if theme == "light" else piece.dark
        sheet.traces.append(
            {
                "type": "bar",
                "x": values,
                "y": rows,
                "orientation": "h",
                "name": piece.name,
                "width": 0.66 if len(known) > 2 else 0.4,
                "marker": {
                    "color": colour,
                    "line": {"color": sheet.ink.paper, "width": 1},
                    "pattern": {
                        "shape": piece.pattern,
                        "bgcolor": colour,
                        "fgcolor": sheet.ink.paper,
                        "fgopacity": 0.75,
                        "size": 6,
                        "solidity": 0.28,
                    },
                },
                "hovertemplate": "%{x:,.0f} tokens",
            }
        )
    ends = np.nansum([values for _, values in pieces], axis=0)
    lows, highs = _range(known, ends)
    if repeats > 1:
        sheet.traces.append(_whiskers(ends, lows, highs, sheet.ink.text))
    sheet.annotations += [
        {
            "x": high,
            "y": row,
            "text": numbers.tokens_short(end),
            "showarrow": False,
            "xanchor": "left",
            "xshift": 4,
            "font": {"size": 11, "color": sheet.ink.quiet},
        }
        for row, (end, high) in enumerate(zip(ends.tolist(), highs.tolist(), strict=True))
    ]
    sheet.row_axis([one.name for one in known])
    sheet.label(sheet.x, "tokens of one replay")
    sheet.x.update(tickformat="~s", range=[0, float(highs.max()) * 1.12])
    sheet.layout.update(barmode="stack", hovermode="y unified")
    sheet.layout["legend"]["traceorder"] = "normal"
    return sheet.figure()


def _range(series: Sequence[TurnSeries], ends: Floats) -> tuple[Floats, Floats]:
    """The fewest and the most tokens that a repeat of each series took, output included; the mean itself where one is unknown."""
    lows, highs = ends.copy(), ends.copy()
    for row, one in enumerate(series):
        sizes = [
            result.buckets.prompt_tokens + (result.buckets.output_tokens or 0)
            for result in counted(one.results)
            if result.buckets.prompt_tokens is not None
        ]
        lows[row], highs[row] = min([*sizes, ends[row]]), max([*sizes, ends[row]])
    return lows, highs


def _whiskers(ends: Floats, lows: Floats, highs: Floats, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": ends,
        "y": np.arange(ends.size),
        "mode": "markers",
        "marker": {"size": 1, "color": colour},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": highs - ends,
            "arrayminus": ends - lows,
            "color": colour,
            "thickness": 1.5,
            "width": 5,
        },
        "showlegend": False,
        "customdata": np.stack([lows, highs], axis=1),
        "name": "all of them",
        "hovertemplate": "%{customdata[0]:,.0f} to %{customdata[1]:,.0f} tokens in the repeats",
    }


def alt(series: Sequence[TurnSeries]) -> str:
    """Tell the chart in words."""
    told = []
    for one in _known(series):
        parts = [
            f"{numbers.tokens(value)} {piece.name}"
            for piece in _PIECES
            if (value := _mean(one, piece.value)) is not None and not np.isnan(value) and value > 0
        ]
        told.append(f"{one.name}: {', '.join(parts)} tokens")
    return tell("Stacked bar chart", title(series), told)


def _short_writes(buckets: Buckets) -> int | None:
    """Writes that are not 1-hour ones; a server that does not split them writes for 5 minutes (Messages API, prompt caching)."""
    if buckets.cache_creation_input_tokens is None:
        return None
    return buckets.cache_creation_input_tokens - (buckets.ephemeral_1h_input_tokens or 0)


def _known(series: Sequence[TurnSeries]) -> list[TurnSeries]:
    return [one for one in series if any(result.prompt_tokens for result in one.results)]


def _ranked(series: Sequence[TurnSeries]) -> list[TurnSeries]:
    known = _known(series)
    return [one for one in known if one.complete] or known


def _mean(one: TurnSeries, value: Callable[[Buckets], int | None]) -> float:
    """The mean over the repeats that report it, NaN where none does."""
    values = [found for result in counted(one.results) if (found := value(result.buckets)) is not None]
    return sum(values) / len(values) if values else float("nan")


def _read_share(one: TurnSeries) -> float | None:
    reads = [
        result.cache_read_input_tokens
        for result in counted(one.results)
        if result.cache_read_input_tokens is not None
    ]
    prompt = [result.prompt_tokens for result in counted(one.results) if result.prompt_tokens]
    return sum(reads) / sum(prompt) if reads and prompt else None
