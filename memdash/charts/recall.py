"""Recall by fact: one row a series, one column a probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memdash import numbers
from memdash.charts.canvas import Ink, Sheet, called, row_height
from memdash.charts.series import TurnSeries
from memdash.charts.text import escape, shorten, tell
from memdash.metrics.result import ProbeResult
from memdash.palette import GREEN, ORANGE, VERMILION, Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

Point = tuple[str, int]
"""A probe: its fact, and the turn after which it is asked."""


class _Look(NamedTuple):
    words: str
    symbol: str
    light: str
    dark: str


class Verdict(Enum):
    """What came of a probe; over several repeats, of the worst of them."""

    PASSED = _Look("answered right", "circle", GREEN.light, GREEN.dark)
    STALE = _Look("gave an old value", "diamond-tall", ORANGE.light, ORANGE.dark)
    FAILED = _Look("failed", "x", VERMILION.light, "#ff8a80")
    NOT_A_TEST = _Look("not a test", "circle-open", "#56606f", "#a7b0c0")
    NOT_ASKED = _Look("not asked", "line-ew-open", "#56606f", "#a7b0c0")


def title(series: Sequence[TurnSeries]) -> str:
    """Say who answers most and who fewest."""
    label = _label(series)
    shown = [one for one in series if any(result.recall is not None for result in one.results)]
    rates = [(one, *_score(one)) for one in shown]
    rates = [rate for rate in rates if rate[2]]
    rates = [rate for rate in rates if rate[0].complete] or rates
    if not rates:
        if not _points(series):
            return f"{label}: the script asks no questions"
        over = any(one.complete for one in series)
        return f"{label}: no question tests anything" if over else f"{label}: no probe counts yet"
    best, worst = (
        max(rates, key=lambda rate: rate[1] / rate[2]),
        min(rates, key=lambda rate: rate[1] / rate[2]),
    )
    high, low = numbers.part(best[1], best[2]), numbers.part(worst[1], worst[2])
    if len(rates) == 1:
        return f"{label}: {called(best[0])} answers {high}"
    if best[1] / best[2] == worst[1] / worst[2]:
        return f"{label}: every strategy answers {high}"
    return f"{label}: {called(best[0])} answers {high}, {called(worst[0])} answers {low}"


def recall_by_fact(series: Sequence[TurnSeries], styles: Mapping[str, Style], theme: Theme) -> go.Figure:
    """Draw a matrix of verdicts, each with a symbol of its own; what is not a test, or was not asked, is shown as such."""
    points = _points(series)
    cells: dict[Verdict, list[tuple[int, int, str]]] = {verdict: [] for verdict in Verdict}
    for row, one in enumerate(series):
        for column, point in enumerate(points):
            verdict, told = _cell(one, point)
            cells[verdict].append((column, row, told))
    used = [verdict for verdict in Verdict if cells[verdict]]
    repeats = max((len(one.results) for one in series), default=1)
    notes = (
        [f"{repeats} repeats: the worst shows, with how many are right where they differ"]
        if repeats > 1
        else []
    )
    sheet = Sheet(
        title(series),
        theme,
        notes=notes,
        legend=[verdict.value.words for verdict in used],
        height=row_height(len(series)),
    )
    if not points:
        sheet.say_empty("This script plants no facts, so there is nothing to recall")
        return sheet.figure()
    for verdict in used:
        look = verdict.value
        colour = look.light if theme == "light" else look.dark
        sheet.traces.append(
            {
                "type": "scatter",
                "x": np.array([column for column, _, _ in cells[verdict]]),
                "y": np.array([row for _, row, _ in cells[verdict]]),
                "text": [told for _, _, told in cells[verdict]],
                "mode": "markers",
                "name": look.words,
                "marker": {
                    "symbol": look.symbol,
                    "size": 13 if len(points) <= 14 else 10,
                    "color": colour,
                    "line": {"width": 2, "color": colour},
                },
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    sheet.annotations += [
        _rate(column, row, differing, sheet.ink)
        for row, one in enumerate(series)
        for column, point in enumerate(points)
        if (differing := _differing(one, point))
    ]
    sheet.row_axis([one.name for one in series])
    _fact_axis(sheet, points)
    sheet.layout["hovermode"] = "closest"
    return sheet.figure()


def _fact_axis(sheet: Sheet, points: Sequence[Point]) -> None:
    """Label the columns with facts, and with the turn of the question where there are several; slanted where it is tight."""
    several = len({after for _, after in points}) > 1
    labels = [shorten(f"{fact} @{after}" if several else fact, 16) for fact, after in points]
    slanted = sum(len(label) + 2 for label in labels) > 52
    sheet.label(sheet.x, "fact @ asked after turn" if several else "fact")
    sheet.x.update(
        tickvals=list(range(len(points))),
        ticktext=[escape(label) for label in labels],
        tickangle=-45 if slanted else 0,
        range=[-0.6, len(points) - 0.4],
        zeroline=False,
    )
    sheet.y["showgrid"] = True
    if slanted:
        sheet.margin["b"] += 4 * max(len(label) for label in labels)


def alt(series: Sequence[TurnSeries]) -> str:
    """Tell the chart in words."""
    told = []
    for one in series:
        passed, total = _score(one)
        wrong = [
            f"{fact} {verdict.value.words}"
            for fact, after in _points(series)
            for verdict in (_cell(one, (fact, after))[0],)
            if verdict is not Verdict.PASSED
        ]
        told.append(
            f"{one.name} {numbers.part(passed, total)}" + (f" ({numbers.listing(wrong)})" if wrong else "")
        )
    return tell("Matrix of probes", title(series), told)


def _label(series: Sequence[TurnSeries]) -> str:
    simulated = any(result.recall_simulated for one in series for result in one.results)
    return "Simulated recall" if simulated else "Recall"


def _points(series: Sequence[TurnSeries]) -> list[Point]:
    """Every probe that is planned or was asked, in the order of turns."""
    found: dict[Point, None] = {}
    for one in series:
        for result in one.results:
            found.update(dict.fromkeys(result.planned_probes))
            found.update(dict.fromkeys((probe.fact, probe.asked_after) for probe in result.probes))
    return sorted(found, key=lambda point: point[1])


def _score(one: TurnSeries) -> tuple[int, int]:
    return sum(result.recall_passed for result in one.results), sum(
        result.recall_total for result in one.results
    )


def _differing(one: TurnSeries, point: Point) -> str:
    """How many repeats answered right, where not all of them fared alike."""
    asked = _asked(one, point)
    passed = sum(probe.passed for probe in asked)
    return f"{passed}/{len(asked)}" if 0 < passed < len(asked) else ""


def _rate(column: int, row: int, text: str, ink: Ink) -> dict[str, Any]:
    return {
        "x": column,
        "y": row,
        "text": text,
        "showarrow": False,
        "yshift": -13,
        "font": {"size": 10, "color": ink.quiet},
    }


def _asked(one: TurnSeries, point: Point) -> list[ProbeResult]:
    return [
        probe for result in one.results for probe in result.probes if (probe.fact, probe.asked_after) == point
    ]


def _cell(one: TurnSeries, point: Point) -> tuple[Verdict, str]:
    """The verdict on a probe, and what the hover box says of it."""
    asked = _asked(one, point)
    head = f"<b>{escape(called(one))}</b><br>{escape(shorten(point[0], 40))}, asked after turn {point[1]}"
    if not asked:
        return Verdict.NOT_ASKED, f"{head}<br>not asked"
    worst = max(asked, key=lambda probe: list(Verdict).index(_verdict(probe)))
    verdict = _verdict(worst)
    passed = sum(probe.passed for probe in asked)
    rate = f" ({passed} of {len(asked)} repeats right)" if len(asked) > 1 else ""
    seen = "its text is in the context" if worst.visible else "its text is not in the context"
    return verdict, f"{head}<br>{verdict.value.words}{rate}; {seen}<br>{escape(shorten(worst.answer, 70))}"


def _verdict(probe: ProbeResult) -> Verdict:
    if not probe.is_test:
        return Verdict.NOT_A_TEST
    if probe.passed:
        return Verdict.PASSED
    return Verdict.STALE if probe.stale else Verdict.FAILED
