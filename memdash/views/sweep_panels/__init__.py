"""What a sweep is looked at for: one panel each, drawn only while it is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import streamlit as st

from memdash.views import address
from memdash.views.sweep_panels import (
    broke,
    confirmation,
    forgotten,
    pairs,
    refinement,
    settings,
    thresholds,
    worth,
    your_conversations,
)
from memdash.views.sweep_view import SweepView

_FIRST: Final = "thresholds"


class _Panel(NamedTuple):
    title: str
    draw: Callable[[SweepView], None]


_PANELS: Final[Mapping[str, _Panel]] = {
    _FIRST: _Panel("Thresholds", thresholds.show),
    "settings": _Panel("Settings", settings.show),
    "conversations": _Panel("Your conversations", your_conversations.show),
    "broke": _Panel("What it broke", broke.show),
    "forgotten": _Panel("Forgotten", forgotten.show),
    "worth": _Panel("Worth", worth.show),
    "ties": _Panel("Ties", pairs.show),
    "refinement": _Panel("Closer look", refinement.show),
    "live": _Panel("Live API", confirmation.show),
}


def choose_panel(key: str) -> str:
    """Let the person choose what to look at, and keep it in the address; ``key`` tells one sweep's choice from another's."""
    chosen = st.segmented_control(
        "Look at",
        list(_PANELS),
        default=address.wanted(address.VIEW, _PANELS, _FIRST),
        required=True,
        format_func=lambda name: _PANELS[name].title,
        key=f"sweep_panel.{key}",
        label_visibility="collapsed",
    )
    address.keep(address.VIEW, chosen, _FIRST)
    return chosen


def show_panel(name: str, shown: SweepView) -> None:
    """Draw the panel of this name."""
    _PANELS[name].draw(shown)


__all__ = ["choose_panel", "show_panel"]
