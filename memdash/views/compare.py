"""The Compare page: the setup form beside the comparison that is open."""

from __future__ import annotations

import streamlit as st

from memdash.views import address, results
from memdash.views.choices import DEMO, of_spec
from memdash.views.components import empty
from memdash.views.opening import COMPARE, latest, not_here, problems_of_link, take_in_address
from memdash.views.setup_form import setup_form


@st.fragment(run_every=2.0)
def _wait_for_the_first() -> None:
    """The first start runs a comparison by itself: show it as soon as it is there."""
    if latest(sweep=False) is not None:
        st.rerun()


take_in_address(COMPARE, DEMO, of_spec)
with st.sidebar:
    # Before the results: a press of Run is heard where the form is drawn, and a rerun that comes in between would lose it.
    setup_form()

comparison = st.session_state.get("comparison")
if comparison is not None:
    results.show(comparison)
elif st.session_state.get(address.MISSING):
    problems_of_link()
    not_here()
else:
    problems_of_link()
    empty(
        "No comparison yet",
        "Choose scripts and strategies on the left and press Run.",
        ":material/compare_arrows:",
    )
    _wait_for_the_first()
