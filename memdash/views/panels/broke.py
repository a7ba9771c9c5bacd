"""What it broke: only what was lost, the worst first, each with the event that removed it and the way to its turn."""

from __future__ import annotations

import streamlit as st

from memdash.errors import MemdashError
from memdash.views.components import problem
from memdash.views.losses_list import losses_list
from memdash.views.panels.selection import Selection
from memdash.views.replay_data import losses_of_comparison


def show(selection: Selection) -> None:
    """Draw the losses of the picked replays, or say that there are none."""
    picked = {(one.series, one.script) for one in selection.results}
    try:
        found = [one for one in losses_of_comparison(selection.key) if (one.series, one.script) in picked]
    except MemdashError as error:
        problem(error, "The losses cannot be told")
        return
    if found:
        losses_list(
            found,
            f"broke.{selection.key}",
            simulated=not selection.live,
            scripts=len({script for _, script in picked}) > 1,
        )
        return
    with st.container(border=True):
        st.markdown("**Nothing is broken here**")
        st.caption(
            "No question was answered wrong, and no fact's text has gone."
            if selection.over
            else "No question has been answered wrong so far. Most questions are asked at the end."
        )
