"""A replay as it is read back from the store: its specification and its records, sorted by kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from memdash.records import (
    EventRecord,
    FactRecord,
    Iteration,
    JobRecord,
    MissReason,
    ProbeRecord,
    Purpose,
    Record,
    RequestRecord,
    StatusRecord,
    TurnRecord,
    Usage,
)
from memdash.spec import ReplaySpec


class RequestOutline(NamedTuple):
    """What a replay's totals and turns are made of in a request: a quarter of a :class:`RequestRecord`, by the same names.

    A page that shows thousands of requests as numbers has no use for their contexts, times and options.
    """

    seq: int
    number: int
    purpose: Purpose
    turn: int
    model: str
    usage: Usage
    iterations: tuple[Iteration, ...]
    miss_reason: MissReason | None
    error_status: int | None
    error_type: str | None
    error_message: str | None


AnyRequest = RequestRecord | RequestOutline

_RequestT = TypeVar("_RequestT", RequestRecord, RequestOutline)


@dataclass(frozen=True, slots=True)
class _Sorted(Generic[_RequestT]):
    spec: ReplaySpec
    requests: list[_RequestT] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)
    turns: list[TurnRecord] = field(default_factory=list)
    jobs: list[JobRecord] = field(default_factory=list)
    probes: list[ProbeRecord] = field(default_factory=list)
    facts: list[FactRecord] = field(default_factory=list)
    statuses: list[StatusRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReplayOutline(_Sorted[RequestOutline]):
    """Everything the results of a replay are made of; ``statuses`` are as in :class:`ReplayLog`."""


@dataclass(frozen=True, slots=True)
class ReplayLog(_Sorted[RequestRecord]):
    """Everything that happened in a replay; ``statuses`` holds every state it went through, the present one last.

    The requests' ``blocks`` may be left out: they are text, not numbers.
    """

    @classmethod
    def of(cls, spec: ReplaySpec, records: Iterable[Record]) -> ReplayLog:
        """Sort ``records`` of one replay by kind."""
        log = cls(spec)
        shelves = {
            "request": log.requests,
            "event": log.events,
            "turn": log.turns,
            "job": log.jobs,
            "probe": log.probes,
            "fact": log.facts,
            "status": log.statuses,
        }
        for record in records:
            shelves[record.kind].append(record)  # type: ignore[attr-defined]  # each shelf holds its own kind
        return log


AnyLog = ReplayLog | ReplayOutline
