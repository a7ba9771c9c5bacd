"""Which probes count, and what became of each fact."""

from __future__ import annotations

from memdash.metrics import ReplayResult, measure, measure_all, planned_probes
from memdash.prices import PriceTable
from memdash.records import Control, Record, Status, Survival
from memdash.spec import Provider
from tests.builders import fact, kept, probe, replay_log, script, spec, turn, window_spec

PRICES = PriceTable.load()
TRIP = script("trip", turns=3, facts=[fact("name"), fact("budget"), fact("arrival", turn=3)])


def of_window(
    *parts: Record | list[Record], end: Status = Status.DONE, turns: int | None = None
) -> ReplayResult:
    return measure(replay_log(window_spec(script=TRIP, turns=turns), *parts, end=end), PRICES)


def test_a_fact_is_asked_for_at_the_end_or_after_its_turns_once_it_is_stated() -> None:
    asked = script(
        turns=10,
        facts=[
            fact("end"),
            fact("twice", probe_after=(9, 4, 4)),
            fact("late", turn=8, probe_after=(3, 9)),
            fact("never", probe_after=(11,)),
        ],
    )
    assert planned_probes(asked, 10) == (("twice", 4), ("twice", 9), ("late", 9), ("end", 10))
    assert planned_probes(asked, 5) == (("twice", 4), ("end", 5))


def test_recall_is_the_share_of_planned_probes_that_passed() -> None:
    result = of_window(
        probe("name", passed=True), probe("budget", passed=False), probe("arrival", passed=True)
    )
    assert (result.recall_passed, result.recall_total, result.recall) == (2, 3, 2 / 3)
    assert result.recall_simulated


def test_facts_not_yet_stated_are_not_counted() -> None:
    result = of_window(probe("name", 2), probe("budget", 2), turns=2)
    assert (result.recall_total, result.facts_total) == (2, 2)


def test_a_rejected_replay_keeps_what_was_planned_and_has_no_right_answers() -> None:
    result = of_window(turn(1), end=Status.REJECTED)
    assert (result.recall_passed, result.recall_total, result.recall) == (0, 3, 0.0)
    assert (result.kept, result.facts_total) == (None, 3)


def test_a_replay_that_was_stopped_has_no_recall_though_its_plan_is_known() -> None:
    for end in (
        Status.CANCELLED,
        Status.STOPPED_BY_BUDGET,
        Status.INTERRUPTED,
        Status.RUNNING,
        Status.FAILED,
    ):
        result = of_window(turn(1), end=end)
        assert (result.recall, result.recall_total) == (None, 3)


def test_without_probes_recall_is_null() -> None:
    result = measure(replay_log(spec(turns=1), turn(1)), PRICES)
    assert (result.recall, result.recall_total, result.kept, result.facts_total) == (None, 0, None, 0)


def test_a_probe_whose_controls_fail_in_another_replay_is_no_test_here() -> None:
    controls = replay_log(
        spec(script=TRIP),
        *(probe(name, control=Control.MEMORY) for name in ("name", "budget", "arrival")),
        probe("name", control=Control.WHOLE, passed=False),
        probe("budget", control=Control.WHOLE, passed=True),
        probe("budget", control=Control.EMPTY, passed=True),
        probe("arrival", control=Control.WHOLE, passed=True),
        probe("arrival", control=Control.EMPTY, passed=False),
    )
    window = replay_log(window_spec(script=TRIP), *(probe(name) for name in ("name", "budget", "arrival")))
    full_result, window_result = measure_all([controls, window], PRICES)
    for result in (full_result, window_result):
        assert {one.fact: one.is_test for one in result.probes} == {
            "name": False,
            "budget": False,
            "arrival": True,
        }
        assert (result.recall_passed, result.recall_total) == (1, 1)
    assert full_result.probe_requests == 8


def test_controls_of_another_repeat_model_or_script_say_nothing() -> None:
    failed = probe("name", control=Control.WHOLE, passed=False)
    others = [
        replay_log(spec(script=TRIP, repeat=2), failed),
        replay_log(spec(script=TRIP, model="claude-haiku-4-5"), failed),
        replay_log(spec(script=script("other", turns=3, facts=TRIP.facts)), failed),
        replay_log(spec(script=TRIP, comparison_id="cmp_2"), failed),
    ]
    result = measure_all([*others, replay_log(window_spec(script=TRIP), probe("name"))], PRICES)[-1]
    assert [one.is_test for one in result.probes] == [True]


def test_kept_counts_facts_whose_latest_value_is_still_in_the_context() -> None:
    result = of_window(
        kept("name", Survival.VERBATIM), kept("budget", Survival.RESTATED), kept("arrival", Survival.STALE)
    )
    assert (result.kept, result.facts_total, result.kept_all) == (2, 3, False)
    assert result.survival["arrival"] is Survival.STALE


def test_kept_and_recall_are_two_measures() -> None:
    result = of_window(probe("name", passed=False, visible=True), kept("name"))
    assert (result.kept, result.recall_passed, result.probes[0].visible) == (1, 0, True)


def test_live_recall_is_not_simulated() -> None:
    log = replay_log(spec(provider=Provider.ANTHROPIC), turn(1))
    assert not measure(log, PRICES).recall_simulated
