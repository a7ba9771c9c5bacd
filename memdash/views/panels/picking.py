"""Choosing which of many settings a chart shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import streamlit as st

_SHOWN: Final = 8
"""More lines than these are not told apart."""


def pick_series(order: Iterable[str], key: str) -> list[str]:
    """Return the series to show, the first few of ``order`` until the person chooses others; all where they are few."""
    names = list(dict.fromkeys(order))
    if len(names) <= _SHOWN:
        return names
    picked = st.multiselect(
        "Settings shown", names, default=names[:_SHOWN], max_selections=2 * _SHOWN, key=f"picked.{key}"
    )
    return picked or names[:_SHOWN]
