"""Choosing which of many settings a chart shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import streamlit as st

from memdash.views import address

_SHOWN: Final = 8
"""More lines than these are not told apart."""


def pick_series(order: Iterable[str], key: str) -> list[str]:
    """Return the series to show, the first few of ``order`` until the person chooses others; all where they are few.

    What is chosen is in the address, and holds for every panel that shows a choice of the settings.
    """
    names = list(dict.fromkeys(order))
    if len(names) <= _SHOWN:
        return names
    first, most = names[:_SHOWN], 2 * _SHOWN
    wanted = address.all_wanted(address.PICK, names, "setting")[:most]
    picked = st.multiselect(
        "Settings shown", names, default=wanted or first, max_selections=most, key=f"picked.{key}"
    )
    address.keep_all(address.PICK, picked, first)
    return picked or first
