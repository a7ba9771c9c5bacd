"""What Compare and Thresholds do when they are opened: take in the address, fill the form, and say what could not be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from memdash.errors import InputError, NotStored, StoreError
from memdash.spec import ComparisonSpec
from memdash.views import address
from memdash.views.choices import Choices
from memdash.views.comparison import view
from memdash.views.components import empty, plain, problem, words
from memdash.views.links import QUERY_KEYS, share
from memdash.views.state import services
from memdash.views.sweep_view import reading_of

COMPARE: Final = "compare.py"
THRESHOLDS: Final = "thresholds.py"


def latest(*, sweep: bool) -> str | None:
    """Return the newest comparison, or the newest sweep."""
    return next((one.id for one in services().store.comparisons() if one.sweep is sweep), None)


def take_in_address(page: str, default: Choices, choices_of: Callable[[ComparisonSpec], Choices]) -> None:
    """Bring what is open and chosen in line with the address, where that came from a link and not from us.

    ``default`` is what the form shows where nothing is open, ``choices_of`` what it shows of a comparison that is. A link to a
    sweep leads to Thresholds from wherever it is opened, and one to another comparison to Compare.
    """
    address.enter(page)
    state = st.session_state
    sweep = page == THRESHOLDS
    if not address.came_from_outside():
        if address.form_is_gone():  # another page was shown meanwhile
            address.seed_form(state.get("setup_base", default), None, state.get("setup"))
        if state.get("comparison") is None and not state.get(address.MISSING):
            state["comparison"] = latest(sweep=sweep)
        return
    query = address.read()
    wanted = query[address.COMPARISON][-1] if address.COMPARISON in query else latest(sweep=sweep)
    state["comparison"], state[address.MISSING], state[address.PROBLEMS] = wanted, False, []
    address.take_in(query)
    if state[address.LOSS] is not None:
        try:
            share([state[address.LOSS]])
        except InputError as error:
            address.not_used(address.LOSS, str(error))
            state[address.LOSS] = None
    base = default
    if wanted:
        try:
            spec = _spec(wanted)
        except StoreError as error:
            state["comparison"], state[address.MISSING] = None, True
            state[address.PROBLEMS].append(words(error))
        else:
            if (spec.sweep is not None) is not sweep:
                state["comparison"] = None
                st.switch_page(COMPARE if sweep else THRESHOLDS, query_params=query)
            try:
                base = choices_of(spec)
            except (
                InputError
            ) as error:  # of a strategy that is not known here its numbers are shown all the same
                state[address.PROBLEMS].append(f"The form cannot take its settings over: {error}")
    chosen = {key: values for key, values in query.items() if key in QUERY_KEYS}
    state[address.PROBLEMS] += address.seed_form(base, chosen)


def _spec(comparison_id: str) -> ComparisonSpec:
    """What a comparison was run with, by what is shown of it: reading thousands of replays once is enough."""
    listed = next((one for one in services().store.comparisons() if one.id == comparison_id), None)
    if listed is not None and listed.sweep:
        return reading_of(comparison_id).stored.spec
    return view(comparison_id).stored.spec


def problems_of_link() -> None:
    """Say what of the link could not be used."""
    if problems := st.session_state.get(address.PROBLEMS):
        st.warning(
            "  \n".join(plain(one) for one in problems),
            icon=":material/link_off:",
            title="Part of this link could not be used",
        )


def not_here() -> None:
    """Say that what the link is about is not here, and offer the library."""
    empty(
        "There is no such comparison here",
        "It may have been deleted, or the link is from another server. The library lists what is there.",
        ":material/link_off:",
    )
    open_library()


def cannot_show(error: StoreError, noun: str) -> None:
    """Say why what is open, a comparison or a sweep as ``noun`` says, cannot be shown: often it was deleted meanwhile."""
    if isinstance(error, NotStored):
        not_here()
    else:
        problem(error, f"This {noun} cannot be shown")


def open_library() -> None:
    """Offer the library, where a link leads to what is not here."""
    with st.container(horizontal_alignment="center"):
        if st.button("Open the library", icon=":material/folder_open:", key="to_library"):
            st.switch_page("library.py")
