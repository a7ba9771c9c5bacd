"""The Compare page: the setup form beside the comparison that is open."""

from __future__ import annotations

import streamlit as st

from memdash.errors import StoreError
from memdash.views import address, results
from memdash.views.choices import DEMO, of_spec
from memdash.views.comparison import view
from memdash.views.components import empty, plain
from memdash.views.links import QUERY_KEYS
from memdash.views.setup_form import setup_form
from memdash.views.state import services


def _latest() -> str | None:
    newest = services().store.comparisons()
    return newest[0].id if newest else None


def _take_in_address() -> None:
    """Bring what is open and chosen in line with the address, where that came from a link and not from us."""
    state = st.session_state
    if not address.came_from_outside():
        if address.form_is_gone():  # another page was shown meanwhile
            address.seed_form(state.get("setup_base", DEMO), None, state.get("setup"))
        if state.get("comparison") is None and not state.get(address.MISSING):
            state["comparison"] = _latest()
        return
    query = address.read()
    wanted = query[address.COMPARISON][-1] if address.COMPARISON in query else _latest()
    state["comparison"], state[address.MISSING], state[address.PROBLEMS] = wanted, False, []
    state[address.ROWS] = query.get(address.ROWS, [])
    state[address.SCRIPT] = query.get(address.SCRIPT, [None])[-1]
    state[address.VIEW] = query.get(address.VIEW, [None])[-1]
    state[address.BY] = query.get(address.BY, [None])[-1]
    base = DEMO
    if wanted:
        try:
            base = of_spec(view(wanted).stored.spec)
        except StoreError as error:
            state["comparison"], state[address.MISSING] = None, True
            state[address.PROBLEMS].append(str(error))
    chosen = {key: values for key, values in query.items() if key in QUERY_KEYS}
    state[address.PROBLEMS] += address.seed_form(base, chosen)


@st.fragment(run_every=2.0)
def _wait_for_the_first() -> None:
    """The first start runs a comparison by itself: show it as soon as it is there."""
    if _latest() is not None:
        st.rerun()


_take_in_address()
with st.sidebar:
    setup_form()

comparison = st.session_state.get("comparison")
if problems := st.session_state.get(address.PROBLEMS):
    st.warning(
        "  \n".join(plain(one) for one in problems),
        icon=":material/link_off:",
        title="Part of this link could not be used",
    )

if comparison is not None:
    results.show(comparison)
elif st.session_state.get(address.MISSING):
    empty(
        "There is no such comparison here",
        "It may have been deleted, or the link is from another server. The library lists what is there.",
        ":material/link_off:",
    )
    with st.container(horizontal_alignment="center"):
        if st.button("Open the library", icon=":material/folder_open:", key="to_library"):
            st.switch_page("library.py")
else:
    empty(
        "No comparison yet",
        "Choose scripts and strategies on the left and press Run.",
        ":material/compare_arrows:",
    )
    _wait_for_the_first()
