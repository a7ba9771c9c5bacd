"""What a strategy works with: the replay's side of :class:`memdash.strategies.base.Workspace`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memdash.claude import RequestBuilder
from memdash.event_fields import misfit
from memdash.fixed_part import FixedPart, fixed_part_tokens
from memdash.models import TokenFamily
from memdash.records import EventKind, EventRecord, Purpose
from memdash.replay.background import Background, BackgroundCall
from memdash.replay.calls import (
    Answered,
    Calls,
    RequestFailed,
    Slot,
    lifetime_ms,
)
from memdash.replay.hints import summary_hint
from memdash.replay.journal import Journal
from memdash.replay.recall import visible_text
from memdash.replay.timeline import Timeline
from memdash.spec import ReplaySpec
from memdash.strategies.base import Answer, Ask, Message, RequestOptions
from memdash.tokens import counter

_MESSAGE_FRAME_TOKENS = 4
"""What a message costs beside its blocks, by estimate."""


class ReplayWorkspace:
    """One replay's workspace; the replay sets ``turn``, ``fixed`` and ``options`` as it goes on."""

    def __init__(
        self,
        spec: ReplaySpec,
        family: TokenFamily,
        calls: Calls,
        background: Background,
        builder: RequestBuilder,
        journal: Journal,
        timeline: Timeline,
    ) -> None:
        self._spec = spec
        self._family = family
        self._counter = counter(spec.token_counter)
        self._calls = calls
        self._background = background
        self._builder = builder
        self._journal = journal
        self._timeline = timeline
        self.turn = 0
        self.fixed = FixedPart("")
        self.options = RequestOptions()
        self._asked_in_turn: dict[int, int] = {}
        self._fixed_tokens: dict[int, tuple[FixedPart, int]] = {}

    @property
    def model(self) -> str:
        """The model that answers the conversation."""
        return self._spec.model

    @property
    def system(self) -> str:
        """The system prompt as of this turn."""
        return self.fixed.system

    @property
    def fixed_tokens(self) -> int:
        """An estimate of the fixed part in tokens."""
        known = self._fixed_tokens.get(id(self.fixed))
        if known is None:
            known = (self.fixed, fixed_part_tokens(self.fixed, self._spec.model, self._spec.token_counter))
            self._fixed_tokens[id(self.fixed)] = known
        return known[1]

    @property
    def idle_ms(self) -> float | None:
        """Time since the conversation's last request began."""
        started = self._calls.last_started_ms
        return None if started is None else self._timeline.now() - started

    @property
    def cache_lifetime_ms(self) -> float | None:
        """How long a cache entry lives; None without caching."""
        return lifetime_ms(self._spec)

    def estimate(self, messages: Sequence[Message]) -> int:
        """Estimate messages in tokens."""
        total = 0
        for message in messages:
            total += _MESSAGE_FRAME_TOKENS
            for block in message["content"]:
                total += self._counter.count(_counted_text(block), self._family)
        return total

    def ask(self, ask: Ask) -> Answer:
        """Make an extra model call now."""
        began = self._timeline.now()
        request, slot = self._summary(ask)
        try:
            answered = self._calls.send(request, slot)
        except RequestFailed as failed:
            return _failed(failed, self._timeline.now() - began)
        return _answer(answered, self._timeline.now() - began)

    def start(self, ask: Ask) -> ReplayJob:
        """Start an extra model call beside the conversation."""
        request, slot = self._summary(ask)
        return ReplayJob(self._background.start(request, slot))

    def note(self, event: EventKind, **data: Any) -> None:
        """Record an event of the strategy; raises ``TypeError`` for a known field that holds something of another kind."""
        wrong = misfit(event, data)
        if wrong is not None:
            raise TypeError(f"the strategy notes {event} with {wrong} of another kind: {data.get(wrong)!r}")
        turn, now = self.turn, self._timeline.now()
        self._journal.add(lambda seq: EventRecord(seq, event, turn, now, data))

    def _summary(self, ask: Ask) -> tuple[Any, Slot]:
        nth = self._asked_in_turn.get(self.turn, 0)
        self._asked_in_turn[self.turn] = nth + 1
        hint = summary_hint(self._spec, self.turn, nth)
        return self._builder.summary(self.fixed, ask, self.options, hint), Slot(
            Purpose.SUMMARY, self.turn, nth
        )


class ReplayJob:
    """A background job as a strategy sees it."""

    def __init__(self, call: BackgroundCall) -> None:
        self._call = call

    @property
    def started_ms(self) -> float:
        """When it was started."""
        return self._call.started_ms

    def ready(self) -> bool:
        """Whether its answer is there now."""
        return self._call.ready()

    def result(self) -> Answer:
        """Wait for its answer."""
        try:
            answered = self._call.result()
        except RequestFailed as failed:
            return _failed(failed, failed.record.finished_ms - failed.record.started_ms)
        return _answer(answered, answered.record.finished_ms - answered.record.started_ms)


def _answer(answered: Answered, elapsed_ms: float) -> Answer:
    record = answered.record
    return Answer(answered.content, record.stop_reason, record.usage, record.number, elapsed_ms)


def _failed(failed: RequestFailed, elapsed_ms: float) -> Answer:
    record = failed.record
    return Answer(
        (),
        None,
        record.usage,
        record.number,
        elapsed_ms,
        problem=f"the summary call failed: {failed.message}",
    )


def _counted_text(block: Mapping[str, Any]) -> str:
    if block.get("type") == "thinking":
        return str(block.get("thinking") or "") or str(block.get("signature") or "")[:200]
    return visible_text(block)
