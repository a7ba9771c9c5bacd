"""A replay as it is read back from the store: its specification and its records, sorted by kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from memdash.records import (
    EventRecord,
    FactRecord,
    JobRecord,
    ProbeRecord,
    Record,
    RequestRecord,
    StatusRecord,
    TurnRecord,
)
from memdash.spec import ReplaySpec


@dataclass(frozen=True, slots=True)
class ReplayLog:
    """Everything the numbers of a replay are made of; ``statuses`` holds every state it went through, the present one last.

    The requests' ``blocks`` may be left out: they are text, not numbers.
    """

    spec: ReplaySpec
    requests: list[RequestRecord] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)
    turns: list[TurnRecord] = field(default_factory=list)
    jobs: list[JobRecord] = field(default_factory=list)
    probes: list[ProbeRecord] = field(default_factory=list)
    facts: list[FactRecord] = field(default_factory=list)
    statuses: list[StatusRecord] = field(default_factory=list)

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
