"""The baseline of this instance: pinning it, and looking at what has changed since."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash.errors import MemdashError
from memdash.store import ComparisonSummary
from memdash.views.components import clip, plain, problem
from memdash.views.state import services

WHAT_CHANGED: Final = "what_changed.py"
BEFORE: Final = "a"
AFTER: Final = "b"
"""What a link to the page *What changed* calls its two comparisons."""

_ABOUT: Final = "There is one baseline for everybody here. Others are held against it under *Side by side* and *What changed*."


def pinned() -> ComparisonSummary | None:
    """Return the comparison that is the baseline, None where none is pinned."""
    return next((one for one in services().store.comparisons() if one.baseline), None)


def baseline_menu(comparison_id: str) -> None:
    """Draw what can be done with a comparison and the baseline: pin or unpin it, see what changed."""
    base = pinned()
    if base is not None and base.id == comparison_id:
        st.caption(f"This is the baseline. {_ABOUT}")
        if _button("Unpin the baseline", ":material/keep_off:", f"unpin.{comparison_id}"):
            _pin(None)
        return
    if base is None:
        st.caption(f"No baseline is pinned. {_ABOUT}")
    else:
        st.caption(f"The baseline is {plain(clip(base.title or base.id, 80))}. {_ABOUT}")
        if _button("What changed since the baseline", ":material/difference:", f"changed.{comparison_id}"):
            show_changes(base.id, comparison_id)
    if _button("What changed since another…", ":material/difference:", f"changed_other.{comparison_id}"):
        show_changes(None, comparison_id)
    if _button("Pin as baseline", ":material/keep:", f"pin.{comparison_id}"):
        _pin(comparison_id)


def show_changes(before: str | None, after: str) -> None:
    """Open the page *What changed*; without ``before`` the person chooses it there."""
    query = {AFTER: after} if before is None else {BEFORE: before, AFTER: after}
    st.switch_page(WHAT_CHANGED, query_params=query)


def _button(label: str, icon: str, key: str) -> bool:
    return st.button(label, icon=icon, key=key, width="stretch")


def _pin(comparison_id: str | None) -> None:
    try:
        services().store.pin_baseline(comparison_id)
    except MemdashError as error:
        problem(error)
        return
    st.rerun()
