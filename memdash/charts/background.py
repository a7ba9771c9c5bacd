"""Background jobs over the turns of a script: one row a replay, each job from its start to what became of its memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memdash import numbers
from memdash.charts.canvas import Sheet
from memdash.charts.text import escape, shorten, tell
from memdash.metrics.background import BackgroundJob, Outcome
from memdash.palette import GREEN, ORANGE, VERMILION, Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_JOBS = 500
"""Jobs drawn in one chart, about ten points each; of more, the first are drawn and the chart says so."""


_ROW_HEIGHT = 44
"""Pixels for each replay."""

_MANY = 40
"""From so many jobs a row on, everything is drawn smaller."""


class _Row(NamedTuple):
    name: str
    series: str
    jobs: Sequence[BackgroundJob]


class _End(NamedTuple):
    """How the end of a job is marked."""

    words: str
    symbol: str


_ENDS: Mapping[Outcome, _End] = {
    Outcome.USED: _End("put into use", "diamond"),
    Outcome.REPLACED: _End("replaced by a newer memory", "triangle-right"),
    Outcome.DISCARDED: _End("discarded", "x"),
    Outcome.NOT_NEEDED: _End("not needed by the end", "circle"),
}
_WORK, _WAITING, _HELD_UP = "job at work", "memory waiting for its use", "a turn waits for the job"


def title(jobs: Sequence[BackgroundJob]) -> str:
    """Say how many memories were put into use, how stale they were and whether anybody waited."""
    if not jobs:
        return "Background work: there was none"
    used = [job for job in jobs if job.outcome is Outcome.USED]
    held_up = [job.held_up_ms for job in jobs if job.held_up_ms > 0]
    stalest = max((job.stale_turns or 0 for job in used), default=0)
    parts = [f"Background work: {numbers.part(len(used), len(jobs))} memories put into use"]
    if used:
        parts.append(f"at most {numbers.count(stalest, 'turn')} old" if stalest else "none out of date")
    waited = f"{numbers.count(len(held_up), 'turn')} held up, {numbers.seconds(sum(held_up))} in all"
    parts.append(waited if held_up else "no turn held up")
    return ", ".join(parts)


def background_work(jobs: Sequence[BackgroundJob], styles: Mapping[str, Style], theme: Theme) -> go.Figure:
    """Draw the jobs of one script's replays: a thick line while a job works, a dotted one while its memory waits, and its end."""
    shown = jobs[:MAX_JOBS]
    rows = _rows(shown)
    ends = [outcome for outcome in _ENDS if any(job.outcome is outcome for job in shown)]
    held_up = any(job.held_up_from_turn is not None for job in shown)
    notes = [f"the first {MAX_JOBS:,} of {len(jobs):,} jobs"] if len(shown) < len(jobs) else []
    legend = [_WORK, _WAITING, *([_HELD_UP] if held_up else []), *(_ENDS[one].words for one in ends)]
    sheet = Sheet(
        title(jobs), theme, notes=notes, legend=legend, height=180 + _ROW_HEIGHT * max(len(rows), 1)
    )
    if not rows:
        sheet.say_empty("No strategy here works in the background")
        return sheet.figure()
    many = len(shown) > _MANY * len(rows)
    told: set[str] = set()
    for place, row in enumerate(rows):
        _draw_row(sheet, place, row, styles[row.series].colour(theme), many=many, told=told)
        told.update((_WORK, _WAITING) if _waits(row) else (_WORK,))
    if held_up:
        _draw_held_up(sheet, rows, ORANGE.light if theme == "light" else ORANGE.dark)
    for outcome in ends:
        _draw_ends(sheet, rows, outcome, styles, 7 if many else 11)
    sheet.row_axis([row.name for row in rows])
    sheet.label(sheet.x, "turn")
    last = max(max(job.ready_turn, job.ended_turn or 0.0) for job in shown)
    sheet.x.update(range=[0.8, last + 0.4], tickformat="d", zeroline=False, ticks="outside", ticklen=4)
    if last <= 16:
        sheet.x["dtick"] = 1
    sheet.layout["hovermode"] = "closest"
    return sheet.figure()


def alt(jobs: Sequence[BackgroundJob]) -> str:
    """Tell the chart in words."""
    return tell("Timeline", title(jobs), [f"{row.name}: {_sum_up(row.jobs)}" for row in _rows(jobs)])


def job_in_words(job: BackgroundJob) -> str:
    """Tell what became of one job."""
    took = numbers.seconds(job.ready_ms - job.started_ms)
    told = [f"started after turn {int(job.started_turn)}", f"ready {took} later"]
    if job.outcome is Outcome.USED and job.ended_turn is not None:
        stale = f"{numbers.count(job.stale_turns, 'turn')} old" if job.stale_turns else "up to date"
        told.append(f"put into use in turn {int(job.ended_turn)}, {stale}")
    elif job.problem:
        told.append(f"discarded: {job.problem}")
    else:
        told.append(job.outcome.value)
    if job.held_up_ms:
        told.append(f"a turn waited {numbers.seconds(job.held_up_ms)} for it")
    if job.avoided_ms is not None:
        told.append(f"{numbers.seconds(job.avoided_ms)} of waiting avoided")
    return "; ".join(told)


