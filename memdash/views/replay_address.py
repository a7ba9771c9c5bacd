"""The address of the Replay page: which replay is open, at which turn, what is looked at, and what it is compared with.

A link holds ``r``, ``turn``, ``show`` and ``against``. What the page writes is remembered; an address that is not what it wrote
came from a link, or from the browser's Back.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

PAGE: Final = "replay.py"

REPLAY: Final = "r"
TURN: Final = "turn"
SHOW: Final = "show"
AGAINST: Final = "against"
_OURS: Final = (REPLAY, TURN, SHOW, AGAINST)

_PLACE: Final = "replay.place"
_WRITTEN: Final = "replay.address"
_PROBLEMS: Final = "replay.problems"


@dataclass(frozen=True, slots=True)
class Place:
    """What the page shows. ``turn`` None is not chosen yet, ``show`` None is the first section."""

    replay: str | None = None
    turn: int | None = None
    show: str | None = None
    against: str | None = None


def query(replay: str, turn: int | None = None, show: str | None = None) -> dict[str, str]:
    """Return the part of a link that opens a replay."""
    wanted = {REPLAY: replay, TURN: None if turn is None else str(turn), SHOW: show}
    return {key: value for key, value in wanted.items() if value is not None}


def place() -> Place:
    """Return what is to be shown."""
    found: Place = st.session_state.get(_PLACE, Place())
    return found


def go(**changes: Any) -> None:
    """Show something else; another replay starts at a turn of its own. The address follows when the page is drawn."""
    here = place()
    if "replay" in changes and changes["replay"] != here.replay:
        changes = {"turn": None, "against": None, **changes}
        st.session_state.pop(_PROBLEMS, None)
    st.session_state[_PLACE] = replace(here, **changes)


def open_turn(turn: int) -> None:
    """Show another turn of the replay that is open."""
    go(turn=turn)


def take_in(sections: Collection[str]) -> None:
    """Bring what is shown in line with the address, where that came from a link and not from us."""
    state = st.session_state
    given = {key: st.query_params.get_all(key)[-1] for key in _OURS if key in st.query_params}
    if not given or given == state.get(_WRITTEN):
        return
    problems = []
    turn: int | None = None
    if TURN in given:
        turn = int(given[TURN]) if given[TURN].isdecimal() and len(given[TURN]) < 9 else None
        if not turn:
            turn = None
            problems.append(f"{TURN}: {given[TURN]!r} is not the number of a turn")
    show = given.get(SHOW)
    if show is not None and show not in sections:
        problems.append(f"{SHOW}: there is no section {show!r}; there are {', '.join(sections)}")
        show = None
    state[_PLACE] = Place(given.get(REPLAY), turn, show, given.get(AGAINST))
    state[_PROBLEMS] = problems


def problems() -> list[str]:
    """Return what of the link could not be used."""
    found: list[str] = st.session_state.get(_PROBLEMS, [])
    return found


def complain(problem: str) -> None:
    """Note that part of the link could not be used."""
    if problem not in problems():
        st.session_state[_PROBLEMS] = [*problems(), problem]


def write() -> None:
    """Bring the address up to date with what is shown; nothing happens where it already is."""
    here = place()
    wanted = query(here.replay, here.turn, here.show) if here.replay else {}
    if here.against is not None:
        wanted[AGAINST] = here.against
    if {key: st.query_params.get_all(key)[-1] for key in _OURS if key in st.query_params} != wanted:
        others = {key: st.query_params.get_all(key) for key in st.query_params if key not in _OURS}
        st.query_params.from_dict({**others, **wanted})
    st.session_state[_WRITTEN] = wanted
