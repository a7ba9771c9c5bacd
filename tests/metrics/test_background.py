"""Background jobs: their times on the axis of turns, what became of them, staleness and the wait they avoided."""

from __future__ import annotations

import dataclasses

import pytest

from memdash.metrics import BackgroundJob, Outcome, background_jobs, background_summaries
from memdash.records import EventKind, EventRecord, JobRecord, Purpose, Record, TurnRecord
from tests.builders import replay_log, request, spec

SECOND = 1000.0


def lasting(number: int, *, start: float, wait: float = 10.0) -> list[Record]:
    """A turn that begins at ``start`` and takes ``wait`` seconds."""
    begun, ended = start * SECOND, (start + wait) * SECOND
    return [
        request(number, started_ms=begun, finished_ms=ended),
        TurnRecord(0, number, begun, ended, wait * SECOND, None),
    ]


def job(number: int, turn: int, *, at: float, takes: float, **more: object) -> Record:
    """The call of background job ``number``, started at the end of ``turn``."""
    return request(
        turn,
        Purpose.SUMMARY,
        started_ms=at * SECOND,
        finished_ms=(at + takes) * SECOND,
        job=number,
        **more,
    )


def known(number: int, of_request: int, *, at: float, takes: float) -> JobRecord:
    return JobRecord(0, number, of_request, at * SECOND, (at + takes) * SECOND)


def told(kind: EventKind, turn: int, *, at: float, **data: object) -> EventRecord:
    return EventRecord(0, kind, turn, at * SECOND, data)


def jobs(*parts: Record | list[Record], strategy: str = "instant_compaction") -> tuple[BackgroundJob, ...]:
    return background_jobs(replay_log(spec("instant compaction", strategy=strategy, turns=4), *parts))


def test_a_memory_that_was_ready_in_time_avoided_the_whole_wait() -> None:
    # Turns begin at 0, 40 and 80 s. The job runs from 10 to 30 s and is swapped in when turn 3 begins: turn 2 is not in it.
    (one,) = jobs(
        lasting(1, start=0),
        job(1, 1, at=10, takes=20),
        lasting(2, start=40),
        known(1, 1, at=10, takes=20),
        told(EventKind.BACKGROUND_READY, 2, at=50, request=1, held_up=False),
        told(EventKind.SWAP, 3, at=80, request=1, used=True, stale_turns=1),
        lasting(3, start=80),
    )
    assert (one.job, one.outcome, one.stale_turns) == (1, Outcome.USED, 1)
    assert (one.started_turn, one.ready_turn, one.ended_turn) == pytest.approx((1.25, 1.75, 3.0))
    assert (one.held_up_ms, one.held_up_from_turn, one.avoided_ms) == (0.0, None, 20_000.0)


def test_a_turn_that_had_to_wait_counts_from_its_own_start() -> None:
    # Turn 2 begins at 40 s, the job ends at 55 s: 15 s of its 45 s were waited for.
    (one,) = jobs(
        lasting(1, start=0),
        job(1, 1, at=10, takes=45),
        known(1, 1, at=10, takes=45),
        told(EventKind.BACKGROUND_READY, 2, at=55, request=1, held_up=True),
        told(EventKind.COMPACTION, 2, at=55, request=1, used=True),
        lasting(2, start=40, wait=25),
        lasting(3, start=80),
    )
    assert (one.held_up_ms, one.held_up_from_turn) == (15_000.0, 2.0)
    assert one.avoided_ms == 30_000.0
    assert one.stale_turns == 0  # started after turn 1, used in turn 2: nothing had come between


def test_a_memory_replaced_by_a_newer_one_and_one_never_needed_avoid_nothing() -> None:
    first, second, third = jobs(
        lasting(1, start=0),
        job(1, 1, at=10, takes=5),
        known(1, 1, at=10, takes=5),
        lasting(2, start=40),
        job(2, 2, at=50, takes=5),
        known(2, 3, at=50, takes=5),
        told(EventKind.SWAP, 3, at=80, request=3, used=True, stale_turns=0),
        lasting(3, start=80),
        job(3, 3, at=90, takes=5),
        known(3, 5, at=90, takes=5),
    )
    assert [one.outcome for one in (first, second, third)] == [
        Outcome.REPLACED,
        Outcome.USED,
        Outcome.NOT_NEEDED,
    ]
    assert [one.avoided_ms for one in (first, second, third)] == [None, 5_000.0, None]
    assert [one.ended_turn for one in (first, third)] == [None, None]


@pytest.mark.parametrize(
    "event",
    [
        told(EventKind.BACKGROUND_DISCARDED, 2, at=40, request=1, problem="the summary was empty"),
        told(EventKind.BACKGROUND_READY, 2, at=40, request=1, problem="the summary was empty"),
        told(EventKind.SWAP, 2, at=40, request=1, used=False, problem="the summary was empty"),
    ],
)
def test_a_memory_that_must_not_be_used_was_discarded(event: EventRecord) -> None:
    (one,) = jobs(
        lasting(1, start=0),
        job(1, 1, at=10, takes=5),
        known(1, 1, at=10, takes=5),
        event,
        lasting(2, start=40),
    )
    assert (one.outcome, one.problem, one.avoided_ms) == (Outcome.DISCARDED, "the summary was empty", None)
    assert one.ended_turn == 2.0


def test_a_job_that_has_not_ended_yet_is_not_told() -> None:
    assert jobs(lasting(1, start=0), job(1, 1, at=10, takes=50)) == ()


def test_the_axis_gives_every_turn_the_same_width_however_long_the_pause() -> None:
    # Turn 1 lasts until turn 2 begins an hour later: 1,800 s are half of it.
    (one,) = jobs(
        lasting(1, start=0),
        job(1, 1, at=900, takes=900),
        known(1, 1, at=900, takes=900),
        lasting(2, start=3600),
        lasting(3, start=3640),
    )
    assert (one.started_turn, one.ready_turn) == pytest.approx((1.25, 1.5))


def test_a_series_is_summed_up_over_its_jobs() -> None:
    (used,) = jobs(
        lasting(1, start=0),
        job(1, 1, at=10, takes=45),
        known(1, 1, at=10, takes=45),
        told(EventKind.BACKGROUND_READY, 2, at=55, request=1, held_up=True),
        told(EventKind.SWAP, 2, at=55, request=1, used=True, stale_turns=0),
        lasting(2, start=40, wait=25),
    )
    spare = dataclasses.replace(
        used, outcome=Outcome.NOT_NEEDED, avoided_ms=None, stale_turns=None, held_up_ms=0.0
    )
    bad = dataclasses.replace(spare, outcome=Outcome.DISCARDED)
    (row,) = background_summaries((used, spare, bad))
    assert (row.jobs, row.used, row.discarded, row.unused, row.held_up) == (3, 1, 1, 1, 1)
    assert (row.held_up_ms, row.longest_ms, row.avoided_ms, row.stalest_turns) == (
        15_000.0,
        45_000.0,
        30_000.0,
        0,
    )
