"""Compactions as lines of their own: what each took, what it freed, and when it had paid for itself.

A line stands for one summary put into use, or refused, and holds every summary call made for it since the line before: an
instant compaction's refreshes belong to the swap they led to. Calls that led to nothing by the end share a last line, so that the
lines of a replay add up to what it spent on summaries.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_left
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

    ``turns`` counts from the first turn after it, None where it has not within the ``of`` turns that came. ``saved_usd`` is what
    those turns cost less than they would have, before the compaction's own cost; None where that cannot be known.
    """

    turns: int | None
    of: int
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
        return f"never in this script ({numbers.count(self.of, 'turn')})"


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

    Whether one paid for itself is modelled from the recorded requests. Without it, every turn to the end would have
    carried what was freed (the last prompt and its answer, less what stood for them after) as well: read from the
    cache where the request came within the cache's lifetime and model, options, tools and system prompt were as
    before, written where not, plain input without caching. In the first request after it, what the request before had
    cached would have been read, and only the new text written. The compaction has paid for itself in the first turn
    by which the differences come to its cost. What one compaction freed is counted on through later ones, which free
    something else; so the lines add up to the model of a replay without any. Prices are those of each request's own
    size: a longer prompt might have been in a dearer tier.
    """
    waiting = _calls(log.requests, prices)
    events = sorted((one for one in log.events if one.event in _PUT_INTO_USE), key=lambda one: one.seq)
    conversation = _Conversation(log, prices)
    lines = []
    for place, event in enumerate(events):
        following = events[place + 1] if place + 1 < len(events) else None
        made = _made_for(event, following, waiting)
        waiting = [call for call in waiting if call not in made]
        lines.append(_line(log, event, made, conversation))
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


def _made_for(event: EventRecord, following: EventRecord | None, waiting: Sequence[_Call]) -> list[_Call]:
    """The calls of one event: all up to the one whose text was used, or the next compaction inside an answer."""
    number = event.data.get("request")
    if isinstance(number, int):
        return [call for call in waiting if call.number <= number and not call.inside]
    inside = [call for call in waiting if call.inside and call.seq < event.seq]
    another = following is not None and following.turn == event.turn and "request" not in following.data
    return inside[:1] if another else inside


def _is_used(event: EventRecord) -> bool:
    return event.data.get("used", True) is not False


def _line(
    log: ReplayLog, event: EventRecord, made: Sequence[_Call], conversation: _Conversation
) -> Compaction:
    data = event.data
    used = next((call for call in made if call.number == data.get("request")), None)
    elapsed = data.get("elapsed_ms")
    line = dataclasses.replace(
        _taken(log, event.turn, made),
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
    # Inside an answer the context was the small one already when that answer was counted.
    inside = line.by_server and used is None
    freed = line.freed_tokens if inside else conversation.freed(event.seq, line.after_tokens)
    payback = conversation.payback(event.seq, freed, line.cost_usd, rewrites=not inside)
    return dataclasses.replace(line, payback=payback)


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


_SAMPLE_TOKENS = 1_000
"""How many tokens a request's price for one more is taken from: few enough to stay in its tier."""


class _Conversation:
    """The answered requests of a conversation, and what one more token of context would have cost in each."""

    def __init__(self, log: ReplayLog, prices: Prices) -> None:
        self._cache = log.spec.cache
        self._prices = prices
        self._requests = [
            one
            for one in log.requests
            if one.purpose in (Purpose.TURN, Purpose.TOOL) and one.error_message is None
        ]
        self._places = [one.seq for one in self._requests]
        self._sums = [0.0]
        self._unknown = [0]
        previous: RequestRecord | None = None
        for request in self._requests:
            carried = self._difference(request, self._carried(request, previous, _SAMPLE_TOKENS))
            self._sums.append(self._sums[-1] + (carried or 0.0) / _SAMPLE_TOKENS)
            self._unknown.append(self._unknown[-1] + (carried is None))
            previous = request

    def freed(self, seq: int, after_tokens: int | None) -> int | None:
        """Return how much smaller the context became: the last prompt and its answer, less what stood for them after."""
        place = bisect_left(self._places, seq)
        if place == 0 or after_tokens is None:
            return None
        usage = self._requests[place - 1].usage
        if usage.prompt_tokens is None:
            return None
        return usage.prompt_tokens + (usage.output_tokens or 0) - after_tokens

    def payback(self, seq: int, freed: int | None, cost: float | None, *, rewrites: bool) -> Payback:
        """Return when a compaction had paid for itself; ``rewrites``: the first request after it wrote its prefix anew."""
        first = bisect_left(self._places, seq)
        turns = list(dict.fromkeys(one.turn for one in self._requests[first:]))
        if freed is None or cost is None or self._unknown[-1] > self._unknown[first]:
            return Payback(None, len(turns), None)
        ahead = 0.0
        if rewrites and 0 < first < len(self._requests):
            request, previous = self._requests[first], self._requests[first - 1]
            whole = self._difference(request, self._unbroken(request, previous, freed))
            ahead = (whole or 0.0) - freed * (self._sums[first + 1] - self._sums[first])
        paid = self._first_turn(first, freed, cost - ahead)
        saved = ahead + freed * (self._sums[-1] - self._sums[first]) if turns else 0.0
        return Payback(None if paid is None else turns.index(paid) + 1, len(turns), saved)

    def _first_turn(self, first: int, freed: int, needed: float) -> int | None:
        """The turn by whose end one more of ``freed`` tokens in each request from ``first`` on would have cost ``needed``."""
        if freed <= 0 or first == len(self._requests):
            return None
        goal = self._sums[first] + (needed - 1e-12) / freed
        place = max(bisect_left(self._sums, goal, first + 1), first + 1) - 1
        return self._requests[place].turn if place < len(self._requests) else None

    def _difference(self, request: RequestRecord, without: Usage | None) -> float | None:
        if without is None:
            return None
        theirs = self._prices.cost(without, request.model)
        ours = self._prices.cost(request.usage, request.model)
        return None if theirs is None or ours is None else theirs - ours

    def _carried(self, request: RequestRecord, previous: RequestRecord | None, tokens: int) -> Usage | None:
        """What the request would have used with ``tokens`` more of old context; None where it reported no tokens."""
        usage = request.usage
        if usage.input_tokens is None:
            return None
        if self._cache.milliseconds is None or usage.cache_read_input_tokens is None:
            return dataclasses.replace(usage, input_tokens=usage.input_tokens + tokens)
        read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens or 0
        if self._is_warm(request, previous):
            return _rewritten(usage, read + tokens, written, self._cache)
        return _rewritten(usage, read, written + tokens, self._cache)

    def _unbroken(self, request: RequestRecord, previous: RequestRecord, freed: int) -> Usage | None:
        """What the first request after a compaction would have used had the one before it just been continued."""
        usage = request.usage
        if usage.cache_read_input_tokens is None or not self._is_warm(request, previous):
            return self._carried(request, previous, freed)
        read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens or 0
        before = previous.usage
        cached = (before.cache_read_input_tokens or 0) + (before.cache_creation_input_tokens or 0)
        prefix = read + written + freed
        readable = min(max(read, cached), prefix)
        return _rewritten(usage, readable, prefix - readable, self._cache)

    def _is_warm(self, request: RequestRecord, previous: RequestRecord | None) -> bool:
        lifetime = self._cache.milliseconds
        if lifetime is None or previous is None or request.miss_reason in _COLD:
            return False
        return request.started_ms - previous.started_ms <= lifetime


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
