"""What each setting cost as charged, and what it would have cost on other terms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memdash import numbers
from memdash.charts.canvas import Sheet, row_height
from memdash.charts.text import NAME, escape, shorten, tell
from memdash.metrics.what_if import Answer, Row
from memdash.palette import Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_ROWS = 24
"""Settings drawn in one chart; of more, those whose cost would change most."""

_LONGEST_NAME = 44
"""Characters of a setting with its script; the chart has the whole width of the page."""

_CHARGED, _WHAT_IF = "as charged", "what if"


def title(answer: Answer) -> str:
    """Say who would be cheapest, and whether that is news."""
    lead = answer.terms.question.lead
    cheapest = [row for row in answer.rows if row.what_if_rank == 1]
    scripts = {row.script for row in cheapest}
    if not cheapest:
        return f"{lead}: n/a, no cost is known"
    news = {row.script for row in cheapest if row.rank != 1}
    if len(scripts) > 1:
        if not news:
            return f"{lead} the cheapest stay the same on all {len(scripts)} scripts"
        return f"{lead} another setting is cheapest on {len(news)} of {numbers.count(len(scripts), 'script')}"
    first = next((row for row in cheapest if row.rank != 1), cheapest[0])
    stays = "becomes" if news else "stays"
    return f"{lead} {shorten(first.series, NAME)} {stays} the cheapest, at {numbers.usd(first.what_if_usd)}"


def cost_before_and_after(answer: Answer, styles: Mapping[str, Style], theme: Theme) -> go.Figure:
    """Draw a row for each setting: a hollow mark for what was charged, a filled one for what it would have cost."""
    rows = _shown(answer)
    notes = [f"the {len(rows)} settings whose cost changes most"] if len(rows) < len(_known(answer)) else []
    sheet = Sheet(
        title(answer), theme, notes=notes, legend=(_CHARGED, _WHAT_IF), height=row_height(len(rows))
    )
    if not rows:
        sheet.say_empty("No costs to draw")
        return sheet.figure()
    colours = [styles[row.series].colour(theme) for row in rows]
    places = list(range(len(rows)))
    before = [row.charged_usd or 0.0 for row in rows]
    after = [row.what_if_usd or 0.0 for row in rows]
    sheet.shapes += [
        {
            "type": "line", "x0": one, "x1": other, "y0": place, "y1": place, "layer": "below",
            "line": {"color": colour, "width": 2},
        }
        for place, one, other, colour in zip(places, before, after, colours, strict=True)
    ]  # fmt: skip
    sheet.traces.append(_marks(_CHARGED, before, places, colours, rows, hollow=True))
    sheet.traces.append(_marks(_WHAT_IF, after, places, colours, rows, hollow=False))
    sheet.row_axis([row.label for row in rows], longest=_LONGEST_NAME)
    sheet.label(sheet.x, "US dollars a replay")
    highest = max(*before, *after)
    decimals = max(2, math.ceil(-math.log10(highest / 4))) if highest > 0 else 2
    sheet.x.update(rangemode="tozero", tickprefix="&#36;", tickformat=f",.{decimals}f")
    sheet.layout["hovermode"] = "closest"
    return sheet.figure()


def alt(answer: Answer) -> str:
    """Tell the chart in words."""
    told = [
        f"{row.label} {numbers.usd(row.what_if_usd)} instead of {numbers.usd(row.charged_usd)}"
        for row in _shown(answer)
    ]
    unknown = [row.label for row in answer.rows if row.what_if_usd is None]
    if unknown:
        told.append(f"not known for {numbers.listing(unknown)}")
    return tell("Dot plot", title(answer), told)


def _known(answer: Answer) -> list[Row]:
    return [row for row in answer.rows if row.charged_usd is not None and row.what_if_usd is not None]


def _shown(answer: Answer) -> list[Row]:
    known = _known(answer)
    if len(known) <= MOST_ROWS:
        return known
    most = sorted(known, key=lambda row: -abs((row.what_if_usd or 0.0) - (row.charged_usd or 0.0)))
    chosen = {row.label for row in most[:MOST_ROWS]}
    return [row for row in known if row.label in chosen]


def _marks(
    name: str,
    costs: Sequence[float],
    places: Sequence[int],
    colours: Sequence[str],
    rows: Sequence[Row],
    *,
    hollow: bool,
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": list(costs),
        "y": list(places),
        "mode": "markers",
        "name": name,
        "text": [
            f"{escape(row.label)}: {escape(numbers.usd(cost))} {name}"
            for row, cost in zip(rows, costs, strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "symbol": "circle-open" if hollow else "circle",
            "size": 12,
            "color": list(colours),
            "line": {"width": 2, "color": list(colours)},
        },
    }
