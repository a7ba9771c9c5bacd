"""Tokens and money of one replay, by hand for Opus 5.5: $4 input, $5 and $8 writes, $0.20 reads, $20 output a million."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.metrics import Mark, ReplayResult, SumError, measure
from memdash.metrics.measure import _check_sums
from memdash.prices import PriceTable
from memdash.records import EventKind, MissReason, Purpose, Record, Status
from memdash.replay_log import ReplayLog
from tests.builders import (
    compaction_spec,
    event,
    probe,
    replay_log,
    request,
    spec,
    status,
    turn,
    turn_end,
    usage,
    window_spec,
)

PRICES = PriceTable.load()


def numbers(
    *parts: Record | list[Record], end: Status | None = Status.DONE, **changes: object
) -> ReplayResult:
    return measure(replay_log(spec(**changes), *parts, end=end), PRICES)


def test_buckets_and_cost_are_summed_over_turns() -> None:
    result = numbers(
        turn(1, input=3, write=1000, output=100), turn(2, input=3, write=200, read=1000, output=50)
    )
    assert result.input_tokens == 6
    assert result.cache_creation_input_tokens == 1200
    assert result.cache_read_input_tokens == 1000
    assert result.prompt_tokens == 2206
    assert result.output_tokens == 150
    assert result.cache_share == pytest.approx(1000 / 2206)
    # turn 1: 3x4 + 1000x5 + 100x20 = 7,012 millionths; turn 2: 3x4 + 200x5 + 1000x0.2 + 50x20 = 2,212
    assert result.cost_usd == pytest.approx(0.009224)
    assert [row.cost_usd for row in result.turns] == pytest.approx([0.007012, 0.002212])
    assert [row.cumulative_cost_usd for row in result.turns] == pytest.approx([0.007012, 0.009224])


def test_one_hour_writes_have_their_own_price_and_stay_inside_the_writes() -> None:
    result = numbers(request(1, of=usage(write=100, write_1h=200)), turn_end(1))
    assert result.cache_creation_input_tokens == 300
    assert result.buckets.ephemeral_1h_input_tokens == 200
    assert result.cost_usd == pytest.approx((100 * 5 + 200 * 8) / 1e6)


def test_a_turn_sums_its_turn_and_tool_requests_and_leaves_the_summary_out() -> None:
    result = numbers(
        request(1, of=usage(input=100, output=10)),
        request(1, Purpose.TOOL, of=usage(input=200, output=10), step=1),
        request(1, Purpose.SUMMARY, of=usage(input=1000, output=100)),
        turn_end(1),
    )
    (row,) = result.turns
    assert row.prompt_tokens == 300
    assert row.output_tokens == 20
    assert row.cost_usd == pytest.approx((300 * 4 + 20 * 20) / 1e6)  # 0.0016
    assert row.summary_cost_usd == pytest.approx((1000 * 4 + 100 * 20) / 1e6)  # 0.006
    assert row.cumulative_cost_usd == pytest.approx(0.0076)
    assert result.requests == 3
    assert result.prompt_tokens == 1300
    costs = result.cost_by_purpose_usd
    assert (costs.turn, costs.tool, costs.summary) == pytest.approx((0.0006, 0.001, 0.006))
    assert result.cost_usd == pytest.approx(0.0076)


def test_probes_are_totalled_apart() -> None:
    result = numbers(turn(1, input=100), probe("budget", 1))
    assert result.requests == 1
    assert result.prompt_tokens == 100
    assert result.probe_requests == 1
    assert result.probe_cost_usd == pytest.approx((100 * 4 + 10 * 20) / 1e6)
    assert result.cost_usd == pytest.approx(0.0004)


def test_compaction_inside_an_answer_is_a_summary_and_not_part_of_the_turn() -> None:
    # Messages API: the top-level usage leaves compaction iterations out.
    result = numbers(
        request(
            1,
            of=usage(input=500, output=40),
            iterations=[
                ("compaction", usage(input=60_000, output=800)),
                ("message", usage(input=500, output=40)),
            ],
        ),
        turn_end(1),
    )
    assert result.turns[0].prompt_tokens == 500
    assert result.prompt_tokens == 60_500
    assert result.output_tokens == 840
    assert result.requests == 1
    assert result.cost_by_purpose_usd.turn == pytest.approx((500 * 4 + 40 * 20) / 1e6)
    assert result.cost_by_purpose_usd.summary == pytest.approx((60_000 * 4 + 800 * 20) / 1e6)
    assert [(one.type, one.prompt_tokens) for one in result.iterations] == [
        ("compaction", 60_000),
        ("message", 500),
    ]
    assert result.iterations[0].cost_usd == result.cost_by_purpose_usd.summary


def test_a_compaction_asked_for_on_its_own_is_counted_once() -> None:
    result = numbers(
        request(1, Purpose.SUMMARY, of=usage(), iterations=[("compaction", usage(input=1000, output=100))]),
        turn(1, input=10),
    )
    assert result.prompt_tokens == 1010
    assert result.cost_by_purpose_usd.summary == pytest.approx((1000 * 4 + 100 * 20) / 1e6)
    assert result.cost_usd == pytest.approx(0.006 + 0.00004)


def test_a_server_without_cache_fields_reads_not_reported() -> None:
    result = numbers(turn(1, input=500, write=None, read=None, output=20))
    assert result.prompt_tokens == 500
    assert result.cache_read_input_tokens is None
    assert result.cache_creation_input_tokens is None
    assert result.cache_share is None
    assert result.turns[0].cache_share is None
    assert result.cost_usd == pytest.approx((500 * 4 + 20 * 20) / 1e6)


def test_reads_that_are_zero_are_zero_and_not_unknown() -> None:
    assert numbers(turn(1, input=500)).cache_share == 0.0


def test_a_cache_field_that_only_some_requests_report_still_adds_up() -> None:
    result = numbers(turn(1, input=500, write=None, read=None), turn(2, input=100, write=None, read=400))
    assert result.cache_read_input_tokens == 400
    assert result.prompt_tokens == 1000


def test_a_request_without_any_usage_makes_totals_unknown_and_not_smaller() -> None:
    result = numbers(turn(1, input=500), turn(2, input=None, write=None, read=None, output=None))
    assert result.prompt_tokens is None
    assert result.input_tokens is None
    assert result.output_tokens is None
    assert result.cost_usd is None
    assert [row.prompt_tokens for row in result.turns] == [500, None]
    assert [row.cumulative_cost_usd is None for row in result.turns] == [False, True]


def test_an_unknown_model_costs_nothing_known() -> None:
    result = numbers(turn(1, input=500, model="house-model"))
    assert result.cost_usd is None
    assert result.cost_by_purpose_usd.turn is None
    assert result.cost_by_purpose_usd.tool == 0.0
    assert result.prompt_tokens == 500


def test_a_refused_request_counts_as_a_request_and_costs_nothing() -> None:
    result = numbers(
        turn(1, input=500),
        event(EventKind.TRIM, 2),
        request(2, error="messages: at least one message is required"),
        event(EventKind.REJECTED, 2, message="messages: at least one message is required"),
        status(Status.REJECTED, 1, "messages: at least one message is required"),
        end=None,
    )
    assert result.status is Status.REJECTED
    assert result.requests == 2
    assert result.prompt_tokens == 500
    assert result.cost_usd == pytest.approx(0.002)
    assert result.turns_completed == 1
    assert result.errors == ("messages: at least one message is required",)
    refused = result.turns[1]
    assert (refused.prompt_tokens, refused.cost_usd, refused.wait_ms) == (None, 0.0, None)
    assert [one.kind for one in refused.events] == [EventKind.TRIM, EventKind.REJECTED]


def test_the_miss_reason_of_a_turn_is_that_of_its_first_miss() -> None:
    result = numbers(
        request(1, of=usage()),
        request(1, Purpose.TOOL, of=usage(), miss=MissReason.TOOLS_CHANGED),
        request(1, Purpose.TOOL, of=usage(), miss=MissReason.BELOW_MINIMUM),
        request(1, Purpose.SUMMARY, of=usage(), miss=MissReason.FIRST_REQUEST),
        turn_end(1),
    )
    assert result.turns[0].cache_miss_reason is MissReason.TOOLS_CHANGED


def test_a_replay_without_records_is_queued_and_empty() -> None:
    result = numbers(end=None)
    assert result.status is Status.QUEUED
    assert (result.requests, result.prompt_tokens, result.cost_usd) == (0, 0, 0.0)
    assert result.cache_share is None
    assert result.wait_ms is None
    assert result.turns == ()


def test_a_replay_with_requests_and_no_state_is_running() -> None:
    assert numbers(turn(1), end=None).status is Status.RUNNING


def test_usage_that_does_not_add_up_is_flagged() -> None:
    lopsided = dataclasses.replace(usage(write=500), cache_creation_input_tokens=400)
    chatty = usage(output=10, thinking=20)
    result = numbers(request(1, of=lopsided), request(2, of=chatty), turn(3))
    assert result.usage_faults == (
        "request 0: the 5-minute and 1-hour writes are 500 tokens together, but cache_creation_input_tokens is 400",
        "request 1: 20 thinking tokens are more than all 10 output tokens",
    )


def test_iterations_that_differ_from_the_top_level_usage_are_flagged() -> None:
    odd = request(1, of=usage(input=100), iterations=[("message", usage(input=90))])
    assert numbers(odd, turn_end(1)).usage_faults == (
        "request 0: 100 prompt tokens are reported, but its iterations come to 90",
    )


def test_totals_that_contradict_their_parts_are_never_returned() -> None:
    result = numbers(turn(1, input=500, output=10))
    for wrong in (
        dataclasses.replace(result, prompt_tokens=501),
        dataclasses.replace(result, turns=()),
        dataclasses.replace(result, cost_usd=1.0),
        dataclasses.replace(result, turns=(result.turns[0]._replace(counted_tokens=1),)),
    ):
        with pytest.raises(SumError, match="full history"):
            _check_sums(wrong)


def test_first_text_is_only_known_where_it_was_seen() -> None:
    seen = numbers(turn(1, first_text_ms=400), turn(2), turn(3, first_text_ms=900))
    assert seen.ttft_ms is not None
    assert (seen.ttft_ms.p50, seen.ttft_ms.p95) == (400, 900)
    assert numbers(turn(1)).ttft_ms is None


def test_wait_percentiles_are_waits_that_were_measured() -> None:
    # nearest rank: of 30 waits the median is the 15th and the 95th percentile the 29th (0.95 x 30 = 28.5, rounded up)
    waits = numbers(*(turn(n, wait_ms=n * 100.0) for n in range(1, 31)), turns=30).wait_ms
    assert waits is not None
    assert (waits.p50, waits.p95, waits.max, waits.total) == (1500, 2900, 3000, 46_500)


def test_only_summaries_put_into_use_are_compactions() -> None:
    log = replay_log(
        compaction_spec(turns=3),
        turn(1),
        event(EventKind.COMPACTION, 1, used=True, summary="short"),
        turn(2),
        event(EventKind.COMPACTION, 2, used=False, problem="empty"),
        turn(3),
        event(EventKind.SWAP, 3),
        event(EventKind.BACKGROUND_READY, 3),
    )
    assert measure(log, PRICES).compactions == 2


@pytest.mark.parametrize(
    ("fired", "marks"),
    [
        ((), ["never_fires"]),
        ((1, 2, 3, 4), ["fires_every_turn"]),
        ((2, 3, 4), ["fires_every_turn"]),
        ((3, 4), []),
        ((2, 4), []),
    ],
)
def test_a_threshold_that_never_or_always_fires_is_marked(fired: tuple[int, ...], marks: list[str]) -> None:
    parts: list[Record] = [one for n in range(1, 5) for one in turn(n)]
    parts += [event(EventKind.COMPACTION, n) for n in fired]
    assert list(measure(replay_log(compaction_spec(turns=4), parts), PRICES).marks) == marks


def test_a_brief_that_kept_growing_is_marked_whether_or_not_the_replay_finished() -> None:
    growing = event(EventKind.BRIEF_GROWING, 2, words=[1, 2, 3, 4])
    for end in (Status.DONE, Status.CANCELLED):
        log = replay_log(window_spec(turns=2), turn(1), event(EventKind.TRIM, 2), turn(2), growing, end=end)
        assert list(measure(log, PRICES).marks) == ["brief_growing"]


def test_every_mark_has_words_that_follow_a_name() -> None:
    assert all(mark.words.startswith("its ") for mark in Mark)


def test_a_replay_that_did_not_finish_has_no_marks() -> None:
    log = replay_log(window_spec(turns=4), turn(1), end=Status.CANCELLED)
    assert measure(log, PRICES).marks == ()


def test_full_history_and_unknown_strategies_have_no_threshold_to_mark() -> None:
    assert numbers(turn(1)).marks == ()
    assert numbers(turn(1), strategy="someone_elses").marks == ()


usages = st.builds(
    usage,
    input=st.integers(0, 5000),
    write=st.none() | st.integers(0, 5000),
    read=st.none() | st.integers(0, 5000),
    output=st.integers(0, 2000),
)
requests = st.builds(
    request,
    st.integers(1, 6),
    st.sampled_from([Purpose.TURN, Purpose.TOOL, Purpose.SUMMARY, Purpose.PROBE]),
    of=usages,
    iterations=st.just(()) | st.tuples(st.tuples(st.sampled_from(["compaction", "message"]), usages)),
)


@settings(max_examples=80)
@given(st.lists(requests, max_size=20))
def test_whatever_was_measured_the_parts_come_to_the_totals(records: list[Record]) -> None:
    result = measure(ReplayLog.of(spec(turns=6), records), PRICES)
    costs = result.cost_by_purpose_usd
    parts = (result.input_tokens, result.cache_creation_input_tokens, result.cache_read_input_tokens)
    assert sum(part or 0 for part in parts) == result.prompt_tokens
    assert (costs.turn or 0) + (costs.tool or 0) + (costs.summary or 0) == pytest.approx(result.cost_usd)
    assert result.requests + result.probe_requests == len(records)
    billed = [one for one in records if one.purpose is not Purpose.PROBE]  # type: ignore[union-attr]
    assert result.cost_usd == pytest.approx(sum(PRICES.request_cost(one) or 0 for one in billed))  # type: ignore[arg-type]
