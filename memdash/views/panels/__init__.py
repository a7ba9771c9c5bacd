"""What a comparison is looked at for, beside its overview: one panel each, drawn only while it is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import streamlit as st

from memdash.views import address
from memdash.views.panels import (
    background,
    breakdown,
    broke,
    compactions,
    confirmation,
    misses,
    recall,
    waiting,
)
from memdash.views.panels.selection import Selection

OVERVIEW: Final = "overview"


class _Panel(NamedTuple):
    title: str
    draw: Callable[[Selection], None]


_PANELS: Final[Mapping[str, _Panel]] = {
    "broke": _Panel("What it broke", broke.show),
    "misses": _Panel("Misses", misses.show),
    "compactions": _Panel("Compactions", compactions.show),
    "background": _Panel("Background", background.show),
    "waiting": _Panel("Waiting", waiting.show),
    "recall": _Panel("Recall", recall.show),
    "live": _Panel("Live API", confirmation.show),
    "breakdown": _Panel("Forgotten", breakdown.show),
}


def choose_panel(key: str) -> str:
    """Let the person choose what to look at, and keep it in the address; ``key`` tells one comparison's choice from another's."""
    names = [OVERVIEW, *_PANELS]
    chosen = st.segmented_control(
        "Look at",
        names,
        default=address.wanted(address.VIEW, names, OVERVIEW),
        required=True,
        format_func=lambda name: "Overview" if name == OVERVIEW else _PANELS[name].title,
        key=f"panel.{key}",
        label_visibility="collapsed",
    )
    address.keep(address.VIEW, chosen, OVERVIEW)
    return chosen


def show_panel(name: str, selection: Selection) -> None:
    """Draw the panel of this name for the replays that are picked."""
    if not selection.logs:
        st.caption("None of the picked rows belongs to this script.")
        return
    _PANELS[name].draw(selection)


__all__ = ["OVERVIEW", "Selection", "choose_panel", "show_panel"]
