"""Background jobs: when each was started, ready and put into use, how stale its memory was by then, and the wait it avoided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from memdash.records import EventKind, EventRecord, RequestRecord, TurnRecord
from memdash.replay_log import ReplayLog

_PUT_INTO_USE = (EventKind.COMPACTION, EventKind.SWAP)
_TOLD_OF = (EventKind.BACKGROUND_READY, EventKind.BACKGROUND_DISCARDED)


class Outcome(StrEnum):
    """What became of a job's memory."""

    USED = "put into use"
    REPLACED = "replaced by a newer one"
    DISCARDED = "discarded"
    """It failed, was empty or was cut off."""
    NOT_NEEDED = "not needed by the end"


@dataclass(frozen=True, slots=True)
class BackgroundJob:
    """One job of a replay. Times are milliseconds on the replay's clock, each with the turn it fell in.

    ``held_up_ms`` is how long a turn had to wait for it, 0 where none had. ``stale_turns`` is how many turns had passed
    between the state it read and its use. ``avoided_ms`` is what the user would have waited had the memory been made inline: the
    time it took, less what a turn was held up; None where it was not put into use.
    """

    series: str
    replay: str
    repeat: int
    job: int
    request: int
    started_ms: float
    started_turn: float
    ready_ms: float
    ready_turn: float
    ended_ms: float | None
    ended_turn: float | None
    outcome: Outcome
    problem: str | None
    held_up_ms: float
    held_up_from_turn: float | None
    stale_turns: int | None
    avoided_ms: float | None


@dataclass(frozen=True, slots=True)
class _Turns:
    """When each turn began, to place a moment among them."""

    starts: tuple[tuple[float, int], ...]
    end_ms: float

    def place(self, at_ms: float) -> float:
        """Return a moment as a turn and a fraction: 3.5 is half-way from the start of turn 3 to that of turn 4."""
        number, start, until = 1, 0.0, self.end_ms
        for place, (begins, turn) in enumerate(self.starts):
            if begins > at_ms:
                break
            number, start = turn, begins
            until = self.starts[place + 1][0] if place + 1 < len(self.starts) else self.end_ms
        span = until - start
        return number + (min(max((at_ms - start) / span, 0.0), 1.0) if span > 0 else 0.0)


def background_jobs(log: ReplayLog) -> tuple[BackgroundJob, ...]:
    """Return the jobs of one replay that have ended, in the order they were started."""
    if not log.jobs:
        return ()
    requests = {one.number: one for one in log.requests}
    turns = {one.turn: one for one in log.turns}
    moments = [one.finished_ms for one in log.requests] + [one.started_ms + one.wait_ms for one in log.turns]
    axis = _Turns(tuple((one.started_ms, one.turn) for one in log.turns), max(moments))
    used = {
        number: event
        for event in log.events
        if event.event in _PUT_INTO_USE
        and event.data.get("used", True) is not False
        and isinstance(number := event.data.get("request"), int)
    }
    told: dict[int, EventRecord] = {}
    refused: dict[int, EventRecord] = {}
    for event in log.events:
        number = event.data.get("request")
        if not isinstance(number, int):
            continue
        if event.event in _TOLD_OF:
            told[number] = event
        if event.event is EventKind.BACKGROUND_DISCARDED or event.data.get("problem"):
            refused[number] = event
    last_used = max((number for number in used if requests[number].job is not None), default=-1)
    return tuple(
        _job(
            log,
            requests[job.request],
            job.job,
            axis,
            turns,
            told.get(job.request),
            used.get(job.request),
            refused.get(job.request),
            replaced=job.request < last_used,
        )
        for job in sorted(log.jobs, key=lambda one: one.started_ms)
        if job.request in requests
    )


def _job(
    log: ReplayLog,
    request: RequestRecord,
    job: int,
    axis: _Turns,
    turns: Mapping[int, TurnRecord],
    told: EventRecord | None,
    used: EventRecord | None,
    refused: EventRecord | None,
    *,
    replaced: bool,
) -> BackgroundJob:
    started, ready = request.started_ms, request.finished_ms
    waited_in = told if told is not None else used
    held_up, held_up_from = 0.0, None
    if told is not None and told.data.get("held_up") and told.turn in turns:
        begun = turns[told.turn].started_ms
        held_up, held_up_from = max(ready - begun, 0.0), axis.place(begun)
    if used is not None:
        outcome, ended = Outcome.USED, used.at_ms
    elif refused is not None:
        outcome, ended = Outcome.DISCARDED, refused.at_ms
    else:
        outcome, ended = (Outcome.REPLACED if replaced else Outcome.NOT_NEEDED), None
    problem = request.error_message
    if problem is None and refused is not None:
        problem = refused.data.get("problem")
    return BackgroundJob(
        series=log.spec.series,
        replay=log.spec.id,
        repeat=log.spec.repeat,
        job=job,
        request=request.number,
        started_ms=started,
        started_turn=axis.place(started),
        ready_ms=ready,
        ready_turn=axis.place(ready),
        ended_ms=ended,
        ended_turn=None if ended is None else axis.place(ended),
        outcome=outcome,
        problem=problem,
        held_up_ms=held_up if waited_in is not None else 0.0,
        held_up_from_turn=held_up_from,
        stale_turns=None if used is None else _stale(used, request),
        avoided_ms=None if used is None else max(ready - started - held_up, 0.0),
    )


def _stale(used: EventRecord, request: RequestRecord) -> int:
    """The turns that had ended since the job read the conversation; a job is started at the end of its turn."""
    told = used.data.get("stale_turns")
    return told if isinstance(told, int) else max(used.turn - 1 - request.turn, 0)


@dataclass(frozen=True, slots=True)
class BackgroundSummary:
    """All jobs of a series, added up over its replays; ``held_up`` counts those a turn had to wait for."""

    series: str
    jobs: int
    used: int
    discarded: int
    unused: int
    held_up: int
    held_up_ms: float
    longest_ms: float
    stalest_turns: int | None
    avoided_ms: float


def background_summaries(jobs: tuple[BackgroundJob, ...]) -> tuple[BackgroundSummary, ...]:
    """Return one summary for each series that has jobs, in the order the series first appear."""
    groups: dict[str, list[BackgroundJob]] = {}
    for job in jobs:
        groups.setdefault(job.series, []).append(job)
    return tuple(_summary(series, group) for series, group in groups.items())


def _summary(series: str, jobs: list[BackgroundJob]) -> BackgroundSummary:
    count = [job.outcome for job in jobs].count
    used, discarded = count(Outcome.USED), count(Outcome.DISCARDED)
    return BackgroundSummary(
        series=series,
        jobs=len(jobs),
        used=used,
        discarded=discarded,
        unused=len(jobs) - used - discarded,
        held_up=sum(job.held_up_ms > 0 for job in jobs),
        held_up_ms=sum(job.held_up_ms for job in jobs),
        longest_ms=max(job.ready_ms - job.started_ms for job in jobs),
        stalest_turns=max((job.stale_turns for job in jobs if job.stale_turns is not None), default=None),
        avoided_ms=sum(job.avoided_ms or 0.0 for job in jobs),
    )
