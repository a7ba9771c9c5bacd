"""The Replay page: one replay turn by turn, what was done to the conversation, and where each fact died."""

from __future__ import annotations

import streamlit as st

from memdash.views import replay_address, replay_view
from memdash.views.components import empty
from memdash.views.replay_choice import first_choice
from memdash.views.replay_sections import SECTIONS

_POLL_SECONDS = 2.0


@st.fragment(run_every=_POLL_SECONDS)
def _wait_for_the_first() -> None:
    """The first start runs a comparison by itself: show a replay of it as soon as it is there."""
    if first_choice() is not None:
        st.rerun()


replay_address.take_in(SECTIONS)
if replay_address.place().replay is None:
    replay_address.go(replay=first_choice())
chosen = replay_address.place().replay
if chosen is not None:
    replay_view.show(chosen)
else:
    empty(
        "No replay yet",
        "Choose scripts and strategies on the Compare page and press Run; every turn of every replay can be opened here.",
        ":material/frame_inspect:",
    )
    _wait_for_the_first()
