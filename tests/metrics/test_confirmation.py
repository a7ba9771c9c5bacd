"""The simulator's error per number: which replays are held against which, what each number's error is, and what is not known."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.answerer import Answerer
from memdash.metrics.confirmation import Confirmation, confirm, confirmation_json, wanted
from memdash.metrics.number_errors import Number, NumberError
from memdash.prices import PriceTable
from memdash.records import Purpose, Status, Survival
from memdash.replay_log import ReplayLog
from memdash.scripts.model import Turn
from memdash.spec import Provider
from tests.builders import (
    compaction_spec,
    fact,
    kept,
    probe,
    replay_log,
    request,
    script,
    spec,
    turn,
    turn_end,
    usage,
    window_spec,
)

TRIP = script("trip", turns=2, facts=[fact("budget"), fact("hotel")])
AT = datetime(2026, 12, 2, 9, 30, tzinfo=UTC)
LIVE: dict[str, Any] = {
    "provider": Provider.ANTHROPIC,
    "comparison_id": "cmp_live",
    "pace": 0.0,
    "salt": "ab12",
}


def confirmation(
    simulated: list[ReplayLog], live: list[ReplayLog], answered_by: Answerer = Answerer.LIVE_API
) -> Confirmation:
    return confirm(simulated, live, PriceTable.load(), at=AT, answered_by=answered_by)


def error(found: Confirmation, number: Number) -> NumberError:
    (one,) = [one for one in found.total if one.number is number]
    return one


def live_spec(build: Any = spec, **changes: Any) -> Any:
    made = build(script=TRIP, **changes)
    return dataclasses.replace(made, id=f"{made.id}_live", **LIVE)


def whole(
    of: Any, *, input: int = 0, write: int = 0, read: int = 0, output: int = 0, **times: Any
) -> ReplayLog:
    """A finished replay of two equal turns that keeps one of two facts and is asked for both."""
    return replay_log(
        of,
        turn(1, input=input, write=write, read=read, output=output, **times),
        turn(2, input=input, write=write, read=read, output=output, **times),
        kept("budget"),
        kept("hotel", Survival.GONE),
    )


def test_every_number_has_its_difference_and_its_error_against_the_live_value() -> None:
    simulated = whole(
        spec(script=TRIP), input=100, write=1100, read=900, output=220, wait_ms=3000.0, first_text_ms=600.0
    )
    live = whole(
        live_spec(), input=100, write=1000, read=1000, output=200, wait_ms=4000.0, first_text_ms=800.0
    )
    found = confirmation([simulated], [live])
    # $4 input, $5 writes, $0.20 reads, $20 output per million: $0.01048 a turn simulated, $0.0096 live
    assert error(found, Number.COST).simulated == pytest.approx(2 * 0.01048)
    assert error(found, Number.COST).live == pytest.approx(2 * 0.0096)
    assert error(found, Number.COST).relative == pytest.approx(0.01048 / 0.0096 - 1)
    exact = {
        Number.INPUT: (200, 200, 0, 0.0),
        Number.WRITE_5M: (2200, 2000, 200, 0.1),
        Number.WRITE_1H: (0, 0, 0, 0.0),
        Number.READ: (1800, 2000, -200, -0.1),
        Number.PROMPT: (4200, 4200, 0, 0.0),
        Number.OUTPUT: (440, 400, 40, 0.1),
        Number.KEPT: (0.5, 0.5, 0, 0.0),
        Number.WAIT_P50: (3000, 4000, -1000, -0.25),
        Number.WAIT_P95: (3000, 4000, -1000, -0.25),
        Number.FIRST_TEXT_P50: (600, 800, -200, -0.25),
    }
    for number, values in exact.items():
        one = error(found, number)
        assert (one.simulated, one.live, one.difference, one.relative) == pytest.approx(values), number


def test_the_worst_error_comes_first_and_what_is_not_known_last() -> None:
    simulated = whole(spec(script=TRIP), input=100, write=1000, output=220, wait_ms=3000.0)
    live = whole(live_spec(), input=0, write=1000, output=200, wait_ms=2000.0)
    order = [one.number for one in confirmation([simulated], [live]).total]
    assert order[0] is Number.INPUT  # the live value is 0: an error without end
    assert order[1:3] == [Number.WAIT_P50, Number.WAIT_P95]  # half as much again
    assert set(order[-3:]) == {Number.RECALL, Number.FIRST_TEXT_P50, Number.FIRST_TEXT_P95}


def test_kept_and_recall_are_shares_of_all_facts_and_probes() -> None:
    asked = [probe("budget", 2), probe("hotel", 2)]
    simulated = replay_log(spec(script=TRIP), turn(1), turn(2), *asked, kept("budget"), kept("hotel"))
    live = replay_log(
        live_spec(),
        turn(1),
        turn(2),
        probe("budget", 2),
        probe("hotel", 2, passed=False),
        kept("budget"),
        kept("hotel", Survival.STALE),
    )
    found = confirmation([simulated], [live])
    for number in (Number.KEPT, Number.RECALL):
        one = error(found, number)
        assert (one.simulated, one.live, one.difference, one.relative) == (1.0, 0.5, 0.5, 1.0)
        assert number.spelled_difference(one.difference) == "+50 points"


def test_percentiles_are_of_the_turns_that_both_sides_have() -> None:
    simulated = replay_log(
        spec(script=TRIP), turn(1, wait_ms=10.0, first_text_ms=1.0), turn(2, wait_ms=20.0, first_text_ms=2.0)
    )
    live = replay_log(live_spec(), turn(1, wait_ms=11.0, first_text_ms=4.0), turn(2, wait_ms=22.0))
    found = confirmation([simulated], [live])
    assert (error(found, Number.WAIT_P50).simulated, error(found, Number.WAIT_P50).live) == (10.0, 11.0)
    assert (error(found, Number.WAIT_P95).simulated, error(found, Number.WAIT_P95).live) == (20.0, 22.0)
    # turn 2 has no first text live, so its simulated one does not count either
    assert (error(found, Number.FIRST_TEXT_P95).simulated, error(found, Number.FIRST_TEXT_P95).live) == (
        1.0,
        4.0,
    )


def test_replays_are_paired_by_what_they_play_and_not_by_what_they_are_called() -> None:
    simulated = [
        whole(spec("full history · claude-opus-5-5", script=TRIP), input=10),
        whole(compaction_spec(2000, script=TRIP, repeat=1), input=20),
        whole(compaction_spec(2000, script=TRIP, repeat=2, id="second"), input=30),
        whole(compaction_spec(4000, script=TRIP), input=40),
    ]
    live = [
        whole(live_spec(compaction_spec, trigger=2000, repeat=2), input=300),
        whole(live_spec(compaction_spec, trigger=2000, repeat=1), input=200),
        whole(live_spec(), input=100),
    ]
    found = confirmation(simulated, live)
    assert [(pair.simulated_id, pair.spec.repeat) for pair in found.pairs] == [
        ("second", 2),
        ("cmp_1_compaction_at_2000", 1),
        ("cmp_1_full_history_·_claude-opus-5-5", 1),
    ]
    by_setting = {one.series: one for one in found.settings}
    assert by_setting["compaction at 2000"].pairs == 2
    assert [one for one in by_setting["compaction at 2000"].errors if one.number is Number.INPUT] == [
        NumberError(Number.INPUT, 100.0, 1000.0)
    ]


def test_only_pairs_that_both_finished_count_and_the_others_say_why() -> None:
    refused = "messages.1.content.0: Invalid `signature`"
    simulated = [
        whole(spec(script=TRIP), input=10),
        replay_log(
            window_spec(script=TRIP), turn(1, input=10), request(2, error=refused), end=Status.REJECTED
        ),
        whole(compaction_spec(script=TRIP), input=10),
    ]
    live = [
        whole(live_spec(), input=10),
        replay_log(live_spec(window_spec), turn(1, input=99), request(2, error=refused), end=Status.REJECTED),
        replay_log(live_spec(compaction_spec), turn(1, input=99), end=Status.STOPPED_BY_BUDGET),
        whole(live_spec(compaction_spec, trigger=9000), input=10),
    ]
    found = confirmation(simulated, live)
    assert (len(found.pairs), found.planned, found.finished) == (1, 4, False)
    assert error(found, Number.INPUT) == NumberError(Number.INPUT, 20.0, 20.0)
    assert [(one.label, one.words) for one in found.left_out] == [
        ("window of 4", f"simulated rejected, live rejected: {refused}"),
        ("compaction at 2000", "simulated done, live stopped by budget"),
        ("compaction at 9000", "simulated is not there, live done"),
    ]


def test_what_a_server_does_not_report_stays_not_reported() -> None:
    simulated = whole(spec(script=TRIP), input=10, write=100, read=50, output=20, first_text_ms=500.0)
    live = replay_log(
        live_spec(),
        turn(1, input=160, write=None, read=None, output=20),
        turn(2, input=160, write=None, read=None, output=20),
    )
    found = confirmation([simulated], [live])
    read = error(found, Number.READ)
    assert (read.simulated, read.live, read.difference, read.relative) == (100.0, None, None, None)
    assert Number.READ.spelled(read.live) == "not reported"
    assert error(found, Number.INPUT).difference == 20 - 320
    assert error(found, Number.FIRST_TEXT_P50) == NumberError(Number.FIRST_TEXT_P50, 500.0, None)
    silent = replay_log(live_spec(), turn(1, input=None, write=None, read=None, output=None), turn_end(2))
    nothing = confirmation([simulated], [silent])
    assert error(nothing, Number.PROMPT).live is None
    assert error(nothing, Number.COST).live is None
    assert nothing.told().endswith("cost n/a, prompt tokens n/a")


def test_one_replay_that_reports_nothing_leaves_no_total() -> None:
    simulated = [whole(spec(script=TRIP), read=10), whole(compaction_spec(script=TRIP), read=10)]
    live = [
        whole(live_spec(), read=10),
        replay_log(
            live_spec(compaction_spec), turn(1, read=None, write=None), turn(2, read=None, write=None)
        ),
    ]
    found = confirmation(simulated, live)
    assert error(found, Number.READ) == NumberError(Number.READ, 40.0, None)
    assert found.worst(Number.READ) == ("full history", NumberError(Number.READ, 20.0, 20.0))


def test_requests_are_those_that_were_answered_live_in_finished_pairs_probes_included() -> None:
    simulated = [whole(spec(script=TRIP)), whole(compaction_spec(script=TRIP))]
    live = [
        replay_log(
            live_spec(),
            turn(1),
            request(1, Purpose.SUMMARY, of=usage()),
            turn(2),
            probe("budget", 2),
            request(2, Purpose.SUMMARY, error="overloaded"),
            request(2, Purpose.TURN, of=usage(), modelled=True),
        ),
        replay_log(live_spec(compaction_spec), turn(1), end=Status.CANCELLED),
    ]
    assert confirmation(simulated, live).requests == 4


def test_the_sentence_names_the_worst_setting_so_that_no_error_is_averaged_away() -> None:
    simulated = [whole(spec(script=TRIP), input=1030), whole(compaction_spec(script=TRIP), input=500)]
    live = [whole(live_spec(), input=1000), whole(live_spec(compaction_spec), input=505)]
    found = confirmation(simulated, live)
    assert found.told() == (
        "compared with the live API on 2026-12-02 (4 requests): cost within +3 %, prompt tokens within +3 %"
    )
    assert [one.series for one in found.settings] == ["full history", "compaction at 2000"]


def test_the_sentence_says_how_much_is_finished_and_that_a_compatible_server_answered() -> None:
    simulated = [whole(spec(script=TRIP), input=100), whole(compaction_spec(script=TRIP))]
    live = [
        whole(live_spec(), input=100),
        replay_log(live_spec(compaction_spec), end=Status.STOPPED_BY_BUDGET),
    ]
    assert confirmation(simulated, live, Answerer.COMPATIBLE).told() == (
        "compared with a compatible server on 2026-12-02 (2 requests, 1 of 2 replays): cost within ±0 %, "
        "prompt tokens within ±0 %"
    )


def test_what_the_sides_did_not_share_is_noted() -> None:
    recorded = dataclasses.replace(
        TRIP, turns=tuple(dataclasses.replace(one, reply="Fine.") for one in TRIP.turns)
    )
    assert isinstance(recorded.turns[0], Turn)
    simulated = whole(spec(script=recorded, warm=True))
    live = whole(dataclasses.replace(live_spec(), script=recorded))
    pace, warm, replies, salt = confirmation([simulated], [live]).notes
    assert pace == "think time between turns: 30 s simulated, none live"
    assert "warm in the simulator" in warm
    assert "recorded" in replies
    assert "do not share a cache" in salt
    alike = dataclasses.replace(live_spec(), pace=30.0, salt="")
    assert confirmation([whole(spec(script=TRIP))], [whole(alike)]).notes == ()


def test_without_a_finished_pair_there_is_no_result() -> None:
    found = confirmation([whole(spec(script=TRIP))], [replay_log(live_spec(), end=None)])
    assert (found.pairs, found.total, found.requests, found.finished) == ((), (), 0, False)
    assert confirmation_json(found)["sentence"] is None
    assert [one.words for one in found.left_out] == ["simulated done, live queued"]


def test_only_what_is_checked_and_what_asks_the_controls_is_wanted() -> None:
    simulated = [spec(script=TRIP), compaction_spec(2000, script=TRIP), compaction_spec(4000, script=TRIP)]
    assert wanted(simulated, [live_spec(compaction_spec, trigger=4000)]) == {
        "cmp_1_full_history",
        "cmp_1_compaction_at_4000",
    }


def test_the_json_holds_every_number_of_every_pair() -> None:
    found = confirmation_json(
        confirmation([whole(spec(script=TRIP), input=3)], [whole(live_spec(), input=2)])
    )
    assert (found["live"], found["at"]) == ("cmp_live", "2026-12-02T09:30:00Z")
    assert (found["answered_by"], found["requests"], found["replays"]) == ("the live API", 2, 1)
    (pair,) = found["pairs"]
    assert {one["name"] for one in pair["numbers"]} == {number.value for number in Number}
    (cost,) = [one for one in pair["numbers"] if one["name"] == "cost_usd"]
    assert cost == {
        "name": "cost_usd",
        "simulated": 0.000024,
        "live": 0.000016,
        "difference": 0.000008,
        "relative": 0.5,
    }


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**6)), min_size=1, max_size=5),
)
def test_the_errors_of_the_pairs_add_up_to_that_of_the_whole(sizes: list[tuple[int, int]]) -> None:
    simulated = [
        whole(spec(script=TRIP, repeat=n, id=f"s{n}"), input=one) for n, (one, _) in enumerate(sizes, 1)
    ]
    live = [whole(live_spec(repeat=n), input=two) for n, (_, two) in enumerate(sizes, 1)]
    found = confirmation(simulated, live)
    parts = [one for pair in found.pairs for one in pair.errors if one.number is Number.PROMPT]
    assert sum(one.difference or 0 for one in parts) == error(found, Number.PROMPT).difference
    worst = found.worst(Number.PROMPT)
    assert worst is not None
    assert worst[1] == error(found, Number.PROMPT)  # one setting: the worst is the whole
