"""One request as the model got it: block by block, each with its kind, its tokens, how it was billed, and whether it is new."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from memdash.inspection.alignment import align
from memdash.inspection.blocks import Entry, Kind, entries_of, kind_of
from memdash.inspection.buckets import Bucket, Part, Split, split
from memdash.inspection.counting import BlockCounter
from memdash.inspection.left_out import left_out
from memdash.records import EventKind, Purpose, RequestRecord
from memdash.replay.contexts import context_of
from memdash.replay.journal import Context
from memdash.replay_log import ReplayLog


class Piece(NamedTuple):
    """A part of a request: a tool definition, a block of the system prompt or a block of a message.

    ``path`` is its place in the request's body. ``block`` is the id of the recorded text it is in, ``part`` its place in that
    where it is a list (tools, system prompt), else None. ``tokens`` are counted by us, None where nothing tells. ``bucket`` is
    how it was billed, None where that is not reported or the model did not read it. ``kept`` says that the conversation's
    request before held it too. ``note`` is what else is to be said of it.
    """

    path: str
    role: str
    kind: Kind
    block: str
    part: int | None
    tokens: int | None
    bucket: Bucket | None
    kept: bool
    note: str | None


class Run(NamedTuple):
    """Pieces next to each other that are alike: all of the fixed part, or all kept or new, and billed the same way."""

    fixed: bool
    kept: bool
    bucket: Bucket | None
    pieces: tuple[Piece, ...]

    @property
    def tokens(self) -> int:
        """Its tokens as we count them; those that nothing tells are left out."""
        return sum(piece.tokens or 0 for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class InspectedRequest:
    """A request's pieces in the order the model reads them: tools, system prompt, messages.

    ``counter`` is what counted them. ``split`` is None where the API does not report how the prompt was billed.
    """

    record: RequestRecord
    pieces: tuple[Piece, ...]
    split: Split | None
    counter: str

    @property
    def runs(self) -> list[Run]:
        """The pieces in runs, for what need not be read one by one."""
        alike = groupby(
            self.pieces, key=lambda one: (not one.path.startswith("messages"), one.kept, one.bucket)
        )
        return [Run(fixed, kept, bucket, tuple(pieces)) for (fixed, kept, bucket), pieces in alike]


def requests_of(log: ReplayLog, turn: int) -> list[RequestRecord]:
    """Return the requests made in a turn, in order; the first one of the conversation is what the turn began with."""
    return [record for record in log.requests if record.turn == turn]


def opening_request(log: ReplayLog, turn: int) -> RequestRecord | None:
    """Return the first request of a turn's exchange: what is sent is decided there, and inside an exchange requests only grow."""
    return next((one for one in requests_of(log, turn) if one.purpose is Purpose.TURN), None)


def request_before(log: ReplayLog, record: RequestRecord) -> RequestRecord | None:
    """Return the conversation's answered request before this one: what the cache compares it with; None before the first."""
    return next((one for one in log.requests if one.number == record.base_request), None)


def recorded_context(log: ReplayLog, record: RequestRecord) -> Context:
    """Return a request's context as block ids."""
    return context_of(record, {one.number: one for one in log.requests})


def blocks_of(log: ReplayLog, record: RequestRecord) -> list[str]:
    """Return the ids of every text that a request and its answer are made of."""
    context = recorded_context(log, record)
    fixed = [one for one in (context.tools, context.system) if one is not None]
    return list(
        dict.fromkeys([*fixed, *(entry.block for entry in entries_of(context)), *record.reply_blocks])
    )


