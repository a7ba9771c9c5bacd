"""What the model saw: requests put together again from a replay's records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memdash.errors import MemdashError
from memdash.records import Purpose, Record, RequestRecord
from memdash.replay.journal import Context, entry_block

Message = dict[str, Any]
CONVERSATION = (Purpose.TURN, Purpose.TOOL)
"""The purposes of the conversation's own requests: each answered one is what later contexts are told from."""


class ContextReader:
    """Reads the contexts of a replay's requests one after the other, as they come; keeps each block once."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._blocks: dict[str, Any] = {}
        self._base: tuple[int, tuple[str, ...]] | None = None

    def take(self, record: RequestRecord) -> Context:
        """Return the context of the next request.

        Raises :class:`MemdashError` where it is told from a request that did not come before it.
        """
        self._texts.update(record.blocks)
        known: tuple[str, ...] = ()
        if record.base_request is not None:
            if self._base is None or self._base[0] != record.base_request:
                raise _gap(record)
            known = self._base[1]
        if record.shared > len(known):
            raise _gap(record)
        entries = (*known[: record.shared], *record.entries)
        if record.purpose in CONVERSATION and record.error_message is None:
            self._base = record.number, entries
        return Context(record.system_block, record.tools_block, entries)

    def block(self, block_id: str) -> Any:
        """Return a block, a system prompt or a list of tools; raises :class:`MemdashError` where it is not recorded."""
        if block_id not in self._blocks:
            if block_id not in self._texts:
                raise MemdashError(f"the journal of this replay does not hold block {block_id}")
            self._blocks[block_id] = json.loads(self._texts[block_id])
        return self._blocks[block_id]

    def messages(self, context: Context) -> list[Message]:
        """Return a context as the messages that were sent."""
        messages: list[Message] = []
        for entry in context.entries:
            if not entry.startswith("+"):
                messages.append({"role": entry.partition(":")[0], "content": []})
            messages[-1]["content"].append(self.block(entry_block(entry)))
        return messages


class Contexts(Mapping[int, list[Message]]):
    """The messages of each request of a replay by its number, put together when they are asked for."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._reader = ContextReader()
        self._requests: dict[int, RequestRecord] = {}
        self._contexts: dict[int, Context] = {}
        for record in records:
            if isinstance(record, RequestRecord):
                self._contexts[record.number] = self._reader.take(record)
                self._requests[record.number] = record

    def __getitem__(self, number: int) -> list[Message]:
        return self._reader.messages(self._contexts[number])

    def __iter__(self) -> Iterator[int]:
        return iter(self._contexts)

    def __len__(self) -> int:
        return len(self._contexts)

    def body(self, number: int) -> dict[str, Any]:
        """Return the body of a request as it was sent, but for ``diagnostics``, which tells the model nothing."""
        context = self._contexts[number]
        body = {**self._requests[number].options, "messages": self[number]}
        if context.system is not None:
            body["system"] = self._reader.block(context.system)
        if context.tools is not None:
            body["tools"] = self._reader.block(context.tools)
        return body

    def answer(self, number: int) -> list[Mapping[str, Any]]:
        """Return the content of a request's answer as it was received."""
        return [self._reader.block(one) for one in self._requests[number].reply_blocks]


def context_of(record: RequestRecord, requests: Mapping[int, RequestRecord]) -> Context:
    """Return the context of one request, told from the requests it goes on from; nothing else is read.

    ``requests`` are those of its replay by number. Raises :class:`MemdashError` where one that it is told from is not among them.
    """
    parts = [record.entries]
    told, wanted = record, record.shared
    while wanted:
        base = None if told.base_request is None else requests.get(told.base_request)
        if base is None or base.shared + len(base.entries) < wanted:
            raise _gap(told)
        if base.shared < wanted:
            parts.append(base.entries[: wanted - base.shared])
            wanted = base.shared
        told = base
    entries = tuple(entry for part in reversed(parts) for entry in part)
    return Context(record.system_block, record.tools_block, entries)


def contexts(records: Iterable[Record]) -> Contexts:
    """Return the messages of every request among ``records``, which are those of one replay from its start, in order.

    Raises :class:`MemdashError` where a request among them cannot be told from those before it.
    """
    return Contexts(records)


def _gap(record: RequestRecord) -> MemdashError:
    return MemdashError(
        f"the journal of this replay has gaps: request {record.number} goes on from request {record.base_request}, "
        "which is not the conversation's latest"
    )
