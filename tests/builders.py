"""Builders for scripts, specifications, records and logs: readable defaults, and only what a test is about spelled out.

    log = replay_log(window_spec(turns=2), turn(1, input=500, write=1500), turn(2, input=500, read=1500))

Every builder that makes records returns a list of them without numbers; :func:`replay_log` numbers them in order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from memdash.records import (
    Control,
    EventKind,
    EventRecord,
    FactRecord,
    Iteration,
    MissReason,
    ProbeRecord,
    Purpose,
    Record,
    RequestRecord,
    Status,
    StatusRecord,
    Survival,
    TurnRecord,
    Usage,
)
from memdash.replay_log import ReplayLog
from memdash.scripts.model import Expectation, Fact, Grading, Script, Turn, Value
from memdash.spec import CacheLifetime, CacheMarks, Provider, ReplaySpec, Replies

MODEL = "claude-opus-5-5"
"""$4 input, $5 and $8 writes, $0.20 reads, $20 output, per million tokens."""


def fact(
    id: str = "budget", *, turn: int = 1, probe_after: tuple[int, ...] = (), updated: int | None = None
) -> Fact:
    """A fact stated in ``turn``, and once more with a new value in ``updated``."""
    turns = [turn] if updated is None else [turn, updated]
    values = tuple(
        Value(
            number,
            Expectation(Grading.REGEX, (f"{id} {number}",)),
            Expectation(Grading.REGEX, (f"{id} {number}",)),
        )
        for number in turns
    )
    return Fact(id, f"What is the {id}?", values, probe_after)


def script(id: str = "trip", *, turns: int = 3, facts: Iterable[Fact] = ()) -> Script:
    """A script of ``turns`` short user messages."""
    return Script(
        id=id,
        title=id.title(),
        turns=tuple(Turn(n, ({"type": "text", "text": f"Message {n}"},)) for n in range(1, turns + 1)),
        facts=tuple(facts),
    )


def spec(
    series: str = "full history",
    *,
    strategy: str = "full_history",
    params: Mapping[str, Any] | None = None,
    script: Script | None = None,
    turns: int | None = None,
    id: str | None = None,
    **changes: Any,
) -> ReplaySpec:
    """A replay's specification; ``changes`` replace any other field."""
    chosen = script or globals()["script"](turns=turns or 3)
    plain = ReplaySpec(
        id=id or f"cmp_1_{series.replace(' ', '_')}",
        comparison_id="cmp_1",
        script=chosen,
        strategy=strategy,
        params=dict(params or {}),
        label=series,
        series=series,
        model=MODEL,
        effort=None,
        max_tokens=1024,
        provider=Provider.SIMULATOR,
        cache=CacheLifetime.FIVE_MINUTES,
        cache_marks=CacheMarks.AUTO,
        warm=False,
        check=False,
        pace=30.0,
        replies=Replies.FRESH,
        turns=turns or len(chosen.turns),
        repeat=1,
        seed=0,
        salt="",
        token_counter="estimate",
        relax_limits=False,
        controls=strategy == "full_history",
    )
    return dataclasses.replace(plain, **changes)


def window_spec(keep: int = 4, **changes: Any) -> ReplaySpec:
    """The specification of a window."""
    changes.setdefault("series", f"window of {keep}")
    params = {"keep": keep, "trim_at": keep, "thinking": "strip"}
    return spec(**{"strategy": "window", "params": params, **changes})


def compaction_spec(trigger: int = 2000, **changes: Any) -> ReplaySpec:
    """The specification of a compaction."""
    changes.setdefault("series", f"compaction at {trigger}")
    return spec(**{"strategy": "compaction", "params": {"trigger": trigger}, **changes})


def usage(
    input: int | None = 0,
    write: int | None = 0,
    read: int | None = 0,
    output: int | None = 0,
    *,
    write_1h: int = 0,
    thinking: int | None = None,
) -> Usage:
    """Token buckets as the Messages API reports them; ``write`` None and ``read`` None leave the cache fields out."""
    written = None if write is None else write + write_1h
    return Usage(
        input_tokens=input,
        cache_creation_input_tokens=written,
        ephemeral_5m_input_tokens=write,
        ephemeral_1h_input_tokens=None if write is None else write_1h,
        cache_read_input_tokens=read,
        output_tokens=output,
        thinking_tokens=thinking,
    )