def inspect(log: ReplayLog, record: RequestRecord, texts: Mapping[str, str]) -> InspectedRequest:
    """Look at one request; ``texts`` are the recorded texts that :func:`blocks_of` names, by id."""
    context = recorded_context(log, record)
    entries = entries_of(context)
    values: dict[str, Any] = {entry.block: json.loads(texts[entry.block]) for entry in entries}
    values |= {one: json.loads(texts[one]) for one in record.reply_blocks}
    counter = BlockCounter(log, record, values)
    fixed = _fixed_part(log, record, context, texts, counter)
    unread = left_out(record, entries, values)
    tokens = [counter.block(entry.role, entry.block, values[entry.block]) for entry in entries]
    parts = [Part(piece.tokens or 0, True) for piece in fixed]
    parts += [
        Part(0, False)
        if at in unread
        else Part(count or 0, kind_of(values[entry.block]) is not Kind.THINKING)
        for at, (entry, count) in enumerate(zip(entries, tokens, strict=True))
    ]
    billed = split(log, record, parts, len(fixed))
    kept = _kept(log, record, entries)
    told = _Notes(log, record)
    pieces = [
        *(
            piece._replace(bucket=None if billed is None else billed.bucket(at))
            for at, piece in enumerate(fixed)
        ),
        *(
            Piece(
                path=entry.path,
                role=entry.role,
                kind=told.kind(entry, values[entry.block]),
                block=entry.block,
                part=None,
                tokens=tokens[at],
                bucket=None if billed is None or at in unread else billed.bucket(len(fixed) + at),
                kept=at in kept,
                note=unread.get(at) or told.note(entry, values[entry.block]),
            )
            for at, entry in enumerate(entries)
        ),
    ]
    return InspectedRequest(record, tuple(pieces), billed, counter.name)


def _fixed_part(
    log: ReplayLog, record: RequestRecord, context: Context, texts: Mapping[str, str], counter: BlockCounter
) -> list[Piece]:
    before = request_before(log, record)
    pieces = []
    for name, role, kind, block, known in (
        ("tools", "tools", Kind.TOOL, context.tools, before and before.tools_block),
        ("system", "system", Kind.SYSTEM, context.system, before and before.system_block),
    ):
        if block is None:
            continue
        value = json.loads(texts[block])
        counts = counter.tools(value) if kind is Kind.TOOL else counter.system(value)
        pieces += [
            Piece(f"{name}.{at}", role, kind, block, at, count, None, block == known, None)
            for at, count in enumerate(counts)
        ]
    return pieces


def _kept(log: ReplayLog, record: RequestRecord, entries: Sequence[Entry]) -> set[int]:
    """The places of blocks that the request before held too."""
    before = request_before(log, record)
    if before is None:
        return set()
    earlier = [(one.role, one.block) for one in entries_of(recorded_context(log, before))]
    stretches = align(earlier, [(one.role, one.block) for one in entries])
    return {at for one in stretches if one.same for at in range(one.now, one.now_end)}


class _Notes:
    """What the replay's events tell of single blocks: which hold a summary, and which results were shortened."""

    def __init__(self, log: ReplayLog, record: RequestRecord) -> None:
        told = [one for one in log.events if one.seq < record.seq]
        self._memories = [
            str(one.data["summary"])
            for one in told
            if one.event in (EventKind.COMPACTION, EventKind.SWAP)
            and one.data.get("used") is not False
            and one.data.get("summary")
        ][-1:]
        self._capped = {one.data.get("tool_use_id"): one.data for one in told if one.event is EventKind.CAP}

    def kind(self, entry: Entry, value: Mapping[str, Any]) -> Kind:
        """A text of the user that holds the memory in use is a summary."""
        kind = kind_of(value)
        if kind is Kind.TEXT and entry.role == "user":
            text = str(value.get("text") or "")
            if any(memory in text for memory in self._memories):
                return Kind.SUMMARY
        return kind

    def note(self, entry: Entry, value: Mapping[str, Any]) -> str | None:
        """A result that was shortened says from what size."""
        capped = self._capped.get(value.get("tool_use_id")) if kind_of(value) is Kind.RESULT else None
        if capped is None:
            return None
        return (
            f"shortened by the strategy from {capped['before_tokens']:,} to {capped['after_tokens']:,} tokens"
        )
