"""Cost against what is kept (or, live, recalled): the Pareto front, what it leaves behind, and the recommended setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from memdash import numbers
from memdash.charts.canvas import MAX_POINTS, Sheet, translucent
from memdash.charts.sweep.curves import Curve
from memdash.charts.sweep.measures import Measure, in_words
from memdash.charts.text import NAME, escape, shorten, tell
from memdash.metrics.sweep import Estimate, FrontPoint, Setting
from memdash.palette import Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

Against = Literal["kept", "recall"]
"""What cost is set against."""

_HEIGHT = 420
_MOST_LABELS = 7
_FRONT, _DOMINATED, _SIMULATOR_ONLY, _RECOMMENDED = (
    "Pareto front",
    "dominated: another is as cheap and keeps as much",
    "simulator only, not ranked",
    "recommended",
)


def title(front: Sequence[FrontPoint], against: Against, recommended: str | None = None) -> str:
    """Say what the front offers."""
    best = _on_front(front, against)
    label = _label(front, against)
    if not best:
        return f"{label}: no setting can be ranked yet"
    chosen = next((one for one in best if one.setting.series == recommended), None)
    of = f"{len(best)} of {numbers.count(len(_known(front, against)), 'setting')}"
    stands = "stands" if len(best) == 1 else "stand"
    if chosen is None:
        return f"{label}: {of} {stands} on the front"
    found = _share(chosen.setting, against)
    verb = "keeps" if against == "kept" else "recalls"
    share = "" if found is None else f" {verb} {numbers.percent(found.mean)}"
    return f"{label}: {shorten(chosen.setting.series, NAME)}{share} for {_usd(chosen.setting)}; {of} {stands} on the front"


def frontier_chart(
    front: Sequence[FrontPoint],
    unranked: Sequence[Setting],
    drawn: Sequence[Curve],
    styles: Mapping[str, Style],
    theme: Theme,
    *,
    against: Against = "kept",
    recommended: str | None = None,
    floor: float | None = None,
) -> go.Figure:
    """Draw every ranked setting by its cost and its share, the front as a stair; ``unranked`` run in the simulator only.

    ``floor`` is the cost with a perfect memory, in US dollars. Whiskers are 95 % intervals of the means.
    """
    best = _on_front(front, against)
    names = {one.setting.series for one in best}
    behind = [one.setting for one in _known(front, against) if one.setting.series not in names]
    apart = [one for one in unranked if one.cost_usd and _share(one, against)]
    groups = _by_curve([one.setting for one in best], drawn)
    present = [
        *([_FRONT] if best else []),
        *groups,
        *([_DOMINATED] if behind else []),
        *([_SIMULATOR_ONLY] if apart else []),
        *([_RECOMMENDED] if recommended in names else []),
    ]
    spread = any(
        one.cost_usd and one.cost_usd.low is not None for one in [*behind, *(one.setting for one in best)]
    )
    sheet = Sheet(
        title(front, against, recommended),
        theme,
        notes=["whiskers: 95 % interval of the mean"] if spread else [],
        legend=present,
        height=_HEIGHT,
    )
    if not best and not behind and not apart:
        sheet.say_empty("The points stand here once full history and a setting have been played")
        return sheet.figure()
    _stair(sheet, best, against)
    grey = translucent(sheet.ink.quiet, 0.75)
    _points(sheet, _DOMINATED, behind, against, {"symbol": "circle", "size": 7, "color": grey}, faint=True)
    only = {
        "symbol": "x-thin",
        "size": 8,
        "color": sheet.ink.quiet,
        "line": {"width": 2, "color": sheet.ink.quiet},
    }
    _points(sheet, _SIMULATOR_ONLY, apart, against, only, faint=True)
    for name, settings in groups.items():
        style = styles[name]
        _points(
            sheet,
            name,
            settings,
            against,
            {"symbol": style.marker, "size": 11, "color": style.colour(theme)},
            faint=False,
        )
    ring = {"symbol": "circle-open", "size": 22, "color": sheet.ink.text, "line": {"width": 2.5}}
    chosen = [one.setting for one in best if one.setting.series == recommended]
    _points(sheet, _RECOMMENDED, chosen, against, ring, faint=None)
    _axes(sheet, [*behind, *apart, *(one.setting for one in best)], against)
    _name_points(sheet, [one.setting for one in best], against)
    if floor is not None:
        _draw_floor(sheet, floor)
    return sheet.figure()


def alt(front: Sequence[FrontPoint], against: Against, recommended: str | None = None) -> str:
    """Tell the chart in words."""
    told = [
        f"{one.setting.series} costs {_usd(one.setting)} and "
        f"{'keeps' if against == 'kept' else 'recalls'} {_percent(one.setting, against)}"
        for one in _on_front(front, against)
    ]
    behind = len(_known(front, against)) - len(told)
    if behind:
        told.append(f"{numbers.count(behind, 'setting')} dominated")
    return tell("Scatter chart with the Pareto front", title(front, against, recommended), told)


def _label(front: Sequence[FrontPoint], against: Against) -> str:
    if against == "kept":
        return "Cost against facts kept"
    simulated = any(one.setting.simulated for one in front)
    return "Cost against simulated recall" if simulated else "Cost against recall"


def _share(setting: Setting, against: Against) -> Estimate | None:
    return setting.kept if against == "kept" else setting.recall


def _known(front: Sequence[FrontPoint], against: Against) -> list[FrontPoint]:
    return [one for one in front if one.setting.cost_usd and _share(one.setting, against)]


def _on_front(front: Sequence[FrontPoint], against: Against) -> list[FrontPoint]:
    """What no other setting beats in this measure, the cheapest first."""
    found = [
        one
        for one in _known(front, against)
        if (one.dominated_on_kept if against == "kept" else one.dominated_on_recall) is False
    ]
    return sorted(found, key=lambda one: _cost(one.setting))


def _by_curve(settings: Sequence[Setting], drawn: Sequence[Curve]) -> dict[str, list[Setting]]:
    """Settings by the first curve they stand on."""
    groups: dict[str, list[Setting]] = {}
    for curve in drawn:
        series = {one.series for one in curve.settings}
        mine = [
            one
            for one in settings
            if one.series in series and not any(one in group for group in groups.values())
        ]
        if mine:
            groups[curve.name] = mine
    return groups


def _cost(setting: Setting) -> float:
    return setting.cost_usd.mean if setting.cost_usd else float("nan")


def _percent(setting: Setting, against: Against) -> str:
    found = _share(setting, against)
    return numbers.percent(found.mean if found else None)


def _usd(setting: Setting) -> str:
    return numbers.usd(setting.cost_usd.mean if setting.cost_usd else None)


def _stair(sheet: Sheet, best: Sequence[FrontPoint], against: Against) -> None:
    """What can be had for so much money: level until the next setting of the front. Every model has a front of its own."""
    models = dict.fromkeys(one.setting.model for one in best)
    for place, model in enumerate(models):
        steps = [one.setting for one in best if one.setting.model == model]
        sheet.traces.append(
            {
                "type": "scatter",
                "x": np.array([_cost(one) for one in steps]),
                "y": np.array([_height(one, against) for one in steps]),
                "name": _FRONT,
                "legendgroup": _FRONT,
                "showlegend": place == 0,
                "mode": "lines",
                "line": {"color": sheet.ink.quiet, "width": 1.6, "dash": "dot", "shape": "hv"},
                "hoverinfo": "skip",
            }
        )


def _height(setting: Setting, against: Against) -> float:
    found = _share(setting, against)
    return found.mean * 100 if found else float("nan")


def _points(
    sheet: Sheet,
    name: str,
    settings: Sequence[Setting],
    against: Against,
    marker: Mapping[str, Any],
    *,
    faint: bool | None,
) -> None:
    """Points of one kind; ``faint`` says how their whiskers are drawn, None for none."""
    if not settings:
        return
    shown = settings[: MAX_POINTS // 2]
    trace: dict[str, Any] = {
        "type": "scatter",
        "x": np.array([_cost(one) for one in shown]),
        "y": np.array([_height(one, against) for one in shown]),
        "name": escape(shorten(name, 2 * NAME)),
        "mode": "markers",
        "marker": dict(marker),
        "text": [_told(one) for one in shown],
        "hovertemplate": "%{text}<extra></extra>",
    }
    if faint is None:
        trace["hoverinfo"] = "skip"
        del trace["hovertemplate"]
    else:
        colour = translucent(sheet.ink.quiet, 0.3) if faint else marker["color"]
        trace["error_x"] = _whiskers([one.cost_usd for one in shown], 1, colour)
        trace["error_y"] = _whiskers([_share(one, against) for one in shown], 100, colour)
    sheet.traces.append(trace)


def _whiskers(found: Sequence[Estimate | None], scale: float, colour: str) -> dict[str, Any]:
    ups = [one.high - one.mean if one and one.high is not None else 0.0 for one in found]
    downs = [one.mean - one.low if one and one.low is not None else 0.0 for one in found]
    return {
        "type": "data",
        "symmetric": False,
        "array": np.array(ups) * scale,
        "arrayminus": np.array(downs) * scale,
        "color": colour,
        "thickness": 1.2,
        "width": 3,
    }


def _told(setting: Setting) -> str:
    recall = "simulated recall" if setting.simulated else "recall"
    lines = [
        f"<b>{escape(shorten(setting.series, 2 * NAME))}</b>",
        escape(f"cost {in_words(Measure.COST, setting)}"),
        escape(f"kept {in_words(Measure.KEPT, setting)}"),
        escape(f"{recall} {in_words(Measure.RECALL, setting)}"),
        escape(f"wait p95 {in_words(Measure.WAIT, setting)}"),
    ]
    return "<br>".join(lines)


def _name_points(sheet: Sheet, settings: Sequence[Setting], against: Against) -> None:
    """Write the names of the front's points beside them, turn about above and below, as many as there is room for.

    Settings that stand on the same spot share one name, or it could not be read.
    """
    spots: dict[tuple[float, float], list[Setting]] = {}
    for setting in settings:
        spot = (round(_cost(setting) / sheet.x["range"][1], 2), round(_height(setting, against)))
        spots.setdefault(spot, []).append(setting)
    named = list(spots.values())
    if len(named) > _MOST_LABELS:
        named = [named[0], *named[-_MOST_LABELS + 1 :]]
    for place, (one, *others) in enumerate(named):
        more = f" and {len(others):,} more" if others else ""
        leftwards = _cost(one) > 0.7 * sheet.x["range"][1]
        sheet.annotations.append(
            {
                "x": _cost(one),
                "y": _height(one, against),
                "text": escape(shorten(one.series, NAME) + more),
                "showarrow": True,
                "arrowhead": 0,
                "arrowwidth": 1,
                "arrowcolor": sheet.ink.quiet,
                "ax": -30 if leftwards else 30,
                "ay": -26 if (len(named) - place) % 2 else 30,
                "xanchor": "right" if leftwards else "left",
                "font": {"size": 11, "color": sheet.ink.text},
            }
        )


def _draw_floor(sheet: Sheet, floor: float) -> None:
    line = {"color": sheet.ink.quiet, "width": 1.4, "dash": "dash"}
    sheet.shapes.append(
        {"type": "line", "x0": floor, "x1": floor, "yref": "paper", "y0": 0, "y1": 1, "line": line}
    )
    sheet.annotations.append(
        {
            "x": floor,
            "yref": "paper",
            "y": 1,
            "yanchor": "top",
            "xanchor": "right",
            "xshift": -4,
            "text": escape(f"floor {numbers.usd(floor)}"),
            "showarrow": False,
            "font": {"size": 11, "color": sheet.ink.quiet},
        }
    )


def _axes(sheet: Sheet, settings: Sequence[Setting], against: Against) -> None:
    costs = [one.cost_usd.high or one.cost_usd.mean for one in settings if one.cost_usd]
    sheet.label(sheet.x, "US dollars a conversation")
    sheet.x.update(
        range=[0, max(costs, default=1.0) * 1.06],
        tickprefix="&#36;",
        tickformat=",.4~f",  # 0.005 must not read 0.01
        zeroline=False,
        ticks="outside",
    )
    sheet.label(sheet.y, "facts kept" if against == "kept" else "questions answered right")
    ticks = [0, 25, 50, 75, 100]
    sheet.y.update(range=[-4, 112], tickvals=ticks, ticktext=[f"{tick} %" for tick in ticks], zeroline=False)
    sheet.layout["hovermode"] = "closest"
