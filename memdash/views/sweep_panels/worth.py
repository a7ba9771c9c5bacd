"""What forgetting is worth: at which price of a lost fact a cheaper setting no longer pays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.metrics.sweep import Worth
from memdash.views.components import plain
from memdash.views.panels import tables
from memdash.views.sweep_panels.drawing import settings_table
from memdash.views.sweep_view import SweepView

_HELP: Final = (
    "A setting that forgets is cheaper only until somebody pays for what was forgotten: a question asked twice, a wrong answer, "
    "a customer who leaves. The break-even is what a lost fact may cost before the saving is gone."
)
_MOST_TOLD: Final = 6


def show(shown: SweepView) -> None:
    """Tell the settings that save money in a sentence each, and list all that lose facts."""
    rows = shown.analysis.worth
    with st.container(border=True, gap="small"):
        st.markdown("**What forgetting is worth**", help=_HELP)
        if not rows:
            st.caption(
                "No setting loses more facts than full history, so there is nothing to weigh."
                if shown.analysis.frontier
                else "It stands here once full history and a setting have been played on every script."
            )
            return
        paying = sorted(
            (one for one in rows if one.break_even_usd is not None),
            key=lambda one: -(one.break_even_usd or 0.0),
        )
        for one in paying[:_MOST_TOLD]:
            st.markdown(plain(one.sentence))
        if not paying:
            st.markdown(
                "Every setting that loses facts costs as much as full history or more: it never pays."
            )
        _table(shown, [*paying, *(one for one in rows if one.break_even_usd is None)])


def _table(shown: SweepView, rows: Sequence[Worth]) -> None:
    settings_table(
        shown,
        [one.series for one in rows],
        [
            tables.signed_dollars("Saved a conversation", [one.saving_usd.mean for one in rows], width=170),
            tables.amount("Facts lost", [one.facts_lost for one in rows], "%.1f", str, width=90),
            tables.text(
                "Pays while a lost fact costs less than",
                [_price(one) for one in rows],
                width=250,
            ),
        ],
        key="worth",
        alt=f"{numbers.count(len(rows), 'setting')} with what they save, what they lose and the price of a lost fact",
    )


def _price(one: Worth) -> str:
    if one.break_even_usd is not None:
        return numbers.usd(one.break_even_usd)
    return "never pays" if one.saving_usd.mean <= 0 else "the saving is a tie"
