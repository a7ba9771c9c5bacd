"""What was worked out of a comparison as it stands: kept once for all sessions, until the comparison changes.

Two dozen people who look at a sweep while it runs see the same numbers and the same charts. They are made for the first of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, Final, TypeVar

import streamlit as st

from memdash.views.state import services

T = TypeVar("T")

_COMPARISONS: Final = 16
"""How many comparisons have a shelf, those that were looked at last."""
_KEPT: Final = 64
"""How many things stand on one: every choice of a panel is another one."""


class Shelf:
    """What was worked out of one comparison at the latest version that anybody has seen; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = RLock()  # what is made may take other things from the shelf
        self._version = -1
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def take(self, version: int, name: Hashable, make: Callable[[], T]) -> T:
        """Return what stands under ``name`` at this version of the comparison; where nothing does it is made first.

        What belongs to an earlier version is let go, and what is made of one is not kept.
        """
        with self._lock:
            if version < self._version:
                return make()
            if version > self._version:
                self._version = version
                self._kept.clear()
            if name not in self._kept:
                made = make()
                if version != self._version:  # a later one was seen in the making
                    return made
                self._kept[name] = made
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(name)
            found: T = self._kept[name]
            return found


def shelf_of(comparison_id: str) -> Shelf:
    """Return the shelf of a comparison, shared by all sessions."""
    return _shelf(str(services().store.path), comparison_id)


@st.cache_resource(max_entries=_COMPARISONS, show_spinner=False)
def _shelf(path: str, comparison_id: str) -> Shelf:
    """``path`` tells the comparisons of two databases apart."""
    return Shelf()
