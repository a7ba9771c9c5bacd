"""One comparison in the library, with what can be done to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.access import Act
from memdash.errors import MemdashError
from memdash.records import Status
from memdash.store import ComparisonSummary
from memdash.views import acts, people
from memdash.views.baseline import baseline_menu
from memdash.views.components import Colour, badge, clip, moment, plain
from memdash.views.downloads import downloads
from memdash.views.notes import latest_notes, notes_menu
from memdash.views.opening import COMPARE, THRESHOLDS
from memdash.views.replay_choice import look_inside
from memdash.views.replay_picker import pick_replays
from memdash.views.state import services

_TO_DELETE: Final = "library.to_delete"

_COLOURS: Final[Mapping[Status, Colour]] = {
    Status.RUNNING: "blue",
    Status.QUEUED: "blue",
    Status.INTERRUPTED: "orange",
    Status.STOPPED_BY_BUDGET: "orange",
    Status.CANCELLED: "gray",
    Status.FAILED: "red",
    Status.REJECTED: "gray",
    Status.DONE: "green",
}


def comparison_row(one: ComparisonSummary) -> None:
    """Draw one comparison with its notes; menus write a note, rename, pin, compare, download or delete it."""
    with st.container(border=True, gap="xxsmall", key=f"row-{one.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(clip(one.title or one.id, 72))}**", width="stretch")
            if one.sweep:
                badge("sweep", ":material/tune:", "violet")
            if one.baseline:
                badge("baseline", ":material/keep:", "blue")
            state_badge(one.statuses)
            if st.button("Open", key=f"open.{one.id}", icon=":material/open_in_full:"):
                st.switch_page(THRESHOLDS if one.sweep else COMPARE, query_params={"c": one.id})
            if st.button(
                "", key=f"inside.{one.id}", icon=":material/frame_inspect:", help="Look inside a replay"
            ):
                look_inside(one)
            notes_menu(one.id, one.notes, "secondary")
            beside = st.popover(
                "",
                icon=":material/difference:",
                key=f"beside.{one.id}",
                help="Side by side, baseline and changes",
                on_change="rerun",
            )
            if beside.open:
                with beside:
                    pick_replays(one.id, "library")
                    baseline_menu(one.id)
            menu = st.popover(
                "",
                icon=":material/more_vert:",
                key=f"menu.{one.id}",
                help="Rename, download, delete",
                on_change="rerun",
            )
            if menu.open:
                with menu:
                    _menu(one)
            if st.session_state.get(_TO_DELETE) == one.id:
                del st.session_state[_TO_DELETE]
                _ask_to_delete(one)
        parts = [
            moment(one.created_at),
            numbers.listing(one.scripts, limit=3),
            numbers.listing(list(dict.fromkeys(one.series)), limit=4),
            numbers.listing(one.models, limit=2),
            "simulated" if one.provider == "simulator" else "live",
        ]
        st.caption(plain(" · ".join(part for part in parts if part)))
        latest_notes(one.notes)


def state_badge(statuses: Sequence[Status]) -> None:
    """Say in a badge how far a comparison is."""
    counted = Counter(statuses)
    for status in (
        Status.RUNNING,
        Status.QUEUED,
        Status.INTERRUPTED,
        Status.STOPPED_BY_BUDGET,
        Status.FAILED,
        Status.CANCELLED,
    ):
        if counted[status]:
            over = sum(count for state, count in counted.items() if state.over)
            text = (
                f"{over} of {len(statuses)} done"
                if not status.over
                else f"{str(status).replace('_', ' ')}: {counted[status]}"
            )
            badge(text, ":material/sync:" if not status.over else ":material/info:", _COLOURS[status])
            return
    refused = f" · {counted[Status.REJECTED]} rejected" if counted[Status.REJECTED] else ""
    badge(numbers.count(len(statuses), "replay") + refused, ":material/check_circle:", "green")


def _menu(one: ComparisonSummary) -> None:
    title = st.text_input("Title", one.title, max_chars=200, key=f"title.{one.id}")
    if st.button(
        "Rename", icon=":material/edit:", key=f"rename.{one.id}", disabled=not title.strip(), width="stretch"
    ):
        _do(partial(services().store.rename, one.id, title.strip()))
    downloads(one.id)
    if people.may(Act.DELETE):
        st.button(
            "Delete…",
            icon=":material/delete:",
            key=f"delete.{one.id}",
            width="stretch",
            on_click=_wants_to_delete,
            args=(one.id,),
        )


def _wants_to_delete(comparison_id: str) -> None:
    """Close the menu, which would lie over the question, and have the question asked."""
    st.session_state[f"menu.{comparison_id}"] = False
    st.session_state[_TO_DELETE] = comparison_id


@st.dialog("Delete this comparison?", icon=":material/delete:")
def _ask_to_delete(one: ComparisonSummary) -> None:
    st.text(one.title or one.id)
    st.caption(
        f"{numbers.count(len(one.statuses), 'replay')} and everything measured in them will be gone from the library. "
        "Links to it will say so. Its text stays in the database file until what was deleted is erased, on the Library page or "
        "with memdash purge."
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep it", key="keep_it"):
            st.rerun()
        if st.button("Delete", type="primary", icon=":material/delete:", key="delete_it"):
            _do(partial(acts.delete, one.id))


def _do(*steps: partial[None]) -> None:
    try:
        for step in steps:
            step()
    except MemdashError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    st.rerun()
