"""Plotly beside a thread that loads pandas: it looks into whatever is in ``sys.modules``, and half a module is there already."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def beside_pandas(work: Callable[[], T]) -> T:
    """Do some of Plotly's work, when pandas is either whole or not there; ``work`` may be done twice.

    A table on one page makes Streamlit load pandas, which takes a good half of a second; charts of other pages are drawn
    meanwhile. That can begin at any moment, so work that met the half of it is done once more with the whole.
    """
    _wait_for_pandas()
    try:
        return work()
    except AttributeError:
        if not _wait_for_pandas():
            raise
        return work()


def _wait_for_pandas() -> bool:
    """Wait where another thread is loading pandas; returns whether it is there."""
    if "pandas" not in sys.modules:
        return False
    importlib.import_module("pandas")
    return True
