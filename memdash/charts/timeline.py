"""One replay over its turns: the prompt of each, and below it, in a lane for each kind, what was done to the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from memdash import numbers
from memdash.charts.canvas import Sheet, thin
from memdash.charts.text import escape, shorten, tell
from memdash.inspection.timeline import Mark, MarkKind, Timeline
from memdash.palette import AMBER, AZURE, BLUE, GREEN, PURPLE, VERMILION, Hue, Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT: Final = 196
"""Pixels for the prompt's line, without lanes."""
_LANE: Final = 20
"""Pixels for each lane."""

MAX_POINTS: Final = 2_000
"""Points of the line that are drawn, and turns that can be clicked one by one; of more, a click opens the nearest."""
MAX_MARKS: Final = 1_500
"""Marks drawn in all lanes together; of more, the first of each lane are drawn and the chart says so."""

_NARROWEST: Final = 0.005
"""The least width of a mark, as a share of the turns: one turn of a thousand is narrower than a pixel, and no click meets it."""

_HUES: Final[Mapping[MarkKind, Hue]] = {
    MarkKind.COMPACTION: BLUE,
    MarkKind.TRIM: PURPLE,
    MarkKind.CLEAR: AMBER,
    MarkKind.MISS: VERMILION,
    MarkKind.BACKGROUND: GREEN,
    MarkKind.REFUSED: AZURE,
}
"""Each lane has its own name beside it, so that nobody has to tell them by colour."""


def title(of: Timeline) -> str:
    """Say how large the prompt became and how often the conversation was changed."""
    sizes = [turn.prompt_tokens for turn in of.turns if turn.prompt_tokens is not None]
    if not of.turns:
        return "Prompt per turn: no turn has been answered yet"
    if not sizes:
        return "Prompt per turn: not reported by the server"
    told = [f"Prompt per turn: at most {numbers.tokens_short(max(sizes))} tokens"]
    told += [_counted(kind, of.of(kind)) for kind in _COUNTED if of.of(kind)]
    return ", ".join(told)