def request(
    turn: int = 1,
    purpose: Purpose = Purpose.TURN,
    *,
    of: Usage | None = None,
    iterations: Iterable[tuple[str, Usage]] = (),
    miss: MissReason | None = None,
    model: str = MODEL,
    error: str | None = None,
    control: Control | None = None,
    step: int = 0,
    **changes: Any,
) -> RequestRecord:
    """A request with its answer, or refused with ``error``; ``changes`` replace any other field."""
    plain = RequestRecord(
        seq=0,
        number=0,
        purpose=purpose,
        turn=turn,
        step=step,
        model=model,
        options={},
        betas=(),
        system_block=None,
        tools_block=None,
        base_request=None,
        shared=0,
        entries=(),
        started_ms=turn * 1000.0,
        first_event_ms=None,
        first_text_ms=None,
        finished_ms=turn * 1000.0 + 500,
        usage=Usage() if error else (of or usage()),
        iterations=tuple(Iteration(type, one) for type, one in iterations),
        stop_reason=None if error else "end_turn",
        control=control,
        miss_reason=miss,
        error_status=400 if error else None,
        error_type="invalid_request_error" if error else None,
        error_message=error,
    )
    return dataclasses.replace(plain, **changes) if changes else plain


def turn(
    number: int,
    *,
    input: int | None = 0,
    write: int | None = 0,
    read: int | None = 0,
    output: int | None = 0,
    wait_ms: float = 1000.0,
    first_text_ms: float | None = None,
    miss: MissReason | None = None,
    model: str = MODEL,
) -> list[Record]:
    """A finished turn of one request."""
    return [
        request(number, of=usage(input, write, read, output), miss=miss, model=model),
        turn_end(number, wait_ms=wait_ms, first_text_ms=first_text_ms),
    ]


def turn_end(number: int, *, wait_ms: float = 1000.0, first_text_ms: float | None = None) -> TurnRecord:
    """The end of a turn."""
    start = number * 31_000.0
    return TurnRecord(0, number, start, start + wait_ms, wait_ms, first_text_ms)


def event(kind: EventKind, number: int, /, **data: Any) -> EventRecord:
    """An event in turn ``number``."""
    return EventRecord(0, kind, number, number * 31_000.0, data)


def probe(
    fact: str = "budget",
    after: int = 3,
    *,
    passed: bool = True,
    control: Control = Control.MEMORY,
    stale: bool = False,
    visible: bool | None = None,
) -> list[Record]:
    """A recall question with its request."""
    seen = passed if visible is None else visible
    return [
        request(after, Purpose.PROBE, of=usage(input=100, output=10), control=control),
        ProbeRecord(
            seq=0,
            fact=fact,
            asked_after=after,
            control=control,
            question=f"What is the {fact}?",
            answer=f"{fact} 1" if passed else "I don't know.",
            passed=passed,
            stale=stale,
            visible=seen,
            survival=Survival.VERBATIM if seen else Survival.GONE,
            grading="regex",
            request=0,
        ),
    ]


def kept(fact: str = "budget", survival: Survival = Survival.VERBATIM) -> FactRecord:
    """What became of a fact by the end."""
    return FactRecord(0, fact, survival)


def status(state: Status = Status.DONE, completed: int = 0, message: str | None = None) -> StatusRecord:
    """A change of state."""
    return StatusRecord(0, state, completed, 0.0, message)


def replay_log(
    spec: ReplaySpec, *parts: Record | list[Record], end: Status | None = Status.DONE
) -> ReplayLog:
    """A log of numbered records, with a last state ``end`` unless that is None."""
    records: list[Record] = []
    for part in parts:
        records += part if isinstance(part, list) else [part]
    if end is not None:
        records.append(status(end, sum(isinstance(one, TurnRecord) for one in records)))
    number = 0
    numbered: list[Record] = []
    for seq, record in enumerate(records):
        if isinstance(record, RequestRecord):
            record, number = dataclasses.replace(record, seq=seq, number=number), number + 1
        else:
            record = dataclasses.replace(record, seq=seq)
        numbered.append(record)
    return ReplayLog.of(spec, numbered)
