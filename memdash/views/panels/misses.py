"""Why the cache missed: marked on the cache share of each turn, and added up by strategy, reason and cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash import charts, numbers
from memdash.charts import Chart
from memdash.metrics import REASONS, MissGroup, miss_groups
from memdash.views.chart_card import chart_card
from memdash.views.components import plain
from memdash.views.panels import tables
from memdash.views.panels.selection import Selection

_ABOUT: Final = (
    "Every request is compared with the one before it: what that one had read or written could have been read again. "
    "What still stands in the prompt and was paid for anew counts as missed; after an edit this is an upper bound, "
    "since new text of the same turn is not told apart."
)
_COST_HELP: Final = (
    "What the missed tokens cost beyond the read price, at the prices of the model and the size of the request. They "
    "were written again, or paid as plain input after the last mark."
)
_SAID_HELP: Final = (
    "What the API's own cache diagnosis says of these requests. It compares the requests and not the cache, so a "
    "lifetime that passed is no change to it; our reason stands beside it."
)


def show(selection: Selection) -> None:
    """Draw the chart and the table."""
    groups = miss_groups(selection.misses)
    series = charts.turn_series(selection.results)
    chart_card(
        charts.draw(Chart.CACHE, series, selection.styles, selection.theme),
        charts.title_of(Chart.CACHE, series),
        charts.alt_text(Chart.CACHE, series),
        key="panel.chart.cache",
    )
    with st.container(border=True, gap="small"):
        st.markdown(f"**{plain(_headline(groups))}**", help=_ABOUT)
        if groups:
            _table(selection, groups)
        if selection.live and groups and not any(group.said for group in groups):
            st.caption("The server gives no cache diagnosis, so there is only what we see ourselves.")


def _headline(groups: Sequence[MissGroup]) -> str:
    tokens = sum(group.tokens or 0 for group in groups)
    if not tokens:
        return "Everything that could be read from the cache was read"
    costs = [group.cost_usd for group in groups if group.tokens]
    known = [cost for cost in costs if cost is not None]
    price = f": {numbers.usd(sum(known))} more than reading them" if len(known) == len(costs) else ""
    return f"{numbers.tokens(tokens)} tokens could have been read and were not{price}"


def _table(selection: Selection, groups: Sequence[MissGroup]) -> None:
    columns = [
        tables.text("We see", [REASONS[one.reason] for one in groups], width=176),
        tables.text(
            "Caused by",
            [one.caused_by for one in groups],
            width=232,
            help="The latest thing that was done to the history since the request before, or the time that passed.",
        ),
        tables.counts("Requests", [one.requests for one in groups], width=84),
        tables.amount(
            "Tokens missed", [one.tokens for one in groups], "localized", _tokens, width=110, help=_ABOUT
        ),
        tables.amount(
            "Cost of missing", [one.cost_usd for one in groups], "$%.4f", _cost, width=116, help=_COST_HELP
        ),
    ]
    if any(one.said for one in groups):
        columns.append(tables.text("API says", [_said(one) for one in groups], width=280, help=_SAID_HELP))
    alt = f"{numbers.count(len(groups), 'row')}: cache misses by strategy and reason, in tokens and dollars"
    tables.series_table(selection, [one.series for one in groups], columns, "panel.misses", alt)


def _tokens(count: int | None) -> str:
    return numbers.NOTHING if count is None else numbers.tokens(count)


def _cost(amount: float | None) -> str:
    return numbers.NOTHING if amount is None else numbers.usd(amount)


def _said(group: MissGroup) -> str:
    words = [f"{kind.replace('_', ' ')} ({count})" for kind, count in group.said]
    if group.said_tokens is not None:
        words.append(f"about {numbers.tokens_short(group.said_tokens)} tokens")
    return ", ".join(words) or numbers.NOTHING
