"""The Library page: every comparison that was run; open, rename, download or delete it."""

from __future__ import annotations

import streamlit as st

from memdash import numbers
from memdash.views.components import empty
from memdash.views.library_row import comparison_row
from memdash.views.state import services

_PAGE = 15

head, find = st.columns([2, 1], vertical_alignment="bottom")
with head:
    st.header("Library", anchor=False)
    st.caption("Everything that was run here, the newest first. A comparison stays until you delete it.")
query = find.text_input(
    "Search",
    key="q",
    bind="query-params",
    placeholder="Search titles, scripts, strategies, models",
    icon=":material/search:",
    label_visibility="collapsed",
    live=True,
)

everything = services().store.comparisons()
words = query.lower().split()
found = [
    one
    for one in everything
    if all(
        word in " ".join([one.title, one.id, *one.scripts, *one.series, *one.models, one.provider]).lower()
        for word in words
    )
]

if not everything:
    empty("Nothing has been run yet", "Choose scripts and strategies on the Compare page and press Run.")
elif not found:
    empty("Nothing matches", "Try fewer words; titles, scripts, strategies and models are searched.", ":material/search_off:")
else:
    pages = -(-len(found) // _PAGE)
    page = min(st.session_state.get("library_page", 1), pages)
    for one in found[(page - 1) * _PAGE : page * _PAGE]:
        comparison_row(one)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(numbers.count(len(found), "comparison") + (f" of {len(everything)}" if words else ""))
        if pages > 1:
            st.pagination(pages, key="library_page")
