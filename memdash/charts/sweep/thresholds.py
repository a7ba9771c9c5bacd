"""One measure against the threshold: a line a family, full history and the floor across, what never fires hollow.

Thresholds in tokens and in exchanges have no common axis, so each unit has a panel of its own; all panels share the vertical
axis, so that their heights compare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memdash import numbers
from memdash.charts.canvas import HEIGHT, MAX_POINTS, Ink, Sheet, thin
from memdash.charts.series import Band, Floats
from memdash.charts.sweep.curves import Curve
from memdash.charts.sweep.measures import LOOKS, Look, Measure, in_words, is_share, rankable
from memdash.charts.text import NAME, escape, shorten, tell
from memdash.metrics.result import Mark
from memdash.metrics.sweep import Setting
from memdash.palette import Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

_NEVER, _EVERY_TURN, _RECOMMENDED = "threshold never reached", "reached by every turn", "recommended"
_MOST_TICKS = 9
_GAP = 0.06
"""Share of the width between two panels."""


def title(measure: Measure, drawn: Sequence[Curve]) -> str:
    """Say what is seen of a measure."""
    settings = rankable(list({one.series: one for curve in drawn for one in curve.settings}.values()))
    known = [one for one in settings if LOOKS[measure].value(one) is not None]
    label = _label(measure, settings)
    if not known:
        return f"{label}: {'no question tests anything' if _untested(measure, settings) else 'not known yet'}"
    if measure is Measure.COST:
        return f"{label}: {_on_cost(known)}"
    if measure is Measure.KEPT:
        return f"{label}: {_on_kept(known)}"
    look = LOOKS[measure]
    best, worst = max(known, key=lambda one: _mean(look, one)), min(known, key=lambda one: _mean(look, one))
    high, low = look.spell(_mean(look, best)), look.spell(_mean(look, worst))
    verb = {Measure.CACHE: "reads", Measure.WAIT: "takes", Measure.RECALL: "answers"}[measure]
    if high == low:
        return f"{label}: every setting {verb} {high}"
    return f"{label}: {_name(best)} {verb} {high}, {_name(worst)} {low}"


def _untested(measure: Measure, settings: Iterable[Setting]) -> bool:
    """Whether settings have been played and no question counts."""
    cost = LOOKS[Measure.COST]
    return measure is Measure.RECALL and any(cost.value(one) is not None for one in settings)


def threshold_chart(
    measure: Measure,
    drawn: Sequence[Curve],
    styles: Mapping[str, Style],
    theme: Theme,
    *,
    floor: float | None = None,
    recommended: str | None = None,
) -> go.Figure:
    """Draw a measure of every curve over its swept parameter; ``floor`` is the cost with a perfect memory, in US dollars.

    ``recommended`` is the series of the recommended setting. Bands are 95 % intervals of the mean.
    """
    look = LOOKS[measure]
    swept = [one for one in drawn if one.axis is not None]
    across = [one for one in drawn if one.axis is None]
    banded = any(_band(look, one) is not None for one in swept)
    marked = _marked(swept, recommended)
    sheet = Sheet(
        title(measure, drawn),
        theme,
        notes=["bands: 95 % interval of the mean"] if banded else [],
        legend=[*(one.name for one in swept), *marked],
        height=HEIGHT,
    )
    if not any(look.value(one) is not None for curve in drawn for one in curve.settings):
        untested = _untested(measure, [one for curve in drawn for one in curve.settings])
        sheet.say_empty(
            "No question is answered right with the whole history and wrong without it"
            if untested
            else "The lines stand here once the first setting has been played"
        )
        return sheet.figure()
    groups = _panels(swept)
    axes = sheet.split(max(len(groups), 1), _GAP)
    budget = MAX_POINTS // (4 * max(len(swept), 1))
    for place, panel in enumerate(groups):
        _label_panel(sheet, axes[place], panel)
        for curve in panel:
            _draw(sheet, place, curve, measure, styles[curve.name], budget)
    for words, chosen in marked.items():
        _mark(sheet, groups, look, words, chosen)
    for place, curve in enumerate(across):
        _draw_across(sheet, look, curve, styles[curve.name], at=(1.0, 0.0, 0.5)[place % 3])
    if measure is Measure.COST and floor is not None:
        sheet.line_across(floor, f"floor {numbers.usd(floor)}", sheet.ink.quiet, "dot")
    _amounts(sheet, measure, drawn, floor)
    sheet.layout["hovermode"] = "closest"
    return sheet.figure()


def panels(drawn: Sequence[Curve]) -> int:
    """Return how many panels stand side by side in a chart of these curves."""
    return len(_panels([one for one in drawn if one.axis is not None]))


def alt(measure: Measure, drawn: Sequence[Curve]) -> str:
    """Tell the chart in words."""
    told = []
    for curve in drawn:
        points = [
            f"{_value(point.value)}: {in_words(measure, point.setting)}"
            if curve.axis
            else in_words(measure, point.setting)
            for point in curve.points
        ]
        told.append(f"{curve.name}: {', '.join(points)}")
    return tell("Line chart", title(measure, drawn), told)


# -- titles --------------------------------------------------------------------------------------------------------------


def _label(measure: Measure, settings: Sequence[Setting]) -> str:
    if measure is Measure.RECALL:
        return "Simulated recall" if any(one.simulated for one in settings) else "Recall"
    return {
        Measure.COST: "Cost",
        Measure.KEPT: "Kept",
        Measure.CACHE: "Cache share",
        Measure.WAIT: "Wait p95",
    }[measure]


def _on_cost(known: Sequence[Setting]) -> str:
    def cost(one: Setting) -> float:
        return _mean(LOOKS[Measure.COST], one)

    whole = [one for one in known if one.kept is not None and one.kept.mean >= 1]
    if not whole:
        cheapest = min(known, key=cost)
        kept = "" if cheapest.kept is None else f", and keeps {numbers.percent(cheapest.kept.mean)}"
        return f"{_name(cheapest)} is cheapest, {numbers.usd(cost(cheapest))}{kept}"
    cheapest = min(whole, key=cost)
    if cheapest.is_full_history:
        return f"nothing that kept every fact is cheaper than full history, {numbers.usd(cost(cheapest))}"
    return f"the cheapest that kept every fact is {_name(cheapest)}, {numbers.usd(cost(cheapest))}"


def _on_kept(known: Sequence[Setting]) -> str:
    look = LOOKS[Measure.KEPT]
    whole = sum(_mean(look, one) >= 1 for one in known)
    worst = min(known, key=lambda one: _mean(look, one))
    if whole == len(known):
        return "every setting keeps every fact"
    least = f"{_name(worst)} keeps {numbers.percent(_mean(look, worst))}"
    return f"{numbers.part(whole, len(known))} settings keep every fact, {least}"


def _name(one: Setting) -> str:
    return shorten(one.series, NAME)


def _mean(look: Look, one: Setting) -> float:
    found = look.value(one)
    return float("nan") if found is None else found.mean


# -- panels --------------------------------------------------------------------------------------------------------------


def _panels(swept: Sequence[Curve]) -> list[list[Curve]]:
    """Curves by the unit of what they sweep; what has no unit, or no numbers, stands by the parameter's name."""
    panels: dict[str, list[Curve]] = {}
    for one in swept:
        panels.setdefault(one.unit if one.unit and one.numeric else f"{one.axis}", []).append(one)
    return list(panels.values())


