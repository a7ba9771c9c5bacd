"""Why the cache missed: marked on the cache share of each turn, and added up by strategy, reason and cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash import charts, numbers
from memdash.charts import Chart
from memdash.metrics import REASONS, MissGroup, miss_groups
from memdash.views.chart_card import kept_chart_card
from memdash.views.chart_grid import drawn
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
    "lifetime that passed is no change to it; the tokens are its own estimate."
)


def show(selection: Selection) -> None:
    """Draw the chart and the table."""
    groups = miss_groups(selection.misses)
    kept_chart_card(
        selection.keep,
        lambda: drawn(Chart.CACHE, charts.turn_series(selection.results), selection.styles),
        key="panel.chart.cache",
    )
    with st.container(border=True, gap="small"):
        st.markdown(f"**{plain(_headline(groups))}**", help=_ABOUT)
        if groups:
            _table(selection, groups)
        if selection.live and groups and not any(group.said for group in groups):
            st.caption("The server gives no cache diagnosis, so there is only what we see ourselves.")


def _headline(groups: Sequence[MissGroup]) -> str:
    """Whose misses cost most, or were most where a price is not known."""
    by_series: dict[str, list[MissGroup]] = {}
    for group in groups:
        if group.tokens:
            by_series.setdefault(group.series, []).append(group)
    if not by_series:
        return "Everything that could be read from the cache was read"
    costs = {
        name: sum(one.cost_usd for one in some if one.cost_usd is not None)
        for name, some in by_series.items()
        if all(one.cost_usd is not None for one in some)
    }
    tokens = {name: sum(one.tokens or 0 for one in some) for name, some in by_series.items()}
    if len(costs) < len(by_series):
        worst = max(tokens, key=lambda name: tokens[name])
        return f"{worst} missed most: {numbers.tokens(tokens[worst])} tokens that could have been read"
    worst = max(costs, key=lambda name: costs[name])
    return (
        f"Misses cost most with {worst}: {numbers.tokens(tokens[worst])} tokens, "
        f"{numbers.usd(costs[worst])} more than reading them"
    )


def _table(selection: Selection, groups: Sequence[MissGroup]) -> None:
    columns = [
        tables.text("We see", [REASONS[one.reason] for one in groups], width=160),
        tables.text(
            "Caused by",
            [one.caused_by for one in groups],
            width=216,
            help="The latest thing that was done to the history since the request before, or the time that passed.",
        ),
        tables.counts("Requests", [one.requests for one in groups], width=78),
        tables.amount(
            "Tokens missed", [one.tokens for one in groups], "localized", _tokens, width=104, help=_ABOUT
        ),
        tables.amount(
            "Cost of missing", [one.cost_usd for one in groups], "$%.4f", _cost, width=110, help=_COST_HELP
        ),
    ]
    if any(one.said for one in groups):
        columns.append(tables.text("API says", [_said(one) for one in groups], width=230, help=_SAID_HELP))
    alt = f"{numbers.count(len(groups), 'row')}: cache misses by strategy and reason, in tokens and dollars"
    tables.series_table(selection, [one.series for one in groups], columns, "panel.misses", alt)


def _tokens(count: int | None) -> str:
    return numbers.NOTHING if count is None else numbers.tokens(count)


def _cost(amount: float | None) -> str:
    return numbers.NOTHING if amount is None else numbers.usd(amount)


def _said(group: MissGroup) -> str:
    words = [f"{kind.replace('_', ' ')} ×{count}" for kind, count in group.said]
    if group.said_tokens is not None:
        words.append(f"about {numbers.tokens_short(group.said_tokens)}")
    return ", ".join(words) or numbers.NOTHING
