"""The tokens of a request's blocks as we count them, with the counter of the replay.

A block is counted the way the simulator counts it, its frame included. What the API writes around messages, tools and the whole
request belongs to no block.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from memdash.inspection.blocks import Kind, kind_of
from memdash.models import TokenFamily, facts
from memdash.records import RequestRecord
from memdash.replay_log import ReplayLog
from memdash.simulator.block_reading import Place, read_block
from memdash.simulator.blocks import Block
from memdash.simulator.errors import ApiError
from memdash.simulator.rules import Rules, rules_for
from memdash.simulator.tools import read_system, read_tools
from memdash.tokens import at_hand, counter

API_VERSION = "2026-10-21"
"""The ``anthropic-version`` that the SDK sends."""


class BlockCounter:
    """Counts the blocks of one replay's requests.

    ``values`` are the blocks of the request by id. ``name`` is the counter's; one that is not installed here is replaced by the
    estimate.
    """

    def __init__(self, log: ReplayLog, record: RequestRecord, values: Mapping[str, Any]) -> None:
        known = facts(record.model)
        self._family = known.token_family if known else TokenFamily.NEW
        self._rules: Rules = rules_for(API_VERSION, record.betas)
        self._counter = counter(at_hand(log.spec.token_counter))
        self._thinking = _thinking_tokens(log.requests, values)

    @property
    def name(self) -> str:
        """What counted."""
        return self._counter.name

    def system(self, value: Any) -> list[int]:
        """Return the tokens of each block of a system prompt."""
        try:
            return self._of(read_system(value, self._rules).blocks)
        except ApiError:
            return [self._json(one) for one in value]

    def tools(self, value: Any) -> list[int]:
        """Return the tokens of each tool definition; one that is deferred stands in no prompt and counts nothing."""
        try:
            counts = iter(self._of(read_tools(value).blocks))
            return [0 if tool.get("defer_loading") is True else next(counts) for tool in value]
        except (ApiError, StopIteration):
            return [self._json(one) for one in value]

    def block(self, role: str, block_id: str, value: Mapping[str, Any]) -> int | None:
        """Return the tokens of a block of a message; None where nothing says how long it is.

        That is thinking of a live model: the API shows a summary of it or nothing, and its answer tells the tokens only where it
        thought once.
        """
        try:
            read = read_block(value, Place("messages.0.content.0", role, self._rules))
        except ApiError:
            return self._json(value)
        if read.is_thinking and read.thought is None:
            return self._thinking.get(block_id)
        return read.tokens(self._counter, self._family)

    def _of(self, blocks: Iterable[Block]) -> list[int]:
        return [block.tokens(self._counter, self._family) for block in blocks]

    def _json(self, value: Any) -> int:
        return self._counter.count(json.dumps(value, ensure_ascii=False), self._family)


def _thinking_tokens(requests: Iterable[RequestRecord], values: Mapping[str, Any]) -> dict[str, int]:
    """What answers report for their thinking, by its block: of those that thought once and stand in the request whole."""
    found = {}
    for record in requests:
        tokens = record.usage.thinking_tokens
        if tokens and all(one in values for one in record.reply_blocks):
            thinking = [one for one in record.reply_blocks if kind_of(values[one]) is Kind.THINKING]
            if len(thinking) == 1:
                found[thinking[0]] = tokens
    return found
