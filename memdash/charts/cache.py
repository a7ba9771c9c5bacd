"""The cache share of each turn, and where it missed and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memdash import numbers
from memdash.charts.canvas import Line, Sheet, called, common_notes
from memdash.charts.series import TurnSeries
from memdash.charts.text import escape, tell
from memdash.metrics.misses import REASONS
from memdash.palette import AMBER, AZURE, BLUE, GREEN, PURPLE, ROSE, TEAL, VERMILION, Hue, Style, Theme
from memdash.records import MissReason

if TYPE_CHECKING:
    import plotly.graph_objects as go


_LOOKS: Mapping[MissReason, tuple[str, Hue]] = {
    MissReason.HISTORY_EDITED: ("x-thin-open", VERMILION),
    MissReason.LIFETIME_PASSED: ("hourglass-open", AZURE),
    MissReason.TOOLS_CHANGED: ("square-open-dot", GREEN),
    MissReason.SYSTEM_CHANGED: ("diamond-open-dot", PURPLE),
    MissReason.OPTIONS_CHANGED: ("pentagon-open", TEAL),
    MissReason.MODEL_CHANGED: ("star-open", ROSE),
    MissReason.LOOKBACK_EXCEEDED: ("triangle-down-open", AMBER),
    MissReason.BELOW_MINIMUM: ("circle-open-dot", BLUE),
}
"""Symbol and colour of each reason that is marked; a first request has nothing to read, and without caching every turn misses."""


class MissRun(NamedTuple):
    """Consecutive turns of a series that missed for the same reason; marked once, at the first."""

    series: TurnSeries
    reason: MissReason
    place: int
    turn: int
    through: int


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
    lines = [Line.of(one, "cache_share", 100) for one in series]
    runs = list(_miss_runs(series))
    reasons = [reason for reason in _LOOKS if any(run.reason is reason for run in runs)]
    notes = common_notes(lines, of="not reported")
    if any(run.through > run.turn for run in runs):
        notes.append("a run of misses is marked at its first turn")
    sheet = Sheet(
        title(series),
        theme,
        notes=notes,
        legend=[*(one.name for one in series), *(_entry(reason) for reason in reasons)],
    )
    if not _shares(series):
        played = any(one.turns.size for one in series)
        sheet.say_empty("The server does not report cache use" if played else "Nothing to draw yet")
        return sheet.figure()
    sheet.draw_lines(lines, styles, hover="%{y:.0f} %")
    for reason in reasons:
        _mark(sheet, reason, [run for run in runs if run.reason is reason])
    sheet.turn_axis(series)
    sheet.label(sheet.y, "share of prompt tokens")
    ticks = [0, 25, 50, 75, 100]
    sheet.y.update(range=[-3, 103], tickvals=ticks, ticktext=[f"{tick} %" for tick in ticks])
    return sheet.figure()


def alt(series: Sequence[TurnSeries]) -> str:
    """Tell the chart in words."""
    told = [f"{one.name} {numbers.percent(share)}" for one, share in _shares(series)]
    missed = [
        f"{one.name} misses in {numbers.listing([_when(run) for run in runs])}"
        for one in series
        if (runs := list(_miss_runs([one])))
    ]
    return tell("Line chart", title(series), told + missed)


def _entry(reason: MissReason) -> str:
    return f"missed: {REASONS[reason]}"


def _when(run: MissRun) -> str:
    turns = f"turn {run.turn}" if run.turn == run.through else f"turns {run.turn} to {run.through}"
    return f"{turns} ({REASONS[run.reason]})"


def _miss_runs(series: Sequence[TurnSeries]) -> Iterator[MissRun]:
    """Every run of turns with the same reason; of several repeats the first one that has a reason in a turn speaks."""
    for one in series:
        reasons: dict[int, MissReason] = {}
        for result in one.results:
            for row in result.turns:
                if (found := row.cache_miss_reason) is not None and found in _LOOKS:
                    reasons.setdefault(row.turn, found)
        open_run: MissRun | None = None
        for place, turn in enumerate(one.turns.tolist()):
            reason = reasons.get(turn)
            if open_run is not None and reason is open_run.reason:
                open_run = open_run._replace(through=turn)
                continue
            if open_run is not None:
                yield open_run
            open_run = None if reason is None else MissRun(one, reason, place, turn, turn)
        if open_run is not None:
            yield open_run


def _mark(sheet: Sheet, reason: MissReason, runs: Sequence[MissRun]) -> None:
    symbol, hue = _LOOKS[reason]
    colour = hue.light if sheet.theme == "light" else hue.dark
    names = {run.series.name: escape(called(run.series)) for run in runs}
    sheet.traces.append(
        {
            "type": "scatter",
            "x": np.array([run.turn for run in runs]),
            "y": np.array([run.series.cache_share[run.place] * 100 for run in runs]),
            "text": [f"{names[run.series.name]}: missed in {_when(run)}" for run in runs],
            "name": _entry(reason),
            "mode": "markers",
            "marker": {
                "symbol": symbol,
                "size": 14,
                "color": colour,
                "line": {"width": 2.5, "color": colour},
            },
            "hovertemplate": "%{text}<extra></extra>",
        }
    )


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
