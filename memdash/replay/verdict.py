"""The verdict over a replay: whether its records show what the lab promises of every request.

A violation is never a strategy's result. What a naive strategy does and the API refuses is a result; that it was done without
being declared, that the API answered what it must refuse, or that the cache gave what it cannot have, is a violation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from memdash.errors import MemdashError
from memdash.records import EventKind, EventRecord, Purpose, Record, RequestRecord, Usage
from memdash.replay.cache_bounds import CacheBounds
from memdash.replay.contexts import CONVERSATION, ContextReader
from memdash.replay.journal import BlockBook, Context, entry_block
from memdash.replay.legality import illegality
from memdash.spec import ReplaySpec

MOST_STORED = 20
"""How many violations of a replay are kept in full."""


class Rule(StrEnum):
    """What every request of a replay must keep to."""

    JOURNAL = "journal"
    """Every context can be put together again from the records."""
    USER_TURN = "user_turn"
    """The user's message goes out word for word, as the last of its turn's first request."""
    EXCHANGE = "exchange"
    """Inside an exchange requests only grow, by the answer as it came and the results of its calls."""
    DECLARED = "declared"
    """Earlier messages, system prompt and tools change only with an event that says so, or with the script."""
    LEGAL = "legal"
    """Roles and tool calls of an answered request are in an order that the API takes."""
    TOTALS = "totals"
    """The token counts of an answer add up."""
    CACHE_READ = "cache_read"
    """No more is read from the cache than an earlier request of the replay wrote of the same prefix."""
    CACHE_MISS = "cache_miss"
    """In the simulator, what was written is read again where nothing changed and its lifetime has not passed."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: the number of the request, and what is wrong with it."""

    request: int
    rule: Rule
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found; ``requests`` is how many were looked at."""

    requests: int
    violations: tuple[Violation, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every rule was kept."""
        return not self.violations

    def data(self) -> dict[str, Any]:
        """Return the verdict as an event's data: all numbers, and the first violations in full."""
        return {
            "ok": self.ok,
            "requests": self.requests,
            "violated": len(self.violations),
            "violations": [
                {"request": one.request, "rule": one.rule.value, "text": one.text}
                for one in self.violations[:MOST_STORED]
            ],
        }


def judge(spec: ReplaySpec, records: Iterable[Record]) -> Verdict:
    """Return the verdict over the records of one replay, from its start and in order."""
    judgement = Judgement(spec)
    for record in records:
        judgement.take(record)
    return judgement.verdict()


class _Sent(NamedTuple):
    record: RequestRecord
    context: Context


class Judgement:
    """Looks at the records of one replay as they come."""

    def __init__(self, spec: ReplaySpec) -> None:
        self._spec = spec
        self._reader = ContextReader()
        self._book = BlockBook()
        self._bounds = CacheBounds(spec)
        self._violations: list[Violation] = []
        self._requests = 0
        self._before: _Sent | None = None
        self._edits: list[EventRecord] = []
        self._legal: tuple[str, ...] = ()
        self._lost_track = False

    def take(self, record: Record) -> None:
        """Look at the next record."""
        if isinstance(record, EventRecord):
            self._edits.append(record)
        elif isinstance(record, RequestRecord) and not self._lost_track:
            self._requests += 1
            try:
                self._request(record)
            except MemdashError as error:
                self._lost_track = True
                self._violations.append(Violation(record.number, Rule.JOURNAL, str(error)))

    def verdict(self) -> Verdict:
        """Return the verdict over what was taken so far."""
        return Verdict(self._requests, tuple(self._violations))

    def _request(self, record: RequestRecord) -> None:
        context = self._reader.take(record)
        found: list[tuple[Rule, str | None]] = []
        if record.purpose in CONVERSATION:
            found += self._history(record, context)
        if record.error_message is None:
            found.append((Rule.LEGAL, self._illegality(record, context)))
            found += [(Rule.TOTALS, text) for text in sums_that_fail(record)]
            found.append((Rule.CACHE_READ, self._bounds.excess(record, context)))
            if record.purpose in CONVERSATION:
                found.append((Rule.CACHE_MISS, self._bounds.unexplained_miss(record, context, self._reader)))
            self._bounds.remember(record, context, self._reader)
        self._violations += [Violation(record.number, rule, text) for rule, text in found if text is not None]
        if record.purpose in CONVERSATION and record.error_message is None:
            self._before = _Sent(record, context)
            self._edits.clear()

    # -- the history ------------------------------------------------------------------------------------------------

    def _history(self, record: RequestRecord, context: Context) -> Iterator[tuple[Rule, str | None]]:
        before = self._before
        if record.purpose is Purpose.TURN:
            yield Rule.USER_TURN, self._user_turn(record, context)
            size = len(self._spec.script.turns[record.turn - 1].content) if self._has_turn(record) else 0
            earlier = context.entries[: len(context.entries) - size]
            yield Rule.DECLARED, self._undeclared(record, context, earlier)
        elif before is None:
            yield Rule.EXCHANGE, "it carries tool results, but nothing was sent before it"
        else:
            told = _told(before)
            if context.entries[: len(told)] != told:
                at = _first(told, context.entries)
                yield (
                    Rule.EXCHANGE,
                    f"block {at} of its context is not what request {before.record.number} held or answered",
                )
            yield Rule.DECLARED, self._fixed_part(record, context)

    def _has_turn(self, record: RequestRecord) -> bool:
        return 1 <= record.turn <= len(self._spec.script.turns)

    def _user_turn(self, record: RequestRecord, context: Context) -> str | None:
        if not self._has_turn(record):
            return f"the script has no turn {record.turn}"
        content = self._spec.script.turns[record.turn - 1].content
        ids = [self._book.id_of(dict(block)) for block in content]
        expected = (f"user:{ids[0]}", *(f"+{one}" for one in ids[1:]))
        if context.entries[-len(expected) :] != expected:
            return f"its last message is not the user's message of turn {record.turn}, word for word"
        return None

    def _undeclared(self, record: RequestRecord, context: Context, earlier: tuple[str, ...]) -> str | None:
        """Say how what precedes the user's message differs from what was told so far, beyond what events declare."""
        before = self._before
        if before is None:
            # A strategy that leaves the system prompt out carries it in its first message.
            if earlier and context.system is not None:
                return f"{len(earlier)} blocks precede the first message"
            return None
        fixed = self._fixed_part(record, context)
        told = _told(before)
        if fixed is not None or earlier == told:
            return fixed
        kinds = {event.event for event in self._edits if _edits_history(event)}
        if kinds - _REMOVALS:
            return None
        at = _first(told, earlier)
        if not kinds:
            return f"block {at} differs from what request {before.record.number} held or answered, and no event says so"
        if not _is_part_of(_with_roles(earlier), _with_roles(told)):
            names = " and ".join(sorted(kinds))
            return f"{names} only leaves blocks out, but block {at} on holds others than request {before.record.number} did"
        return None

    def _fixed_part(self, record: RequestRecord, context: Context) -> str | None:
        """Say which of system prompt and tools changed without the script saying so."""
        before = self._before
        assert before is not None
        turns = self._spec.script.turns[before.record.turn : record.turn]
        if context.system != before.context.system and all(turn.system is None for turn in turns):
            return f"its system prompt is not that of request {before.record.number}"
        if context.tools != before.context.tools and all(turn.tools is None for turn in turns):
            return f"its tools are not those of request {before.record.number}"
        return None

    def _illegality(self, record: RequestRecord, context: Context) -> str | None:
        unsettled = context.entries[_settled(self._legal, context.entries) :]
        blocks = [(role, self._reader.block(one)) for role, one in _with_roles(unsettled)]
        # A paused turn goes on from the assistant's message, and a compaction may be asked for after it.
        open_end = record.purpose in (Purpose.TOOL, Purpose.SUMMARY)
        problem = illegality(blocks, open_end=open_end)
        if problem is None:
            self._legal = context.entries
        return None if problem is None else f"it was answered, but {problem}"


