"""What the prompt cache would have given a replay's requests under another lifetime, or with another smallest prefix.

The requests are put together again from their records and read by the simulator's own cache, each at the time it was sent. So the
rules are those of :mod:`memdash.simulator.cache`, and with the lifetime that a simulated replay ran with, the recorded buckets
come out, token for token. What is not recorded stays as it was: a reply is not written anew because its prompt was read sooner.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from memdash.claude.request import cache_mark
from memdash.errors import MemdashError
from memdash.records import Purpose, Record, RequestRecord, Usage
from memdash.replay.calls import message_of
from memdash.replay.contexts import CONVERSATION, ContextReader, Message
from memdash.replay.journal import entry_block
from memdash.simulator.cache import Bill
from memdash.simulator.engine import Caller, Engine, SimulatorConfig
from memdash.simulator.errors import ApiError
from memdash.simulator.hint import SIMULATED_KEY
from memdash.spec import CacheLifetime, CacheMarks, Provider, ReplaySpec, Replies
from memdash.tokens import at_hand

_API_VERSION = "2026-10-21"


class CannotRecache(MemdashError):
    """Raised where a replay's records do not say what another cache would have done; the message says why."""


@dataclass(frozen=True, slots=True)
class Recached:
    """The requests of a replay, probes left out, with the buckets they would have had.

    ``resized`` counts those that are not as long by the token counter at hand as the server that answered said; their buckets are
    ours in the proportions of its size.
    """

    requests: tuple[RequestRecord, ...]
    resized: int = 0


def uncached(requests: Iterable[RequestRecord]) -> Recached:
    """Return what the requests would have been billed had no caching been asked for: every prompt token as plain input."""
    return Recached(
        tuple(
            replace(
                one,
                usage=_plain(one.usage),
                iterations=tuple(replace(part, usage=_plain(part.usage)) for part in one.iterations),
            )
            for one in requests
            if one.purpose is not Purpose.PROBE
        )
    )


def recache(
    spec: ReplaySpec,
    journal: Iterable[Record],
    lifetime: CacheLifetime,
    smallest_prefix: Mapping[str, int] | None = None,
) -> Recached:
    """Return what a replay's requests would have been billed with cache entries that live this long.

    ``journal`` holds its records in order, block texts included. ``smallest_prefix`` replaces, by model, how many tokens are
    cached at least. Raises :class:`CannotRecache` where the records do not say.
    """
    # Probes too: one may have been the first to send a block that later requests hold.
    sent = [one for one in journal if isinstance(one, RequestRecord)]
    made = [one for one in sent if one.purpose is not Purpose.PROBE]
    if lifetime is CacheLifetime.OFF:
        return uncached(made)
    live = spec.provider is Provider.ANTHROPIC and spec.replies is Replies.FRESH
    if live:
        _check_live(spec, made)
    reader = _Remarking(spec, lifetime, unsigned=live)
    engine = Engine(
        SimulatorConfig(
            seed=spec.seed,
            relax_limits=True,  # it was accepted when it was sent
            token_counter=at_hand(spec.token_counter),
            warm_fixed_part=spec.warm,
            smallest_prefix=smallest_prefix or {},
        )
    )
    billed: dict[int, RequestRecord] = {}
    resized = 0
    before: list[Message] = []
    for record, body in _as_sent(sent, reader):
        # With recorded replies the conversation is the simulator's; what the API was asked beside it is not in that cache.
        beside = spec.provider is Provider.ANTHROPIC and not live and not record.modelled
        if record.error_message is not None or beside:
            continue
        bills = _absorbed(engine, reader, record, body, _in_common(before, body["messages"]))
        before = body["messages"]
        resized += any(
            _size(bill) != usage.prompt_tokens
            for bill, usage in zip(bills, _billed_usages(record), strict=True)
        )
        billed[record.seq] = _with_bills(record, bills)
    return Recached(tuple(billed.get(one.seq, one) for one in made), resized)


