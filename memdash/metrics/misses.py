"""Cache misses: what could have been read from the prompt cache and was not, what that cost, and what caused it.

A request could have read what the one before it had read and written. Of that, what still stands in its prompt and was paid for
anew counts as missed: never more than the prompt tokens that were not read, since what an edit took out is gone, not missed. New
text of the same turn is not told apart from old, so after an edit the figure is an upper bound.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memdash import numbers
from memdash.metrics.ledger import added
from memdash.metrics.pricing import Prices
from memdash.records import EventKind, EventRecord, MissReason, Purpose, RequestRecord, Usage
from memdash.replay_log import ReplayLog
from memdash.spec import ReplaySpec


class Cause(StrEnum):
    """What made a request miss: an event of the strategy or the API by its kind, something else, or nothing of ours."""

    TRIM = "trim"
    STRIP_THINKING = "strip_thinking"
    COMPACTION = "compaction"
    SWAP = "swap"
    CLEAR = "clear"
    DROP_BLOCK = "drop_block"
    CAP = "cap"
    SCRIPT_TOOLS = "script_tools"
    SCRIPT_SYSTEM = "script_system"
    PAUSE = "pause"
    MANY_BLOCKS = "many_blocks"
    SETTING = "setting"
    NONE = "none"


CAUSES: Mapping[Cause, str] = {
    Cause.TRIM: "old turns dropped",
    Cause.STRIP_THINKING: "thinking stripped",
    Cause.COMPACTION: "compaction",
    Cause.SWAP: "memory swapped in",
    Cause.CLEAR: "context cleared by the API",
    Cause.DROP_BLOCK: "thinking dropped by the API",
    Cause.CAP: "tool result shortened",
    Cause.SCRIPT_TOOLS: "script changed tools",
    Cause.SCRIPT_SYSTEM: "script changed system",
    Cause.PAUSE: "pause",
    Cause.MANY_BLOCKS: "many blocks added at once",
    Cause.SETTING: "a setting of the comparison",
    Cause.NONE: "none of ours",
}
"""Each cause in a few words."""

REASONS: Mapping[MissReason | None, str] = {
    MissReason.CACHING_OFF: "caching off",
    MissReason.NOT_REPORTED: "not reported",
    MissReason.FIRST_REQUEST: "first request",
    MissReason.MODEL_CHANGED: "model changed",
    MissReason.OPTIONS_CHANGED: "options changed",
    MissReason.TOOLS_CHANGED: "tools changed",
    MissReason.SYSTEM_CHANGED: "system prompt changed",
    MissReason.HISTORY_EDITED: "history edited",
    MissReason.LIFETIME_PASSED: "cache lifetime passed",
    MissReason.LOOKBACK_EXCEEDED: "look-back exceeded",
    MissReason.BELOW_MINIMUM: "below the model's minimum",
    None: "nothing in our record explains it",
}
"""Each reason in a few words."""

_EVENTS = {kind: Cause(kind.value) for kind in EventKind if kind.value in set(Cause)}
_BY_API = (EventKind.CLEAR, EventKind.DROP_BLOCK)
"""Told in the answer to the very request they changed."""
_EDITS = (MissReason.HISTORY_EDITED, MissReason.LOOKBACK_EXCEEDED, None)
_API_SAW_A_CHANGE = ("model_changed", "system_changed", "tools_changed", "messages_changed")


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """One request that read less than it could have.

    ``reason`` is what we see in our own record, None where that explains nothing. ``tokens`` and ``cost_usd`` are None where
    they cannot be known (no caching, nothing reported, no price). ``pause_s`` is the time since the start of the request before.
    ``said`` is the API's own word for it, None where it was not asked, and ``said_tokens`` its estimate. ``event`` is the
    sequence number of the event that caused it, None where it was none.
    """

    series: str
    replay: str
    request: int
    turn: int
    reason: MissReason | None
    cause: Cause
    tokens: int | None
    cost_usd: float | None
    pause_s: float | None
    said: str | None
    said_tokens: int | None
    event: int | None = None


@dataclass(frozen=True, slots=True)
class MissGroup:
    """The misses of one series with one reason and one cause, added up over its replays.

    ``said`` counts the API's own words for these requests, the most frequent first.
    """

    series: str
    reason: MissReason | None
    cause: Cause
    requests: int
    tokens: int | None
    cost_usd: float | None
    pauses_s: tuple[float, float] | None
    said: tuple[tuple[str, int], ...]
    said_tokens: int | None

    @property
    def caused_by(self) -> str:
        """The cause in words, a pause with its length."""
        if self.cause is not Cause.PAUSE or self.pauses_s is None:
            return CAUSES[self.cause]
        low, high = (numbers.seconds(pause * 1000) for pause in self.pauses_s)
        return f"pause of {low}" if low == high else f"pauses of {low} to {high}"


def cache_misses(log: ReplayLog, prices: Prices) -> tuple[CacheMiss, ...]:
    """Return every request of the conversation that missed, in order; the first request, which can read nothing, is none.

    A request that read all it could counts too where the API says that something had changed, so that the two can be compared.
    """
    found = []
    edits = _Edits(log.events)
    before: RequestRecord | None = None
    for request in log.requests:
        if request.purpose not in (Purpose.TURN, Purpose.TOOL) or request.error_message is not None:
            continue
        if _is_miss(request):
            found.append(_miss(log.spec, request, before, edits, prices))
        before = request
    return tuple(found)


def miss_groups(misses: Iterable[CacheMiss]) -> tuple[MissGroup, ...]:
    """Add misses up by series, reason and cause; series in the order they first appear, the dearest reason of each first."""
    groups: dict[str, dict[tuple[MissReason | None, Cause], list[CacheMiss]]] = {}
    for miss in misses:
        groups.setdefault(miss.series, {}).setdefault((miss.reason, miss.cause), []).append(miss)
    return tuple(
        group
        for by_reason in groups.values()
        for group in sorted(map(_group, by_reason.values()), key=lambda one: -(one.cost_usd or 0.0))
    )


def cost_of_misses(request: RequestRecord, tokens: int, prices: Prices) -> float | None:
    """Return what ``tokens`` of the prompt cost beyond the price of reading them; None without a price or figures.

    What is missed stands first in the unread part of a prompt: it was written, at the 1-hour price before the 5-minute one, and
    plain input after the last mark (Messages API, prompt caching). Both prices are of the request's own tier.
    """
    usage = request.usage
    paid, read = prices.cost(usage, request.model), prices.cost(_as_read(usage, tokens), request.model)
    return None if paid is None or read is None else paid - read


def _is_miss(request: RequestRecord) -> bool:
    if request.miss_reason is MissReason.FIRST_REQUEST:
        return False
    contradicted = request.diagnosis is not None and request.diagnosis["type"] in _API_SAW_A_CHANGE
    return request.miss_reason is not None or bool(request.missed_tokens) or contradicted


def _miss(
    spec: ReplaySpec, request: RequestRecord, before: RequestRecord | None, edits: _Edits, prices: Prices
) -> CacheMiss:
    tokens = _missed(request)
    diagnosis = request.diagnosis or {}
    event = edits.latest(request, before) if request.miss_reason in _EDITS else None
    return CacheMiss(
        series=spec.series,
        replay=spec.id,
        request=request.number,
        turn=request.turn,
        reason=request.miss_reason,
        cause=_cause(spec, request, before, event),
        tokens=tokens,
        cost_usd=None if tokens is None else cost_of_misses(request, tokens, prices),
        pause_s=None if before is None else (request.started_ms - before.started_ms) / 1000,
        said=diagnosis.get("type"),
        said_tokens=diagnosis.get("cache_missed_input_tokens"),
        event=None if event is None else event.seq,
    )


def _missed(request: RequestRecord) -> int | None:
    usage = request.usage
    if request.missed_tokens is None or usage.input_tokens is None:
        return None
    unread = usage.input_tokens + (usage.cache_creation_input_tokens or 0)
    return max(min(request.missed_tokens, unread), 0)


def _as_read(usage: Usage, tokens: int) -> Usage:
    """The same prompt with ``tokens`` of its unread part read from the cache instead."""
    written = usage.cache_creation_input_tokens or 0
    long = min(usage.ephemeral_1h_input_tokens or 0, written)
    from_long = min(tokens, long)
    from_short = min(tokens - from_long, written - long)
    from_input = min(tokens - from_long - from_short, usage.input_tokens or 0)
    return dataclasses.replace(
        usage,
        input_tokens=(usage.input_tokens or 0) - from_input,
        cache_creation_input_tokens=written - from_long - from_short,
        ephemeral_1h_input_tokens=long - from_long,
        ephemeral_5m_input_tokens=written - long - from_short,
        cache_read_input_tokens=(usage.cache_read_input_tokens or 0) + from_long + from_short + from_input,
    )


def _cause(
    spec: ReplaySpec, request: RequestRecord, before: RequestRecord | None, event: EventRecord | None
) -> Cause:
    """``event`` is the edit that made the request miss, None for the reasons that no edit has."""
    reason = request.miss_reason
    if reason is MissReason.CACHING_OFF:
        return Cause.SETTING
    if reason is MissReason.LIFETIME_PASSED:
        return Cause.PAUSE
    if reason in (MissReason.TOOLS_CHANGED, MissReason.SYSTEM_CHANGED):
        tools = reason is MissReason.TOOLS_CHANGED
        if _script_changed(spec, before, request, tools=tools):
            return Cause.SCRIPT_TOOLS if tools else Cause.SCRIPT_SYSTEM
        return Cause.NONE
    if event is not None:
        return _EVENTS[event.event]
    return Cause.MANY_BLOCKS if reason is MissReason.LOOKBACK_EXCEEDED else Cause.NONE


class _Edits:
    """The edits of a replay's history: the strategy's in their order, the API's by the request they changed."""

    def __init__(self, events: Iterable[EventRecord]) -> None:
        edits = [one for one in events if one.event in _EVENTS and one.data.get("used", True) is not False]
        self._own = sorted((one for one in edits if one.event not in _BY_API), key=lambda one: one.seq)
        self._places = [one.seq for one in self._own]
        self._by_request: dict[object, list[EventRecord]] = defaultdict(list)
        for one in edits:
            if one.event in _BY_API:
                self._by_request[one.data.get("request")].append(one)

    def latest(self, request: RequestRecord, before: RequestRecord | None) -> EventRecord | None:
        """Return the latest edit between two requests, or by the API in the second.

        Stripping goes with the trim or the swap that made it necessary, so it is named only where it stands alone.
        """
        first = 0 if before is None else bisect_right(self._places, before.seq)
        edits = self._own[first : bisect_left(self._places, request.seq)]
        edits += self._by_request.get(request.number, [])
        telling = [one for one in edits if one.event is not EventKind.STRIP_THINKING] or edits
        return telling[-1] if telling else None


def _script_changed(
    spec: ReplaySpec, before: RequestRecord | None, request: RequestRecord, *, tools: bool
) -> bool:
    since = 0 if before is None else before.turn
    return any(
        (turn.tools if tools else turn.system) is not None
        for turn in spec.script.turns
        if since < turn.number <= request.turn
    )


def _group(misses: Sequence[CacheMiss]) -> MissGroup:
    first = misses[0]
    known = [miss for miss in misses if miss.tokens is not None]
    pauses = [miss.pause_s for miss in misses if miss.pause_s is not None]
    told = [miss.said_tokens for miss in misses if miss.said_tokens is not None]
    return MissGroup(
        series=first.series,
        reason=first.reason,
        cause=first.cause,
        requests=len(misses),
        tokens=sum(miss.tokens or 0 for miss in known) if known else None,
        cost_usd=added(miss.cost_usd for miss in known) if known else None,
        pauses_s=(min(pauses), max(pauses)) if pauses else None,
        said=tuple(Counter(miss.said for miss in misses if miss.said is not None).most_common()),
        said_tokens=sum(told) if told else None,
    )
