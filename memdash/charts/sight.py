"""Answered right against visible in the context, and what the wrong answers were: one bar a series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memdash import numbers
from memdash.charts.canvas import Sheet, row_height
from memdash.charts.text import NAME, shorten, tell
from memdash.metrics.breakdown import Breakdown
from memdash.palette import GREEN, ORANGE, VERMILION, Hue, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

_GREY = Hue("#56606f", "#a7b0c0", "circle")


class _Part(NamedTuple):
    """A segment of the bars: hatched as well as coloured, so that it is told without colour."""

    name: str
    hue: Hue
    pattern: str
    count: Callable[[Breakdown], int]


_SIGHT = (
    _Part("visible, right", GREEN, "", lambda one: one.sight.visible_right),
    _Part("not visible, right", GREEN, "/", lambda one: one.sight.hidden_right),
    _Part("visible, wrong", VERMILION, "x", lambda one: one.sight.visible_wrong),
    _Part("not visible, wrong", VERMILION, "\\", lambda one: one.sight.hidden_wrong),
)
_ANSWERS = (
    _Part("right", GREEN, "", lambda one: one.total.right),
    _Part("stale: an earlier value", ORANGE, "x", lambda one: one.total.stale),
    _Part("wrong or not known", _GREY, "/", lambda one: one.total.wrong),
)


def sight_title(found: Sequence[Breakdown]) -> str:
    """Say how often what was in sight was not used, and how often what was not in sight was right."""
    head = _head(found, "Visible against answered right")
    seen = sum(one.sight.visible_right + one.sight.visible_wrong for one in found)
    unused = sum(one.sight.visible_wrong for one in found)
    asked = sum(one.sight.asked for one in found)
    hidden, guessed = asked - seen, sum(one.sight.hidden_right for one in found)
    if not asked:
        return f"{head}: nothing was asked"
    parts = []
    if seen:
        parts.append(
            f"{unused:,} of {seen:,} answers wrong in sight of the fact"
            if unused
            else "what was in sight was answered right"
        )
    if hidden:
        parts.append(f"{guessed:,} of {hidden:,} right without it")
    return f"{head}: {', '.join(parts)}"


def answers_title(found: Sequence[Breakdown]) -> str:
    """Say who gives most stale answers, or that nobody does."""
    head = _head(found, "Right, stale and wrong answers")
    if not any(one.total.asked for one in found):
        return f"{head}: nothing was asked"
    most = max(found, key=lambda one: one.total.stale)
    if not most.total.stale:
        return f"{head}: no answer holds an earlier value"
    return f"{head}: {shorten(most.series, NAME)} gives {numbers.part(most.total.stale, most.total.asked)} with an earlier value"


def seen_and_right(found: Sequence[Breakdown], theme: Theme) -> go.Figure:
    """Draw the questions of each series by whether the fact was visible and the answer right."""
    return _bars(found, _SIGHT, sight_title(found), theme)


def answers(found: Sequence[Breakdown], theme: Theme) -> go.Figure:
    """Draw the questions of each series by what the answer was."""
    return _bars(found, _ANSWERS, answers_title(found), theme)


def sight_alt(found: Sequence[Breakdown]) -> str:
    """Tell the chart of :func:`seen_and_right` in words."""
    return _alt(found, _SIGHT, sight_title(found))


def answers_alt(found: Sequence[Breakdown]) -> str:
    """Tell the chart of :func:`answers` in words."""
    return _alt(found, _ANSWERS, answers_title(found))


def _bars(found: Sequence[Breakdown], parts: Sequence[_Part], title: str, theme: Theme) -> go.Figure:
    used = [part for part in parts if any(part.count(one) for one in found)]
    sheet = Sheet(title, theme, legend=[part.name for part in used], height=row_height(len(found)))
    if not used:
        sheet.say_empty("No question counts yet")
        return sheet.figure()
    for part in used:
        colour = part.hue.light if theme == "light" else part.hue.dark
        sheet.traces.append(
            {
                "type": "bar",
                "x": [part.count(one) for one in found],
                "y": list(range(len(found))),
                "orientation": "h",
                "name": part.name,
                "width": 0.66 if len(found) > 2 else 0.4,
                "marker": {
                    "color": colour,
                    "line": {"color": sheet.ink.paper, "width": 1},
                    "pattern": {
                        "shape": part.pattern,
                        "bgcolor": colour,
                        "fgcolor": sheet.ink.paper,
                        "fgopacity": 0.75,
                        "size": 6,
                        "solidity": 0.28,
                    },
                },
                "hovertemplate": "%{x:,.0f} questions",
            }
        )
    sheet.row_axis([one.series for one in found])
    sheet.label(sheet.x, "questions")
    sheet.x.update(rangemode="tozero", tickformat=",d")
    sheet.layout.update(barmode="stack", hovermode="y unified")
    sheet.layout["legend"]["traceorder"] = "normal"
    return sheet.figure()


def _alt(found: Sequence[Breakdown], parts: Sequence[_Part], title: str) -> str:
    told = []
    for one in found:
        counts = [f"{part.name} {part.count(one):,}" for part in parts if part.count(one)]
        told.append(f"{one.series}: " + (", ".join(counts) or "nothing asked"))
    return tell("Stacked bars", title, told)


def _head(found: Sequence[Breakdown], words: str) -> str:
    return f"{words} (simulated)" if any(one.simulated for one in found) else words
