"""Typing a key of one's own for live runs. It goes into this session's memory at once, and out of the field."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash.errors import InputError
from memdash.launch import Key
from memdash.views import people
from memdash.views.components import plain

_PROBLEM: Final = "own_key_problem"
_ABOUT: Final = (
    "Kept in the memory of this browser tab's session, used for the live runs you start in it until they end, and never stored, "
    "logged or shown. Closing or reloading the tab forgets it."
)


def own_key_input(prefix: str) -> None:
    """Draw the button behind which a key is typed or forgotten; what is drawn under ``prefix`` never holds a key."""
    held = people.own_key() is not None
    with st.popover(
        "Your own key is in use" if held else "Use a key of your own",
        icon=":material/key:",
        type="tertiary",
        key=prefix + "key_menu",
    ):
        st.caption(_ABOUT)
        if held:
            st.button(
                "Forget it", icon=":material/key_off:", key=prefix + "forget_key", on_click=people.forget_key
            )
            return
        field = prefix + "key"
        st.text_input(
            "API key",
            type="password",
            autocomplete="off",
            max_chars=400,
            key=field,
            on_change=_take,
            args=(field,),
        )
        if problem := st.session_state.pop(_PROBLEM, None):
            st.markdown(f":orange[:material/info: {plain(problem)}.]")


def _take(field: str) -> None:
    """Move what was typed out of the field, be it a key or not."""
    typed = st.session_state[field]
    st.session_state[field] = ""
    if not typed:
        return
    try:
        people.keep_key(Key(typed))
    except InputError as error:
        st.session_state[_PROBLEM] = str(error)