def _label_panel(sheet: Sheet, axis: dict[str, Any], panel: Sequence[Curve]) -> None:
    """Write what a panel's axis measures, and its values where there is room for all of them."""
    swept = numbers.listing(list(dict.fromkeys(f"{one.axis}".replace("_", " ") for one in panel)), limit=3)
    sheet.label(axis, f"{swept}, {panel[0].unit}" if panel[0].unit else swept)
    axis.update(showgrid=False, zeroline=False, ticks="outside", ticklen=4)
    if not all(one.numeric for one in panel):
        names = list(dict.fromkeys(_value(point.value) for one in panel for point in one.points))
        axis.update(type="category", categoryorder="array", categoryarray=names)
        return
    values = sorted({float(point.value) for one in panel for point in one.points})
    logarithmic = any(one.geometric for one in panel) and values[0] > 0
    if logarithmic:
        axis.update(type="log")
        reach = max(np.log10(values[-1] / values[0]), 0.1) * 0.06
        axis["range"] = [np.log10(values[0]) - reach, np.log10(values[-1]) + reach]
    else:
        reach = max(values[-1] - values[0], 1) * 0.06
        axis["range"] = [values[0] - reach, values[-1] + reach]
    shown = _ticks(values, logarithmic)
    axis.update(
        tickvals=shown,
        ticktext=[numbers.tokens_short(one) if one == round(one) else f"{one:g}" for one in shown],
    )


