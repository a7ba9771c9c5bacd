"""The table of a comparison: one row a replay, numbers that sort, rows that filter the charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from memdash import numbers
from memdash.metrics import ReplayResult
from memdash.palette import Style, Theme
from memdash.records import Status
from memdash.views.components import HELP
from memdash.views.swatches import swatch

_MISSING: Final = numbers.NOTHING
_ROW_HEIGHT: Final = 38
_MANY_ROWS: Final = 12
"""A longer table scrolls within itself, so that the charts stay near."""


def results_table(
    results: Sequence[ReplayResult],
    changes: Mapping[str, float | None],
    styles: Mapping[str, Style],
    theme: Theme,
    key: str,
    picked: Sequence[int],
) -> None:
    """Draw the table; ``picked`` rows are marked, and those that are picked then are the state of ``key``.

    ``changes`` is each replay's cost against full history, by id.
    """
    columns = _columns(results, changes, styles, theme)
    st.dataframe(
        {name: values for name, values in columns.items() if any(value is not None for value in values)}
        if results
        else columns,
        column_config=_config(results, columns),
        hide_index=True,
        height="content" if len(results) <= _MANY_ROWS else _ROW_HEIGHT * (_MANY_ROWS + 1),
        row_height=_ROW_HEIGHT,
        placeholder=_MISSING,
        key=key,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": list(picked), "columns": [], "cells": []}},
        alt=_alt(results),
    )


def _columns(
    results: Sequence[ReplayResult],
    changes: Mapping[str, float | None],
    styles: Mapping[str, Style],
    theme: Theme,
) -> dict[str, list[Any]]:
    return {
        "look": [swatch(styles[one.series], theme) for one in results],
        "strategy": [one.label for one in results],
        "status": [status_text(one) for one in results],
        "prompt": _or_words([one.prompt_tokens for one in results], numbers.tokens, results),
        "cached": _cached(results),
        "cost": _or_words([one.cost_usd for one in results], numbers.usd, results),
        "change": [_percent_points(changes.get(one.id)) for one in results],
        "kept": [numbers.part(one.kept, one.facts_total) for one in results],
        "recall": [_recall(one) for one in results],
        "p50": [one.wait_ms and one.wait_ms.p50 / 1000 for one in results],
        "p95": [one.wait_ms and one.wait_ms.p95 / 1000 for one in results],
        "compactions": [one.compactions for one in results],
        "turns": [
            [turn.prompt_tokens for turn in one.turns if turn.prompt_tokens is not None] for one in results
        ],
    }


def _or_words(values: list[Any], spell: Any, results: Sequence[ReplayResult]) -> list[Any]:
    """Numbers that sort, or where one is not known after all, words that say so."""
    begun = [value if one.requests else None for value, one in zip(values, results, strict=True)]
    if all(value is not None or not one.requests for value, one in zip(values, results, strict=True)):
        return begun
    return [spell(value) if one.requests else _MISSING for value, one in zip(values, results, strict=True)]


def _cached(results: Sequence[ReplayResult]) -> list[Any]:
    shares = _or_words([one.cache_share for one in results], numbers.percent, results)
    return [share * 100 if isinstance(share, float) else share for share in shares]


def _percent_points(change: float | None) -> float | None:
    return None if change is None else change * 100


def _recall(one: ReplayResult) -> str:
    if not one.recall_total or one.status not in (Status.DONE, Status.REJECTED):
        return _MISSING
    return numbers.part(one.recall_passed, one.recall_total)


def status_text(one: ReplayResult) -> str:
    """Say where a replay stands, in three words or so."""
    match one.status:
        case Status.QUEUED:
            return "queued"
        case Status.RUNNING:
            return f"turn {min(one.turns_completed + 1, one.turns_planned)} of {one.turns_planned}"
        case Status.DONE:
            return "done"
        case Status.REJECTED:
            return "rejected"
        case Status.STOPPED_BY_BUDGET:
            return "budget spent"
        case _:
            return str(one.status)


def _config(results: Sequence[ReplayResult], columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """How each column is shown; a column that holds words is shown as text."""
    column = st.column_config
    simulated = all(one.recall_simulated for one in results)

    def number(name: str, label: str, format: Any, width: int, help: str) -> Any:
        if any(isinstance(value, str) for value in columns[name]):
            return column.TextColumn(label, width=width, help=help, alignment="right")
        return column.NumberColumn(label, format=format, width=width, help=help)

    one_script = len({one.script for one in results}) < 2
    sizes = [size for row in columns["turns"] for size in row]
    longest = max((len(one.label) for one in results), default=0)
    cached = (
        number("cached", "Cached", None, 98, HELP["cached"])
        if any(isinstance(value, str) for value in columns["cached"])
        else column.ProgressColumn(
            "Cached",
            format="%.0f %%",
            min_value=0,
            max_value=100,
            width=98,
            help=HELP["cached"],
            color="gray",
        )
    )
    return {
        "look": column.ImageColumn("", width=46, pinned=True),
        "strategy": column.TextColumn(
            "Strategy", width=min(300, max(140, round(7.2 * longest) + 18)), pinned=True
        ),
        "status": column.TextColumn("Status", width=92),
        "prompt": number("prompt", "Prompt tokens", "localized", 94, HELP["prompt tokens"]),
        "cached": cached,
        "cost": number("cost", "Cost", _money_format(results), 70, HELP["cost"]),
        "change": column.NumberColumn("Against full", format="%+.0f %%", width=84, help=HELP["savings"]),
        "kept": column.TextColumn("Kept", width=58, help=HELP["kept"]),
        "recall": column.TextColumn(
            "Simulated recall" if simulated else "Recall", width=116 if simulated else 76, help=HELP["recall"]
        ),
        "p50": column.NumberColumn("Wait p50", format="%.1f s", width=88, help=HELP["wait"]),
        "p95": column.NumberColumn("Wait p95", format="%.1f s", width=88, help=HELP["wait"]),
        "compactions": column.NumberColumn("Compactions", format="%d", width=100, help=HELP["compactions"]),
        "turns": column.AreaChartColumn(
            "Tokens per turn",
            width=150,
            y_min=0,
            y_max=max(sizes, default=1) if one_script else None,
            help="Prompt tokens of each turn. "
            + (
                "All rows have the same scale."
                if one_script
                else "Each row has its own scale, since scripts differ."
            ),
        ),
    }


def _money_format(results: Sequence[ReplayResult]) -> str:
    """Four decimals below a dollar, two above; one format a column, so that its figures line up."""
    dearest = max((one.cost_usd or 0 for one in results), default=0)
    return "$%.2f" if dearest >= 10 else "$%.4f"


def _alt(results: Sequence[ReplayResult]) -> str:
    return f"{numbers.count(len(results), 'replay')} with prompt tokens, cache share, cost, recall and wait"
