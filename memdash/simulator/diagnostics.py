"""Cache diagnostics: why a request could not read what the one before it had left in the cache.

Requests are compared by fingerprint, not by what the cache holds, so nothing may have diverged although nothing was
read: then an entry had expired, or the prompt was too short for one (Messages API, cache diagnostics).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memdash.simulator.cache import Bill
from memdash.simulator.conversation import Step
from memdash.simulator.digests import in_any_order
from memdash.simulator.request import Request

_MOST_REMEMBERED = 1_000
_MOST_KEYS = 1_000


@dataclass(frozen=True, slots=True)
class _Fingerprint:
    """What is remembered of a request: its levels, its messages, and what it read from and wrote to the cache."""

    model: tuple[str, bool]
    tools: bytes
    system: bytes
    options: tuple[object, ...]
    messages: int
    trail: bytes
    cached: int


class Diagnostics:
    """Remembers requests by the id of their answers, so many for each key, the latest ones."""

    def __init__(self) -> None:
        self._by_key: dict[str, dict[str, _Fingerprint]] = {}

    def remember(
        self, request: Request, betas: frozenset[str], key: str, message_id: str, bill: Bill
    ) -> None:
        """Take in an answered request."""
        known = self._by_key.setdefault(key, {})
        known[message_id] = _fingerprint(request, betas, bill)
        if len(known) > _MOST_REMEMBERED:
            del known[next(iter(known))]
        if len(self._by_key) > _MOST_KEYS:
            del self._by_key[next(iter(self._by_key))]

    def compare(self, request: Request, betas: frozenset[str], key: str, bill: Bill) -> dict[str, Any] | None:
        """Return ``diagnostics`` as the response has it: None on a first turn and where nothing diverged."""
        previous = request.options.previous_message
        if previous is None:
            return None
        before = self._by_key.get(key, {}).get(previous)
        if before is None:
            return _reason("previous_message_not_found")
        now = _fingerprint(request, betas, bill)
        missed = max(0, before.cached - bill.read)
        if now.model != before.model:
            return _reason("model_changed", missed)
        if now.tools != before.tools:
            return _reason("tools_changed", missed)
        if now.system != before.system:
            return _reason("system_changed", missed)
        if now.options != before.options:
            return _reason("unavailable")
        if not _continues(request.step, before):
            return _reason("messages_changed", missed)
        return None


def _reason(type: str, missed: int | None = None) -> dict[str, Any]:
    reason: dict[str, Any] = {"type": type}
    if missed is not None:
        reason["cache_missed_input_tokens"] = missed
    return {"cache_miss_reason": reason}


def _fingerprint(request: Request, betas: frozenset[str], bill: Bill) -> _Fingerprint:
    options = request.options
    return _Fingerprint(
        model=(request.model.id, options.fast),
        tools=request.prompt.reader.tools,
        system=request.prompt.reader.system,
        options=(
            options.thinking,
            options.tool_choice,
            options.chosen_tool,
            options.parallel_tools,
            options.effort,
            options.output_format,
            in_any_order(request.body.get("context_management")),
            betas,
        ),
        messages=request.step.index + 1,
        trail=request.step.trail,
        cached=bill.read + bill.written,
    )


def _continues(step: Step, before: _Fingerprint) -> bool:
    """Whether the messages begin with those of the earlier request."""
    at: Step | None = step
    while at is not None and at.index >= before.messages:
        at = at.parent
    return at is not None and at.index == before.messages - 1 and at.trail == before.trail
