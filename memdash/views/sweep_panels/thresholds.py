"""The charts of a sweep: the front, each measure over the threshold, and grids of two swept parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from memdash.charts.sweep import (
    Measure,
    frontier,
    frontier_chart,
    grid,
    grid_chart,
    threshold_chart,
    thresholds,
)
from memdash.views.chart_card import chart_card
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
    look, floor = theme(), floor_of(shown.reading).usd
    _front(shown, "kept", floor)
    if any(one.setting.recall is not None and not one.setting.simulated for one in shown.analysis.frontier):
        _front(shown, "recall", floor)
    with st.grid(2, min_column_width=_WIDE if thresholds.panels(shown.drawn) > 1 else _NARROW, gap="small"):
        for measure in Measure:
            chart_card(
                threshold_chart(
                    measure, shown.drawn, shown.styles, look, floor=floor, recommended=shown.recommended
                ),
                thresholds.title(measure, shown.drawn),
                thresholds.alt(measure, shown.drawn),
                key=f"sweep.{measure}",
                about=_HELP[measure],
            )
    for place, one in enumerate(shown.grids):
        with st.grid(2, min_column_width=_NARROW, gap="small"):
            for measure in (Measure.COST, Measure.KEPT):
                chart_card(
                    grid_chart(measure, one, look, recommended=shown.recommended),
                    grid.title(measure, one),
                    grid.alt(measure, one),
                    key=f"sweep.grid.{place}.{measure}",
                )


def _front(shown: SweepView, against: frontier.Against, floor: float | None) -> None:
    points = shown.analysis.frontier
    chart_card(
        frontier_chart(
            points,
            shown.unranked,
            shown.drawn,
            shown.styles,
            theme(),
            against=against,
            recommended=shown.recommended,
            floor=floor,
        ),
        frontier.title(points, against, shown.recommended),
        frontier.alt(points, against, shown.recommended),
        key=f"sweep.front.{against}",
        about=_FRONT_HELP,
    )