def _rows(jobs: Sequence[BackgroundJob]) -> list[_Row]:
    by_replay: dict[str, list[BackgroundJob]] = {}
    for job in jobs:
        by_replay.setdefault(job.replay, []).append(job)
    several = len({job.repeat for job in jobs}) > 1
    return [
        _Row(f"{group[0].series} #{group[0].repeat}" if several else group[0].series, group[0].series, group)
        for group in by_replay.values()
    ]


def _sum_up(jobs: Sequence[BackgroundJob]) -> str:
    used = sum(job.outcome is Outcome.USED for job in jobs)
    avoided = sum(job.avoided_ms or 0.0 for job in jobs)
    return f"{numbers.count(len(jobs), 'job')}, {used} put into use, {numbers.seconds(avoided)} of waiting avoided"


def _waits(row: _Row) -> bool:
    return any(job.ended_turn is not None and job.ended_turn > job.ready_turn for job in row.jobs)


def _draw_row(sheet: Sheet, place: int, row: _Row, colour: str, *, many: bool, told: Collection[str]) -> None:
    """The lines of one replay; gaps between the jobs come from points that are not there. ``told`` is in the legend already."""
    work: list[tuple[float | None, float | None]] = []
    waiting: list[tuple[float | None, float | None]] = []
    for job in row.jobs:
        work += [(job.started_turn, place), (job.ready_turn, place), (None, None)]
        if job.ended_turn is not None and job.ended_turn > job.ready_turn:
            waiting += [(job.ready_turn, place), (job.ended_turn, place), (None, None)]
    # Markers at both ends: a job that is short beside its turn is still seen.
    for name, points, width, dash, mode in (
        (_WORK, work, 5 if many else 9, "solid", "lines+markers"),
        (_WAITING, waiting, 2, "dot", "lines"),
    ):
        sheet.traces.append(
            {
                "type": "scatter",
                "mode": mode,
                "marker": {"symbol": "square", "size": width, "color": colour},
                "name": name,
                "legendgroup": name,
                "showlegend": bool(points) and name not in told,
                "x": [x for x, _ in points],
                "y": [y for _, y in points],
                "line": {"color": colour, "width": width, "dash": dash},
                "hoverinfo": "skip",
            }
        )


def _draw_held_up(sheet: Sheet, rows: Sequence[_Row], colour: str) -> None:
    waits: list[tuple[float | None, float | None]] = []
    for place, row in enumerate(rows):
        for job in row.jobs:
            if job.held_up_from_turn is not None:
                above = place - 0.22  # beside the job's own line, which it overlaps
                waits += [(job.held_up_from_turn, above), (job.ready_turn, above), (None, None)]
    sheet.traces.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": _HELD_UP,
            "x": [x for x, _ in waits],
            "y": [y for _, y in waits],
            "line": {"color": colour, "width": 4},
            "marker": {"symbol": "line-ns-open", "size": 10, "color": colour, "line": {"width": 2}},
            "hoverinfo": "skip",
        }
    )


def _draw_ends(
    sheet: Sheet, rows: Sequence[_Row], outcome: Outcome, styles: Mapping[str, Style], size: int
) -> None:
    """What became of each job; hovering over its end tells the job."""
    points = [
        (job, place, styles[row.series].colour(sheet.theme))
        for place, row in enumerate(rows)
        for job in row.jobs
        if job.outcome is outcome
    ]
    bad = VERMILION.light if sheet.theme == "light" else VERMILION.dark
    good = GREEN.light if sheet.theme == "light" else GREEN.dark
    plain = {Outcome.DISCARDED: bad, Outcome.USED: good}.get(outcome)
    colours = [colour for _, _, colour in points]
    sheet.traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": _ENDS[outcome].words,
            "x": [job.ready_turn if job.ended_turn is None else job.ended_turn for job, _, _ in points],
            "y": [place for _, place, _ in points],
            "text": [f"<b>{escape(shorten(job.series))}</b><br>{_hover(job)}" for job, _, _ in points],
            "marker": {
                "symbol": _ENDS[outcome].symbol,
                "size": size,
                # An outline, or a hollow middle, tells the symbol from the line it stands on.
                "color": plain or sheet.ink.paper,
                "line": {"width": 2, "color": sheet.ink.paper if plain else colours},
            },
            "hovertemplate": "%{text}<extra></extra>",
        }
    )


def _hover(job: BackgroundJob) -> str:
    return escape(job_in_words(job)).replace("; ", "<br>")
