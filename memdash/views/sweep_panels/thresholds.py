"""The charts of a sweep: the front, each measure over the threshold, and grids of two swept parameters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import streamlit as st

from memdash.charts.sweep import (
    Grid,
    Measure,
    frontier,
    frontier_chart,
    grid,
    grid_chart,
    threshold_chart,
    thresholds,
)
from memdash.views.chart_card import Drawn, kept_chart_card
from memdash.views.components import HELP, theme
from memdash.views.sweep_view import SweepView, floor_of

_FRONT_HELP: Final = (
    "Each point is a setting. Down and to the right of another point is worse in both, so only the settings on the stair are "
    "worth a choice; the grey ones cost more or keep less than one of them."
)
_FLOOR_HELP: Final = (
    "The floor is what the conversation would cost if a perfect memory sent only the facts that are needed. "
    "Nothing real reaches it; it says how much there is to gain at all."
)
_NARROW: Final = 430
_WIDE: Final = 620
"""Pixels that a chart needs, by whether its width is shared by several panels."""

_HELP: Final[Mapping[Measure, str]] = {
    Measure.COST: f"{HELP['cost']} {_FLOOR_HELP}",
    Measure.KEPT: HELP["kept"],
    Measure.CACHE: HELP["cached"],
    Measure.WAIT: HELP["wait"],
    Measure.RECALL: HELP["recall"],
}


def show(shown: SweepView) -> None:
    """Draw every chart."""
    _front(shown, "kept")
    if any(one.setting.recall is not None and not one.setting.simulated for one in shown.analysis.frontier):
        _front(shown, "recall")
    with st.grid(2, min_column_width=_WIDE if thresholds.panels(shown.drawn) > 1 else _NARROW, gap="small"):
        for measure in Measure:
            kept_chart_card(
                shown.keep, partial(_curves, shown, measure), key=f"sweep.{measure}", about=_HELP[measure]
            )
    for place, one in enumerate(shown.grids):
        with st.grid(2, min_column_width=_NARROW, gap="small"):
            for measure in (Measure.COST, Measure.KEPT):
                kept_chart_card(
                    shown.keep, partial(_grid, shown, measure, one), key=f"sweep.grid.{place}.{measure}"
                )


def _front(shown: SweepView, against: frontier.Against) -> None:
    def draw() -> Drawn:
        points = shown.analysis.frontier
        figure = frontier_chart(
            points,
            shown.unranked,
            shown.drawn,
            shown.styles,
            theme(),
            against=against,
            recommended=shown.recommended,
            floor=floor_of(shown.reading).usd,
        )
        return Drawn(
            figure,
            frontier.title(points, against, shown.recommended),
            frontier.alt(points, against, shown.recommended),
        )

    kept_chart_card(shown.keep, draw, key=f"sweep.front.{against}", about=_FRONT_HELP)


def _curves(shown: SweepView, measure: Measure) -> Drawn:
    figure = threshold_chart(
        measure,
        shown.drawn,
        shown.styles,
        theme(),
        floor=floor_of(shown.reading).usd,
        recommended=shown.recommended,
    )
    return Drawn(figure, thresholds.title(measure, shown.drawn), thresholds.alt(measure, shown.drawn))


def _grid(shown: SweepView, measure: Measure, one: Grid) -> Drawn:
    figure = grid_chart(measure, one, theme(), recommended=shown.recommended)
    return Drawn(figure, grid.title(measure, one), grid.alt(measure, one))
