"""The page What changed: two comparisons held against each other in numbers, verdicts, settings, versions and prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from memdash import report
from memdash.against import held_against
from memdash.errors import MemdashError
from memdash.store import ComparisonSummary
from memdash.views import address
from memdash.views.baseline import AFTER, BEFORE
from memdash.views.changes_view import NUMBERS_OF, show_changes
from memdash.views.components import clip, empty, plain, problem
from memdash.views.opening import COMPARE, open_library
from memdash.views.replay_picker import called
from memdash.views.state import services

if TYPE_CHECKING:
    from memdash.metrics.changes import Changes

_OURS: Final = frozenset({BEFORE, AFTER, NUMBERS_OF})
_KEPT_IN_MEMORY: Final = 16
_STATE: Final = "what_changed"


def _page() -> None:
    st.header("What changed", anchor=False)
    st.caption(
        "Two comparisons of the same settings, setting by setting. Simulated ones are compared exactly, live ones by the 95 % "
        "intervals over their repeats."
    )
    listed = {one.id: one for one in services().store.comparisons()}
    gone = [one for key in (BEFORE, AFTER) if (one := st.query_params.get(key)) and one not in listed]
    if gone:
        _gone(gone)
    before, after = _choose(listed)
    if before is None or after is None:
        empty(
            "Choose two comparisons",
            "The earlier one on the left, the later one on the right.",
            ":material/difference:",
        )
        return
    if before == after:
        st.caption("This is one comparison twice: nothing changed.")
        return
    try:
        with st.spinner("Holding them against each other…", show_time=True):
            found = _changes(before, after)
    except MemdashError as error:
        problem(error)
        return
    show_changes(found, f"{before}.{after}")


def _gone(ids: list[str]) -> None:
    names = " and ".join(repr(clip(one, 60)) for one in ids)
    st.warning(
        plain(
            f"There is no comparison {names} here. It may have been deleted, or the link is from another server."
        ),
        icon=":material/link_off:",
        title="Part of this link could not be used",
    )
    open_library()


def _choose(listed: dict[str, ComparisonSummary]) -> tuple[str | None, str | None]:
    """Let the two comparisons be chosen, by the link at first; the baseline is the earlier one where that says nothing."""
    baseline = next((one.id for one in listed.values() if one.baseline), None)
    wanted = {key: st.query_params.get(key) for key in (BEFORE, AFTER)}
    if wanted[BEFORE] is None and wanted[AFTER] != baseline:
        wanted[BEFORE] = baseline
    left, middle, right = st.columns([5, 1, 5], vertical_alignment="bottom")
    with left:
        before = _pick("Before", BEFORE, wanted[BEFORE], listed)
    with right:
        after = _pick("Now", AFTER, wanted[AFTER], listed)
    with middle:
        st.button(
            "",
            icon=":material/swap_horiz:",
            help="Swap the two",
            key="swap",
            disabled=before is None or after is None,
            on_click=_swap,
            args=(before, after),
            width="stretch",
        )
    with st.container(horizontal=True, gap="small"):
        for one, words in ((before, "Open the earlier one"), (after, "Open the later one")):
            if one is not None and st.button(
                words, icon=":material/open_in_full:", type="tertiary", key=f"open.{words}"
            ):
                st.switch_page(COMPARE, query_params={address.COMPARISON: one})
    chosen = {BEFORE: before, AFTER: after, NUMBERS_OF: st.query_params.get(NUMBERS_OF)}
    address.update(_OURS, {key: [one] for key, one in chosen.items() if one is not None})
    return before, after


def _pick(label: str, key: str, wanted: str | None, listed: dict[str, ComparisonSummary]) -> str | None:
    name = f"{_STATE}.{key}"
    if wanted in listed:
        st.session_state[name] = wanted
    return st.selectbox(
        label,
        list(listed),
        index=None,
        placeholder="Search titles, strategies, models, dates",
        format_func=lambda one: called(listed[one]),
        key=name,
        on_change=_take,
        args=(key,),
    )


def _take(key: str) -> None:
    """Bring a choice into the address before the page is drawn from that."""
    chosen = st.session_state[f"{_STATE}.{key}"]
    if chosen is None:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = chosen


def _swap(before: str, after: str) -> None:
    st.query_params[BEFORE], st.query_params[AFTER] = after, before


def _changes(before: str, after: str) -> Changes:
    store = services().store
    return _held(str(store.path), before, after, store.version(before), store.version(after))


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _held(path: str, before: str, after: str, version_before: int, version_after: int) -> Changes:
    """The path and the versions are what makes two readings different; they are not read here."""
    store = services().store
    return held_against(store, report.read(store, after), report.read(store, before)).changes


_page()
