"""Compactions as lines of their own: what each took, what it freed, and when it had paid for itself.

A line stands for one summary put into use, or refused, and holds every summary call made for it since the line before: an
instant compaction's refreshes belong to the swap they led to. Calls that led to nothing by the end share a last line, so that the
lines of a replay add up to what it spent on summaries.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memdash import numbers
from memdash.metrics.ledger import added
from memdash.metrics.pricing import Prices
from memdash.metrics.tokens import compactions_of, own_usages, refused, total
from memdash.records import EventKind, EventRecord, MissReason, Purpose, RequestRecord, Usage
from memdash.replay_log import ReplayLog
from memdash.spec import CacheLifetime

_PUT_INTO_USE = (EventKind.COMPACTION, EventKind.SWAP)
_COLD = (
    MissReason.LIFETIME_PASSED,
    MissReason.MODEL_CHANGED,
    MissReason.OPTIONS_CHANGED,
    MissReason.TOOLS_CHANGED,
    MissReason.SYSTEM_CHANGED,
)
"""Why a request finds nothing of the conversation in the cache, whatever its history."""


class Payback(NamedTuple):
    """When a compaction had paid for itself.

    ``turns`` counts from the first turn after it, None where it has not; ``of`` is how many turns there were until the next
    summary was put into use (``ended_by_next``) or the script ended. ``saved_usd`` is what the turns after it saved by then,
    before the compaction's own cost; None where that cannot be known.
    """

    turns: int | None
    of: int
    ended_by_next: bool
    saved_usd: float | None

    @property
    def words(self) -> str:
        """When it had, for people."""
        if self.saved_usd is None:
            return numbers.NOT_AVAILABLE
        if self.turns is not None:
            return f"after {numbers.count(self.turns, 'turn')}"
        if self.of == 0:
            return "no turn came after it"
        if self.ended_by_next:
            return f"not before the next one ({numbers.count(self.of, 'turn')})"
        return "never in this script"


@dataclass(frozen=True, slots=True)
class Compaction:
    """One summary with the calls made for it.

    ``kind`` is None for calls that led to nothing by the end. ``elapsed_ms`` is how long the call took whose text was used;
    the user waited for it unless ``background``. ``payback`` is None where nothing was put into use.
    """

    series: str
    replay: str
    turn: int
    kind: EventKind | None
    used: bool
    problem: str | None
    by_server: bool
    background: bool
    calls: int
    prompt_tokens: int | None
    output_tokens: int | None
    cache_share: float | None
    elapsed_ms: float | None
    before_tokens: int | None
    after_tokens: int | None
    cost_usd: float | None
    payback: Payback | None

    @property
    def freed_tokens(self) -> int | None:
        """How much smaller the context became."""
        if not self.used or self.before_tokens is None or self.after_tokens is None:
            return None
        return self.before_tokens - self.after_tokens


@dataclass(frozen=True, slots=True)
class CompactionSummary:
    """All compactions of a series, added up over its replays; ``paid_back`` of the ``used`` ones paid for themselves."""

    series: str
    used: int
    unused: int
    calls: int
    prompt_tokens: int | None
    output_tokens: int | None
    cache_share: float | None
    cost_usd: float | None
    freed_tokens: int | None
    longest_ms: float | None
    paid_back: int
    saved_usd: float | None

    @property
    def net_usd(self) -> float | None:
        """What the compactions saved in the turns after them, less what they cost; negative where they cost more."""
        if self.saved_usd is None or self.cost_usd is None:
            return None
        return self.saved_usd - self.cost_usd


@dataclass(frozen=True, slots=True)
class _Call:
    """What one summary call, or the compactions inside one answer, took."""

    number: int
    seq: int
    turn: int
    usages: tuple[Usage, ...]
    cost: float | None
    elapsed_ms: float | None
    job: int | None
    inside: bool


def compactions(log: ReplayLog, prices: Prices) -> tuple[Compaction, ...]:
    """Return the lines of one replay, in order.

    Whether one paid for itself is modelled from the recorded requests. Without it, each turn until the next summary would have
    carried what was freed (before less after) as well: read from the cache where the request came within the cache's
    lifetime and model, options, tools and system prompt were as before, written where not, plain input without caching. In
    the first request after it, what the request before had cached would have been read, and only the new text written. The
    compaction has paid for itself in the first turn by which the differences come to its cost.
    """
    waiting = _calls(log.requests, prices)
    events = sorted((one for one in log.events if one.event in _PUT_INTO_USE), key=lambda one: one.seq)
    in_use = [event.seq for event in events if _is_used(event)]
    conversation = _Conversation(log.requests)
    lines = []
    for place, event in enumerate(events):
        made = _made_for(event, events[place + 1 :], waiting)
        waiting = [call for call in waiting if call not in made]
        later = bisect_right(in_use, event.seq)
        horizon = in_use[later] if later < len(in_use) else None
        lines.append(_line(log, event, made, conversation, horizon, prices))
    if waiting:
        lines.append(_left_over(log, waiting))
    return tuple(lines)


def compaction_summaries(lines: Iterable[Compaction]) -> tuple[CompactionSummary, ...]:
    """Return one summary for each series, in the order the series first appear."""
    groups: dict[str, list[Compaction]] = {}
    for line in lines:
        groups.setdefault(line.series, []).append(line)
    return tuple(_summary(series, group) for series, group in groups.items())


# -- which calls belong to which line ------------------------------------------------------------------------------------


def _calls(requests: Sequence[RequestRecord], prices: Prices) -> list[_Call]:
    calls = []
    for request in requests:
        own = request.purpose is Purpose.SUMMARY
        inside = () if own or request.purpose is Purpose.PROBE else compactions_of(request)
        if not own and not inside:
            continue
        costs = prices.cost_by_purpose(request)
        usages = (
            () if refused(request) else (*own_usages(request), *compactions_of(request)) if own else inside
        )
        calls.append(
            _Call(
                number=request.number,
                seq=request.seq,
                turn=request.turn,
                usages=usages,
                cost=None if costs is None else costs.get(Purpose.SUMMARY, 0.0),
                elapsed_ms=request.finished_ms - request.started_ms if own else None,
                job=request.job,
                inside=not own,
            )
        )
    return calls


def _made_for(event: EventRecord, later: Sequence[EventRecord], waiting: Sequence[_Call]) -> list[_Call]:
    """The calls of one event: all up to the one whose text was used, or the next compaction inside an answer."""
    number = event.data.get("request")
    if isinstance(number, int):
        return [call for call in waiting if call.number <= number and not call.inside]
    inside = [call for call in waiting if call.inside and call.seq < event.seq]
    more_of_this_turn = any(one.turn == event.turn and "request" not in one.data for one in later)
    return inside[:1] if more_of_this_turn else inside


def _is_used(event: EventRecord) -> bool:
    return event.data.get("used", True) is not False


def _line(
    log: ReplayLog,
    event: EventRecord,
    made: Sequence[_Call],
    conversation: _Conversation,
    horizon: int | None,
    prices: Prices,
) -> Compaction:
    data = event.data
    used = next((call for call in made if call.number == data.get("request")), None)
    elapsed = data.get("elapsed_ms")
    line = _taken(log, event.turn, made)
    line = dataclasses.replace(
        line,
        kind=event.event,
        used=_is_used(event),
        problem=data.get("problem"),
        by_server=data.get("by") == "server",
        background=used is not None and used.job is not None,
        elapsed_ms=elapsed if elapsed is not None else used.elapsed_ms if used is not None else None,
        before_tokens=data.get("before_tokens"),
        after_tokens=data.get("after_tokens"),
    )
    if not line.used:
        return line
    inside = line.by_server and used is None
    return dataclasses.replace(
        line, payback=_payback(line, event, conversation, horizon, log.spec.cache, inside, prices)
    )


def _left_over(log: ReplayLog, calls: Sequence[_Call]) -> Compaction:
    line = _taken(log, calls[-1].turn, calls)
    return dataclasses.replace(line, background=any(call.job is not None for call in calls))


def _taken(log: ReplayLog, turn: int, calls: Sequence[_Call]) -> Compaction:
    """A line with what its calls took, and nothing put into use yet."""
    sums = total(usage for call in calls for usage in call.usages)
    return Compaction(
        series=log.spec.series,
        replay=log.spec.id,
        turn=turn,
        kind=None,
        used=False,
        problem=None,
        by_server=False,
        background=False,
        calls=len(calls),
        prompt_tokens=sums.prompt_tokens,
        output_tokens=sums.output_tokens,
        cache_share=sums.cache_share,
        elapsed_ms=None,
        before_tokens=None,
        after_tokens=None,
        cost_usd=added(call.cost for call in calls),
        payback=None,
    )


# -- when it has paid for itself -----------------------------------------------------------------------------------------


class _Conversation:
    """The answered requests of a conversation, to be found by where they stand among the records."""

    def __init__(self, requests: Iterable[RequestRecord]) -> None:
        self._requests = [
            one
            for one in requests
            if one.purpose in (Purpose.TURN, Purpose.TOOL) and one.error_message is None
        ]
        self._places = [one.seq for one in self._requests]

    def before(self, seq: int) -> RequestRecord | None:
        """Return the last request before a record."""
        place = bisect_left(self._places, seq)
        return self._requests[place - 1] if place else None

    def between(self, seq: int, until: int | None) -> list[RequestRecord]:
        """Return the requests between two records, or up to the end."""
        last = None if until is None else bisect_left(self._places, until)
        return self._requests[bisect_left(self._places, seq) : last]


def _payback(
    line: Compaction,
    event: EventRecord,
    conversation: _Conversation,
    horizon: int | None,
    cache: CacheLifetime,
    inside: bool,
    prices: Prices,
) -> Payback:
    """``inside`` an answer the context was already the small one when that answer was counted, so no request is the first."""
    after = conversation.between(event.seq, horizon)
    turns = list(dict.fromkeys(one.turn for one in after))
    unknown = Payback(None, len(turns), horizon is not None, None)
    freed = line.freed_tokens
    if freed is None or line.cost_usd is None:
        return unknown
    saved, paid_in = 0.0, None
    previous = conversation.before(event.seq)
    for place, request in enumerate(after):
        first = place == 0 and not inside
        without = _without(request, previous, max(freed, 0), cache, first=first)
        theirs = None if without is None else prices.cost(without, request.model)
        ours = prices.cost(request.usage, request.model)
        if theirs is None or ours is None:
            return unknown
        saved += theirs - ours
        ends_turn = place + 1 == len(after) or after[place + 1].turn != request.turn
        if paid_in is None and ends_turn and saved >= line.cost_usd - 1e-12:
            paid_in = turns.index(request.turn) + 1
        previous = request
    return Payback(paid_in, len(turns), horizon is not None, saved)


def _without(
    request: RequestRecord, previous: RequestRecord | None, freed: int, cache: CacheLifetime, *, first: bool
) -> Usage | None:
    """What the request would have used had the context not been compacted; None where it reported no tokens."""
    usage = request.usage
    if usage.input_tokens is None:
        return None
    lifetime = cache.milliseconds
    if lifetime is None or usage.cache_read_input_tokens is None:
        return dataclasses.replace(usage, input_tokens=usage.input_tokens + freed)
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens or 0
    in_time = previous is not None and request.started_ms - previous.started_ms <= lifetime
    if not in_time or previous is None or request.miss_reason in _COLD:
        return _rewritten(usage, read, written + freed, cache)
    if not first:
        return _rewritten(usage, read + freed, written, cache)
    cached = (previous.usage.cache_read_input_tokens or 0) + (previous.usage.cache_creation_input_tokens or 0)
    prefix = read + written + freed
    readable = min(max(read, cached), prefix)
    return _rewritten(usage, readable, prefix - readable, cache)


def _rewritten(usage: Usage, read: int, written: int, cache: CacheLifetime) -> Usage:
    hour = cache is CacheLifetime.ONE_HOUR
    return dataclasses.replace(
        usage,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=written,
        ephemeral_5m_input_tokens=0 if hour else written,
        ephemeral_1h_input_tokens=written if hour else 0,
    )


# -- adding up -----------------------------------------------------------------------------------------------------------


def _summary(series: str, lines: Sequence[Compaction]) -> CompactionSummary:
    used = [line for line in lines if line.used]
    prompts = [line.prompt_tokens for line in lines]
    outputs = [line.output_tokens for line in lines]
    freed = [line.freed_tokens for line in used]
    times = [line.elapsed_ms for line in lines if line.elapsed_ms is not None]
    saved = [line.payback.saved_usd if line.payback else None for line in used]
    return CompactionSummary(
        series=series,
        used=len(used),
        unused=len(lines) - len(used),
        calls=sum(line.calls for line in lines),
        prompt_tokens=_summed(prompts),
        output_tokens=_summed(outputs),
        cache_share=_pooled_share(lines),
        cost_usd=added(line.cost_usd for line in lines),
        freed_tokens=_summed(freed) if used else None,
        longest_ms=max(times, default=None),
        paid_back=sum(line.payback is not None and line.payback.turns is not None for line in used),
        saved_usd=added(saved),
    )


def _summed(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _pooled_share(lines: Sequence[Compaction]) -> float | None:
    told = [
        (line.cache_share * line.prompt_tokens, line.prompt_tokens)
        for line in lines
        if line.cache_share is not None and line.prompt_tokens
    ]
    return sum(read for read, _ in told) / sum(prompt for _, prompt in told) if told else None
