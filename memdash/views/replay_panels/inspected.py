"""What the panels read of one request: its context and the texts that are shown, and nothing else of the replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash.collecting import uncollected
from memdash.inspection.requests import (
    InspectedRequest,
    blocks_of,
    inspect,
    opening_request,
    requests_of,
)
from memdash.records import Purpose, RequestRecord
from memdash.replay_log import ReplayLog
from memdash.views.components import plain
from memdash.views.replay_panels import Opened
from memdash.views.state import services

_KEPT_IN_MEMORY: Final = 16
"""Requests whose blocks are kept counted, without their texts."""
_MANY: Final = 5
"""More requests than these are chosen from a list."""


def inspected(opened: Opened, record: RequestRecord) -> InspectedRequest:
    """Look at a request; what was looked at lately is not counted again."""
    store = services().store
    version = store.version(opened.stored.id)
    return _inspected(str(store.path), opened.log.spec.id, version, record.number, opened.log)


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
@uncollected()
def _inspected(path: str, replay_id: str, version: int, number: int, _log: ReplayLog) -> InspectedRequest:
    """``path`` and ``version`` are what makes two readings different; neither is read here."""
    record = next(one for one in _log.requests if one.number == number)
    return inspect(_log, record, texts(replay_id, blocks_of(_log, record)))


def texts(replay_id: str, ids: Sequence[str]) -> dict[str, str]:
    """Return recorded texts by id."""
    return services().store.blocks(replay_id, list(dict.fromkeys(ids))) if ids else {}


def choose_request(opened: Opened, turn: int) -> RequestRecord | None:
    """Let the person choose one of a turn's requests, the one it began with if nothing is chosen; None where there are none."""
    found = {one.number: one for one in requests_of(opened.log, turn)}
    if not found:
        st.caption("No request was made in this turn.")
        return None
    opening = opening_request(opened.log, turn)
    first = next(iter(found)) if opening is None else opening.number
    if len(found) == 1:
        return found[first]
    names = _names(opened, list(found.values()))
    key = f"request.{opened.log.spec.id}.{turn}"
    if len(found) > _MANY:
        place = list(found).index(first)
        chosen = st.selectbox("Request", list(found), index=place, format_func=names.__getitem__, key=key)
    else:
        chosen = st.segmented_control(
            "Request",
            list(found),
            default=first,
            required=True,
            format_func=lambda number: plain(names[number]),
            key=key,
        )
    return found[chosen]


def _names(opened: Opened, records: Sequence[RequestRecord]) -> dict[int, str]:
    asked = {probe.request: probe for probe in opened.log.probes}
    names = {}
    for record in records:
        match record.purpose:
            case Purpose.TURN:
                name = "the user's message"
            case Purpose.TOOL:
                name = f"tool results, step {record.step}"
            case Purpose.SUMMARY:
                name = "summary" if record.job is None else "summary in background"
            case Purpose.PROBE:
                probe = asked.get(record.number)
                about = "" if probe is None else f" about {probe.fact}"
                name = f"probe{about}, {record.control or 'memory'}"
        names[record.number] = f"{record.number} · {name}"
    return names
