"""What a turn is compared with: the turn before, or another replay of the same script at the same turn."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash.errors import StoreError
from memdash.views import replay_address
from memdash.views.replay_choice import name_of
from memdash.views.replay_data import opened
from memdash.views.replay_panels import Opened

_BEFORE: Final = ""
"""The turn before, as a choice with a value of its own: a selectbox takes None for nothing chosen and shows its placeholder."""


def choose_against(one: Opened) -> Opened | None:
    """Let the person choose what to compare with; None is the turn before."""
    replays = [
        spec
        for spec in one.stored.replays
        if spec.script.id == one.log.spec.script.id and spec.id != one.log.spec.id
    ]
    names = {spec.id: name_of(spec, replays) for spec in replays}
    other = _linked(one)
    if other is not None:
        names.setdefault(
            other.log.spec.id, f"{other.log.spec.series} · {other.stored.title or other.stored.id}"
        )
    key = f"replay.against.{one.log.spec.id}"

    names = {_BEFORE: "the turn before", **names}

    def chosen() -> None:
        replay_address.go(against=st.session_state[key] or None)

    st.session_state[key] = _BEFORE if other is None else other.log.spec.id
    st.selectbox("Against", list(names), format_func=names.__getitem__, key=key, on_change=chosen, width=420)
    return other


def _linked(one: Opened) -> Opened | None:
    """The replay that was chosen, or that a link names; where it cannot be compared, the page says so."""
    wanted = replay_address.place().against
    if wanted is None:
        return None
    try:
        other = opened(wanted)
    except StoreError:
        problem = f"there is no replay {wanted!r} here any more"
    else:
        if other.log.spec.script.id == one.log.spec.script.id:
            return other
        problem = f"replay {wanted!r} plays another script, so its turns have nothing in common with these"
    replay_address.complain(f"{replay_address.AGAINST}: {problem}")
    replay_address.go(against=None)
    return None
