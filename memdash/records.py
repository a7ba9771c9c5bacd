"""What a replay yields: plain typed records, in order, that any process can store, send on or read back.

A record says what happened and never what it costs: money is computed when it is read (:mod:`memdash.prices`). Times are
milliseconds on the replay's own clock, counted from its start. Token counts are as the API reported them: ``None`` means "not
reported" and is never the same as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Purpose(StrEnum):
    """Why a request was made."""

    TURN = "turn"
    """The first request of an exchange."""
    TOOL = "tool"
    """A later request of the exchange, which carries tool results."""
    SUMMARY = "summary"
    """Extra work of the strategy, charged to it."""
    PROBE = "probe"
    """A recall question or one of its controls; never part of a replay's totals."""


class Status(StrEnum):
    """Where a replay stands. The last four are ends short of the last turn; only ``DONE`` is ranked."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    REJECTED = "rejected"
    """The API refused a request: a result, not a crash."""
    FAILED = "failed"
    CANCELLED = "cancelled"
    STOPPED_BY_BUDGET = "stopped_by_budget"
    INTERRUPTED = "interrupted"
    """The process that ran it went away; it can be resumed."""

    @property
    def over(self) -> bool:
        """Whether nothing more will come of its own accord."""
        return self not in (Status.QUEUED, Status.RUNNING)


class EventKind(StrEnum):
    """What a strategy, or the API, did to the conversation."""

    TRIM = "trim"
    STRIP_THINKING = "strip_thinking"
    OVER_BUDGET = "over_budget"
    COMPACTION = "compaction"
    BACKGROUND_STARTED = "background_started"
    BACKGROUND_READY = "background_ready"
    SWAP = "swap"
    BACKGROUND_DISCARDED = "background_discarded"
    FALLBACK_INLINE = "fallback_inline"
    DROP_BLOCK = "drop_block"
    CLEAR = "clear"
    CAP = "cap"
    THINKING_MISMATCH = "thinking_mismatch"
    UNSCRIPTED_TOOL_CALL = "unscripted_tool_call"
    REJECTED = "rejected"
    RETRY = "retry"
    BRIEF_GROWING = "brief_growing"
    VERDICT = "verdict"
    """Of the replay itself, before it ends: whether its records keep to the rules of :mod:`memdash.replay.verdict`."""


class Survival(StrEnum):
    """Where the text of a fact is in a context."""

    VERBATIM = "verbatim"
    """In the message that stated it."""
    RESTATED = "restated"
    """Its latest value stands in a summary or in another message."""
    STALE = "stale"
    """Only a value that has been replaced is still there."""
    GONE = "gone"


class Control(StrEnum):
    """What a probe was asked of."""

    MEMORY = "memory"
    """The strategy's memory: the test itself."""
    WHOLE = "whole"
    """The whole history: must pass, else the probe is not a test."""
    EMPTY = "empty"
    """No history: must fail, else the probe is not a test."""


class MissReason(StrEnum):
    """Why a request read less from the cache than it could have, in the order they are looked for."""

    CACHING_OFF = "caching_off"
    NOT_REPORTED = "not_reported"
    FIRST_REQUEST = "first_request"
    MODEL_CHANGED = "model_changed"
    OPTIONS_CHANGED = "options_changed"
    TOOLS_CHANGED = "tools_changed"
    SYSTEM_CHANGED = "system_changed"
    HISTORY_EDITED = "history_edited"
    LIFETIME_PASSED = "lifetime_passed"
    LOOKBACK_EXCEEDED = "lookback_exceeded"
    BELOW_MINIMUM = "below_minimum"


