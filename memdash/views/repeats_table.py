"""The table of a comparison with repeats: one row a strategy and script, with means and how far the repeats lie apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import streamlit as st

from memdash import numbers
from memdash.metrics import ReplayResult, SeriesSummary, Spread, summarise
from memdash.palette import Style, Theme
from memdash.records import Status
from memdash.views.components import HELP
from memdash.views.panels.tables import Column, text
from memdash.views.swatches import swatch

_ROW_HEIGHT: Final = 38
_MANY_ROWS: Final = 12
"""A longer table scrolls within itself, so that the charts stay near."""

_RANGE_HELP: Final = (
    "The lowest and the highest of the repeats. Where the ranges of two strategies overlap, their means alone do not tell them "
    "apart."
)


class Row(NamedTuple):
    """The repeats of one strategy on one script."""

    script: str
    summary: SeriesSummary


def rows_of(results: Sequence[ReplayResult]) -> list[Row]:
    """Return one row for each strategy on each script, in the order they first appear."""
    scripts: dict[str, list[ReplayResult]] = {}
    for one in results:
        scripts.setdefault(one.script, []).append(one)
    return [Row(script, summary) for script, group in scripts.items() for summary in summarise(group)]


def repeats_table(
    rows: Sequence[Row], styles: Mapping[str, Style], theme: Theme, key: str, picked: Iterable[int]
) -> None:
    """Draw the table; ``picked`` rows are marked, and those that are picked then are the state of ``key``."""
    several = len({row.script for row in rows}) > 1
    names = [f"{row.summary.series} · {row.script}" if several else row.summary.series for row in rows]
    columns = _columns([row.summary for row in rows])
    longest = max((len(name) for name in names), default=0)
    st.dataframe(
        {
            "": [swatch(styles[row.summary.series], theme) for row in rows],
            "Strategy": names,
            **{one.heading: one.values for one in columns},
        },
        column_config={
            "": st.column_config.ImageColumn("", width=46, pinned=True),
            "Strategy": st.column_config.TextColumn(
                "Strategy", width=min(300, max(140, round(7.2 * longest) + 18)), pinned=True
            ),
            **{one.heading: one.kind for one in columns},
        },
        hide_index=True,
        height="content" if len(rows) <= _MANY_ROWS else _ROW_HEIGHT * (_MANY_ROWS + 1),
        row_height=_ROW_HEIGHT,
        placeholder=numbers.NOTHING,
        key=key,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": list(picked), "columns": [], "cells": []}},
        alt=f"{numbers.count(len(rows), 'strategy', 'strategies')} with the mean and the range of cost, kept, recall and wait",
    )


def _columns(rows: Sequence[SeriesSummary]) -> list[Column]:
    recall = "Simulated recall" if all(one.simulated for one in rows) else "Recall"

    def means(of: Callable[[SeriesSummary], Spread | None], scale: float = 1.0) -> list[float | None]:
        return [None if (spread := of(one)) is None else spread.mean * scale for one in rows]

    def ranges(of: Callable[[SeriesSummary], Spread | None], spell: Callable[[float], str]) -> list[str]:
        return [
            numbers.NOTHING if (spread := of(one)) is None else numbers.span(spread.low, spread.high, spell)
            for one in rows
        ]

    def amount(
        heading: str, values: list[float | None], format: str, spell: Any, width: int, help: str
    ) -> Column:
        return _amount(heading, values, rows, format, spell, width, help)

    return [
        text("Status", [_status(one) for one in rows], width=106),
        amount("Cost", means(lambda one: one.cost_usd), "$%.4f", numbers.usd, 76, HELP["cost"]),
        text("Cost, range", ranges(lambda one: one.cost_usd, numbers.usd), width=136, help=_RANGE_HELP),
        Column(  # full history is not measured against itself, so that one cell is always left empty
            "Against full",
            [_points(one.cost_against_full_history) for one in rows],
            st.column_config.NumberColumn("Against full", format="%+.0f %%", width=88, help=HELP["savings"]),
            88,
            HELP["savings"],
        ),
        amount("Cached", [_points(one.cache_share) for one in rows], "%.0f %%", _percent, 70, HELP["cached"]),
        text("Kept", [numbers.part(one.kept, one.facts_total) for one in rows], width=76, help=HELP["kept"]),
        text("Kept, range", [_counted(one, lambda it: it.kept) for one in rows], width=92, help=_RANGE_HELP),
        text(
            recall,
            [
                numbers.part(one.recall_passed, one.recall_total)
                if _over(one) and one.recall is not None
                else numbers.NOTHING
                for one in rows
            ],
            width=116,
            help=HELP["recall"],
        ),
        text(
            "Recall, range",
            [_counted(one, lambda it: it.recall_passed) for one in rows],
            width=100,
            help=_RANGE_HELP,
        ),
        amount("Wait p95", means(lambda one: one.wait_p95_ms, 1e-3), "%.1f s", _seconds, 84, HELP["wait"]),
        text(
            "Wait p95, range",
            ranges(lambda one: one.wait_p95_ms, numbers.seconds),
            width=124,
            help=_RANGE_HELP,
        ),
        amount(
            "Prompt tokens",
            means(lambda one: one.prompt_tokens),
            "localized",
            numbers.tokens,
            108,
            HELP["prompt tokens"],
        ),
        text(
            "Tokens, range",
            ranges(lambda one: one.prompt_tokens, numbers.tokens_short),
            width=112,
            help=_RANGE_HELP,
        ),
        amount("Compactions", means(lambda one: one.compactions), "%.1f", str, 100, HELP["compactions"]),
    ]


def _amount(
    heading: str,
    values: list[float | None],
    rows: Sequence[SeriesSummary],
    format: str,
    spell: Callable[[Any], str],
    width: int,
    help: str,
) -> Column:
    """Numbers that sort; once a row is over and its number is not known, words that say so."""
    known = [_over(one) and any(result.requests for result in one.results) for one in rows]
    if any(value is None and over for value, over in zip(values, known, strict=True)):
        words = [spell(value) if over else numbers.NOTHING for value, over in zip(values, known, strict=True)]
        return text(heading, words, width=width, help=help)
    config = st.column_config.NumberColumn(heading, format=format, width=width, help=help)
    return Column(heading, values, config, width, help)


def _percent(points: float | None) -> str:
    return numbers.percent(None if points is None else points / 100)


def _seconds(value: float | None) -> str:
    return numbers.seconds(None if value is None else value * 1000)


def _points(share: float | None) -> float | None:
    return None if share is None else share * 100


def _over(summary: SeriesSummary) -> bool:
    return all(one.status.over for one in summary.results)


def _status(summary: SeriesSummary) -> str:
    if not _over(summary):
        return f"{sum(one.status.over for one in summary.results)} of {len(summary.results)} done"
    return "done" if summary.status is Status.DONE else str(summary.status).replace("_", " ")


def _counted(summary: SeriesSummary, count: Callable[[ReplayResult], int | None]) -> str:
    """The fewest and the most facts of a repeat, once every repeat of the row is over."""
    known = [found for one in summary.results if (found := count(one)) is not None]
    if len(known) < len(summary.results) or not _over(summary) or not summary.facts_total:
        return numbers.NOTHING
    return numbers.span(min(known), max(known), str)