def _check_live(spec: ReplaySpec, made: Sequence[RequestRecord]) -> None:
    """Refuse what a live server did on its own: only it knows what it cached on the way."""
    if any(one.applied_edits or any(part.type == "compaction" for part in one.iterations) for one in made):
        raise CannotRecache(
            "the API edited or compacted this conversation itself, and what its cache held then is not in the records"
        )
    answered = [one.usage for one in made if one.usage.input_tokens is not None]
    reported = any(
        one.cache_read_input_tokens is not None or one.cache_creation_input_tokens is not None
        for one in answered
    )
    if answered and not reported and spec.cache is not CacheLifetime.OFF:
        raise CannotRecache("the server that answered does not report what it caches")


# -- the requests again ----------------------------------------------------------------------------------------------------


class _Remarking(ContextReader):
    """Reads blocks with cache marks of another lifetime.

    ``unsigned`` turns thinking into text: what another server signed cannot be verified here, only told apart.
    """

    def __init__(self, spec: ReplaySpec, lifetime: CacheLifetime, *, unsigned: bool) -> None:
        super().__init__()
        self._mark = cache_mark(lifetime)
        self._unmarked = spec.cache is CacheLifetime.OFF
        self._mark_fixed_part = self._unmarked and spec.cache_marks is CacheMarks.FIXED_AND_AUTO
        self._unsigned = unsigned
        self._changed: dict[str, Any] = {}

    def block(self, block_id: str) -> Any:
        """Return a block, a system prompt or a list of tools as it would have been sent."""
        if block_id not in self._changed:
            self._changed[block_id] = self._change(super().block(block_id))
        return self._changed[block_id]

    def body(self, record: RequestRecord, messages: list[Message]) -> dict[str, Any]:
        """Return the body of a request with these messages as it would have been sent."""
        body: dict[str, Any] = self._change({**record.options, "messages": messages})
        ours = (
            record.purpose in CONVERSATION or record.shared > 0
        )  # not a summary call with a prompt of its own
        if record.system_block is not None:
            body["system"] = self.block(record.system_block)
            if self._mark_fixed_part and ours and isinstance(body["system"], list):
                body["system"] = [*body["system"][:-1], {**body["system"][-1], "cache_control": self._mark}]
        if record.tools_block is not None:
            body["tools"] = self.block(record.tools_block)
        if self._unmarked and ours:
            body["cache_control"] = self._mark
        return body

    def _change(self, part: Any) -> Any:
        if isinstance(part, list):
            return [self._change(one) for one in part]
        if not isinstance(part, dict):
            return part
        if self._unsigned and part.get("type") in ("thinking", "redacted_thinking"):
            return {"type": "text", "text": repr(sorted(part.items()))}
        return {**part, "cache_control": self._mark} if part.get("cache_control") else part


class _Unfolding:
    """Puts the messages of one request after the other together; what a request shares with those before it is kept."""

    def __init__(self, reader: ContextReader) -> None:
        self._reader = reader
        self._messages: list[Message] = []
        self._ends: list[int] = []

    def messages(self, entries: Sequence[str], shared: int, *, keep: bool) -> list[Message]:
        """Return the messages of these entries, the first ``shared`` of them those kept last; ``keep`` keeps them in turn."""
        whole = bisect_right(self._ends, shared)
        while (
            whole and self._ends[whole - 1] < len(entries) and entries[self._ends[whole - 1]].startswith("+")
        ):
            whole -= 1  # the message goes on in this request
        messages, ends = self._messages[:whole], self._ends[:whole]
        start = ends[-1] if ends else 0
        for at in range(start, len(entries)):
            entry = entries[at]
            if not entry.startswith("+"):
                messages.append({"role": entry.partition(":")[0], "content": []})
                ends.append(at)
            messages[-1]["content"].append(self._reader.block(entry_block(entry)))
            ends[-1] = at + 1
        if keep:
            self._messages, self._ends = messages, ends
        return messages


def _as_sent(
    requests: Sequence[RequestRecord], reader: _Remarking
) -> Iterable[tuple[RequestRecord, dict[str, Any]]]:
    """Yield every request but the probes with its body, in the order they were sent.

    They are recorded in that order but for a live server's background work, which is recorded when its answer is noticed.
    """
    bodies = _bodies(requests, reader)
    if all(one.started_ms <= other.started_ms for one, other in pairwise(requests)):
        return bodies
    return sorted(bodies, key=lambda sent: (sent[0].started_ms, sent[0].job is None))


