"""Any records at all: what hypothesis makes of a journal."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from memdash.records import (
    Control,
    EventKind,
    EventRecord,
    FactRecord,
    Iteration,
    JobRecord,
    MissReason,
    ProbeRecord,
    Purpose,
    Record,
    RequestRecord,
    Status,
    StatusRecord,
    Survival,
    TurnRecord,
    Usage,
)

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_ids = st.text(string.digits, min_size=24, max_size=24)
_stored_ids = st.text("abcdef", min_size=24, max_size=24)
"""Those of stored texts, which nothing refers to: what is referred to is JSON of the kind that stands there."""
_counts = st.integers(0, 2**40)
_numbers = st.integers(0, 2**31 - 1)
_times = st.floats(0, 1e12, allow_nan=False)
_json = st.dictionaries(
    _texts,
    st.recursive(
        st.none() | st.booleans() | _counts | _texts, lambda one: st.lists(one, max_size=3), max_leaves=4
    ),
    max_size=3,
)
_OPEN_EVENTS = [one for one in EventKind if one is not EventKind.VERDICT]
"""Those that may say anything; what a verdict says is relied on."""
_usages = st.builds(Usage, *[st.none() | _counts] * 7)


def _some(one: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | one


_entries = st.builds(lambda lead, block: lead + block, st.sampled_from(["user:", "assistant:", "+"]), _ids)

_kinds: dict[type, dict[str, st.SearchStrategy[Any]]] = {
    RequestRecord: {
        "number": _numbers, "purpose": st.sampled_from(Purpose), "turn": _numbers, "step": _numbers, "model": _texts,
        "options": _json, "betas": st.lists(_texts, max_size=2).map(tuple), "system_block": _some(_ids),
        "tools_block": _some(_ids), "base_request": _some(_numbers), "shared": _numbers,
        "entries": st.lists(_entries, max_size=4).map(tuple), "started_ms": _times, "first_event_ms": _some(_times),
        "first_text_ms": _some(_times), "finished_ms": _times, "usage": _usages,
        "iterations": st.lists(st.builds(Iteration, _texts, _usages, _some(_texts)), max_size=3).map(tuple),
        "reply_blocks": st.lists(_ids, max_size=3).map(tuple), "stop_reason": _some(_texts), "request_id": _some(_texts),
        "message_id": _some(_texts), "retries": _numbers, "job": _some(_numbers), "modelled": st.booleans(),
        "control": _some(st.sampled_from(Control)), "miss_reason": _some(st.sampled_from(MissReason)),
        "missed_tokens": _some(_counts), "transformations": st.lists(_json, max_size=2).map(tuple),
        "applied_edits": st.lists(_json, max_size=2).map(tuple), "error_status": _some(_numbers),
        "error_type": _some(_texts), "error_message": _some(_texts), "diagnosis": _some(_json),
    },
    EventRecord: {"event": st.sampled_from(_OPEN_EVENTS), "turn": _numbers, "at_ms": _times, "data": _json},
    TurnRecord: {
        "turn": _numbers, "started_ms": _times, "answered_ms": _times, "wait_ms": _times, "first_text_ms": _some(_times),
    },
    JobRecord: {"job": _numbers, "request": _numbers, "started_ms": _times, "finished_ms": _times},
    ProbeRecord: {
        "fact": _texts, "asked_after": _numbers, "control": st.sampled_from(Control), "question": _texts, "answer": _texts,
        "passed": st.booleans(), "stale": st.booleans(), "visible": st.booleans(), "survival": st.sampled_from(Survival),
        "grading": _texts, "request": _numbers,
    },
    FactRecord: {"fact": _texts, "survival": st.sampled_from(Survival)},
    StatusRecord: {"status": st.sampled_from(Status), "turns_completed": _numbers, "at_ms": _times, "message": _some(_texts)},
}  # fmt: skip


@st.composite
def journals(draw: st.DrawFn) -> list[Record]:
    """Records of any kind in any order, numbered from 0, each block's text in the first request that has it."""
    kinds = draw(st.lists(st.sampled_from(list(_kinds)), max_size=8))
    texts = draw(st.dictionaries(_stored_ids, _texts, max_size=5))
    blocks = iter(texts.items())
    return [_record(draw, seq, kind, blocks) for seq, kind in enumerate(kinds)]


def _record(draw: st.DrawFn, seq: int, kind: type, blocks: Iterator[tuple[str, str]]) -> Record:
    fields = {name: draw(values) for name, values in _kinds[kind].items()}
    if kind is RequestRecord:
        fields["blocks"] = dict(itertools.islice(blocks, draw(st.integers(0, 2))))
    record: Record = kind(seq=seq, **fields)
    return record
