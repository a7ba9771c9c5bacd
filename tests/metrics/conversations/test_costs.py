"""What conversations of given lengths cost: worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.errors import InputError
from memdash.metrics.conversations import (
    LeftOut,
    Support,
    Traffic,
    conversation_costs,
    conversations_json,
    cost_curves,
    from_counts,
    from_quantiles,
)
from memdash.records import Status
from tests.metrics.outcomes import outcome

LENGTHS = from_counts({1: 1, 2: 2, 3: 1}, "made up")


def test_a_curve_adds_up_the_mean_turn_over_the_scripts_that_have_it() -> None:
    [curve] = cost_curves(
        [
            outcome(costs=[1, 3], script="a", repeat=1, counted=[10, 20]),
            outcome(costs=[3, 5], script="a", repeat=2, counted=[30, 20]),
            outcome(costs=[4, 6, 8], script="b", counted=[40, 0, 5]),
        ]
    ).curves
    # turns: a (2, 4), b (4, 6, 8): means 3, 5, 8
    assert curve.cost_usd.tolist() == [3, 8, 16]
    assert curve.counted_tokens is not None
    assert curve.counted_tokens.tolist() == [30, 40, 45]
    assert curve.scripts.tolist() == [2, 2, 1]
    assert (curve.longest, curve.cost_of(2), curve.cost_of(30)) == (3, 8, 16)


@given(st.lists(st.lists(st.floats(0, 100), min_size=1, max_size=9), min_size=1, max_size=6))
def test_a_curve_never_falls_whatever_the_lengths_of_the_scripts(scripts: list[list[float]]) -> None:
    [curve] = cost_curves(outcome(costs=costs, script=str(n)) for n, costs in enumerate(scripts)).curves
    assert (np.diff(curve.cost_usd) >= 0).all()
    assert curve.longest == max(map(len, scripts))


def test_a_setting_that_was_cut_short_or_has_no_price_is_left_out_and_says_why() -> None:
    found = cost_curves(
        [
            outcome("naive", [1, 1], script="a"),
            outcome("naive", [1], script="b", status=Status.REJECTED),
            outcome("running", [1], status=Status.RUNNING),
            outcome("unpriced", [1, math.nan]),
            outcome("full history", [1, 1]),
        ]
    )
    assert [curve.series for curve in found.curves] == ["full history"]
    assert found.left_out == (
        LeftOut("naive", "1 of 2 replays refused by the API"),
        LeftOut("running", "1 of 1 replays not finished"),
        LeftOut("unpriced", "a price or a token count is not known"),
    )


def test_costs_are_those_of_the_lengths() -> None:
    curves = cost_curves([outcome(costs=[3, 5, 8])])
    found = conversation_costs(curves, Traffic(LENGTHS, per_day=10))
    [one] = found.costs
    assert one.mean_usd == pytest.approx(0.25 * 3 + 0.5 * 8 + 0.25 * 16)
    assert (one.p50_usd, one.p95_usd, one.p99_usd) == (8, 16, 16)
    assert one.per_thousand_usd == pytest.approx(8750)
    assert one.per_month_usd == pytest.approx(30 * 10 * 8.75)
    assert (one.peak_tokens_per_minute, one.of_limit) == (None, None)
    assert found.share_longer == 0
    assert found.notes == ("A month is 30 days.",)


def test_the_peak_minute_counts_what_the_conversations_of_the_peak_hour_send_uncached() -> None:
    curves = cost_curves([outcome(costs=[1, 1, 1], counted=[1000, 100, 100])])
    # 1,200 a day, a tenth in the peak hour: 2 begin in a minute; a conversation counts 1,000, 1,100 or 1,200: 1,100
    traffic = Traffic(LENGTHS, per_day=1200, peak_hour_share=0.1, tokens_per_minute=2000)
    found = conversation_costs(curves, traffic)
    [one] = found.costs
    assert one.peak_tokens_per_minute == pytest.approx(2200)
    assert one.of_limit == pytest.approx(1.1)
    assert found.findings[-1] == (
        "full history would be over the limit of 2,000 input tokens a minute in the peak hour (at most 110 % of it, in a mean "
        "minute; cache reads do not count)."
    )
    unreported = cost_curves([outcome(costs=[1], counted=[math.nan])])
    assert conversation_costs(unreported, traffic).costs[0].peak_tokens_per_minute is None


def test_conversations_longer_than_any_replay_are_counted_as_the_longest_and_said_to_be() -> None:
    curves = cost_curves([outcome(costs=[1, 1])])
    found = conversation_costs(curves, Traffic(from_counts({1: 1, 2: 2, 9: 1}, "made up")))
    assert found.costs[0].mean_usd == pytest.approx(0.25 * 1 + 0.75 * 2)
    assert (found.longest_turns, found.share_longer) == (2, 0.25)
    assert found.notes == (
        "25 % of your conversations are longer than the longest script, 2 turns: counted as 2, so they cost more than this "
        "says.",
    )


def test_turns_that_rest_on_fewer_scripts_are_said_to_where_conversations_reach_them() -> None:
    curves = cost_curves([outcome(costs=[1, 1, 1, 1], script="a"), outcome(costs=[1, 1], script="b")])
    short = conversation_costs(curves, Traffic(from_quantiles("p100=2")))
    assert short.support == (Support(1, 2, 2), Support(3, 4, 1))
    assert short.notes == ()
    long = conversation_costs(curves, Traffic(LENGTHS))
    assert long.notes == ("Turns 3 to 4 rest on 1 of 2 scripts.",)


def test_the_cheapest_is_told_against_full_history_and_settings_of_the_simulator_alone_are_not() -> None:
    curves = cost_curves(
        [
            outcome("full history", [2, 2, 2]),
            outcome("window of 4", [1, 2, 2]),
            outcome("tiny", [0.1, 0, 0], simulator_only=True),
        ]
    )
    found = conversation_costs(curves, Traffic(LENGTHS, per_day=1))
    assert found.findings == (
        "For conversations of these lengths window of 4 is the cheapest, at $3.00 each (−25 % against full history, $30.00 less "
        "a month); what is forgotten is not in it.",
    )


def test_without_a_curve_there_is_nothing_to_say() -> None:
    found = conversation_costs(cost_curves([]), Traffic(LENGTHS))
    assert (found.costs, found.findings, found.notes, found.support) == ((), (), (), ())


def test_the_json_says_how_long_and_what_it_is_of() -> None:
    curves = cost_curves([outcome(costs=[3, 5, 8])])
    shown = conversations_json(conversation_costs(curves, Traffic(LENGTHS, per_day=10)))
    assert shown["lengths"] == {
        "source": "made up", "mean_turns": 2.0, "longest_turns": 3,
        "p50_turns": 2, "p90_turns": 3, "p95_turns": 3, "p99_turns": 3,
    }  # fmt: skip
    assert (shown["days_a_month"], shown["share_longer"], shown["conversations_per_day"]) == (30, 0, 10)
    assert shown["settings"][0]["per_month_usd"] == 2625


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"per_day": 0}, "conversations a day: 0 is not a number above 0, at most 1,000,000,000"),
        ({"per_day": math.nan}, "conversations a day: nan is not a number above 0, at most 1,000,000,000"),
        ({"per_day": 1, "peak_hour_share": 10}, "share in the peak hour: 10 is not a share above 0, at most 1 (10 % is 0.1)"),
        ({"per_day": 1, "peak_hour_share": 0.01}, "share in the peak hour: 0.01 is less than 1/24 of the day"),
        ({"peak_hour_share": 0.1}, "share in the peak hour: say how many conversations a day there are as well"),
        ({"per_day": 1, "tokens_per_minute": 5}, "input tokens per minute: say how many conversations a day there are"),
    ],
)  # fmt: skip
def test_traffic_that_cannot_be_is_refused(given: dict[str, float], message: str) -> None:
    with pytest.raises(InputError) as error:
        Traffic(LENGTHS, **given)
    assert str(error.value).startswith(message)
