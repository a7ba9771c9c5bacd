"""Your conversations, priced with every setting of a sweep."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash.metrics.conversations import Floor, floors
from memdash.views.panels import conversations
from memdash.views.state import services
from memdash.views.sweep_panels.leading import leading
from memdash.views.sweep_view import Reading, SweepView

_KEPT_IN_MEMORY: Final = 8


def show(shown: SweepView) -> None:
    """Draw the inputs, the costs and the chart."""
    reading = shown.reading
    under = _floors(str(services().store.path), reading.id, reading.version, _reading=reading)
    conversations.show(reading.outcomes, under, reading.id, leading(shown))


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _floors(path: str, comparison_id: str, version: int, *, _reading: Reading) -> tuple[Floor, ...]:
    """``path``, ``comparison_id`` and ``version`` are what tells two readings apart."""
    stored = _reading.stored
    return floors(stored.replays, _reading.outcomes, stored.prices)