_REMOVALS = frozenset({EventKind.TRIM, EventKind.STRIP_THINKING})
_REWRITES = frozenset({EventKind.COMPACTION, EventKind.SWAP, EventKind.CLEAR})


def _edits_history(event: EventRecord) -> bool:
    """Whether an event declares that the client edited the history; a summary that was not used, or what the server
    cleared for one request, changes nothing.
    """
    if event.event in _REMOVALS:
        return True
    return (
        event.event in _REWRITES
        and event.data.get("used") is not False
        and (event.event is not EventKind.CLEAR or "request" not in event.data)
    )


def _settled(legal: tuple[str, ...], entries: tuple[str, ...]) -> int:
    """Return how many entries need no further look: those of a context found legal that this one goes on
    from, up to the assistant's
    last word in it, whose calls the next message answers.
    """
    if not legal or entries[: len(legal)] != legal:
        return 0
    settled = 0
    for at in range(len(legal) - 1, -1, -1):
        if legal[at].startswith("assistant:"):
            settled = at
        elif settled and not legal[at].startswith("+"):
            break
    return settled


def _told(sent: _Sent) -> tuple[str, ...]:
    """What a request held, and its answer."""
    reply = sent.record.reply_blocks
    lead = ("assistant:", *("+" for _ in reply[1:]))
    return (*sent.context.entries, *(start + one for start, one in zip(lead, reply, strict=False)))


def _with_roles(entries: Sequence[str]) -> list[tuple[str, str]]:
    """Return each entry as the role of its message and its block id."""
    role = ""
    found = []
    for entry in entries:
        if not entry.startswith("+"):
            role = entry.partition(":")[0]
        found.append((role, entry_block(entry)))
    return found


def _is_part_of(some: Sequence[Any], whole: Sequence[Any]) -> bool:
    """Whether ``some`` is ``whole`` with entries left out."""
    rest = iter(whole)
    return all(one in rest for one in some)


def _first(before: Sequence[Any], now: Sequence[Any]) -> int:
    pairs = zip(before, now, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(before), len(now)))


# -- the sums -----------------------------------------------------------------------------------------------------------

_BUCKETS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def sums_that_fail(record: RequestRecord) -> list[str]:
    """Return what does not add up in a request's usage (Messages API, usage); what is not reported cannot fail."""
    found: list[str] = []
    for usage in (record.usage, *(one.usage for one in record.iterations)):
        found += _failing(usage)
    messages = [one.usage for one in record.iterations if one.type == "message"]
    if record.iterations and messages:
        for name in _BUCKETS:
            parts, total = [getattr(one, name) for one in messages], getattr(record.usage, name)
            if total is not None and None not in parts and sum(parts) != total:
                found.append(f"{name} is {total}, but its iterations come to {sum(parts)}")
    return found


def _failing(usage: Usage) -> Iterator[str]:
    for name in (*_BUCKETS, "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens", "thinking_tokens"):
        value = getattr(usage, name)
        if value is not None and value < 0:
            yield f"{name} is {value}"
    written, short, long = (
        usage.cache_creation_input_tokens,
        usage.ephemeral_5m_input_tokens,
        usage.ephemeral_1h_input_tokens,
    )
    if written is not None and short is not None and long is not None and short + long != written:
        yield f"{short} and {long} tokens written for 5 minutes and 1 hour do not come to {written}"
