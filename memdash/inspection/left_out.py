"""Blocks of a request that the model did not read: the API left them out, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from memdash.inspection.blocks import Entry, Kind, kind_of
from memdash.models import facts
from memdash.records import RequestRecord
from memdash.replay.clearing import cleared_from

CLOSED = "closed by the compaction after it"
OLD_THINKING = "thinking of an earlier turn, which this model never reads"
CLEARED = "cleared by context editing, the oldest first"


def left_out(
    record: RequestRecord, entries: Sequence[Entry], values: Mapping[str, Mapping[str, Any]]
) -> dict[int, str]:
    """Return why a block was left out, by its place among ``entries``; those that were read are not in it.

    ``values`` are the blocks by id. Of a tool call whose input was cleared its name is still read.
    """
    found: dict[int, str] = {}
    kinds = [kind_of(values[entry.block]) for entry in entries]
    found |= dict.fromkeys(_old_thinking(record, entries, kinds), OLD_THINKING)
    for edit in record.applied_edits:
        found |= dict.fromkeys(_cleared_thinking(edit, entries, kinds), CLEARED)
    cleared = cleared_from(record, (values[entry.block] for entry in entries))
    found |= {
        at: CLEARED
        for at, entry in enumerate(entries)
        if kinds[at] is Kind.RESULT and cleared.holds(values[entry.block])
    }
    places = {entry.path: at for at, entry in enumerate(entries)}
    for one in record.transformations:
        at = places.get(str(one.get("path")))
        if at is not None and one.get("type") == "thinking_dropped":
            found[at] = f"dropped by the API: {str(one.get('reason')).replace('_', ' ')}"
    found |= dict.fromkeys(range(_closed(entries, values)), CLOSED)
    return found


def _closed(entries: Sequence[Entry], values: Mapping[str, Mapping[str, Any]]) -> int:
    """How many blocks stand before the latest compaction that has content; the API reads none of them."""
    return max(
        (
            at
            for at, entry in enumerate(entries)
            if kind_of(values[entry.block]) is Kind.COMPACTION and values[entry.block].get("content")
        ),
        default=0,
    )


def _old_thinking(record: RequestRecord, entries: Sequence[Entry], kinds: Sequence[Kind]) -> Iterator[int]:
    known = facts(record.model)
    if known is None or known.keeps_thinking:
        return
    turn_of = _turns(entries, kinds)
    latest = turn_of[-1] if turn_of else 0
    yield from (at for at, kind in enumerate(kinds) if kind is Kind.THINKING and turn_of[at] < latest)


def _turns(entries: Sequence[Entry], kinds: Sequence[Kind]) -> list[int]:
    """The turn of each block, counted by the user messages that hold more than results of tools."""
    opening = {
        entry.message
        for entry, kind in zip(entries, kinds, strict=True)
        if entry.role == "user" and kind is not Kind.RESULT
    }
    opened = list(accumulate(one in opening for one in range(entries[-1].message + 1))) if entries else []
    return [opened[entry.message] for entry in entries]


def _cleared_thinking(edit: Mapping[str, Any], entries: Sequence[Entry], kinds: Sequence[Kind]) -> list[int]:
    thinking = [at for at, kind in enumerate(kinds) if kind is Kind.THINKING]
    turn_of = _turns(entries, kinds)
    turns = list(dict.fromkeys(turn_of[at] for at in thinking))
    gone = turns[: int(edit.get("cleared_thinking_turns") or 0)]
    return [at for at in thinking if turn_of[at] in gone]
