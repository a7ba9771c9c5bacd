"""A series over its repeats and scripts, and how it stands against full history."""

from __future__ import annotations

from typing import Any

import pytest

from memdash.metrics import (
    ReplayResult,
    Spread,
    costs_against_full_history,
    dearer_with_fewer_tokens,
    measure_all,
    summarise,
)
from memdash.prices import PriceTable
from memdash.records import Record, Status, Survival
from memdash.replay_log import ReplayLog
from memdash.spec import CacheLifetime
from tests.builders import fact, kept, replay_log, script, spec, turn, window_spec

TRIP = script("trip", turns=1, facts=[fact("name"), fact("budget")])


def results(*logs: ReplayLog) -> tuple[ReplayResult, ...]:
    return measure_all(logs, PriceTable.load())


def full(*parts: Record | list[Record], end: Status | None = Status.DONE, **changes: Any) -> ReplayLog:
    return replay_log(spec(**{"script": TRIP, **changes}), *parts, end=end)


def window(*parts: Record | list[Record], end: Status | None = Status.DONE, **changes: Any) -> ReplayLog:
    return replay_log(window_spec(**{"script": TRIP, **changes}), *parts, end=end)


def test_repeats_are_averaged_with_their_range() -> None:
    (one,) = summarise(results(full(turn(1, input=100), repeat=1), full(turn(1, input=300), repeat=2)))
    assert one.prompt_tokens is not None
    assert (one.prompt_tokens.mean, one.prompt_tokens.low, one.prompt_tokens.high, one.prompt_tokens.of) == (
        200, 100, 300, 2,
    )  # fmt: skip
    assert one.ranked


def test_cache_share_is_pooled_over_tokens_and_not_a_mean_of_shares() -> None:
    (one,) = summarise(
        results(full(turn(1, input=100), repeat=1), full(turn(1, input=100, read=800), repeat=2))
    )
    assert one.cache_share == 0.8  # 800 of 1,000, where the mean of the shares would be 0.44


def test_savings_are_measured_against_the_full_history_of_the_same_script_and_settings() -> None:
    other = script("other", turns=1)
    rows = summarise(
        results(
            full(turn(1, input=100)),
            full(turn(1, input=1000), script=other),
            window(turn(1, input=50)),
            window(turn(1, input=1100), script=other),
        )
    )
    assert rows[0].cost_against_full_history is None
    assert rows[1].cost_against_full_history == pytest.approx(1150 / 1100 - 1)
    assert rows[1].tokens_against_full_history == pytest.approx(1150 / 1100 - 1)


def test_a_replay_is_not_measured_against_a_full_history_with_another_cache() -> None:
    measured = results(full(turn(1, input=100), cache=CacheLifetime.OFF), window(turn(1, input=50)))
    assert costs_against_full_history(measured)[measured[1].id] is None


def test_cost_against_full_history_of_one_replay() -> None:
    measured = results(
        full(turn(1, input=100)), window(turn(1, input=60)), window(end=Status.RUNNING, series="w")
    )
    assert list(costs_against_full_history(measured).values()) == [None, pytest.approx(-0.4), None]


@pytest.mark.parametrize("end", [one for one in Status if one is not Status.DONE])
def test_what_did_not_finish_is_never_ranked(end: Status) -> None:
    rows = summarise(results(full(turn(1)), window(turn(1), end=end)))
    assert [row.ranked for row in rows] == [True, False]
    assert rows[1].status is end


def test_one_unfinished_repeat_keeps_a_series_from_being_ranked() -> None:
    (one,) = summarise(results(full(turn(1), repeat=1), full(turn(1), repeat=2, end=Status.FAILED)))
    assert (one.ranked, one.status) == (False, Status.FAILED)


