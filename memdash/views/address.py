"""The address bar: which comparison is open, what is chosen in the form, which rows are picked, what every control shows.

Compare and Thresholds have an address each, so that going from one to the other and back loses nothing.

A link holds ``c``, the comparison, and what differs from the choices it was run with, so that a link shows the same view in
another browser. What we write is remembered; an address that is not what we wrote came from a link, or from the browser's Back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, TypeVar
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from memdash import numbers
from memdash.views.choices import DEMO, Choices
from memdash.views.components import clip
from memdash.views.links import QUERY_KEYS, from_query, to_query

K = TypeVar("K", bound=str)

COMPARISON: Final = "c"
ROWS: Final = "rows"
SCRIPT: Final = "show"
VIEW: Final = "view"
BY: Final = "by"
LOSS: Final = "loss"
TRAFFIC: Final = "traffic"
CUT: Final = "cut"
PICK: Final = "pick"
ERRORS_OF: Final = "of"
SETTING: Final = "setting"

PROBLEMS: Final = "link_problems"
MISSING: Final = "comparison_missing"
"""Not in a link: what in it could not be used, and whether its comparison is not here."""

_SINGLE: Final = (SCRIPT, VIEW, BY, LOSS, TRAFFIC, CUT, ERRORS_OF, SETTING)
_SEVERAL: Final = (ROWS, PICK)
_SHOWN: Final = (*_SINGLE, *_SEVERAL)
"""What a link says about how its comparison is looked at: one value each, or several."""

_MOST_TOLD: Final = 6
"""Options named where a link names none of them."""

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


def read(ours: Collection[str] = _OURS) -> dict[str, list[str]]:
    """Return our part of the present address, or that of a page with names of its own."""
    return {key: st.query_params.get_all(key) for key in st.query_params if key in ours}


def take_in(query: Mapping[str, Sequence[str]]) -> None:
    """Have the comparison looked at as a link says; what cannot be used of it is found where it is to be used."""
    state = st.session_state
    for key in _SINGLE:
        state[key] = query.get(key, [None])[-1]
    for key in _SEVERAL:
        state[key] = list(query.get(key, []))


def wanted(key: str, options: Collection[K], default: K) -> K:
    """Return which of its options a control shows by the link; ``default`` where that says nothing, or nothing usable."""
    value = st.session_state.get(key)
    if value is None:
        return default
    for one in options:
        if one == value:
            return one
    not_used(
        key, f"{clip(str(value), 60)!r} is not one of {numbers.listing(list(options), limit=_MOST_TOLD)}"
    )
    return default


def all_wanted(key: str, options: Collection[str], noun: str) -> list[str]:
    """Return which of its options a control with several shows by the link; one of them is called a ``noun``."""
    values = st.session_state.get(key) or []
    for value in values:
        if value not in options:
            not_used(key, f"there is no {noun} {clip(str(value), 60)!r} here")
    return [value for value in dict.fromkeys(values) if value in options]


def keep(key: str, value: str | None, default: str | None = None) -> None:
    """Take what a control shows into the address, where it is not the default."""
    st.session_state[key] = None if value == default else value
    write()


def keep_all(key: str, values: Iterable[str], default: Iterable[str] = ()) -> None:
    """Take what a control with several values shows into the address, where it is not the default."""
    chosen = list(values)
    st.session_state[key] = [] if chosen == list(default) else chosen
    write()


def not_used(key: str, why: str) -> None:
    """Note that a part of the link cannot be used, for :func:`memdash.views.opening.problems_of_link` to say."""
    problems = st.session_state.setdefault(PROBLEMS, [])
    if (problem := f"{key}: {why}") not in problems:
        problems.append(problem)


def link() -> str:
    """Return the whole address of the present view: who opens it sees the same."""
    query = urlencode({key: st.query_params.get_all(key) for key in st.query_params}, doseq=True)
    page = urlsplit(st.context.url or "")
    return urlunsplit((page.scheme, page.netloc, page.path or "/", query, ""))


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
    query: dict[str, list[str]] = {}
    if comparison := state.get("comparison"):
        query[COMPARISON] = [comparison]
    for key in _SHOWN:
        if state.get(key):
            query[key] = list(state[key]) if isinstance(state[key], list) else [str(state[key])]
    choices = to_query(state.get("setup", DEMO), state.get("setup_base", DEMO))
    query |= {key: values for key, values in choices.items() if values}
    update(_OURS, query)
    state["address"] = query


def update(ours: Collection[str], query: Mapping[str, Sequence[str]]) -> None:
    """Bring our part of the address up to date; nothing happens where it already is."""
    if read(ours) != query:
        others = {key: st.query_params.get_all(key) for key in st.query_params if key not in ours}
        st.query_params.from_dict({**others, **query})


def came_from_outside() -> bool:
    """Whether the present address is not what we wrote last, and not the bare address of a page switch."""
    here = read()
    return here != st.session_state.get("address") and bool(here or "address" not in st.session_state)
