"""The repeats of a setting on one script."""

from __future__ import annotations

import pytest

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep import Estimate, Group, analyse
from memdash.records import Status
from tests.metrics.sweep.outcomes import outcome

WINDOW = "window of 4"


def groups(*outcomes: ReplayOutcome) -> dict[tuple[str, str], Group]:
    return {(one.label, one.script): one for one in analyse(outcomes).groups}


def test_there_is_one_group_for_each_setting_and_script() -> None:
    found = groups(
        *(outcome(series, script=script) for series in ("full history", WINDOW) for script in "ab")
    )
    assert list(found) == [("full history", "a"), ("full history", "b"), (WINDOW, "a"), (WINDOW, "b")]


def test_a_group_is_over_repeats_by_students_t() -> None:
    cost = groups(*(outcome(repeat=n, cost=float(n)) for n in (1, 2, 3)))["full history", "trip"].cost_usd
    reach = 4.302652729911275 / 3**0.5
    assert cost == Estimate(2.0, 0.0, pytest.approx(2 + reach), 3.0, 3)  # type: ignore[arg-type]


def test_one_replay_has_a_mean_and_no_interval() -> None:
    it = groups(outcome(), outcome(WINDOW, lost=["budget"]))[WINDOW, "trip"]
    assert (it.n, it.loss) == (1, Estimate(0.25, None, None, 0.25, 1))


def test_a_loss_is_paired_with_the_full_history_of_the_same_repeat() -> None:
    it = groups(
        outcome(lost=["budget"]),
        outcome(repeat=2),
        outcome(WINDOW, lost=["budget"]),
        outcome(WINDOW, repeat=2, lost=["budget"]),
    )[WINDOW, "trip"]
    assert it.loss is not None
    assert (it.loss.mean, it.loss.low, it.loss.high, it.loss.worst) == (0.125, 0.0, 1.0, 0.25)


def test_without_full_history_there_is_no_loss() -> None:
    assert groups(outcome(WINDOW))[WINDOW, "trip"].loss is None


def test_what_did_not_finish_is_counted_and_left_out() -> None:
    it = groups(outcome(cost=1.0), outcome(repeat=2, cost=9.0, status=Status.STOPPED_BY_BUDGET))
    group = it["full history", "trip"]
    assert (group.n, group.unfinished, group.cost_usd) == (1, 1, Estimate(1.0, None, None, 1.0, 1))


def test_where_nothing_finished_nothing_is_known() -> None:
    group = groups(outcome(status=Status.REJECTED))["full history", "trip"]
    assert (group.n, group.unfinished, group.cost_usd, group.kept, group.loss) == (0, 1, None, None, None)
