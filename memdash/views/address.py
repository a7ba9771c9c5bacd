"""The address bar: which comparison is open, what is chosen in the form, which rows are picked.

Compare and Thresholds have an address each, so that going from one to the other and back loses nothing.

A link holds ``c``, the comparison, and what differs from the choices it was run with, so that a link shows the same view in
another browser. What we write is remembered; an address that is not what we wrote came from a link, or from the browser's Back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from memdash.views.choices import DEMO, Choices
from memdash.views.links import QUERY_KEYS, from_query, to_query

COMPARISON: Final = "c"
ROWS: Final = "rows"
SCRIPT: Final = "show"
VIEW: Final = "view"
BY: Final = "by"
LOSS: Final = "loss"
TRAFFIC: Final = "traffic"

PROBLEMS: Final = "link_problems"
MISSING: Final = "comparison_missing"
"""Not in a link: what in it could not be used, and whether its comparison is not here."""

_SHOWN: Final = (ROWS, SCRIPT, VIEW, BY, LOSS, TRAFFIC)
"""What a link says about how its comparison is looked at."""

_OURS: Final = frozenset({COMPARISON, *_SHOWN, *QUERY_KEYS})


_KEPT_FOR_A_PAGE: Final = (
    "comparison",
    "address",
    "setup",
    "setup_base",
    "setup_seed",
    *_SHOWN,
    PROBLEMS,
    MISSING,
)


def enter(page: str) -> None:
    """Take up the address of a page where it was left, and put away that of the page that was shown before."""
    state = st.session_state
    if (left := state.get("address_of")) == page:
        return
    if left is not None:
        state[f"address_of.{left}"] = {key: state[key] for key in _KEPT_FOR_A_PAGE if key in state}
    for key in _KEPT_FOR_A_PAGE:
        state.pop(key, None)
    for key, value in state.get(f"address_of.{page}", {}).items():
        state[key] = value
    state["address_of"] = page
    state["form_of_another_page"] = left is not None


def read() -> dict[str, list[str]]:
    """Return our part of the present address."""
    return {key: st.query_params.get_all(key) for key in st.query_params if key in _OURS}


def seed_form(
    base: Choices, query: Mapping[str, Sequence[str]] | None = None, chosen: Choices | None = None
) -> list[str]:
    """Fill the form with ``chosen``, or with ``base`` and what ``query`` changes of it.

    Links are spelled relative to ``base`` from then on. Returns what in the query could not be read.
    """
    choices, problems = (chosen, []) if chosen else from_query(query or {}, base)
    state = st.session_state
    for key in [key for key in state if isinstance(key, str) and key.startswith("setup.")]:
        del state[key]
    state["setup_epoch"] = state.get("setup_epoch", 0) + 1
    state["setup_seed"] = choices
    state["setup"] = choices
    state["setup_base"] = base
    state["form_of_another_page"] = False
    return problems


def form_is_gone() -> bool:
    """Whether the form's inputs have been dropped, as they are when another page was shown, or are those of another page."""
    state = st.session_state
    if state.get("form_of_another_page"):
        return True
    return "setup_epoch" not in state or f"setup.{state['setup_epoch']}.scripts" not in state


def open_comparison(comparison_id: str, base: Choices | None = None) -> None:
    """Make this comparison the one that is shown; ``base`` is what the link's choices are relative to."""
    state = st.session_state
    state["comparison"] = comparison_id
    state["setup_base"] = base or state.get("setup", DEMO)
    for key in (*_SHOWN, PROBLEMS, MISSING):
        state.pop(key, None)
    write()


def write_choices(choices: Choices) -> None:
    """Take the form's present choices into the address."""
    st.session_state["setup"] = choices
    write()


def write() -> None:
    """Bring the address up to date with what is shown and chosen; nothing happens where it already is."""
    state = st.session_state
    wanted: dict[str, list[str]] = {}
    if comparison := state.get("comparison"):
        wanted[COMPARISON] = [comparison]
    for key in _SHOWN:
        if state.get(key):
            wanted[key] = list(state[key]) if isinstance(state[key], list) else [str(state[key])]
    choices = to_query(state.get("setup", DEMO), state.get("setup_base", DEMO))
    wanted |= {key: values for key, values in choices.items() if values}
    if read() != wanted:
        others = {key: st.query_params.get_all(key) for key in st.query_params if key not in _OURS}
        st.query_params.from_dict({**others, **wanted})
    state["address"] = wanted


def came_from_outside() -> bool:
    """Whether the present address is not what we wrote last, and not the bare address of a page switch."""
    here = read()
    return here != st.session_state.get("address") and bool(here or "address" not in st.session_state)
