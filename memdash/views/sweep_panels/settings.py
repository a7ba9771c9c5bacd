"""The table of a sweep: one row a setting, with its interval, its place among the others and what is odd about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import streamlit as st

from memdash import numbers
from memdash.metrics.result import Mark
from memdash.metrics.sweep import Estimate, Setting
from memdash.records import Status
from memdash.views.components import HELP, plain
from memdash.views.panels import tables
from memdash.views.panels.tables import Column
from memdash.views.sweep_panels.drawing import settings_table
from memdash.views.sweep_view import SweepView, floor_of

_INTERVAL_HELP: Final = (
    "The 95 % interval of the mean over scripts and repeats. One script played once has none: a single value says nothing of "
    "how much the next one may differ."
)
_LOSS_HELP: Final = (
    "The largest share of what full history keeps that this setting may lose, at 95 % confidence. "
    "With few scripts it is large even where nothing was lost."
)
_PLACE_HELP: Final = (
    "A dominated setting costs no less than another and keeps no more; it is never the better choice. "
    "On the front are the others."
)
_MARKS: Final = {
    Mark.NEVER_FIRES: "never reached",
    Mark.FIRES_EVERY_TURN: "reached by every turn",
    Mark.BRIEF_GROWING: "brief grows",
}


def show(shown: SweepView) -> None:
    """Draw the table."""
    rows = sorted(
        shown.analysis.settings, key=lambda one: (one.series not in _advised(shown), not one.is_full_history)
    )
    columns = _columns(shown, rows)
    with st.container(border=True, gap="small"):
        st.markdown(f"**{numbers.count(len(rows), 'setting')}, each over every script and repeat**")
        settings_table(
            shown,
            [one.series for one in rows],
            columns,
            key="settings",
            alt=f"{numbers.count(len(rows), 'setting')} with cost, saving, facts kept, loss, recall, cache share and wait",
        )
        st.caption(plain(_note(rows)))


def _note(rows: Sequence[Setting]) -> str:
    scripts = len({script for one in rows for script in one.scripts})
    most = max((one.replays for one in rows), default=0)
    repeats = most // scripts if scripts else 0
    return (
        f"Means over {numbers.count(scripts, 'script')} of {numbers.count(repeats, 'repeat')}, every script counting the same. "
        "Click a heading to sort."
    )


def _columns(shown: SweepView, rows: Sequence[Setting]) -> list[Column]:
    multiples = floor_of(shown.reading).multiples
    simulated = all(one.simulated for one in rows)
    interval = _INTERVAL_HELP

    def means(of: Callable[[Setting], Estimate | None]) -> list[float | None]:
        return [None if (found := of(one)) is None else found.mean for one in rows]

    def between(of: Callable[[Setting], Estimate | None], spell: Callable[[float], str]) -> list[str]:
        return [_interval(of(one), spell) for one in rows]

    return [
        tables.text("Place", [_place(shown, one) for one in rows], width=118, help=_PLACE_HELP),
        _amount("Cost", means(lambda one: one.cost_usd), "$%.4f", 76, HELP["cost"]),
        tables.text("Cost, 95 %", between(lambda one: one.cost_usd, numbers.usd), width=140, help=interval),
        _amount(
            "Saved",
            [None if one.saving is None else one.saving * 100 for one in rows],
            "%.0f %%",
            70,
            HELP["savings"],
        ),
        _amount("Kept", _percent(means(lambda one: one.kept)), "%.0f %%", 64, HELP["kept"]),
        tables.text("Kept, 95 %", between(lambda one: one.kept, numbers.percent), width=112, help=interval),
        _amount(
            "Lost at most",
            [None if one.loss is None else one.loss.high * 100 for one in rows],
            "%.0f %%",
            96,
            _LOSS_HELP,
        ),
        _amount(
            "Simulated recall" if simulated else "Recall",
            _percent(means(lambda one: one.recall)),
            "%.0f %%",
            118 if simulated else 70,
            HELP["recall"],
        ),
        _amount("Cached", _percent(means(lambda one: one.cache_share)), "%.0f %%", 72, HELP["cached"]),
        _amount("Wait p95", _percent(means(lambda one: one.wait_p95_ms), 1e-3), "%.1f s", 82, HELP["wait"]),
        _amount("Compactions", means(lambda one: one.compactions), "%.1f", 98, HELP["compactions"]),
        _amount("× floor", [multiples.get(one.series) for one in rows], "%.2f", 70, _FLOOR_HELP),
        tables.text("Marks", [_marks(one) for one in rows], width=220),
        tables.text("Replays", [f"{one.finished} of {one.replays}" for one in rows], width=82),
    ]


_FLOOR_HELP: Final = (
    "The cost as a multiple of what a perfect memory would cost that sends only the facts needed. "
    "Nothing real reaches 1; it says how much there is to gain at all."
)


def _amount(heading: str, values: list[float | None], format: str, width: int, help: str) -> Column:
    """Numbers that sort; what is not known, or not yet, stands as a dash."""
    config: Any = st.column_config.NumberColumn(heading, format=format, width=width, help=help)
    return Column(heading, values, config, width, help)


def _percent(values: list[float | None], scale: float = 100.0) -> list[float | None]:
    return [None if value is None else value * scale for value in values]


def _interval(found: Estimate | None, spell: Callable[[float], str]) -> str:
    if found is None or found.low is None or found.high is None:
        return numbers.NOTHING
    return numbers.span(found.low, found.high, spell)


def _place(shown: SweepView, setting: Setting) -> str:
    """Where a setting stands among the others, in a word or two."""
    ties = {series for one in shown.analysis.recommendations for series in one.ties}
    if setting.series in _advised(shown):
        return "recommended"
    if setting.is_full_history:
        return "full history"
    if setting.series in ties:
        return "as cheap"
    if setting.simulator_only:
        return "simulator only"
    dominated = {one.setting.series: one.dominated for one in shown.analysis.frontier}
    if setting.series in dominated:
        return "dominated" if dominated[setting.series] else "on the front"
    return "not ranked" if setting.status.over else _unfinished(setting)


def _advised(shown: SweepView) -> set[str]:
    return {one.setting.series for one in shown.analysis.recommendations}


def _unfinished(setting: Setting) -> str:
    return "queued" if setting.status is Status.QUEUED else "running"


def _marks(setting: Setting) -> str:
    every = set(setting.scripts)
    told = [
        _MARKS[mark] + ("" if set(scripts) >= every else f" ({numbers.listing(scripts, limit=2)})")
        for mark, scripts in setting.marks.items()
    ]
    return ", ".join(told) or numbers.NOTHING
