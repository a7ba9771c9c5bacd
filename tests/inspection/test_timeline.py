"""A replay over its turns: prompts and marks."""

from __future__ import annotations

from memdash.inspection.timeline import Mark, MarkKind, TimelineTurn, timeline
from memdash.metrics import measure
from memdash.prices import PriceTable
from memdash.records import EventKind, MissReason
from memdash.scripts import find_scripts
from tests.builders import event, replay_log, spec, turn
from tests.inspection.plays import play
from tests.replay.scripts import budget, chat


def timeline_of(*parts, turns=9):
    log = replay_log(spec(turns=turns), *parts)
    return timeline(log, measure(log, PriceTable.load()))


def test_each_turn_has_its_prompt_and_its_cost():
    found = timeline_of(turn(1, input=500, write=1500), turn(2, input=100, read=1500, output=1000))
    assert found.turns == (
        TimelineTurn(1, 2_000, 0.0095),
        TimelineTurn(2, 1_600, 0.0207),
    )
    assert found.marks == ()


def test_a_prompt_that_is_not_reported_is_none():
    assert timeline_of(turn(1, input=None, write=None, read=None)).turns[0].prompt_tokens is None


def test_cuts_in_turns_that_follow_one_another_are_one_mark_and_compactions_each_their_own():
    found = timeline_of(
        *(
            [*turn(number), event(EventKind.TRIM, number, dropped_turns=[number - 2])]
            for number in (1, 3, 4, 5, 7)
        ),
        event(EventKind.COMPACTION, 7, before_tokens=2_000, after_tokens=300),
        event(EventKind.COMPACTION, 8, used=False, problem="it was empty"),
        event(EventKind.SWAP, 8, replaced_turns=[1, 2]),
    )
    assert found.of(MarkKind.TRIM) == (
        Mark(MarkKind.TRIM, 1, 1, "dropped turn -1"),
        Mark(MarkKind.TRIM, 3, 5, ""),
        Mark(MarkKind.TRIM, 7, 7, "dropped turn 5"),
    )
    assert found.of(MarkKind.COMPACTION) == (
        Mark(MarkKind.COMPACTION, 7, 7, "2,000 → 300 tokens"),
        Mark(MarkKind.COMPACTION, 8, 8, "in place of turns 1 to 2"),
    )
    assert [mark.turn for mark in found.in_turn(4)] == [3]


def test_misses_are_marked_by_their_reason_and_a_first_request_is_none():
    found = timeline_of(
        turn(1, miss=MissReason.FIRST_REQUEST),
        turn(2, miss=MissReason.HISTORY_EDITED),
        turn(3, miss=MissReason.HISTORY_EDITED),
        turn(4, miss=MissReason.LIFETIME_PASSED),
        turn(5),
    )
    assert found.marks == (
        Mark(MarkKind.MISS, 2, 3, "history edited"),
        Mark(MarkKind.MISS, 4, 4, "cache lifetime passed"),
    )


def test_a_background_job_lasts_from_its_start_to_its_use():
    script = find_scripts("trip-planning")[0]
    played = play(
        script, "instant_compaction:context_limit=2500,first_summary_at=1200,update_every=400,words=60"
    )
    jobs = timeline(played.log, played.result).of(MarkKind.BACKGROUND)
    assert len(jobs) == len(played.log.jobs) > 0
    assert all(1 <= mark.turn <= mark.through <= 30 for mark in jobs)
    assert {mark.words for mark in jobs} <= {
        "put into use",
        "replaced by a newer one",
        "discarded",
        "not needed by the end",
    }


def test_a_refusal_is_marked_with_what_the_api_said():
    played = play(chat(8, budget()), "window:keep=2,thinking=keep", check=True)
    (mark,) = timeline(played.log, played.result).of(MarkKind.REFUSED)
    assert mark.turn == 3
    assert "signature" in mark.words
