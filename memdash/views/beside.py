"""The replays that a person has chosen to see side by side: gathered on any page, shown on one, and spelled in its link.

A link holds one ``r`` for each comparison: its id and the numbers of its replays, ``cmp_0123456789ab.001.004``. Beside that it
holds what is looked at: the script of the charts, the rows that are picked, and whether they are held against the baseline.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.choosing import comparison_of
from memdash.views import address
from memdash.views.components import clip

SIDE_BY_SIDE: Final = "side_by_side.py"
MOST: Final = 48
"""Replays that are shown together; a chart has at most a dozen lines that are told apart, and each may be of several repeats."""

_REPLAYS: Final = "r"
_SCRIPT: Final = "script"
_ROWS: Final = "only"
_AGAINST: Final = "against"
_BASELINE: Final = "baseline"
_OURS: Final = frozenset({_REPLAYS, _SCRIPT, _ROWS, _AGAINST})

_STATE: Final = "beside"
_WRITTEN: Final = "beside_written"
_PROBLEMS: Final = "beside_problems"

_REPLAYS_OF_ONE: Final = re.compile(r"\w+(\.\d+)+")


@dataclass(frozen=True, slots=True)
class Beside:
    """The ids of the chosen replays, and how they are looked at; ``rows`` are those whose rows are picked, all where none is."""

    replays: tuple[str, ...] = ()
    script: str | None = None
    rows: tuple[str, ...] = ()
    against_baseline: bool = False


def present() -> Beside:
    """Return what is chosen in this session."""
    found = st.session_state.get(_STATE)
    return found if isinstance(found, Beside) else Beside()


def change(now: Beside) -> None:
    """Have something else chosen, or look at it otherwise."""
    st.session_state[_STATE] = now


def show(replay_ids: Iterable[str]) -> None:
    """Choose more replays, as many as there is room for, and open the page that shows them."""
    now = present()
    every = tuple(dict.fromkeys([*now.replays, *replay_ids]))
    change(replace(now, replays=every[:MOST], rows=()))
    st.switch_page(SIDE_BY_SIDE)


def take_in() -> None:
    """Take up what a link says, where the address is not what was written last: a bare one shows what was chosen before."""
    query = address.read(_OURS)
    if not query or query == st.session_state.get(_WRITTEN):
        return
    st.session_state[_PROBLEMS] = []
    replays = _read(_REPLAYS, query)
    if len(replays) > MOST:
        not_used(_REPLAYS, f"{len(replays):,} replays are more than {MOST}; these are the first of them")
    against = query.get(_AGAINST, [None])[-1]
    if against not in (None, _BASELINE):
        not_used(_AGAINST, f"{clip(str(against), 60)!r} is not {_BASELINE}")
    change(
        Beside(
            replays=replays[:MOST],
            script=query.get(_SCRIPT, [None])[-1],
            rows=_read(_ROWS, query),
            against_baseline=against == _BASELINE,
        )
    )


def write() -> None:
    """Bring the address up to date with what is chosen and looked at."""
    now = present()
    query = {
        _REPLAYS: _spelled(now.replays),
        _SCRIPT: [now.script] if now.script else [],
        _ROWS: _spelled(now.rows),
        _AGAINST: [_BASELINE] if now.against_baseline else [],
    }
    query = {key: values for key, values in query.items() if values}
    address.update(_OURS, query)
    st.session_state[_WRITTEN] = query


def problems() -> list[str]:
    """Return what of the link could not be used."""
    return list(st.session_state.get(_PROBLEMS, ()))


def not_used(key: str, why: str) -> None:
    """Note that a part of the link cannot be used."""
    found = st.session_state.setdefault(_PROBLEMS, [])
    if (problem := f"{key}: {why}") not in found:
        found.append(problem)


def script_wanted(scripts: Collection[str], default: str) -> str:
    """Return the script whose turns the charts show."""
    wanted = present().script
    if wanted is None or wanted in scripts:
        return wanted or default
    not_used(_SCRIPT, f"{clip(wanted, 60)!r} is not one of {numbers.listing(list(scripts))}")
    return default


def _read(key: str, query: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Read replays as a link spells them."""
    ids: list[str] = []
    for value in query.get(key, ()):
        if not _REPLAYS_OF_ONE.fullmatch(value):
            not_used(key, f"{clip(value, 60)!r} names no replays")
            continue
        comparison, *places = value.split(".")
        ids += [f"{comparison}_{place}" for place in places]
    return tuple(dict.fromkeys(ids))


def _spelled(replay_ids: Iterable[str]) -> list[str]:
    """Spell replays for a link, those of one comparison together."""
    places: dict[str, list[str]] = {}
    for one in replay_ids:
        places.setdefault(comparison_of(one), []).append(one.rpartition("_")[2])
    return [".".join([comparison, *found]) for comparison, found in places.items()]
