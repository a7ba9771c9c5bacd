"""Waiting: percentiles of the wait and of the time to the first text, by strategy, and the wait of each turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import streamlit as st

from memdash import charts, numbers
from memdash.charts import Chart
from memdash.metrics import Ranks, WaitSummary, wait_summaries
from memdash.views.chart_card import kept_chart_card
from memdash.views.chart_grid import drawn
from memdash.views.components import HELP
from memdash.views.panels import tables
from memdash.views.panels.selection import Selection

_FIRST_TEXT_HELP: Final = (
    "From the user's message to the first text of the answer, with whatever had to be made first. It is known where the "
    "answer came as a stream, and modelled in the simulator."
)


def show(selection: Selection) -> None:
    """Draw the table and the chart."""
    rows = wait_summaries(selection.logs)
    with st.container(border=True, gap="small"):
        st.markdown("**Wait and time to first text, in seconds a turn**", help=HELP["wait"])
        _table(selection, rows)
        st.caption("Percentiles by nearest rank over all finished turns: each is a wait that was measured.")
    kept_chart_card(
        selection.keep,
        lambda: drawn(Chart.WAIT, charts.turn_series(selection.results), selection.styles),
        key="panel.chart.wait",
    )


def _table(selection: Selection, rows: Sequence[WaitSummary]) -> None:
    def ranks(of: Callable[[WaitSummary], Ranks | None], name: str) -> list[float | None]:
        return [None if (one := of(row)) is None else getattr(one, name) for row in rows]

    def wait(row: WaitSummary) -> Ranks | None:
        return row.wait

    def first_text(row: WaitSummary) -> Ranks | None:
        return row.first_text

    columns = [
        tables.counts("Turns", [row.wait.turns if row.wait else 0 for row in rows], width=56),
        *(
            tables.seconds(f"Wait {name}", ranks(wait, name), width=76)
            for name in ("p50", "p90", "p95", "max")
        ),
        *(
            tables.seconds(f"First text {name}", ranks(first_text, name), width=98, help=_FIRST_TEXT_HELP)
            for name in ("p50", "p90", "p95", "max")
        ),
        tables.seconds(
            "All waiting",
            [row.total_ms for row in rows],
            width=96,
            help="The whole conversation's waits together, as a mean over its replays.",
        ),
    ]
    alt = f"{numbers.count(len(rows), 'strategy', 'strategies')}: percentiles of the wait and of the time to first text"
    tables.series_table(selection, [row.series for row in rows], columns, "panel.waits", alt)
