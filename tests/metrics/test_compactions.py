"""Compactions by hand for Opus 5.5: $4 input, $5 writes, $0.20 reads, $20 output a million."""

from __future__ import annotations

import math

import pytest

from memdash.metrics import Compaction, cache_misses, compaction_summaries, compactions, measure
from memdash.prices import PriceTable
from memdash.records import EventKind, MissReason, Purpose, Record
from memdash.spec import CacheLifetime
from tests.builders import compaction_spec, event, replay_log, request, turn, usage

PRICES = PriceTable.load()
MINUTE = 60_000.0


def lines(*parts: Record | list[Record], **changes: object) -> tuple[Compaction, ...]:
    log = replay_log(compaction_spec(**{"turns": 40, **changes}), *parts)
    found = compactions(log, PRICES)
    spent = measure(log, PRICES).cost_by_purpose_usd.summary
    if spent is not None:
        # Whatever the lines are, they hold every summary call exactly once.
        assert math.fsum(line.cost_usd or 0.0 for line in found) == pytest.approx(spent)
    return found


def at(number: int, *, write: int, read: int, minute: float | None = None, **more: object) -> Record:
    started = (number if minute is None else minute) * MINUTE
    return request(number, of=usage(0, write, read), started_ms=started, finished_ms=started + 500, **more)


def summary(number: int, *, of: object = None, **more: object) -> Record:
    return request(number, Purpose.SUMMARY, of=of or usage(input=1000, output=100), **more)


def compacted(number: int, *, before: int = 2000, after: int = 500, **data: object) -> Record:
    return event(EventKind.COMPACTION, number, before_tokens=before, after_tokens=after, **data)


def grown(after_turn: int, turns: int, size: int) -> list[Record]:
    """Turns of one request each that read everything and add 100 tokens."""
    return [at(after_turn + n, write=100, read=size + 100 * (n - 1)) for n in range(1, turns + 1)]


def test_a_line_has_its_own_tokens_cache_share_time_and_cost() -> None:
    (line,) = lines(
        at(1, write=2000, read=0),
        summary(1, of=usage(input=50, read=1950, output=100)),
        compacted(1, request=1, elapsed_ms=7000.0, before=2100),
    )
    assert (line.turn, line.kind, line.used, line.calls) == (1, EventKind.COMPACTION, True, 1)
    assert (line.prompt_tokens, line.output_tokens, line.cache_share) == (2000, 100, 1950 / 2000)
    assert (line.before_tokens, line.after_tokens, line.freed_tokens) == (2100, 500, 1600)
    assert (line.elapsed_ms, line.background, line.by_server) == (7000.0, False, False)
    assert line.cost_usd == pytest.approx((50 * 4 + 1950 * 0.20 + 100 * 20) / 1e6)


def test_a_large_compaction_on_the_live_prefix_pays_back_in_the_fourth_turn() -> None:
    (line,) = lines(
        at(1, write=100_000, read=0),
        summary(1, of=usage(read=100_000, output=2000)),
        compacted(1, request=1, before=100_000, after=2000),
        # A new message of 100 tokens: 2,100 are written. Without it 100,000 would have been read and 100 written.
        at(2, write=2100, read=0, miss=MissReason.HISTORY_EDITED),
        *grown(2, 4, 2100),
    )
    # The call cost 100,000 x 0.20 + 2,000 x 20 = 60,000 millionths. The first turn saves
    # 100,000 x 0.20 + 100 x 5 - 2,100 x 5 = 10,000 less: 20,500 - 10,500; every later one 98,000 x 0.20 = 19,600.
    assert line.cost_usd == pytest.approx(0.060)
    assert line.payback is not None
    assert line.payback.turns == 4  # 10,000 + 3 x 19,600 = 68,800
    assert line.payback.of == 5
    assert line.payback.saved_usd == pytest.approx((-0 + 20_500 - 10_500 + 4 * 19_600) / 1e6)
    assert line.payback.words == "after 4 turns"


def test_a_small_one_never_pays_back_in_a_short_script() -> None:
    (line,) = lines(
        at(1, write=2000, read=0),
        summary(1),
        compacted(1, request=1),
        at(2, write=600, read=0),
        *grown(2, 2, 600),
    )
    assert line.payback is not None
    # Unbroken, turn 2 reads 2,000 and writes 100: 400 + 500 against 3,000; later turns save 1,500 x 0.20 = 300 each.
    assert line.payback.saved_usd == pytest.approx((900 - 3000 + 2 * 300) / 1e6)
    assert (line.payback.turns, line.payback.words) == (None, "never in this script (3 turns)")


