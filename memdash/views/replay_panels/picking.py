"""A click that opens a turn: on a point of a chart, or on a row of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st


def opens_turn_of_point(key: str, open_turn: Callable[[int], None]) -> Callable[[], None]:
    """Return what to do when something is clicked in the chart of this key: its ``customdata`` is the turn to open."""

    def clicked() -> None:
        points = st.session_state[key]["selection"]["points"]
        turn = points[0].get("customdata") if points else None
        if isinstance(turn, list):
            turn = turn[0] if turn else None
        if isinstance(turn, int | float):
            open_turn(int(turn))

    return clicked


def opens_turn_of_row(key: str, turns: Sequence[int], open_turn: Callable[[int], None]) -> Callable[[], None]:
    """Return what to do when a row is picked in the table of this key; ``turns`` are those of its rows."""

    def picked() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and 0 <= rows[0] < len(turns):
            open_turn(turns[rows[0]])

    return picked
