"""A replay in short: the same numbers as the whole result, and turns that add up to its totals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.metrics import measure
from memdash.metrics.outcome import ProbeOutcome, ReplayOutcome, outcome_of
from memdash.prices import PriceTable
from memdash.records import EventKind, Purpose, Record, Status, Survival
from tests.builders import (
    compaction_spec,
    event,
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
)

PRICES = PriceTable.load()
TRIP = script("trip", turns=2, facts=[fact("budget"), fact("city")])


def short(*parts: Record | list[Record], end: Status | None = Status.DONE) -> ReplayOutcome:
    return outcome_of(measure(replay_log(compaction_spec(script=TRIP, repeat=2), *parts, end=end), PRICES))


def test_it_names_the_replay_and_what_became_of_it() -> None:
    it = short(
        turn(1),
        turn(2),
        probe("budget", 2, passed=False, stale=True),
        kept("budget", Survival.STALE),
        kept("city"),
    )
    assert (it.script, it.strategy, it.params, it.series, it.repeat) == (
        "trip", "compaction", {"trigger": 2000}, "compaction at 2000", 2,
    )  # fmt: skip
    assert (it.done, it.turns_planned, it.turns_completed) == (True, 2, 2)
    assert (it.kept, it.facts_total) == (1, 2)
    assert it.survival == {"budget": Survival.STALE, "city": Survival.VERBATIM}
    assert it.probes == (ProbeOutcome("budget", 2, passed=False, stale=True, visible=False, is_test=True),)
    assert (it.recall_passed, it.recall_total) == (0, 2)  # a second probe was planned
    assert (it.wait_p50_ms, it.wait_p95_ms, it.wait_total_ms) == (1000.0, 1000.0, 2000.0)


def test_a_turn_costs_what_was_done_in_it_summaries_included() -> None:
    it = short(
        turn(1, input=100, write=50, read=1000, output=10),
        request(2, of=usage(input=100, write=200, read=1000, output=10)),
        request(2, Purpose.TOOL, of=usage(input=30, write=0, read=1300, output=5)),
        request(2, Purpose.SUMMARY, of=usage(input=1000, output=100)),
        event(EventKind.COMPACTION, 2, used=True),
        turn_end(2),
    )
    assert it.turns.turn.tolist() == [1, 2]
    # $4 input, $5 writes, $0.20 reads, $20 output a million
    assert it.turns.cost_usd.tolist() == pytest.approx([0.00105, 0.00228 + 0.006])
    assert it.turns.counted_tokens.tolist() == [150, 330 + 1000]
    assert it.turns.output_tokens.tolist() == [10, 15]
    assert (it.compactions, it.summary_turns) == (1, (2,))


def test_a_compaction_inside_an_answer_counts_against_a_rate_limit_too() -> None:
    inside = [
        ("compaction", usage(input=500, write=20, read=5, output=50)),
        ("message", usage(input=70, write=8, read=9)),
    ]
    it = short(request(1, of=usage(input=70, write=8, read=9), iterations=inside), turn_end(1))
    assert it.turns.counted_tokens.tolist() == [520 + 78]


def test_what_is_not_reported_or_has_no_price_is_not_a_number() -> None:
    it = short(
        request(1, of=usage(input=None, output=None, write=None, read=None)),
        turn_end(1),
        request(2, of=usage(input=10, write=None, read=None), model="unpriced"),
        turn_end(2),
    )
    assert np.isnan(it.turns.cost_usd).tolist() == [True, True]
    assert [math.isnan(one) for one in it.turns.counted_tokens] == [True, False]
    assert it.cost_usd is None


def test_a_summary_that_was_not_used_is_in_no_turn() -> None:
    it = short(turn(1), event(EventKind.COMPACTION, 1, used=False), event(EventKind.SWAP, 2), turn(2))
    assert (it.compactions, it.summary_turns) == (1, (2,))


def test_before_the_first_turn_there_is_nothing() -> None:
    it = outcome_of(measure(replay_log(spec(script=TRIP), end=None), PRICES))
    assert (it.status, it.turns.turn.tolist(), it.wait_p50_ms, it.kept) == (Status.QUEUED, [], None, None)


buckets = st.builds(
    usage, st.integers(0, 9999), st.integers(0, 9999), st.integers(0, 9999), st.integers(0, 999)
)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from([Purpose.TURN, Purpose.TOOL, Purpose.SUMMARY]), buckets), min_size=1
        ),
        max_size=5,
    )
)
def test_turns_add_up_to_the_totals(turns: list[list[tuple[Purpose, object]]]) -> None:
    parts: list[Record] = []
    for number, requests in enumerate(turns, 1):
        parts += [request(number, purpose, of=of) for purpose, of in requests]  # type: ignore[arg-type]
        parts.append(turn_end(number))
    it = short(*parts)
    assert math.fsum(it.turns.cost_usd) == pytest.approx(it.cost_usd)
    assert it.turns.counted_tokens.sum() == (it.input_tokens or 0) + (it.cache_creation_input_tokens or 0)