def test_after_a_pause_the_freed_context_would_have_been_written_again() -> None:
    (line,) = lines(
        at(1, write=2000, read=0),
        summary(1),
        compacted(1, request=1),
        at(2, write=600, read=0, minute=20),
        at(3, write=100, read=600, minute=21),
        at(4, write=800, read=0, minute=60, miss=MissReason.LIFETIME_PASSED),
    )
    assert line.payback is not None
    # 1,500 tokens written at $5 in turns 2 and 4, read at $0.20 in turn 3.
    assert line.payback.saved_usd == pytest.approx((7500 + 300 + 7500) / 1e6)
    # It cost 1,000 x 4 + 100 x 20 = 6,000: the first turn pays for it.
    assert line.payback.turns == 1


def test_one_hour_of_lifetime_keeps_it_warm_and_writes_at_its_own_price() -> None:
    parts = (
        at(1, write=2000, read=0),
        summary(1),
        compacted(1, request=1),
        request(2, of=usage(0, 0, 0, write_1h=600), started_ms=20 * MINUTE),
        request(3, of=usage(0, 0, 600, write_1h=100), started_ms=40 * MINUTE),
    )
    (line,) = lines(*parts, cache=CacheLifetime.ONE_HOUR)
    assert line.payback is not None
    # Turn 2 unbroken: 2,000 read, 100 written at $8, against 600 written; turn 3: 1,500 read.
    assert line.payback.saved_usd == pytest.approx((400 + 800 - 4800 + 300) / 1e6)


def test_without_caching_every_turn_saves_at_the_input_price() -> None:
    def plain(number: int, size: int) -> Record:
        return request(number, of=usage(size, None, None), miss=MissReason.CACHING_OFF)

    (line,) = lines(
        plain(1, 2000),
        summary(1),
        compacted(1, request=1),
        plain(2, 600),
        plain(3, 700),
        cache=CacheLifetime.OFF,
    )
    assert line.payback is not None
    assert line.payback.saved_usd == pytest.approx(2 * 1500 * 4 / 1e6)
    assert line.payback.turns == 1  # 6,000 millionths are what it cost


def test_a_tool_request_carries_the_context_too_and_the_turn_counts_once() -> None:
    (line,) = lines(
        at(1, write=2000, read=0),
        summary(1),
        compacted(1, request=1),
        at(2, write=600, read=0),
        at(2, write=50, read=600, purpose=Purpose.TOOL),
        at(2, write=50, read=650, purpose=Purpose.TOOL),
    )
    assert line.payback is not None
    assert line.payback.of == 1
    assert line.payback.saved_usd == pytest.approx((900 - 3000 + 2 * 300) / 1e6)


def test_what_one_freed_is_counted_on_through_the_next() -> None:
    first, second = lines(
        at(1, write=2000, read=0),
        summary(1),
        compacted(1, request=1),
        at(2, write=600, read=0),
        summary(2),
        compacted(2, request=3, before=600, after=400),
        at(3, write=500, read=0),
        at(4, write=100, read=500),
    )
    assert first.payback is not None
    assert second.payback is not None
    assert (first.payback.of, second.payback.of) == (3, 2)
    assert first.payback.saved_usd == pytest.approx((900 - 3000 + 2 * 300) / 1e6)
    # Turn 3 unbroken: 600 read, 100 written, against 500 written; turn 4: 200 more read.
    assert second.payback.saved_usd == pytest.approx((120 + 500 - 2500 + 40) / 1e6)


def test_the_answer_that_a_trigger_does_not_count_is_freed_too() -> None:
    (line,) = lines(
        request(1, of=usage(0, 2000, 0, 150), started_ms=MINUTE),
        summary(1),
        compacted(1, request=1, before=2000),
        at(2, write=600, read=0),
        at(3, write=100, read=600),
    )
    assert line.freed_tokens == 1500
    assert line.payback is not None
    # 1,650 tokens: turn 2 unbroken reads 2,000 and writes 250; turn 3 reads 1,650 more.
    assert line.payback.saved_usd == pytest.approx((400 + 1250 - 3000 + 330) / 1e6)


def test_refreshes_belong_to_the_swap_they_led_to() -> None:
    swap, rest = lines(
        at(1, write=2000, read=0),
        summary(1, job=1),
        at(2, write=100, read=2000),
        summary(2, job=2),
        event(
            EventKind.SWAP,
            3,
            request=3,
            before_tokens=2200,
            after_tokens=700,
            built="background",
            elapsed_ms=9000.0,
        ),
        at(3, write=800, read=0),
        summary(3, job=3),
    )
    assert (swap.kind, swap.calls, swap.background) == (EventKind.SWAP, 2, True)
    assert (swap.prompt_tokens, swap.output_tokens) == (2000, 200)
    assert (rest.kind, rest.calls, rest.used, rest.payback) == (None, 1, False, None)


