"""Percentiles of waiting, the recall curve, and the verdict over replays."""

from __future__ import annotations

from memdash.metrics import measure_all, recall_curves, verdicts, wait_summaries
from memdash.prices import PriceTable
from memdash.records import Control, EventKind
from tests.builders import event, fact, probe, replay_log, script, spec, turn, turn_end


def test_percentiles_are_measured_values_over_the_turns_of_all_repeats() -> None:
    logs = [
        replay_log(
            spec("a", turns=10, repeat=repeat, id=f"a{repeat}"),
            *(
                turn_end(n, wait_ms=100.0 * (n + 10 * (repeat - 1)), first_text_ms=10.0 * n)
                for n in range(1, 11)
            ),
        )
        for repeat in (1, 2)
    ]
    (row,) = wait_summaries(logs)
    # Waits are 100, 200, … 2,000: ranks 10, 18 and 19 of 20.
    assert row.wait == (1000.0, 1800.0, 1900.0, 2000.0, 20)
    # Each of 10, 20, … 100 twice.
    assert row.first_text == (50.0, 90.0, 100.0, 100.0, 20)
    assert row.total_ms == (5500.0 + 15_500.0) / 2


def test_a_time_to_first_text_that_is_not_known_is_left_out_and_no_turns_are_no_numbers() -> None:
    (row,) = wait_summaries(
        [replay_log(spec("a"), turn_end(1, wait_ms=5.0), turn_end(2, wait_ms=7.0, first_text_ms=3.0))]
    )
    assert row.first_text is not None
    assert (row.first_text.turns, row.first_text.p50) == (1, 3.0)
    (empty,) = wait_summaries([replay_log(spec("b"))])
    assert (empty.wait, empty.first_text, empty.total_ms) == (None, None, None)


def asked_at(*turns: int):
    return script(
        turns=max(turns), facts=[fact("budget", probe_after=turns), fact("date", probe_after=turns)]
    )


def test_a_curve_has_a_point_for_each_turn_that_was_asked_after_over_all_repeats() -> None:
    one = asked_at(20, 40)
    logs = [
        replay_log(
            spec("a", script=one, repeat=repeat, id=f"a{repeat}"),
            probe("budget", 20),
            probe("date", 20, passed=repeat == 1, visible=True),
            probe("budget", 40, passed=False),
            probe("date", 40, passed=False),
        )
        for repeat in (1, 2)
    ]
    (curve,) = recall_curves(measure_all(logs, PriceTable.load()))
    assert [(p.since, p.asked_after, p.passed, p.total, p.visible) for p in curve.points] == [
        (20, 20, 3, 4, 4),
        (40, 40, 0, 4, 0),
    ]
    assert curve.points[0].recall == 0.75
    assert curve.simulated


def test_what_is_not_a_test_is_not_counted_and_one_point_is_no_curve() -> None:
    log = replay_log(
        spec("full history", script=asked_at(20, 40)),
        probe("budget", 20),
        probe("budget", 40),
        probe("budget", 40, control=Control.EMPTY, passed=True),
    )
    assert recall_curves(measure_all([log], PriceTable.load())) == ()


def test_questions_at_many_turns_are_told_in_bands_of_round_width() -> None:
    turns = tuple(range(3, 120, 3))  # 39 turns up to 117: bands of 15
    log = replay_log(spec("a", script=asked_at(*turns)), *(probe("budget", n, passed=n < 60) for n in turns))
    (curve,) = recall_curves(measure_all([log], PriceTable.load()))
    assert [(p.since, p.asked_after, p.passed, p.total) for p in curve.points] == [
        (3, 15, 5, 5),
        (18, 30, 5, 5),
        (33, 45, 5, 5),
        (48, 60, 4, 5),
        (63, 75, 0, 5),
        (78, 90, 0, 5),
        (93, 105, 0, 5),
        (108, 117, 0, 4),
    ]


def test_the_latest_verdict_of_a_replay_counts() -> None:
    broken = {"request": 3, "rule": "declared", "text": "message 2 changed"}
    bad = event(EventKind.VERDICT, 2, ok=False, requests=4, violated=30, violations=[broken])
    good = event(EventKind.VERDICT, 3, ok=True, requests=6, violated=0, violations=[])
    judged = verdicts(
        [replay_log(spec("a"), bad), replay_log(spec("b"), bad, good), replay_log(spec("c"), turn(1))]
    )
    assert [(one.label, one.ok, one.requests, one.violated) for one in judged] == [
        ("a", False, 4, 30),
        ("b", True, 6, 0),
    ]
    assert judged[0].violations == ((3, "declared", "message 2 changed"),)


def test_a_violation_is_an_error_of_its_replay_and_no_event_of_a_turn() -> None:
    data = {
        "ok": False,
        "requests": 1,
        "violated": 1,
        "violations": [{"request": 1, "rule": "totals", "text": "no sum"}],
    }
    log = replay_log(spec("a"), turn(1), event(EventKind.VERDICT, 1, **data))
    (result,) = measure_all([log], PriceTable.load())
    assert result.errors == ("violation in request 1, totals: no sum",)
    assert [one.events for one in result.turns] == [()]
