"""Making a replay's requests: each one checked against the budget, sent, read, recorded, or taken from the journal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from memdash.claude import (
    DIAGNOSIS_BETA,
    CacheDiagnosis,
    Claude,
    Refused,
    Request,
    Response,
    refused_by_api,
    without_question,
)
from memdash.models import TokenFamily, facts
from memdash.records import Control, EventKind, EventRecord, Purpose, RequestRecord
from memdash.replay.journal import BlockBook, Context, Journal, entry_block, shared_length
from memdash.replay.misses import Miss, Sent, find_miss
from memdash.replay.timeline import Timeline
from memdash.spec import ReplaySpec
from memdash.tokens import counter


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """A request about to be made, as the budget sees it: sizes in tokens, the prompt's an upper estimate."""

    model: str
    prompt_tokens: int
    max_tokens: int
    purpose: Purpose


Gate = Callable[[PlannedRequest], None]
"""Called before every request; raises :class:`memdash.errors.BudgetExceeded` where it must not be made."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where in the replay a request stands."""

    purpose: Purpose
    turn: int
    step: int = 0
    control: Control | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A recorded request with its answer; times are the replay's."""

    record: RequestRecord
    content: tuple[Mapping[str, Any], ...]


_LARGEST_TOOL_PROMPT = 804
"""The hidden system prompt that tools add, at the model with the longest (Messages API, pricing)."""

_NEAR_THE_TRIGGER = 0.75
"""The prompt's size is an estimate; from this share of its trigger on a compaction is possible."""


