"""From turn to turn: two buttons with keys of their own, and the number of the turn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from memdash.views import replay_address


def stepper(key: str, turns: Sequence[int], turn: int) -> None:
    """Draw the stepper over ``turns``; P and N go back and on wherever nothing is being typed."""
    place = turns.index(turn)
    typed = f"{key}.turn"
    st.session_state[typed] = turn
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}.stepper"):
        st.button(
            "Previous turn",
            icon=":material/chevron_left:",
            key=f"{key}.previous",
            shortcut="P",
            disabled=place == 0,
            on_click=replay_address.open_turn,
            args=(turns[max(place - 1, 0)],),
        )
        st.number_input(
            "Turn",
            step=1,
            key=typed,
            width=130,
            label_visibility="collapsed",
            on_change=partial(_typed, typed, turns),
        )
        st.caption(f"of {turns[-1]:,}", width="content")
        st.button(
            "Next turn",
            icon=":material/chevron_right:",
            key=f"{key}.next",
            shortcut="N",
            disabled=place == len(turns) - 1,
            on_click=replay_address.open_turn,
            args=(turns[min(place + 1, len(turns) - 1)],),
        )


def _typed(key: str, turns: Sequence[int]) -> None:
    """Open the turn nearest to the number: with limits of its own the box would keep a number beyond them, whatever is shown."""
    if (typed := st.session_state.get(key)) is not None:
        replay_address.open_turn(min(turns, key=lambda turn: abs(turn - typed)))