def test_what_was_cut_short_or_never_began_is_in_no_mean_beside_what_is_done() -> None:
    (one,) = summarise(
        results(
            full(turn(1, input=100, read=100), repeat=1),
            full(turn(1, input=300, read=100), repeat=2),
            full(turn(1, input=7), repeat=3, end=Status.INTERRUPTED),
            full(repeat=4, end=None),
        )
    )
    assert one.prompt_tokens == Spread(300, 200, 400, of=2)
    assert one.cost_usd is not None
    assert (one.cost_usd.low, one.cost_usd.of) == (
        pytest.approx(420e-6),
        2,
    )  # $4 a million, and $0.20 for a read
    assert one.cache_share == pytest.approx(200 / 600)


def test_where_nothing_is_done_what_has_begun_is_counted() -> None:
    (one,) = summarise(results(full(turn(1, input=7), repeat=1, end=None), full(repeat=2, end=None)))
    assert one.prompt_tokens == Spread(7, 7, 7, of=1)
    (waiting,) = summarise(results(full(repeat=1, end=None), full(repeat=2, end=None)))
    assert waiting.prompt_tokens == Spread(0, 0, 0, of=2)


def test_a_series_that_misses_a_script_is_not_ranked_with_those_that_have_it() -> None:
    rows = summarise(results(full(turn(1)), full(turn(1), script=script("other", turns=1)), window(turn(1))))
    assert [row.ranked for row in rows] == [True, False]


def test_relaxed_limits_are_ranked_among_themselves_alone() -> None:
    relaxed = summarise(results(full(turn(1), relax_limits=True), window(turn(1), relax_limits=True)))
    assert [row.ranked for row in relaxed] == [True, True]
    mixed = summarise(results(full(turn(1)), window(turn(1), relax_limits=True)))
    assert [row.ranked for row in mixed] == [True, False]


def test_a_queued_repeat_beside_a_finished_one_means_running() -> None:
    (one,) = summarise(results(full(turn(1), repeat=1), full(repeat=2, end=None)))
    assert one.status is Status.RUNNING


def test_fewer_tokens_that_cost_more_are_flagged() -> None:
    # full history: 100 + 900 read = 580 millionths; window: 300 input = 1,200 millionths
    rows = summarise(results(full(turn(1, input=100, read=900)), window(turn(1, input=300))))
    (pair,) = dearer_with_fewer_tokens(rows)
    assert (pair.series, pair.other) == ("window of 4", "full history")
    assert pair.tokens == pytest.approx(-0.7)
    assert pair.cost == pytest.approx(1200 / 580 - 1)


def test_fewer_tokens_that_cost_less_or_an_unfinished_replay_are_not_flagged() -> None:
    cheaper = summarise(results(full(turn(1, input=1000)), window(turn(1, input=300))))
    assert dearer_with_fewer_tokens(cheaper) == ()
    refused = summarise(
        results(full(turn(1, input=100, read=900)), window(turn(1, input=300), end=Status.REJECTED))
    )
    assert dearer_with_fewer_tokens(refused) == ()


def test_what_is_unknown_in_one_repeat_is_unknown_in_the_series() -> None:
    (one,) = summarise(
        results(full(turn(1, input=1), repeat=1), full(turn(1, input=1, model="unpriced"), repeat=2))
    )
    assert one.cost_usd is None
    assert one.prompt_tokens is not None


def test_lost_facts_are_named_once() -> None:
    lost = [kept("name", Survival.GONE), kept("budget", Survival.RESTATED)]
    (one,) = summarise(results(window(turn(1), lost, repeat=1), window(turn(1), lost, repeat=2)))
    assert (one.lost, one.kept, one.facts_total, one.kept_all) == (("name",), 2, 4, False)


def test_the_longest_wait_names_the_first_turn_that_took_it() -> None:
    (one,) = summarise(
        results(
            full(turn(1, wait_ms=900), turn(2, wait_ms=5000), turn(3, wait_ms=5000), script=script(turns=3))
        )
    )
    assert (one.longest_wait_ms, one.longest_wait_turn) == (5000, 2)
