"""The Thresholds page: which setting to ship, from a sweep over ranges of thresholds."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash.views import address, sweep_results
from memdash.views.choices import SWEEP, of_sweep
from memdash.views.components import empty
from memdash.views.opening import THRESHOLDS, not_here, problems_of_link, take_in_address
from memdash.views.sweep_form import sweep_form

_ABOUT: Final = (
    "A sweep plays your conversations at every threshold and says which setting to ship, what it saves and how sure that "
    "is."
)
_RUN: Final = "How much it plays stands below Run; the simulator needs no key and no money for it."


def _ready() -> str:
    """What can be run as it stands: the ranges of a first visit, else those that a link or a person chose."""
    if st.session_state.get("setup") != SWEEP:
        return "The one on the left is ready, with the ranges that were chosen."
    return (
        "The one on the left is ready: compaction from 500 to 8,000 tokens and windows of 2 to 24 exchanges, over three short "
        "conversations."
    )


take_in_address(THRESHOLDS, SWEEP, of_sweep)
with st.sidebar:
    sweep_form()

sweep = st.session_state.get("comparison")
if sweep is not None:
    sweep_results.show(sweep)
elif st.session_state.get(address.MISSING):
    problems_of_link()
    not_here()
else:
    problems_of_link()
    empty("At which threshold should it run?", f"{_ABOUT} {_ready()} {_RUN}", ":material/tune:")
