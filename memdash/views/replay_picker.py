"""Choosing replays for the page *Side by side*: of one comparison, or of any that is found by what it is called."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import numbers
from memdash.errors import StoreError
from memdash.spec import ReplaySpec
from memdash.store import ComparisonSummary
from memdash.views import beside
from memdash.views.components import clip, moment, problem
from memdash.views.state import services

_FIRST: Final = 6
"""Replays that are marked from the start; a comparison may have thousands."""


def pick_any(key: str) -> None:
    """Let a comparison be found by its title, date, strategies or model, and replays of it be added."""
    listed = {one.id: one for one in services().store.comparisons()}
    found = st.selectbox(
        "Comparison",
        list(listed),
        index=None,
        placeholder="Search titles, strategies, models, dates",
        format_func=lambda one: called(listed[one]),
        key=f"{key}.comparison",
    )
    if found is not None:
        pick_replays(found, key)


def called(one: ComparisonSummary) -> str:
    """Return what tells a comparison from others in a list that is searched by typing."""
    simulated = "simulated" if one.provider == "simulator" else "live"
    parts = [
        clip(one.title or one.id, 80),
        moment(one.created_at),
        numbers.listing(one.series, limit=3),
        numbers.listing(one.models, limit=2),
        simulated,
        one.id,
    ]
    return " · ".join(parts)


def pick_replays(comparison_id: str, key: str) -> None:
    """Let replays of a comparison be marked and added; the page that shows them is opened then."""
    try:
        replays = {one.id: one for one in services().store.comparison(comparison_id).replays}
    except StoreError as error:  # deleted by somebody else meanwhile
        problem(error)
        return
    taken = set(beside.present().replays)
    free = [one for one in replays if one not in taken]
    if not free:
        st.caption("All its replays are side by side already.")
        return
    marked = st.multiselect(
        "Replays",
        free,
        default=free[:_FIRST],
        format_func=lambda one: _called(replays[one]),
        key=f"{key}.replays.{comparison_id}.{len(taken)}",
        max_selections=beside.MOST,
    )
    room = beside.MOST - len(taken)
    over = len(marked) > room
    if over:
        st.caption(f"There is room for {numbers.count(room, 'more replay')}; remove some first.")
    if st.button(
        "Add side by side",
        icon=":material/splitscreen_right:",
        key=f"{key}.add.{comparison_id}",
        disabled=not marked or over,
        width="stretch",
    ):
        beside.show(marked)


def _called(one: ReplaySpec) -> str:
    return one.label
