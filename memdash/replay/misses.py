"""Why a request read less from the prompt cache than it could have, judged from our own record of the conversation.

The rules are those of the Messages API's prompt caching: an entry is written at a marked block, found from a
later mark at most 20
positions on, and lives for its lifetime from the start of the request that wrote or last read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from memdash.records import Iteration, MissReason, Usage
from memdash.replay.journal import Context, shared_length

LOOKBACK_POSITIONS = 20
"""A read checks the marked position and up to 19 before it (Messages API, prompt caching)."""

_CACHE_OPTIONS = ("thinking", "output_config", "tool_choice", "speed")
"""Body fields that are part of a prefix's identity beside its content."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent and read: all that a later request is compared with.

    ``usage`` is that of the prompt as it was sent. ``left`` is that of the last prompt the API read for the answer, where it
    compacted on the way and went on from its summary. ``cleared`` is what the API left out of the prompt.
    """

    model: str
    options: Mapping[str, Any]
    context: Context
    started_ms: float
    usage: Usage
    left: Usage | None = None
    cleared: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of(
        cls,
        model: str,
        options: Mapping[str, Any],
        context: Context,
        started_ms: float,
        answer: Answered,
    ) -> Sent:
        """Return what was sent, with the usages of its answer."""
        iterations = answer.iterations
        read, left = answer.usage, None
        if any(one.type == "compaction" for one in iterations):
            read, left = iterations[0].usage, iterations[-1].usage
        return cls(model, options, context, started_ms, read, left, answer.applied_edits)


class Answered(Protocol):
    """The part of an answer that tells what was read."""

    @property
    def usage(self) -> Usage:
        """The usage at the top of the answer, which leaves compactions out."""

    @property
    def iterations(self) -> tuple[Iteration, ...]:
        """The usages one by one, where the API gives them."""

    @property
    def applied_edits(self) -> tuple[Mapping[str, Any], ...]:
        """What context editing left out of the prompt."""


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
    left = before.usage if before.left is None else before.left
    readable = (left.cache_read_input_tokens or 0) + (left.cache_creation_input_tokens or 0)
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
    if (
        before.left is not None
    ):  # what was left is what the API went on from, so the edit alone does not lose it
        passed = now.started_ms - before.started_ms > lifetime_ms
        return MissReason.LIFETIME_PASSED if passed else MissReason.HISTORY_EDITED
    if shared < len(before.context.entries) or now.cleared != before.cleared:
        return MissReason.HISTORY_EDITED
    if now.started_ms - before.started_ms > lifetime_ms:
        return MissReason.LIFETIME_PASSED
    if len(now.context.entries) - len(before.context.entries) >= LOOKBACK_POSITIONS:
        return MissReason.LOOKBACK_EXCEEDED
    return MissReason.BELOW_MINIMUM if readable == 0 else None