def at_most(text: str, family: TokenFamily) -> int:
    """Return how many tokens a text can have, as an upper estimate.

    Our count is meant to be right in the middle; on Arabic, for instance, it is a fifth too low. Long runs of digits or of signs,
    which it was not made for, have a token for three bytes. Where a text has more all the same (nothing but identifiers), the
    dearest price of an input token, at which it is taken, still leaves room.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    return math.ceil(max(1.3 * counter("estimate").count(text, family), size / 2.9))


def _may_be_compacted(request: Request, prompt_tokens: int) -> bool:
    """Whether the API may summarise this prompt before it answers (Messages API, compaction)."""
    management = request.body.get("context_management") or {}
    return any(
        edit["type"] == "compact_20260112"
        and prompt_tokens >= _NEAR_THE_TRIGGER * edit.get("trigger", {}).get("value", 0)
        for edit in management.get("edits", ())
    )


class RequestFailed(Exception):  # an outcome, named for what happened
    """Raised where a request has no usable answer, after it is recorded. ``by_api``: the API refused the request itself."""

    def __init__(self, record: RequestRecord, by_api: bool) -> None:
        super().__init__(record.error_message or "the request failed")
        self.record = record
        self.by_api = by_api

    @property
    def message(self) -> str:
        """What the API or the network said."""
        return str(self)


class Calls:
    """Makes the requests of one replay.

    A request that an earlier run recorded is never made again: its answer comes from the journal, and the
    client takes it in so that
    cache and clock are as they were. A recorded failure of network or service is passed over and the request made anew.
    """

    def __init__(
        self,
        spec: ReplaySpec,
        client: Claude,
        timeline: Timeline,
        journal: Journal,
        gate: Gate | None,
    ) -> None:
        self._spec = spec
        self.client = client
        self.timeline = timeline
        self.journal = journal
        self._gate = gate
        self.book = BlockBook()
        self._number = 0
        self._last: Sent | None = None
        self._last_number: int | None = None
        self._last_message_id: str | None = None
        self._diagnosis = CacheDiagnosis(spec)
        self._lifetime_ms = lifetime_ms(spec)

    @property
    def last_started_ms(self) -> float | None:
        """When the conversation's last request began; None before the first."""
        return None if self._last is None else self._last.started_ms

    def send(self, request: Request, slot: Slot) -> Answered:
        """Make a request and wait for its answer.

        Raises :class:`RequestFailed` where there is none, and what the gate raises.
        """
        context = self.book.context(request)
        if slot.purpose in (Purpose.TURN, Purpose.TOOL):
            request = self._diagnosis.ask(request, self._last_message_id)
        while (recorded := self.journal.recorded_request(context, slot.purpose)) is not None:
            if DIAGNOSIS_BETA in request.betas and DIAGNOSIS_BETA not in recorded.betas:
                request = self._diagnosis.leave_out(request)  # the server did not take it in the earlier run
            answered = self.recall(recorded, request, context, slot)
            if slot.purpose is not Purpose.PROBE:
                self.timeline.jump_to(recorded.finished_ms)
            if not _worth_repeating(recorded):
                return self._settle(answered, request, context, slot)
        self.check(request, slot)
        probe = slot.purpose is Purpose.PROBE
        outcome = _outcome(self.client.probe if probe else self.client.send, request)
        if isinstance(outcome, Refused) and self._diagnosis.is_refused(request, outcome):
            request = self._diagnosis.leave_out(request)
            outcome = _outcome(self.client.send, request)
        answered = self.record(outcome, request, context, slot, job=None)
        return self._settle(answered, request, context, slot)

    def _settle(self, answered: Answered, request: Request, context: Context, slot: Slot) -> Answered:
        """Remember a conversation's request as the one the next is compared with; raise a failure."""
        record = answered.record
        if record.error_message is not None:
            raise RequestFailed(record, refused_by_api(record.error_status))
        if slot.purpose in (Purpose.TURN, Purpose.TOOL):
            self._last = Sent.of(record.model, request.options, context, record.started_ms, record)
            self._last_number = record.number
            self._last_message_id = record.message_id
            self._diagnosis.accepted(record.betas)
        return answered

    def check(self, request: Request, slot: Slot) -> None:
        """Ask the gate whether a request may be made; what it raises, this raises."""
        if self._gate is not None:
            known = facts(request.body["model"])
            family = known.token_family if known else TokenFamily.NEW
            body = {key: request.body.get(key) for key in ("system", "tools", "messages")}
            prompt = at_most(json.dumps(body, ensure_ascii=False), family)
            if request.body.get("tools"):
                prompt += known.tool_prompt.forced if known else _LARGEST_TOOL_PROMPT
            # A prompt that the API may compact first is read twice and answered twice.
            times = 2 if _may_be_compacted(request, prompt) else 1
            self._gate(
                PlannedRequest(
                    request.body["model"], times * prompt, times * request.body["max_tokens"], slot.purpose
                )
            )

    def record(
        self, outcome: Response | Refused, request: Request, context: Context, slot: Slot, job: int | None
    ) -> Answered:
        """Record a request with its answer, and what the API did to it."""
        content = outcome.content if isinstance(outcome, Response) else ()
        reply_ids = tuple(self.book.id_of(block) for block in content)
        self._number += 1
        number = self._number
        before = self._last.context.entries if self._last is not None else ()
        shared = shared_length(before, context.entries)
        started = self.timeline.since_start(outcome.started_ms)
        miss = self._miss(outcome, request, context, slot, started)
        fresh = (entry_block(one) for one in context.entries[shared:])  # what is shared is recorded already
        ids = (context.system, context.tools, *fresh, *reply_ids)
        blocks = self.book.unrecorded(ids)

        def make(seq: int) -> RequestRecord:
            shape: dict[str, Any] = {
                "seq": seq,
                "number": number,
                "purpose": slot.purpose,
                "turn": slot.turn,
                "step": slot.step,
                "model": request.body["model"],
                "options": without_question(request.options),
                "betas": request.betas,
                "system_block": context.system,
                "tools_block": context.tools,
                "base_request": self._last_number,
                "shared": shared,
                "entries": context.entries[shared:],
                "blocks": blocks,
                "started_ms": started,
                "finished_ms": self.timeline.since_start(outcome.finished_ms),
                "usage": outcome.usage,
                "request_id": outcome.request_id,
                "retries": outcome.retries,
                "modelled": outcome.modelled,
                "control": slot.control,
                "job": job,
                "miss_reason": miss.reason,
                "missed_tokens": miss.tokens,
            }
            if isinstance(outcome, Refused):
                return RequestRecord(
                    first_event_ms=None,
                    first_text_ms=None,
                    error_status=outcome.status,
                    error_type=outcome.type,
                    error_message=outcome.message,
                    **shape,
                )
            return RequestRecord(
                first_event_ms=self._since_start(outcome.first_event_ms),
                first_text_ms=self._since_start(outcome.first_text_ms),
                iterations=outcome.iterations,
                reply_blocks=reply_ids,
                stop_reason=outcome.stop_reason,
                message_id=outcome.message_id,
                transformations=outcome.transformations,
                applied_edits=outcome.applied_edits,
                diagnosis=outcome.diagnosis,
                **shape,
            )

        record = self.journal.add(make)
        self._note_api_events(record)
        return Answered(record, content)

    def _miss(
        self, outcome: Response | Refused, request: Request, context: Context, slot: Slot, started: float
    ) -> Miss:
        if isinstance(outcome, Refused) or slot.purpose not in (Purpose.TURN, Purpose.TOOL):
            return Miss(None, None)
        sent = Sent.of(request.body["model"], request.options, context, started, outcome)
        return find_miss(self._last, sent, self._lifetime_ms)

    def recall(self, record: RequestRecord, request: Request, context: Context, slot: Slot) -> Answered:
        """Take an answer out of the journal; the client's cache takes it in."""
        self._number = record.number
        self.book.learn(record.blocks)
        ids = (context.system, context.tools, *(entry_block(one) for one in record.entries))
        self.book.unrecorded(ids)
        content = tuple(self.book.block(one) for one in record.reply_blocks)
        answered = record.error_message is None
        if answered and slot.purpose is not Purpose.PROBE:
            message = message_of(record, content)
            first_event = record.first_event_ms if record.first_event_ms is not None else record.finished_ms
            self.client.absorb(
                request,
                self.timeline.on_clock(record.started_ms),
                self.timeline.on_clock(first_event),
                message,
            )
        self._note_api_events(record)
        return Answered(record, content)

    def _note_api_events(self, record: RequestRecord) -> None:
        """Record what the API says it did: retries by the SDK, thinking it dropped or let pass, context it cleared."""
        events: list[tuple[EventKind, Mapping[str, Any]]] = []
        if record.retries:
            events.append((EventKind.RETRY, {"retries": record.retries}))
        for one in record.transformations:
            dropped = one.get("type") == "thinking_dropped"
            events.append((EventKind.DROP_BLOCK if dropped else EventKind.THINKING_MISMATCH, dict(one)))
        events.extend((EventKind.CLEAR, dict(one)) for one in record.applied_edits)
        if record.purpose is Purpose.PROBE:
            return
        for event, data in events:
            detail = {"request": record.number, **data}
            self.journal.add(
                partial(EventRecord, event=event, turn=record.turn, at_ms=record.finished_ms, data=detail)
            )

    def _since_start(self, clock_ms: float | None) -> float | None:
        return None if clock_ms is None else self.timeline.since_start(clock_ms)


def message_of(record: RequestRecord, content: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a recorded answer as the message that a simulator takes in."""
    return {
        "id": record.message_id,
        "type": "message",
        "role": "assistant",
        "model": record.model,
        "content": list(content),
        "stop_reason": record.stop_reason,
        # How long a compaction inside the answer took follows from what it wrote.
        "usage": {
            "iterations": [
                {"type": one.type, "output_tokens": one.usage.output_tokens or 0} for one in record.iterations
            ]
        },
    }


def _outcome(call: Callable[[Request], Response], request: Request) -> Response | Refused:
    """Make a call; a refusal is an outcome like any other."""
    try:
        return call(request)
    except Refused as refused:
        return refused


def lifetime_ms(spec: ReplaySpec) -> float | None:
    """Return how long a cache entry of this replay lives, None without caching."""
    return spec.cache.milliseconds


def _worth_repeating(record: RequestRecord) -> bool:
    """Whether a recorded request failed for a reason that has nothing to do with the request."""
    return record.error_message is not None and not refused_by_api(record.error_status)
