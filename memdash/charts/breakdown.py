"""Kept, or answered right, by kind of fact, by age or by compactions: one row a series, one column a bin, a share in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from memdash import numbers
from memdash.charts.canvas import Sheet, row_height
from memdash.charts.text import NAME, escape, shorten, tell
from memdash.metrics.breakdown import CUTS, Breakdown, Cut, Line
from memdash.palette import Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

_SCALE: Mapping[Theme, list[list[float | str]]] = {
    "light": [[0.0, "#f7dcdc"], [0.5, "#f6ecd2"], [1.0, "#cfe9da"]],
    "dark": [[0.0, "#5c2626"], [0.5, "#4e4320"], [1.0, "#1f4a34"]],
}
"""From nothing to all: pale (dark) enough that the words in the cells can be read at 4.5:1."""


_MANY_BINS = 6


class _Words(NamedTuple):
    title: str
    verb: str


class Outcome(Enum):
    """What is counted in each bin."""

    KEPT = _Words("Kept", "keeps")
    RECALL = _Words("Recall", "answers")

    def counts(self, line: Line) -> tuple[int, int]:
        """How many came out well, of how many."""
        return (line.kept, line.facts) if self is Outcome.KEPT else (line.right, line.asked)

    def called(self, found: Sequence[Breakdown]) -> str:
        """The name of the measure; a simulated one says so."""
        simulated = self is Outcome.RECALL and any(one.simulated for one in found)
        return "Simulated recall" if simulated else self.value.title


def title(found: Sequence[Breakdown], cut: Cut, outcome: Outcome) -> str:
    """Say which series loses most in which bin."""
    head = f"{outcome.called(found)} by {CUTS[cut]}"
    cells = [
        (good / of, one.series, line.name, good, of)
        for one in found
        for line in one.cuts[cut]
        for good, of in (outcome.counts(line),)
        if of
    ]
    if not cells:
        return f"{head}: nothing to count"
    share, series, name, good, of = min(cells, key=lambda cell: (cell[0], -cell[4]))
    verb = outcome.value.verb
    if share == 1:
        who = shorten(series, NAME) if len(found) == 1 else "every setting"
        return f"{head}: {who} {verb} all"
    return f"{head}: {shorten(series, NAME)} {verb} {good:,} of {of:,} {_of_bin(cut, name)}"


def shares_by_bin(found: Sequence[Breakdown], cut: Cut, outcome: Outcome, theme: Theme) -> go.Figure:
    """Draw a table of shares with counts; the colour repeats what the words say."""
    names = [line.name for line in found[0].cuts[cut]] if found else []
    sheet = Sheet(title(found, cut, outcome), theme, height=row_height(len(found)))
    if not names:
        sheet.say_empty("No finished replay has a fact or a question")
        return sheet.figure()
    counts = [[outcome.counts(line) for line in one.cuts[cut]] for one in found]
    sheet.traces.append(
        {
            "type": "heatmap",
            "z": [[good / of if of else None for good, of in row] for row in counts],
            "x": list(range(len(names))),
            "y": list(range(len(found))),
            "zmin": 0,
            "zmax": 1,
            "colorscale": _SCALE[theme],
            "showscale": False,
            "xgap": 3,
            "ygap": 3,
            "hoverongaps": False,
            "customdata": [
                [
                    f"<b>{escape(shorten(one.series))}</b><br>{escape(line.name)}: {numbers.part(*outcome.counts(line))}"
                    for line in one.cuts[cut]
                ]
                for one in found
            ],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
    )
    between = " of " if len(names) <= _MANY_BINS else "/"  # in a narrow cell
    sheet.annotations += [
        {
            "x": column,
            "y": row,
            "text": f"{numbers.percent(good / of)}<br>{good:,}{between}{of:,}" if of else numbers.NOTHING,
            "showarrow": False,
            "font": {"size": 11, "color": sheet.ink.text if of else sheet.ink.quiet},
        }
        for row, cells in enumerate(counts)
        for column, (good, of) in enumerate(cells)
    ]
    sheet.row_axis([one.series for one in found])
    sheet.label(sheet.x, "turns since it was said" if cut == "age" else CUTS[cut])
    sheet.x.update(
        tickvals=list(range(len(names))),
        ticktext=[escape(name) for name in names],
        range=[-0.5, len(names) - 0.5],
        showgrid=False,
        zeroline=False,
        tickangle=-30 if sum(len(name) + 2 for name in names) > 52 else 0,
    )
    sheet.layout["hovermode"] = "closest"
    return sheet.figure()


def alt(found: Sequence[Breakdown], cut: Cut, outcome: Outcome) -> str:
    """Tell the chart in words."""
    told = []
    for one in found:
        cells = [
            f"{line.name} {numbers.part(*outcome.counts(line))}"
            for line in one.cuts[cut]
            if outcome.counts(line)[1]
        ]
        told.append(f"{one.series}: " + (", ".join(cells) or "nothing to count"))
    return tell("Table of shares", title(found, cut, outcome), told)


def _of_bin(cut: Cut, name: str) -> str:
    """A bin in the middle of a sentence."""
    if cut == "type":
        return f"of kind {name}"
    if cut == "age":
        return f"said {name} turns before"
    return (
        "after no compaction"
        if name == "none"
        else f"after {name} {'compaction' if name == '1' else 'compactions'}"
    )
