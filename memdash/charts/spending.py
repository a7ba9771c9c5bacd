"""What live requests cost day by day: one bar a day, one part a person, and the budget of a day as a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from memdash import numbers
from memdash.charts.canvas import Sheet
from memdash.charts.text import escape, shorten, tell
from memdash.palette import HUES, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MOST_PEOPLE = 7
"""So many are drawn by themselves; the others together are one more part."""
_PATTERNS = ("", "/", ".", "x", "\\", "-", "|", "+")
"""What tells the parts apart without colour."""


def title(days: Sequence[date], spent: Mapping[str, Sequence[float]]) -> str:
    """Say on which day most was spent."""
    sums = [sum(amounts) for amounts in zip(*spent.values(), strict=True)]
    if not any(sums):
        return f"Spent live: nothing in the last {len(days)} days"
    place = max(range(len(sums)), key=sums.__getitem__)
    return f"Spent live: most on {days[place]:%-d %b}, {numbers.usd(sums[place])}"


def alt(days: Sequence[date], spent: Mapping[str, Sequence[float]], limit: float | None) -> str:
    """Tell the chart in words."""
    told = [f"{name} {numbers.usd(sum(amounts))}" for name, amounts in spent.items()]
    budget = [] if limit is None else [f"the budget of a day is {numbers.usd(limit)}"]
    return tell("Stacked bar chart", title(days, spent), [*told, *budget])


def spent_per_day(
    days: Sequence[date], spent: Mapping[str, Sequence[float]], limit: float | None, theme: Theme
) -> go.Figure:
    """Draw the dollars of each person on each day; ``spent`` is by name, in the order they are stacked."""
    parts = _parts(spent)
    sheet = Sheet(title(days, spent), theme, legend=list(parts))
    if not parts:
        sheet.say_empty("No live request in these days")
        return sheet.figure()
    sheet.layout["barmode"] = "stack"
    for place, (name, amounts) in enumerate(parts.items()):
        hue = HUES[(place + 1) % len(HUES)]
        sheet.traces.append(
            {
                "type": "bar",
                "x": [day.isoformat() for day in days],
                "y": list(amounts),
                "name": escape(shorten(name)),
                "marker": {
                    "color": hue.light if theme == "light" else hue.dark,
                    "pattern": {"shape": _PATTERNS[place % len(_PATTERNS)], "size": 6, "solidity": 0.25},
                },
                "hovertemplate": "$%{y:.4f}",
            }
        )
    sheet.label(sheet.x, "day (UTC)")
    sheet.x.update(type="date", tickformat="%-d %b", showgrid=False, hoverformat="%-d %B %Y")
    sheet.amount_axis("US dollars", tickprefix="$")
    if limit is not None:
        sheet.line_across(limit, f"budget of a day, {numbers.usd(limit)}", sheet.ink.text, "dash")
        sheet.annotations[-1]["bgcolor"] = sheet.ink.paper  # it may stand before bars
    return sheet.figure()


def _parts(spent: Mapping[str, Sequence[float]]) -> dict[str, Sequence[float]]:
    """The people to draw, the last of them everybody else together where there are many."""
    names = list(spent)
    parts: dict[str, Sequence[float]] = {name: spent[name] for name in names[:_MOST_PEOPLE]}
    others = names[_MOST_PEOPLE:]
    if others:
        together = zip(*(spent[name] for name in others), strict=True)
        parts[f"{len(others)} others"] = [sum(amounts) for amounts in together]
    return parts
