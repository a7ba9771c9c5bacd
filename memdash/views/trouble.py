"""The page that stands in for every other while the database cannot be opened."""

from __future__ import annotations

import streamlit as st

from memdash.errors import StoreError
from memdash.views.state import services

_SECONDS = 3


def store_trouble(error: StoreError) -> None:
    """Say what is wrong and what to do, and go on by itself as soon as the database can be opened."""
    _, middle, _ = st.columns([1, 3, 1])
    with middle, st.container(border=True):
        st.subheader("The database cannot be opened", anchor=False)
        st.text(str(error))
        st.caption("To use another file, stop this server and start it with MEMDASH_DB set to its path.")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Try again now", icon=":material/refresh:", key="try_again")
            _try_again()


@st.fragment(run_every=_SECONDS)
def _try_again() -> None:
    try:
        services()
    except StoreError:
        st.caption(f":material/sync: It is tried again every {_SECONDS} seconds.")
        return
    st.rerun()
