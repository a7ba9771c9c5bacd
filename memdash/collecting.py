"""Holding the garbage collector back."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Hold the garbage collector back while very many objects without cycles are made: it would look through all of them.

    Around a page it lets the answer go before anything is collected.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
