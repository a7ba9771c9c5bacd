"""What one setting of a sweep broke, the worst first: a threshold is chosen by what is forgotten there, fact by fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash.errors import MemdashError
from memdash.metrics.outcome import ReplayOutcome
from memdash.views import address
from memdash.views.components import plain, problem
from memdash.views.losses_list import losses_list
from memdash.views.replay_data import losses_of_some
from memdash.views.sweep_panels.leading import leading
from memdash.views.sweep_view import SweepView

_MOST_REPLAYS: Final = 20
"""About so many are followed fact by fact, each script's first repeats: what repeats of one setting lose hardly differs."""


def show(shown: SweepView) -> None:
    """Let the person choose a setting, and draw its losses on every script, or say that there are none."""
    chosen = _choose(shown)
    every = [one for one in shown.reading.outcomes if one.series == chosen]
    scripts = len({one.script for one in every})
    repeats = max(1, _MOST_REPLAYS // scripts)
    replays = [one for one in every if one.repeat <= repeats]
    ids = {one.id for one in replays}
    try:
        found = shown.keep(("losses", chosen), lambda: losses_of_some(shown.reading.id, ids))
    except MemdashError as error:
        problem(error, "The losses cannot be told")
        return
    if found:
        place = next(n for n, one in enumerate(shown.analysis.settings) if one.series == chosen)
        losses_list(
            found,
            f"broke.{shown.reading.id}.{place}",  # each setting's list begins on its first page
            simulated=any(one.recall_simulated for one in replays),
            scripts=scripts > 1,
        )
        _say_how_many(repeats, every)
        return
    with st.container(border=True):
        st.markdown(f"**{plain(chosen)} broke nothing**")
        st.caption(
            "No question was answered wrong, and no fact's text has gone."
            if all(one.status.over for one in replays)
            else "No question has been answered wrong so far. Most questions are asked at the end."
        )
    _say_how_many(repeats, every)


def _say_how_many(repeats: int, every: Sequence[ReplayOutcome]) -> None:
    if (played := max(one.repeat for one in every)) > repeats:
        st.caption(
            f"Of each script {'the first' if repeats == 1 else f'the first {repeats}'} of {played} repeats."
        )


def _choose(shown: SweepView) -> str:
    """The setting to look at: first the recommended one, or another that is worth it and no full history."""
    whole = [one.series for one in shown.analysis.settings if one.is_full_history]
    every = dict.fromkeys([*leading(shown), *(one.series for one in shown.analysis.settings)])
    names = [*(one for one in every if one not in whole), *(one for one in every if one in whole)]
    chosen = st.selectbox(
        "Setting",
        names,
        index=names.index(address.wanted(address.SETTING, names, names[0])),
        key=f"broke.setting.{shown.reading.id}",
        width=420,
    )
    address.keep(address.SETTING, chosen, names[0])
    return chosen
