"""Your conversations: what they would cost with every setting, at which length another one is cheaper, and the rate limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.charts import length_cost
from memdash.metrics.conversations import (
    BreakEven,
    ConversationCosts,
    Conversations,
    Curve,
    Curves,
    Floor,
    conversation_costs,
    floor_so_far,
)
from memdash.metrics.summary import BASELINE
from memdash.palette import Style, Theme, assign
from memdash.views.chart_card import chart_card
from memdash.views.components import plain, theme
from memdash.views.panels import tables
from memdash.views.panels.picking import pick_series
from memdash.views.panels.traffic_input import traffic_input
from memdash.views.sweep_view import Floored

_COST_HELP: Final = (
    "The turns that were replayed, added up to the lengths you have: each turn as the mean over the scripts that have it. "
    "The percentiles are those of the lengths; how far scripts of one length differ is not in them."
)
_PEAK_HELP: Final = (
    "Input tokens that count against a rate limit (uncached input and cache writes, not reads), in a mean minute of the peak "
    "hour. Single minutes are above it."
)
_FLOOR_HELP: Final = (
    "The cost as a multiple of the floor: a perfect memory that sends only the fixed part, the facts still to be asked for and "
    "the turn's own exchange, cached as well as can be. Below 1 a setting forgets, or shortens what a turn needs."
)
_BREAK_EVEN_HELP: Final = (
    "The lengths from which this setting and full history change order of cost; after the last of them it stays. "
    "None means one order at every length that was replayed."
)

_PAIRS_HELP: Final = (
    "Two settings whose cumulative cost changes order with the length of the conversation. Where it does so several times all "
    "lengths are told; pairs that are not here have one order throughout."
)


@dataclass(frozen=True, slots=True)
class _Look:
    """How the rows of the table are drawn."""

    styles: Mapping[str, Style]
    theme: Theme
    key: str


def show(curves: Curves, floor: Floored, key: str, preferred: Sequence[str] = ()) -> None:
    """Draw the inputs, the table and the chart of a comparison's settings.

    ``floor`` is what is under them, ``preferred`` the series to draw first where there are many, ``key`` the comparison's id.
    """
    longest = min((curve.longest for curve in curves.curves), default=0)
    with st.container(border=True, gap="small"):
        st.markdown("**Your conversations**", help=_COST_HELP)
        traffic = traffic_input(f"traffic.{key}", longest)
        if not curves.curves:
            st.caption("The costs stand here once a setting has been played to the end.")
            return
        if traffic is None:
            return
        found = conversation_costs(curves, traffic)
        for sentence in found.findings:
            st.markdown(plain(sentence))
        _table(found, floor.multiples, key)
        for note in found.notes:
            st.caption(plain(note))
    _chart(curves.curves, found, floor.under, key, preferred)


def _table(found: Conversations, times_floor: Mapping[str, float | None], key: str) -> None:
    rows = sorted(found.costs, key=lambda one: one.mean_usd)
    styles = assign((one.series, one.strategy) for one in found.costs)
    columns = [
        tables.dollars("Mean", [one.mean_usd for one in rows], width=68, help=_COST_HELP),
        tables.dollars("p50", [one.p50_usd for one in rows], width=68, help=_COST_HELP),
        tables.dollars("p95", [one.p95_usd for one in rows], width=68, help=_COST_HELP),
        tables.dollars("p99", [one.p99_usd for one in rows], width=68, help=_COST_HELP),
        tables.amount("Per 1,000", [one.per_thousand_usd for one in rows], "dollar", numbers.usd, width=80),
        *_traffic_columns(rows),
        tables.text(
            "× floor", [_times(times_floor.get(one.series)) for one in rows], width=58, help=_FLOOR_HELP
        ),
        tables.text("Break-even", _break_evens(found, rows), width=84, help=_BREAK_EVEN_HELP),
    ]
    settings = numbers.count(len(rows), "setting")
    alt = f"{settings}, each with what a conversation costs, at what lengths it breaks even and the tokens of the peak minute"
    look = _Look(styles, theme(), key)
    tables.series_table(look, [one.series for one in rows], columns, "panel.conversations", alt)


def _traffic_columns(rows: Sequence[ConversationCosts]) -> list[tables.Column]:
    """The columns of what was said of the traffic; none where nothing was."""
    columns = []
    if any(one.per_month_usd is not None for one in rows):
        columns.append(
            tables.amount("A month", [one.per_month_usd for one in rows], "dollar", numbers.usd, width=94)
        )
    if any(one.peak_tokens_per_minute is not None for one in rows):
        peaks = [None if (peak := one.peak_tokens_per_minute) is None else round(peak) for one in rows]
        columns.append(
            tables.amount("Peak a minute", peaks, "localized", numbers.tokens, width=98, help=_PEAK_HELP)
        )
    if any(one.of_limit is not None for one in rows):
        columns.append(tables.percent("Of limit", [one.of_limit for one in rows], width=64, help=_PEAK_HELP))
    return columns


def _break_evens(found: Conversations, rows: Sequence[ConversationCosts]) -> list[str]:
    """The lengths at which each setting and a full history change order, all of them."""
    baselines = {one.series for one in rows if one.strategy == BASELINE}
    crossings: dict[str, str] = {}
    for pair in found.break_even:
        for one, other in ((pair.short, pair.other), (pair.other, pair.short)):
            if other in baselines and one not in baselines:
                crossings[one] = _listed(pair.changes)
    return [crossings.get(one.series, numbers.NOTHING) for one in rows]


def _times(multiple: float | None) -> str:
    return numbers.NOTHING if multiple is None else f"{multiple:.2f}"


def _chart(
    curves: Sequence[Curve],
    found: Conversations,
    under: Sequence[Floor],
    key: str,
    preferred: Sequence[str],
) -> None:
    cheapest = sorted(found.costs, key=lambda one: one.mean_usd)
    baselines = [one.series for one in curves if one.strategy == BASELINE]
    order = [*baselines, *preferred, *(one.series for one in cheapest)]
    picked = pick_series(order, f"conversations.{key}")
    drawn = [curve for curve in curves if curve.series in picked]
    styles = assign((curve.series, curve.strategy) for curve in drawn)
    alike = (
        len({one.conditions[1:4] for one in under}) == 1
    )  # of one model and cache: else there are several floors
    floor = floor_so_far(under) if alike else None
    chart_card(
        length_cost.cost_by_length(drawn, styles, theme(), floor=floor, lengths=found.traffic.lengths),
        length_cost.title(drawn),
        length_cost.alt(drawn, floor=floor),
        key=f"panel.chart.conversations.{key}",
        about=_COST_HELP,
    )
    _pairs([pair for pair in found.break_even if {pair.short, pair.other} <= set(picked)], styles, key)


def _pairs(pairs: Sequence[BreakEven], styles: Mapping[str, Style], key: str) -> None:
    """Draw which two of the settings shown change order, and where."""
    with st.container(border=True, gap="small"):
        st.markdown("**Break-even between the settings shown**", help=_PAIRS_HELP)
        if not pairs:
            st.caption(
                "None of them overtakes another: their order is the same at every length that was replayed."
            )
            return
        rows = sorted(pairs, key=lambda pair: (pair.turns, pair.short, pair.other))
        columns = [
            tables.text("is cheaper at first than", [pair.other for pair in rows], width=210),
            tables.text("The order changes at", [_listed(pair.changes) for pair in rows], width=190),
            tables.counts("For good from turn", [pair.turns for pair in rows], width=130),
            tables.text("Then the cheaper one is", [pair.long for pair in rows], width=210),
        ]
        alt = f"{numbers.count(len(rows), 'pair')} of settings, each with the lengths at which their order changes"
        tables.series_table(
            _Look(styles, theme(), key), [pair.short for pair in rows], columns, "panel.pairs", alt
        )


def _listed(turns: Sequence[int]) -> str:
    return ", ".join(f"{one:,}" for one in turns)
