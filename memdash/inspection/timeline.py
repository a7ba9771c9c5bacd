"""A replay over its turns: how large each prompt was, and what was done to the conversation when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from memdash.inspection.events import details
from memdash.metrics import BackgroundJob, ReplayResult, background_jobs
from memdash.metrics.misses import REASONS
from memdash.records import EventKind, EventRecord, MissReason
from memdash.replay_log import ReplayLog


class MarkKind(StrEnum):
    """What is marked, in the order it is shown."""

    COMPACTION = "compaction"
    TRIM = "old turns dropped"
    CLEAR = "cleared by the API"
    MISS = "cache missed"
    BACKGROUND = "background job"
    REFUSED = "refused by the API"


class Mark(NamedTuple):
    """Something that happened in the turns from ``turn`` to ``through``, in a few ``words``."""

    kind: MarkKind
    turn: int
    through: int
    words: str


class TimelineTurn(NamedTuple):
    """One turn: the prompt tokens of its requests and what it cost, None where not reported or not known."""

    turn: int
    prompt_tokens: int | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The turns of one replay in order, and its marks in the order of kinds and turns."""

    series: str
    turns: tuple[TimelineTurn, ...]
    marks: tuple[Mark, ...]

    def of(self, kind: MarkKind) -> tuple[Mark, ...]:
        """The marks of one kind."""
        return tuple(mark for mark in self.marks if mark.kind is kind)

    def in_turn(self, turn: int) -> tuple[Mark, ...]:
        """The marks of one turn."""
        return tuple(mark for mark in self.marks if mark.turn <= turn <= mark.through)


_MARKED: Final[Mapping[EventKind, MarkKind]] = {
    EventKind.COMPACTION: MarkKind.COMPACTION,
    EventKind.SWAP: MarkKind.COMPACTION,
    EventKind.TRIM: MarkKind.TRIM,
    EventKind.CLEAR: MarkKind.CLEAR,
    EventKind.REJECTED: MarkKind.REFUSED,
}
_NO_MISS: Final = (MissReason.FIRST_REQUEST, MissReason.CACHING_OFF, MissReason.NOT_REPORTED)
"""A first request has nothing to read; without caching, or without figures, there is nothing to miss."""


def timeline(log: ReplayLog, result: ReplayResult) -> Timeline:
    """Return the timeline of one replay as far as it has come.

    Turns that follow one another with the same mark and the same words are one mark, so that a window that slides every turn is a
    line and not a fence.
    """
    marks = [
        *_merged(_event_marks(log.events)),
        *_merged(_miss_marks(result)),
        *map(_job_mark, background_jobs(log)),
    ]
    order = list(MarkKind)
    return Timeline(
        series=result.series,
        turns=tuple(TimelineTurn(row.turn, row.prompt_tokens, row.cost_usd) for row in result.turns),
        marks=tuple(sorted(marks, key=lambda mark: (order.index(mark.kind), mark.turn))),
    )


def _event_marks(events: Sequence[EventRecord]) -> list[Mark]:
    return [
        Mark(kind, one.turn, one.turn, details(one.event, one.data))
        for one in events
        if (kind := _MARKED.get(one.event)) is not None and one.data.get("used", True) is not False
    ]


def _miss_marks(result: ReplayResult) -> list[Mark]:
    return [
        Mark(MarkKind.MISS, row.turn, row.turn, REASONS[row.cache_miss_reason])
        for row in result.turns
        if row.cache_miss_reason is not None and row.cache_miss_reason not in _NO_MISS
    ]


def _job_mark(job: BackgroundJob) -> Mark:
    last = job.ready_turn if job.ended_turn is None else job.ended_turn
    return Mark(
        MarkKind.BACKGROUND, int(job.started_turn), max(int(last), int(job.started_turn)), job.outcome.value
    )


_EACH_ITS_OWN: Final = (MarkKind.COMPACTION, MarkKind.REFUSED)


def _merged(marks: Iterable[Mark]) -> list[Mark]:
    """Put turns without a gap together, the kinds apart; a compaction stands for itself."""
    runs: list[Mark] = []
    open_runs: dict[tuple[MarkKind, str], int] = {}
    for mark in marks:
        what = mark.kind, mark.words if mark.kind is MarkKind.MISS else ""
        place = open_runs.get(what)
        if mark.kind not in _EACH_ITS_OWN and place is not None and runs[place].through >= mark.turn - 1:
            words = mark.words if mark.words == runs[place].words else ""  # of one turn alone
            runs[place] = runs[place]._replace(through=mark.turn, words=words)
        else:
            open_runs[what] = len(runs)
            runs.append(mark)
    return runs
