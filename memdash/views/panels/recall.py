"""Recall along the way, for scripts that ask at several turns."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import charts
from memdash.charts import recall_curve
from memdash.metrics import recall_curves
from memdash.views.chart_card import Drawn, kept_chart_card
from memdash.views.components import HELP
from memdash.views.panels.selection import Selection

_ABOUT: Final = (
    HELP["recall"] + " Each point is of the questions asked after that turn, as many as the axis says."
)


def show(selection: Selection) -> None:
    """Draw the curve, or say why there is none."""
    curves = recall_curves(selection.results)
    if not curves:
        with st.container(border=True):
            st.markdown("**There is no curve to draw**")
            st.caption(
                "This script asks its questions after one turn only, or has not come further yet. The long project asks "
                "after every 20 turns."
            )
        return
    kept_chart_card(
        selection.keep,
        lambda: Drawn(
            charts.recall_along_the_way(curves, selection.styles, selection.theme),
            recall_curve.title(curves),
            recall_curve.alt(curves),
        ),
        key="panel.chart.recall",
        about=_ABOUT,
    )