def _ticks(values: Sequence[float], logarithmic: bool) -> list[float]:
    """The values to write at the axis: as many of them as stand clear of one another."""
    places = np.log(values) if logarithmic else np.array(values)
    span = float(places[-1] - places[0]) or 1.0
    shown: list[int] = []
    for place in range(len(values)):
        if not shown or (places[place] - places[shown[-1]]) / span >= 1 / (_MOST_TICKS + 1):
            shown.append(place)
    return [values[place] for place in shown]


# -- traces --------------------------------------------------------------------------------------------------------------


def _draw(sheet: Sheet, place: int, curve: Curve, measure: Measure, style: Style, budget: int) -> None:
    look = LOOKS[measure]
    colour = style.colour(sheet.theme)
    xs, ys = _places(curve), _heights(look, curve)
    shown = thin(ys, budget)
    band = _band(look, curve)
    if band is not None:
        sheet.draw_band(xs, band, colour, budget, panel=place)
    settings = [curve.settings[index] for index in shown]
    sheet.traces.append(
        {
            "type": "scatter",
            "x": xs[shown],
            "y": ys[shown],
            "name": escape(shorten(curve.name, 2 * NAME)),
            "mode": "lines+markers",
            "line": {"color": colour, "dash": style.dash, "width": 2},
            "marker": {
                "symbol": [f"{style.marker}-open" if _idle(one) else style.marker for one in settings],
                "size": 9,
                "color": colour,
                "line": {"width": 1.5, "color": colour},
            },
            "text": [_told(measure, one) for one in settings],
            "hovertemplate": "%{text}<extra></extra>",
            "connectgaps": False,
            **sheet.panel(place),
        }
    )


def _told(measure: Measure, setting: Setting) -> str:
    lines = [f"<b>{escape(shorten(setting.series, 2 * NAME))}</b>"]
    lines += [
        escape(f"{_label(one, [setting])}: {in_words(one, setting)}") for one in (measure, *_BESIDE[measure])
    ]
    lines += [
        escape(f"{mark.words} ({numbers.listing(scripts, limit=3)})")
        for mark, scripts in setting.marks.items()
    ]
    return "<br>".join(lines)


_BESIDE: Mapping[Measure, tuple[Measure, ...]] = {
    Measure.COST: (Measure.KEPT,),
    Measure.KEPT: (Measure.COST,),
    Measure.CACHE: (Measure.COST,),
    Measure.WAIT: (Measure.COST,),
    Measure.RECALL: (Measure.KEPT,),
}
"""What the hover box says beside the measure itself."""


def _marked(swept: Sequence[Curve], recommended: str | None) -> dict[str, frozenset[str]]:
    """What is marked on the lines, in words for the legend, and the series it is true of."""
    settings = [one for curve in swept for one in curve.settings]
    found = {
        _NEVER: frozenset(one.series for one in settings if _idle(one)),
        _EVERY_TURN: frozenset(one.series for one in settings if Mark.FIRES_EVERY_TURN in one.marks),
        _RECOMMENDED: frozenset(one.series for one in settings if one.series == recommended),
    }
    return {words: series for words, series in found.items() if series}


