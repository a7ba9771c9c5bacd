"""The page that stands in for every other while the database cannot be opened."""

from __future__ import annotations

import streamlit as st

from memdash.errors import StoreError
from memdash.views.components import plain
from memdash.views.state import services

_SECONDS = 3


def store_trouble(error: StoreError) -> None:
    """Say what is wrong and what to do, and go on by itself as soon as the database can be opened."""
    _, middle, _ = st.columns([1, 3, 1])
    with middle, st.container(border=True):
        st.subheader("The database cannot be opened", anchor=False)
        st.text(str(error))
        st.caption(
            "Nothing is lost. This page tries again every few seconds and opens by itself when the database is free. "
            "To use another file, stop the server and start it with MEMDASH_DB set to its path."
        )
        st.button("Try again now", icon=":material/refresh:", key="try_again")
    _try_again()


@st.fragment(run_every=_SECONDS)
def _try_again() -> None:
    try:
        services()
    except StoreError as error:
        st.caption(f":gray[:material/sync: {plain('Still closed: ' + type(error).__name__)}]")
        return
    st.rerun()