def _bodies(
    requests: Sequence[RequestRecord], reader: _Remarking
) -> Iterator[tuple[RequestRecord, dict[str, Any]]]:
    unfolding = _Unfolding(reader)
    for record in requests:
        context = reader.take(record)
        if record.purpose is Purpose.PROBE:
            continue
        keep = record.purpose in CONVERSATION and record.error_message is None
        shared = 0 if record.base_request is None else record.shared
        yield record, reader.body(record, unfolding.messages(context.entries, shared, keep=keep))


# -- their bills -----------------------------------------------------------------------------------------------------------


def _absorbed(
    engine: Engine, reader: _Remarking, record: RequestRecord, body: Mapping[str, Any], unchanged: int
) -> tuple[Bill, ...]:
    content = [reader.block(one) for one in record.reply_blocks]
    first_event = record.first_event_ms if record.first_event_ms is not None else record.finished_ms
    try:
        bills = engine.absorb(
            body,
            Caller(SIMULATED_KEY, _API_VERSION, frozenset(record.betas)),
            record.started_ms,
            first_event,
            message_of(record, content),
            unchanged,
        )
    except ApiError as error:
        raise CannotRecache(
            f"request {record.number} (turn {record.turn}) cannot be read again here: {error.message}"
        ) from error
    if len(bills) != len(_billed_usages(record)):
        raise CannotRecache(
            f"request {record.number} (turn {record.turn}) was answered in another number of steps"
        )
    return bills


def _in_common(before: Sequence[Message], messages: Sequence[Message]) -> int:
    """How many messages two requests begin with that are the same objects; nobody changes one once it is made."""
    same = 0
    for one, other in zip(before, messages, strict=False):
        if one is not other:
            break
        same += 1
    return same


def _billed_usages(record: RequestRecord) -> tuple[Usage, ...]:
    """The usages that are billed: of each iteration where they are reported, else of the whole."""
    return tuple(one.usage for one in record.iterations) or (record.usage,)


def _with_bills(record: RequestRecord, bills: Sequence[Bill]) -> RequestRecord:
    if not record.iterations:
        return replace(record, usage=_with_bill(record.usage, bills[0]))
    iterations = tuple(
        replace(one, usage=_with_bill(one.usage, bill))
        for one, bill in zip(record.iterations, bills, strict=True)
    )
    # The top-level usage leaves compactions out (Messages API, usage.iterations).
    messages = [one.usage for one in iterations if one.type != "compaction"]
    return replace(record, usage=_sum(record.usage, messages), iterations=iterations)


def _with_bill(usage: Usage, bill: Bill) -> Usage:
    """Return a usage with the buckets of a bill, in the usage's own size."""
    total, size = usage.prompt_tokens, _size(bill)
    if total is None or not size:
        return usage
    # What is read comes first, then what is written for an hour, then what is written for five minutes.
    ends = (bill.read, bill.read + bill.write_1h, bill.read + bill.written)
    read, hour, five = ends if size == total else (round(end * total / size) for end in ends)
    return replace(
        usage,
        input_tokens=total - five,
        cache_creation_input_tokens=five - read,
        ephemeral_5m_input_tokens=five - hour,
        ephemeral_1h_input_tokens=hour - read,
        cache_read_input_tokens=read,
    )


_BUCKETS = (
    "input_tokens", "cache_creation_input_tokens", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens",
    "cache_read_input_tokens",
)  # fmt: skip


def _sum(usage: Usage, parts: Sequence[Usage]) -> Usage:
    return replace(usage, **{name: sum(getattr(part, name) or 0 for part in parts) for name in _BUCKETS})


def _plain(usage: Usage) -> Usage:
    if usage.cache_creation_input_tokens is None and usage.cache_read_input_tokens is None:
        return usage
    return replace(
        usage,
        input_tokens=usage.prompt_tokens,
        cache_creation_input_tokens=0,
        ephemeral_5m_input_tokens=0,
        ephemeral_1h_input_tokens=0,
        cache_read_input_tokens=0,
    )


def _size(bill: Bill) -> int:
    return bill.plain + bill.written + bill.read