def replay_timeline(of: Timeline, style: Style, theme: Theme, turn: int | None = None) -> go.Figure:
    """Draw a replay; ``turn`` is the one that is open. What can be clicked carries its turn as ``customdata``."""
    lanes = [kind for kind in MarkKind if of.of(kind)]
    shown = {kind: of.of(kind)[: MAX_MARKS // len(lanes)] for kind in lanes}
    sheet = Sheet(
        title(of), theme, notes=_notes(of, shown), height=HEIGHT + _LANE * len(lanes) + 8 * bool(lanes)
    )
    if not of.turns:
        sheet.say_empty("The turns stand here as soon as they are answered")
        return sheet.figure()
    sizes = np.array([np.nan if one.prompt_tokens is None else one.prompt_tokens for one in of.turns])
    top = float(np.nanmax(sizes)) if np.isfinite(sizes).any() else 0.0
    sheet.traces.append(_line(of, sizes, style.colour(theme)))
    sheet.traces.append(_places_to_click(of, sizes, max(top, 1.0) * 1.08))
    share = _LANE * len(lanes) / (sheet.layout["height"] - sheet.margin["t"] - sheet.margin["b"])
    _lay_out(sheet, of, top, share if lanes else 0.0)
    for place, kind in enumerate(lanes):
        sheet.traces.append(_lane(place, kind, shown[kind], of.turns[-1].turn, theme))
    _lane_axis(sheet, lanes, share)
    if turn is not None:
        _mark_open(sheet, turn)
    return sheet.figure()


def alt(of: Timeline) -> str:
    """Tell the chart in words."""
    told = [
        f"{kind.value}: {numbers.listing([_when(mark) for mark in marks], limit=8)}"
        for kind in MarkKind
        if (marks := of.of(kind))
    ]
    return tell("Timeline", title(of), told)


_COUNTED: Final = (MarkKind.COMPACTION, MarkKind.TRIM, MarkKind.CLEAR, MarkKind.MISS)


def _counted(kind: MarkKind, marks: Sequence[Mark]) -> str:
    turns = sum(mark.through - mark.turn + 1 for mark in marks)
    words = {
        MarkKind.COMPACTION: numbers.count(len(marks), "compaction"),
        MarkKind.TRIM: f"old turns dropped in {numbers.count(turns, 'turn')}",
        MarkKind.CLEAR: f"cleared by the API in {numbers.count(turns, 'turn')}",
        MarkKind.MISS: f"the cache missed in {numbers.count(turns, 'turn')}",
    }
    return words[kind]


def _notes(of: Timeline, shown: Mapping[MarkKind, Sequence[Mark]]) -> list[str]:
    notes = [
        f"the first {len(marks):,} of {len(of.of(kind)):,} marks of “{kind.value}”"
        for kind, marks in shown.items()
        if len(marks) < len(of.of(kind))
    ]
    if len(of.turns) > MAX_POINTS:
        notes.append(f"{len(of.turns):,} turns, thinned to lows and highs")
    return notes


def _when(mark: Mark) -> str:
    return f"turn {mark.turn}" if mark.turn == mark.through else f"turns {mark.turn} to {mark.through}"


def _line(of: Timeline, sizes: Any, colour: str) -> dict[str, Any]:
    drawn = thin(sizes, MAX_POINTS)
    return {
        "type": "scatter",
        "x": np.array([one.turn for one in of.turns])[drawn],
        "y": sizes[drawn],
        "name": escape(shorten(of.series)),
        "mode": "lines" if len(of.turns) > 60 else "lines+markers",
        "line": {"color": colour, "width": 1.6},
        "marker": {"color": colour, "size": 5},
        "unselected": {"marker": {"opacity": 1}},
        "connectgaps": False,
        "hoverinfo": "skip",
    }


def _places_to_click(of: Timeline, sizes: Any, height: float) -> dict[str, Any]:
    """A bar that cannot be seen over each turn: wherever one clicks above a turn, that turn is meant."""
    drawn = thin(sizes, MAX_POINTS)
    turns = [of.turns[place] for place in drawn]
    return {
        "type": "bar",
        "x": [one.turn for one in turns],
        "y": [height] * len(turns),
        "width": 1,
        "customdata": [one.turn for one in turns],
        "text": [
            f"<b>turn {one.turn}</b><br>{numbers.tokens(one.prompt_tokens)} prompt tokens"
            f"<br>{escape(numbers.usd(one.cost_usd))}"
            for one in turns
        ],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"opacity": 0},
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
    }


def _lay_out(sheet: Sheet, of: Timeline, top: float, lanes: float) -> None:
    last = of.turns[-1].turn
    sheet.label(sheet.x, "turn")
    sheet.x.update(tickformat="d", showgrid=False, zeroline=False, ticks="outside", ticklen=4, anchor="y")
    sheet.x["range"] = [0.5, max(last, 8) + 0.5] if last <= 40 else [1 - last * 0.01, last * 1.01]
    sheet.amount_axis("prompt tokens", tickformat="~s", nticks=5)
    sheet.y["range"] = [0, max(top, 1.0) * 1.08]
    if lanes:
        sheet.y["domain"] = [lanes + 0.05, 1]
        sheet.x["anchor"] = "y2"
    sheet.layout.update(hovermode="closest", barmode="overlay", bargap=0, clickmode="event+select")
    sheet.layout["dragmode"] = False


def _lane(place: int, kind: MarkKind, marks: Sequence[Mark], last: int, theme: Theme) -> dict[str, Any]:
    """One row of bars, each from the first turn of its mark to the last, and wide enough to be clicked."""
    hue = _HUES[kind]
    colour = hue.light if theme == "light" else hue.dark
    same = {"marker": {"opacity": 1}}
    widths = [max(mark.through - mark.turn + 0.8, last * _NARROWEST) for mark in marks]
    return {
        "type": "bar",
        "orientation": "h",
        "yaxis": "y2",
        "y": [place] * len(marks),
        "base": [(mark.turn + mark.through - width) / 2 for mark, width in zip(marks, widths, strict=True)],
        "x": widths,
        "width": 0.56,
        "customdata": [mark.turn for mark in marks],
        "text": [_hover(mark) for mark in marks],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"color": colour, "line": {"color": colour, "width": 1.5}},
        "selected": same,
        "unselected": same,
        "showlegend": False,
    }


def _hover(mark: Mark) -> str:
    words = f"<br>{escape(shorten(mark.words, 90))}" if mark.words else ""
    return f"<b>{escape(mark.kind.value)}</b>, {_when(mark)}{words}"


def _lane_axis(sheet: Sheet, lanes: Sequence[MarkKind], share: float) -> None:
    if not lanes:
        return
    sheet.layout["yaxis2"] = {
        "domain": [0, share],
        "anchor": "x",
        "range": [len(lanes) - 0.4, -0.6],
        "tickvals": list(range(len(lanes))),
        "ticktext": [escape(kind.value) for kind in lanes],
        "tickfont": {"color": sheet.ink.text, "size": 11},
        "gridcolor": sheet.ink.grid,
        "zeroline": False,
        "fixedrange": True,
    }
    sheet.margin["l"] = 24 + round(6.2 * max(len(kind.value) for kind in lanes))


def _mark_open(sheet: Sheet, turn: int) -> None:
    """Mark the open turn through all lanes, and write its number above."""
    sheet.mark_turn(turn)
    sheet.annotations.append(
        {
            "x": turn,
            "yref": "paper",
            "y": 1,
            "yanchor": "bottom",
            "text": f"turn {turn}",
            "showarrow": False,
            "font": {"size": 11, "color": sheet.ink.text},
        }
    )