NOTHING_CHANGED = "nothing_changed"
"""The ``type`` of a diagnosis that found no difference from the previous request (``diagnostics: null``)."""
NOT_FINISHED = "not_finished"
"""The ``type`` of a diagnosis that was not finished when the answer was written (``cache_miss_reason: null``)."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The token buckets of one answer, as reported; the names are the API's own."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None

    @property
    def prompt_tokens(self) -> int | None:
        """``input + cache_creation + cache_read``; None where the server reports no input at all."""
        if self.input_tokens is None:
            return None
        return (
            self.input_tokens + (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)
        )


@dataclass(frozen=True, slots=True)
class Iteration:
    """One entry of ``usage.iterations``: ``type`` is ``message``, ``compaction`` or a type we do not know yet."""

    type: str
    usage: Usage
    model: str | None = None


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One call to the Messages API and what it answered.

    The context is ``shared`` entries of request ``base_request`` followed by ``entries``. An entry is ``role:block id`` where it
    opens a message and ``+block id`` where it continues one. ``options`` is the request's body without messages, system
    and tools. ``blocks`` holds the JSON, exactly as sent or received, of every block, system prompt and tool
    list that this replay
    has not recorded before, by id (the SHA-256 of the JSON, shortened to 24 hexadecimal digits): a request and its answer are one
    record, so a journal cut anywhere holds an answer whole or not at all. ``modelled`` says that the simulator answered.
    ``job`` is the number of the background job that made it. ``diagnosis`` is what the API says of the cache, where it was
    asked: ``type`` is its own word for what had changed (:data:`NOTHING_CHANGED` and :data:`NOT_FINISHED` are ours for
    its nulls), ``cache_missed_input_tokens`` its estimate where it gives one. Where the API refused, ``error_status``,
    ``error_type`` and ``error_message`` are set and the usage is None.
    """

    seq: int
    number: int
    purpose: Purpose
    turn: int
    step: int
    model: str
    options: Mapping[str, Any]
    betas: tuple[str, ...]
    system_block: str | None
    tools_block: str | None
    base_request: int | None
    shared: int
    entries: tuple[str, ...]
    started_ms: float
    first_event_ms: float | None
    first_text_ms: float | None
    finished_ms: float
    usage: Usage
    blocks: Mapping[str, str] = field(default_factory=dict)
    iterations: tuple[Iteration, ...] = ()
    reply_blocks: tuple[str, ...] = ()
    stop_reason: str | None = None
    request_id: str | None = None
    message_id: str | None = None
    retries: int = 0
    job: int | None = None
    modelled: bool = False
    control: Control | None = None
    miss_reason: MissReason | None = None
    missed_tokens: int | None = None
    transformations: tuple[Mapping[str, Any], ...] = ()
    applied_edits: tuple[Mapping[str, Any], ...] = ()
    error_status: int | None = None
    error_type: str | None = None
    error_message: str | None = None
    diagnosis: Mapping[str, Any] | None = None
    kind: Literal["request"] = "request"


@dataclass(frozen=True, slots=True)
class EventRecord:
    """Something a strategy or the API did; ``data`` depends on the kind (sizes in tokens, texts, block paths)."""

    seq: int
    event: EventKind
    turn: int
    at_ms: float
    data: Mapping[str, Any] = field(default_factory=dict)
    kind: Literal["event"] = "event"


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A finished turn: its user message came at ``started_ms``, the last byte of its answer at ``answered_ms``.

    ``wait_ms`` is what the user waited for in all; ``first_text_ms`` the time from the user's message to the first text of the
    answer, None where it is not known.
    """

    seq: int
    turn: int
    started_ms: float
    answered_ms: float
    wait_ms: float
    first_text_ms: float | None
    kind: Literal["turn"] = "turn"


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A background job of a strategy that has come to its end, at the moment the replay learned of it."""

    seq: int
    job: int
    request: int
    started_ms: float
    finished_ms: float
    kind: Literal["job"] = "job"


@dataclass(frozen=True, slots=True)
class ProbeRecord:
    """One recall question, its answer and its verdict; ``visible`` is whether the fact's latest text was in the context."""

    seq: int
    fact: str
    asked_after: int
    control: Control
    question: str
    answer: str
    passed: bool
    stale: bool
    visible: bool
    survival: Survival
    grading: str
    request: int
    kind: Literal["probe"] = "probe"


@dataclass(frozen=True, slots=True)
class FactRecord:
    """Whether a fact's text is in the last context of the replay (the measure *kept*)."""

    seq: int
    fact: str
    survival: Survival
    kind: Literal["fact"] = "fact"


@dataclass(frozen=True, slots=True)
class StatusRecord:
    """A change of state; ``message`` is the API's or our own for every end that is not ``done``."""

    seq: int
    status: Status
    turns_completed: int
    at_ms: float
    message: str | None = None
    kind: Literal["status"] = "status"


Record = RequestRecord | EventRecord | TurnRecord | JobRecord | ProbeRecord | FactRecord | StatusRecord
"""Everything a replay yields. ``seq`` counts up from 0 without gaps within one replay."""


@cache
def _adapter() -> TypeAdapter[Any]:
    from pydantic import Field, TypeAdapter

    return TypeAdapter(Annotated[Record, Field(discriminator="kind")])


def to_line(record: Record) -> bytes:
    """Return a record as one line of JSON, without the line's end."""
    return _adapter().dump_json(record)


def from_line(line: bytes | str) -> Record:
    """Read what :func:`to_line` wrote.

    Raises ``pydantic.ValidationError`` (a ``ValueError``) where it is something else.
    """
    record: Record = _adapter().validate_json(line)
    return record


def last_status(records: Iterable[Record]) -> StatusRecord | None:
    """Return the latest state among ``records``."""
    latest = None
    for record in records:
        if isinstance(record, StatusRecord):
            latest = record
    return latest