def _mark(
    sheet: Sheet, groups: Sequence[Sequence[Curve]], look: Look, words: str, series: frozenset[str]
) -> None:
    """Mark settings in every panel they stand in; what is never reached is hollow already and needs a legend entry alone."""
    told = False
    for place, panel in enumerate(groups):
        if words == _NEVER:
            points: list[tuple[Any, float]] = [(None, float("nan"))] if not told else []
        else:
            points = [
                (x, y)
                for curve in panel
                for x, y, one in zip(_places(curve), _heights(look, curve), curve.settings, strict=True)
                if one.series in series
            ]
        if points:
            sheet.traces.append(
                {
                    "type": "scatter",
                    "x": [x for x, _ in points],
                    "y": [y for _, y in points],
                    "name": words,
                    "mode": "markers",
                    "marker": _MARKS[words](sheet.ink),
                    "hoverinfo": "skip",
                    "showlegend": not told,
                    **sheet.panel(place),
                }
            )
            told = True


_MARKS: Mapping[str, Callable[[Ink], dict[str, Any]]] = {
    _NEVER: lambda ink: {"symbol": "circle-open", "size": 9, "color": ink.quiet, "line": {"width": 1.5}},
    _EVERY_TURN: lambda ink: {
        "symbol": "x-thin",
        "size": 13,
        "color": ink.text,
        "line": {"width": 2, "color": ink.text},
    },
    _RECOMMENDED: lambda ink: {
        "symbol": "circle-open",
        "size": 20,
        "color": ink.text,
        "line": {"width": 2.5, "color": ink.text},
    },
}


def _draw_across(sheet: Sheet, look: Look, curve: Curve, style: Style, *, at: float) -> None:
    """A setting that is not swept, as a line over all panels with its name and value at it."""
    setting = curve.settings[0]
    found = look.value(setting)
    if found is None:
        return
    colour = style.colour(sheet.theme)
    if found.low is not None and found.high is not None:
        sheet.area_across(found.low * look.scale, found.high * look.scale, colour)
    words = f"{shorten(curve.name)} {look.spell(found.mean)}"
    sheet.line_across(found.mean * look.scale, words, colour, style.dash, at=at)


def _amounts(sheet: Sheet, measure: Measure, drawn: Sequence[Curve], floor: float | None) -> None:
    """Label the vertical axis; lines across are no traces, so the range is made to hold them."""
    look = LOOKS[measure]
    if is_share(measure):
        ticks = [0, 25, 50, 75, 100]
        sheet.label(sheet.y, look.axis)
        sheet.y.update(range=[-3, 106], tickvals=ticks, ticktext=[f"{tick} %" for tick in ticks])
        return
    found = [one for curve in drawn for setting in curve.settings if (one := look.value(setting)) is not None]
    highest = max([*(one.high or one.mean for one in found), floor or 0.0]) * look.scale
    sheet.amount_axis(look.axis, range=[0, highest * 1.12 or 1.0])
    if measure is Measure.COST:
        decimals = max(2, math.ceil(-math.log10(highest / 4))) if highest > 0 else 2
        sheet.y.update(tickprefix="&#36;", tickformat=f",.{decimals}f")


def _idle(setting: Setting) -> bool:
    """Whether its threshold was reached on none of its scripts."""
    return set(setting.marks.get(Mark.NEVER_FIRES, ())) >= set(setting.scripts)


def _places(curve: Curve) -> Any:
    if curve.numeric:
        return np.array([float(point.value) for point in curve.points])
    return np.array([_value(point.value) for point in curve.points], dtype=object)


def _heights(look: Look, curve: Curve) -> Floats:
    return np.array([_mean(look, one) for one in curve.settings]) * look.scale


def _band(look: Look, curve: Curve) -> Band | None:
    """The intervals of a curve's means; None where no setting has one."""
    found = [look.value(one) for one in curve.settings]
    lows = np.array([np.nan if one is None or one.low is None else one.low for one in found]) * look.scale
    highs = np.array([np.nan if one is None or one.high is None else one.high for one in found]) * look.scale
    return None if np.isnan(lows).all() else Band(lows, highs)


def _value(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
