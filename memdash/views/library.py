"""The Library page: every comparison that was run, with its notes; open, rename, pin, compare, download or delete it."""

from __future__ import annotations

import streamlit as st

from memdash import numbers
from memdash.store import ComparisonSummary
from memdash.views.bundles import bundles
from memdash.views.components import empty
from memdash.views.library_row import comparison_row
from memdash.views.state import services

_PAGE = 15
_POLL_SECONDS = 2.0

head, find = st.columns([2, 1], vertical_alignment="bottom")
with head:
    st.header("Library", anchor=False)
    st.caption("Everything that was run here, the newest first. A comparison stays until you delete it.")
query = find.text_input(
    "Search",
    key="q",
    bind="query-params",
    placeholder="Search titles, notes, scripts, strategies, models",
    icon=":material/search:",
    label_visibility="collapsed",
    live=True,
)


def _matches(one: ComparisonSummary, words: list[str]) -> bool:
    notes = [part for note in one.notes for part in (note.text, note.who) if part]
    marked = ["baseline"] if one.baseline else []
    told = [one.title, one.id, *one.scripts, *one.series, *one.models, one.provider, *notes, *marked]
    text = " ".join(told).lower()
    return all(word in text for word in words)


def _list(words: list[str]) -> None:
    everything = services().store.comparisons()
    found = [one for one in everything if _matches(one, words)]
    if not everything:
        empty("Nothing has been run yet", "Choose scripts and strategies on the Compare page and press Run.")
        return
    if not found:
        empty(
            "Nothing matches",
            "Try fewer words; titles, notes, scripts, strategies and models are searched.",
            ":material/search_off:",
        )
        return
    rows = st.container()
    pages, page = -(-len(found) // _PAGE), 1
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(numbers.count(len(found), "comparison") + (f" of {len(everything)}" if words else ""))
        if pages > 1:
            page = st.pagination(pages, key="page", bind="query-params")
    with rows:
        for one in found[(page - 1) * _PAGE : page * _PAGE]:
            comparison_row(one)


bundles()
running = bool(services().worker.running())
st.fragment(_list, run_every=_POLL_SECONDS if running else None)((query or "").lower().split())
