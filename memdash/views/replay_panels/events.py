"""Every event of a replay: what the strategy, the API and the replay itself did, in this turn and in all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.inspection.events import NAMES, details
from memdash.records import EventRecord
from memdash.views.components import clip, plain
from memdash.views.replay_panels import Opened
from memdash.views.replay_panels.picking import opens_turn_of_row

_LONGEST: Final = 300
"""Characters of what an event says that are shown in a line."""


def events_panel(opened: Opened, turn: int, open_turn: Callable[[int], None]) -> None:
    """Draw the events of the open turn in full, and below them all events; ``open_turn`` is called with a turn that is picked."""
    events = opened.log.events
    with st.container(border=True, gap="small"):
        st.markdown(f"**In turn {turn}**")
        here = [one for one in events if one.turn == turn]
        for place, event in enumerate(here):
            _in_full(event, f"event.{opened.log.spec.id}.{event.seq}.{place}")
        if not here:
            st.caption("Nothing was done to the conversation in this turn.")
    if not events:
        st.caption("No strategy, and no API, has done anything to this conversation so far.")
        return
    st.markdown(f"**{numbers.count(len(events), 'event')} in all**")
    _table(events, f"events.{opened.log.spec.id}", open_turn)


def _in_full(event: EventRecord, key: str) -> None:
    told = clip(details(event.event, event.data), _LONGEST)
    more = f": {plain(told)}" if told else ""
    st.markdown(f":material/bolt: **{plain(NAMES[event.event])}**{more}")
    summary = event.data.get("summary")
    if isinstance(summary, str) and summary:
        words = len(summary.split())
        shown = st.expander(f"The summary, {numbers.count(words, 'word')}", key=key, on_change="rerun")
        if shown.open:
            with shown:
                st.code(summary, language=None, wrap_lines=True)


def _table(events: Sequence[EventRecord], key: str, open_turn: Callable[[int], None]) -> None:
    column = st.column_config
    st.dataframe(
        {
            "Turn": [one.turn for one in events],
            "At": [one.at_ms / 1000 for one in events],
            "Event": [NAMES[one.event] for one in events],
            "What it says": [clip(details(one.event, one.data), _LONGEST) for one in events],
        },
        column_config={
            "Turn": column.NumberColumn("Turn", width=64),
            "At": column.NumberColumn(
                "At", width=90, format="%.1f s", help="Seconds on the replay's own clock, from its start."
            ),
            "Event": column.TextColumn("Event", width=220),
            "What it says": column.TextColumn("What it says", width="large"),
        },
        hide_index=True,
        key=key,
        height="content" if len(events) <= 12 else 460,
        on_select=opens_turn_of_row(key, [max(one.turn, 1) for one in events], open_turn),
        selection_mode="single-row",
        alt=f"{numbers.count(len(events), 'event')} with turn, time and what each says",
    )
    st.caption("Pick a row to open its turn.")
