"""The page of whoever is signed in: who that is, what they may do here, and signing out."""

from __future__ import annotations

import streamlit as st

from memdash.access import Role
from memdash.views import people
from memdash.views.components import plain

_MAY = {
    Role.VIEWER: "Viewers read everything, run simulations and write notes. Live runs and deleting are for runners, whom whoever "
    "runs this instance names in its configuration.",
    Role.RUNNER: "Runners may also start live runs, which cost money, and delete comparisons.",
}

name, role = people.who(), people.role()
st.header(plain(name or "Nobody is signed in"), anchor=False)
st.caption(plain(f"{role.value.capitalize()}. {_MAY[role]}"))
st.button("Sign out", icon=":material/logout:", key="sign_out", on_click=st.logout)
