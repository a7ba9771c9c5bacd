"""Why a request read less from the prompt cache than it could have, judged from our own record of the conversation.

The rules are those of the Messages API's prompt caching: an entry is written at a marked block, found from a
later mark at most 20
positions on, and lives for its lifetime from the start of the request that wrote or last read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from memdash.records import MissReason, Usage
from memdash.replay.journal import Context, shared_length

LOOKBACK_POSITIONS = 20
"""A read checks the marked position and up to 19 before it (Messages API, prompt caching)."""

_CACHE_OPTIONS = ("thinking", "output_config", "tool_choice", "speed")
"""Body fields that are part of a prefix's identity beside its content."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent and read: all that a later request is compared with."""

    model: str
    options: Mapping[str, Any]
    context: Context
    started_ms: float
    usage: Usage


class Miss(NamedTuple):
    """A reason, and how many tokens could have been read and were not."""

    reason: MissReason | None
    tokens: int | None


def find_miss(before: Sent | None, now: Sent, lifetime_ms: float | None) -> Miss:
    """Compare a request of the conversation with the one before it; ``lifetime_ms`` None is "no caching asked for"."""
    if lifetime_ms is None:
        return Miss(MissReason.CACHING_OFF, None)
    read = now.usage.cache_read_input_tokens
    if read is None:
        return Miss(MissReason.NOT_REPORTED, None)
    if before is None:
        return Miss(None if read else MissReason.FIRST_REQUEST, None)
    readable = (before.usage.cache_read_input_tokens or 0) + (before.usage.cache_creation_input_tokens or 0)
    if read >= readable > 0:
        return Miss(None, 0)
    return Miss(_reason(before, now, lifetime_ms, readable), readable - read)


def _reason(before: Sent, now: Sent, lifetime_ms: float, readable: int) -> MissReason | None:
    if now.model != before.model:
        return MissReason.MODEL_CHANGED
    if any(now.options.get(name) != before.options.get(name) for name in _CACHE_OPTIONS):
        return MissReason.OPTIONS_CHANGED
    if now.context.tools != before.context.tools:
        return MissReason.TOOLS_CHANGED
    if now.context.system != before.context.system:
        return MissReason.SYSTEM_CHANGED
    shared = shared_length(before.context.entries, now.context.entries)
    if shared < len(before.context.entries):
        return MissReason.HISTORY_EDITED
    if now.started_ms - before.started_ms > lifetime_ms:
        return MissReason.LIFETIME_PASSED
    if len(now.context.entries) - len(before.context.entries) >= LOOKBACK_POSITIONS:
        return MissReason.LOOKBACK_EXCEEDED
    return MissReason.BELOW_MINIMUM if readable == 0 else None
