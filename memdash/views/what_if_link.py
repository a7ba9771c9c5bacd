"""The question of a what-if in the address: a link shows the same terms, and what in it cannot be used is said."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import Final

import streamlit as st

from memdash.metrics.what_if import WhatIf
from memdash.prices import FIELDS, MAX_PRICE
from memdash.views import address
from memdash.views.components import clip, plain

COMPARISON: Final = "whatif"
MODEL: Final = "on"
CACHE: Final = "life"
DAY: Final = "asof"
BATCH: Final = "batch"
_PRICE: Final = "price"
_OURS: Final = frozenset({COMPARISON, MODEL, CACHE, DAY, BATCH, _PRICE})


def seed(key: str, known: Collection[str], *, what: str) -> None:
    """Give an input its first value from the address, where that is one of those it can have."""
    value = _first(key)
    if value is None:
        return
    if value in known:
        st.session_state[key] = value
    else:
        _cannot(f"{value!r} is no {what}")


def seed_day(key: str) -> None:
    """Give a date its first value from the address."""
    value = _first(key)
    if value is None:
        return
    try:
        st.session_state[key] = date.fromisoformat(value)
    except ValueError:
        _cannot(f"{value!r} is not a date")


def seed_flag(key: str) -> None:
    """Give a toggle its first value from the address."""
    value = _first(key)
    if value is not None:
        st.session_state[key] = value == "1"


def prices() -> dict[str, dict[str, float]]:
    """Read the changed prices of the address, by model."""
    found: dict[str, dict[str, float]] = {}
    for text in st.query_params.get_all(_PRICE):
        model, _, rest = text.rpartition(":")
        for part in rest.split(","):
            name, _, amount = part.partition("=")
            price = _price(amount)
            if name not in FIELDS or price is None:
                _cannot(f"{text!r} is no price")
                continue
            found.setdefault(model, {})[name] = price
    return found


def write(comparison: str, question: WhatIf) -> None:
    """Bring the address up to date with the question; nothing happens where it already is."""
    wanted: dict[str, list[str]] = {COMPARISON: [comparison]}
    if question.model is not None:
        wanted[MODEL] = [question.model]
    if question.cache is not None:
        wanted[CACHE] = [question.cache.value]
    if question.as_of is not None:
        wanted[DAY] = [question.as_of.isoformat()]
    if question.batch:
        wanted[BATCH] = ["1"]
    if question.prices:
        wanted[_PRICE] = [
            f"{model}:{','.join(f'{name}={price:.10g}' for name, price in given.items())}"
            for model, given in question.prices.items()
        ]
    address.update(_OURS, wanted)


def _first(key: str) -> str | None:
    """What the address says of an input that is not there yet."""
    return None if key in st.session_state else st.query_params.get(key)


def _price(text: str) -> float | None:
    try:
        price = float(text)
    except ValueError:
        return None
    return price if 0 <= price <= MAX_PRICE else None


def _cannot(text: str) -> None:
    st.caption(f":material/link_off: {plain(clip(f'Not used of the link: {text}', 200))}")
