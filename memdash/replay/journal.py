"""The journal: records in order, blocks by content, and the way back through them.

A replay that goes on from recorded answers runs through the same code as before. Whatever it would record again is taken from the
journal instead, answers included, until the journal ends.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from memdash.errors import MemdashError
from memdash.records import EventKind, EventRecord, Record, RequestRecord, Status, StatusRecord

if TYPE_CHECKING:
    from memdash.claude import Request

R = TypeVar("R", bound=Record)


class Context(NamedTuple):
    """A request's context as block ids."""

    system: str | None
    tools: str | None
    entries: tuple[str, ...]


class Journal:
    """Numbers the records of one replay and hands each on once.

    ``recorded`` is what an earlier run recorded; only what comes after it is handed on. ``watch`` sees every
    record once, in order,
    recorded ones included as they are gone through again.
    """

    def __init__(
        self, recorded: Sequence[Record], watch: Callable[[Record], None] = lambda record: None
    ) -> None:
        self._watch = watch
        # The worker's own states (queued, interrupted) are not part of the replay and are numbered below 0.
        self._recorded = sorted(
            (record for record in recorded if record.seq >= 0), key=lambda record: record.seq
        )
        if [record.seq for record in self._recorded] != list(range(len(self._recorded))):
            raise MemdashError("the journal of this replay has gaps; it cannot go on from there")
        self._next = 0
        self._pending: list[Record] = []

    def add(self, make: Callable[[int], R]) -> R:
        """Record what ``make`` returns for its sequence number, or return what was recorded in its place."""
        expected = self.peek()
        record = make(self._next)
        self._next += 1
        if expected is None:
            self._pending.append(record)
            self._watch(record)
            return record
        if type(expected) is not type(record):
            raise MemdashError(
                f"the journal of this replay does not fit: record {record.seq} is {expected.kind!r}, not {record.kind!r}. "
                "It was written by another version; start the replay anew"
            )
        self._watch(expected)
        return expected

    def peek(self) -> Record | None:
        """Return the next recorded record, None where the journal has ended. Earlier ends of the replay are passed over."""
        while self._next < len(self._recorded):
            if _is_end(self._recorded[self._next]):
                self._next += 1
            elif _is_verdict(self._recorded[self._next]) and any(
                map(_is_end, self._recorded[self._next + 1 :])
            ):
                self._next += (
                    1  # the verdict of a run that ended; one that was cut short is gone through as any record
                )
            else:
                return self._recorded[self._next]
        return None

    def recorded_request(self, context: Context, purpose: str) -> RequestRecord | None:
        """Return the recorded answer to the request at hand, None where it must really be made.

        Raises :class:`MemdashError` where the journal holds another request in its place.
        """
        record = self.peek()
        if record is None:
            return None
        if not isinstance(record, RequestRecord) or record.purpose != purpose:
            found = f"a {record.purpose} request" if isinstance(record, RequestRecord) else repr(record.kind)
            raise MemdashError(
                f"the journal of this replay does not fit: record {record.seq} is {found}, not a {purpose} request. "
                "The script or the strategy has changed since; start the replay anew"
            )
        self._next += 1
        self._watch(record)
        return record

    def drain(self) -> list[Record]:
        """Return what was recorded since the last call."""
        records, self._pending = self._pending, []
        return records


def _is_end(record: Record) -> bool:
    return isinstance(record, StatusRecord) and record.status is not Status.RUNNING


def _is_verdict(record: Record) -> bool:
    return isinstance(record, EventRecord) and record.event is EventKind.VERDICT


class BlockBook:
    """Gives every block its id, and remembers which blocks are recorded.

    Messages and blocks are recognised by object first: a conversation hands the same ones in again and
    again, and never changes one.
    """

    def __init__(self) -> None:
        self._by_object: dict[int, tuple[Any, str]] = {}
        self._by_message: dict[int, tuple[Any, tuple[str, ...]]] = {}
        self._json: dict[str, str] = {}
        self._recorded: set[str] = set()

    def context(self, request: Request) -> Context:
        """Return the ids of a request's system prompt, tools and content blocks."""
        entries: list[str] = []
        for message in request.body["messages"]:
            entries += self._entries_of(message)
        system, tools = request.body.get("system"), request.body.get("tools")
        return Context(
            self.id_of(system) if system else None,
            self._id_of_json(_dump(tools)) if tools else None,
            tuple(entries),
        )

    def _entries_of(self, message: Any) -> tuple[str, ...]:
        known = self._by_message.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        ids = [self.id_of(block) for block in message["content"]]
        entries = (f"{message['role']}:{ids[0]}", *(f"+{one}" for one in ids[1:])) if ids else ()
        self._by_message[id(message)] = (message, entries)
        return entries

    def id_of(self, block: Any) -> str:
        """Return the id of one block."""
        known = self._by_object.get(id(block))
        if known is not None and known[0] is block:
            return known[1]
        block_id = self._id_of_json(_dump(block))
        self._by_object[id(block)] = (block, block_id)
        return block_id

    def _id_of_json(self, text: str) -> str:
        block_id = hashlib.sha256(text.encode()).hexdigest()[:24]
        self._json.setdefault(block_id, text)
        return block_id

    def unrecorded(self, ids: Sequence[str | None]) -> dict[str, str]:
        """Return the JSON of those among ``ids`` that no record holds yet, and count them as recorded."""
        fresh = {one: self._json[one] for one in ids if one is not None and one not in self._recorded}
        self._recorded.update(fresh)
        return fresh

    def learn(self, blocks: Mapping[str, str]) -> None:
        """Take in the blocks of a recorded request."""
        self._json.update(blocks)
        self._recorded.update(blocks)

    def block(self, block_id: str) -> Any:
        """Return a block as it was received."""
        return json.loads(self._json[block_id])


def entry_block(entry: str) -> str:
    """Return the block id of a context entry (``user:1f3a…`` or ``+1f3a…``)."""
    return entry.lstrip("+").rpartition(":")[2]


_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def shared_length(before: Sequence[str], now: Sequence[str]) -> int:
    """Return how many entries two contexts share from the start."""
    if now[: len(before)] == before:  # nearly always: a conversation grows at its end
        return len(before)
    for index, (one, other) in enumerate(zip(before, now, strict=False)):
        if one != other:
            return index
    return min(len(before), len(now))
