"""The charts of a comparison in two columns, one below another where the page is narrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from memdash import charts
from memdash.charts import Chart, TurnSeries
from memdash.palette import Style
from memdash.views.chart_card import Drawn, Keep, kept_chart_card, made_anew
from memdash.views.components import theme

_ABOUT: Final = {
    Chart.PROMPT: (
        "Uncached input, cache writes, cache reads and output of one replay. A read costs a small part of a write, so the mix "
        "matters more than the length of the bar."
    ),
    Chart.RECALL: (
        "Each question against each strategy: right, stale, or not known, and whether the fact's text was still in sight. "
        "Simulated answers come from the pretend model; what is in sight is measured by us."
    ),
}


def chart_grid(
    series: Sequence[TurnSeries],
    styles: Mapping[str, Style],
    key: str = "chart",
    *,
    keep: Keep = made_anew,
) -> None:
    """Draw every chart of the series of one script; ``key`` tells one page's charts from another's."""
    with st.grid(2, min_column_width=430, gap="small"):
        for chart in Chart:
            kept_chart_card(
                keep, partial(drawn, chart, series, styles), key=f"{key}.{chart}", about=_ABOUT.get(chart)
            )


def drawn(chart: Chart, series: Sequence[TurnSeries], styles: Mapping[str, Style]) -> Drawn:
    """Return a chart in the theme of the person who looks, with its title and its text alternative."""
    return Drawn(
        charts.draw(chart, series, styles, theme()),
        charts.title_of(chart, series),
        charts.alt_text(chart, series),
    )