def test_a_refresh_that_was_still_running_waits_for_the_next_swap() -> None:
    # The job of request 2 had begun when the older memory (request 1) was swapped in.
    one, two = lines(
        at(1, write=2000, read=0),
        summary(1, job=1),
        summary(1, job=2),
        event(EventKind.SWAP, 2, request=1, before_tokens=2000, after_tokens=700),
        at(2, write=800, read=0),
        event(EventKind.SWAP, 3, request=2, before_tokens=900, after_tokens=600),
        at(3, write=800, read=0),
    )
    assert (one.calls, two.calls) == (1, 1)


def test_a_summary_that_must_not_be_used_is_paid_for_and_frees_nothing() -> None:
    (line,) = lines(
        at(1, write=2000, read=0),
        summary(1),
        event(
            EventKind.COMPACTION,
            1,
            used=False,
            request=1,
            problem="the summary was empty",
            before_tokens=2000,
        ),
    )
    assert (line.used, line.problem, line.freed_tokens, line.payback) == (
        False,
        "the summary was empty",
        None,
        None,
    )
    assert line.cost_usd == pytest.approx(0.006)


def test_a_refused_summary_call_costs_nothing() -> None:
    (line,) = lines(
        at(1, write=2000, read=0),
        summary(1, error="overloaded"),
        event(EventKind.COMPACTION, 1, used=False, request=1, problem="overloaded", before_tokens=2000),
    )
    assert (line.calls, line.prompt_tokens, line.cost_usd) == (1, 0, 0.0)


def test_compactions_inside_an_answer_are_taken_from_its_iterations() -> None:
    inside = [("compaction", usage(input=60_000, output=800)), ("message", usage(write=900))]
    (line,) = lines(
        request(1, of=usage(write=900), iterations=inside),
        event(EventKind.COMPACTION, 1, used=True, by="server", before_tokens=60_000, after_tokens=900),
        at(2, write=100, read=900),
        at(3, write=100, read=1000),
    )
    assert (line.by_server, line.prompt_tokens, line.output_tokens) == (True, 60_000, 800)
    assert line.cost_usd == pytest.approx((60_000 * 4 + 800 * 20) / 1e6)
    assert line.payback is not None
    # The small context was written in the answer itself: each later turn would have read 59,100 tokens more.
    assert line.payback.saved_usd == pytest.approx(2 * 59_100 * 0.20 / 1e6)


def test_two_compactions_of_one_turn_take_one_iteration_each() -> None:
    def answer(size: int) -> Record:
        return request(
            1,
            of=usage(write=900),
            iterations=[("compaction", usage(input=size)), ("message", usage(write=900))],
        )

    done = event(EventKind.COMPACTION, 1, used=True, by="server", before_tokens=60_000, after_tokens=900)
    one, two = lines(answer(60_000), answer(70_000), done, done)
    assert (one.prompt_tokens, two.prompt_tokens) == (60_000, 70_000)


def test_an_unknown_price_is_said_and_not_guessed() -> None:
    (line,) = lines(
        at(1, write=2000, read=0, model="nobody-knows-1"),
        summary(1, model="nobody-knows-1"),
        compacted(1, request=1),
        at(2, write=600, read=0, model="nobody-knows-1"),
    )
    assert line.cost_usd is None
    assert line.payback is not None
    assert line.payback.words == "n/a"


def test_a_compaction_at_the_very_end_has_no_turn_to_pay_back_in() -> None:
    (line,) = lines(at(1, write=2000, read=0), summary(1), compacted(1, request=1))
    assert line.payback is not None
    assert line.payback.words == "no turn came after it"


def test_a_series_is_summed_up_over_its_replays() -> None:
    parts = (
        at(1, write=2000, read=0),
        summary(1, of=usage(input=500, read=500, output=100)),
        compacted(1, request=1, elapsed_ms=4000.0),
        at(2, write=600, read=0, minute=20),
        summary(2, of=usage(input=1000, output=100)),
    )
    (row,) = compaction_summaries([*lines(*parts), *lines(*parts)])
    assert (row.series, row.used, row.unused, row.calls, row.paid_back) == ("compaction at 2000", 2, 2, 4, 2)
    assert (row.prompt_tokens, row.output_tokens, row.freed_tokens) == (4000, 400, 3000)
    assert row.cache_share == pytest.approx(1000 / 4000)
    # A call reading half its prompt costs 500 x 4 + 500 x 0.20 + 100 x 20 = 4,100; the one that led to nothing 6,000.
    assert row.cost_usd == pytest.approx(2 * (4100 + 6000) / 1e6)
    assert row.net_usd == pytest.approx((2 * 7500 - 2 * 10_100) / 1e6)
    assert row.longest_ms == 4000.0


def test_a_replay_without_summaries_has_no_lines() -> None:
    assert lines(turn(1, write=100)) == ()
    assert cache_misses(replay_log(compaction_spec()), PRICES) == ()
