"""What the refinement of a sweep did: each round, the settings it added, why, and why it stopped."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import numbers
from memdash.errors import MemdashError
from memdash.metrics.sweep import why_stopped
from memdash.views import acts
from memdash.views.components import plain, problem
from memdash.views.sweep_form import HELP
from memdash.views.sweep_view import SweepView

_OFF: Final = (
    "This sweep played the ranges that were written and nothing else. Switch on “Look closer around the answer” in the form to "
    "have more values tried around the best setting, and where cost or kept facts change most."
)


def show(shown: SweepView) -> None:
    """Tell the rounds in order."""
    stored, sweep = shown.reading.stored, shown.reading.sweep
    with st.container(border=True, gap="small"):
        st.markdown("**What the closer look did**", help=HELP["refine"])
        if not sweep.refine:
            st.caption(_OFF)
            return
        for number, one in enumerate(stored.refinements, 1):
            best = f", when {numbers.listing(one.best)} was best" if one.best else ""
            st.markdown(f"Round {number}: {numbers.count(len(one.settings), 'setting')}{plain(best)}")
            st.markdown(
                "\n".join(f"- **{plain(each.choice.label)}**: {plain(each.reason)}" for each in one.settings)
            )
        if not stored.refinements:
            st.caption("Nothing has been added to the ranges so far.")
        if shown.reading.over and not shown.reading.progress.refining:
            reason = why_stopped(stored.spec, shown.reading.outcomes, stored.refinements)
            if reason is not None:
                st.caption(plain(f"Stopped: {reason}."))
            elif not shown.reading.resumable:  # else the head of the page offers it
                _interrupted(stored.id)


def _interrupted(comparison_id: str) -> None:
    """Offer to go on with a refinement whose program ended between two rounds."""
    st.caption("It was interrupted while the next settings were being chosen.")
    if st.button("Go on", icon=":material/play_arrow:", key="refine_on"):
        try:
            acts.go_on(comparison_id)
        except MemdashError as error:
            problem(error)
            return
        st.rerun()
