"""Cache misses by hand for Opus 5.5: $4 input, $5 and $8 writes, $0.20 reads a million."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.metrics import CacheMiss, Cause, cache_misses, miss_groups
from memdash.metrics.misses import cost_of_misses
from memdash.prices import PriceTable
from memdash.records import EventKind, MissReason, Purpose, Record
from memdash.scripts.model import Script, Turn
from tests.builders import event, replay_log, request, script, spec, turn, usage, window_spec

PRICES = PriceTable.load()
EDITED = MissReason.HISTORY_EDITED


def misses(*parts: Record | list[Record], **changes: object) -> tuple[CacheMiss, ...]:
    return cache_misses(replay_log(window_spec(**changes), *parts), PRICES)


def missed(
    number: int, reason: MissReason | None = EDITED, tokens: int | None = 800, **given: object
) -> Record:
    """A request that wrote 1,000 tokens anew, of which ``tokens`` could have been read."""
    of = given.pop("of", usage(input=3, write=1000, read=200))
    return request(number, of=of, miss=reason, missed_tokens=tokens, **given)


def first() -> list[Record]:
    return turn(1, input=3, write=1000, miss=MissReason.FIRST_REQUEST)


def test_what_was_written_again_costs_the_difference_to_the_read_price() -> None:
    (miss,) = misses(first(), event(EventKind.TRIM, 2), missed(2))
    assert (miss.turn, miss.reason, miss.tokens, miss.cause) == (2, EDITED, 800, Cause.TRIM)
    assert miss.cost_usd == pytest.approx(800 * (5 - 0.20) / 1e6)


def test_one_hour_writes_come_first_then_five_minute_ones_then_plain_input() -> None:
    of = usage(input=100, write=200, write_1h=300, read=50)
    (miss,) = misses(first(), missed(2, tokens=550, of=of))
    # 300 written at $8, 200 at $5 and 50 sent as input at $4, each less the $0.20 of a read.
    assert miss.cost_usd == pytest.approx((300 * 7.80 + 200 * 4.80 + 50 * 3.80) / 1e6)


def test_no_more_is_missed_than_was_sent_unread() -> None:
    # After a compaction the prompt is 500 tokens: of the 2,000 that could be read most is gone, not missed.
    (miss,) = misses(first(), event(EventKind.COMPACTION, 2), missed(2, tokens=2000, of=usage(3, 400, 97)))
    assert miss.tokens == 403


def test_a_first_request_and_one_that_read_everything_are_no_misses() -> None:
    assert misses(first(), request(2, of=usage(3, 100, 1000), missed_tokens=0)) == ()


def test_probes_summaries_and_refused_requests_are_left_out() -> None:
    assert (
        misses(
            first(),
            missed(2, purpose=Purpose.PROBE),
            missed(2, purpose=Purpose.SUMMARY),
            missed(2, error="no"),
        )
        == ()
    )


def test_the_price_is_of_the_requests_own_model_and_none_without_one() -> None:
    (miss,) = misses(first(), missed(2, model="nobody-knows-1"))
    assert (miss.tokens, miss.cost_usd) == (800, None)


@pytest.mark.parametrize(
    ("events", "cause"),
    [
        ([EventKind.TRIM, EventKind.STRIP_THINKING], Cause.TRIM),
        ([EventKind.STRIP_THINKING], Cause.STRIP_THINKING),
        ([EventKind.TRIM, EventKind.COMPACTION], Cause.COMPACTION),
        ([EventKind.SWAP, EventKind.STRIP_THINKING], Cause.SWAP),
        ([EventKind.BACKGROUND_STARTED, EventKind.RETRY], Cause.NONE),
        ([], Cause.NONE),
    ],
)
def test_the_cause_is_the_latest_edit_and_stripping_only_where_it_stands_alone(
    events: list[EventKind], cause: Cause
) -> None:
    (miss,) = misses(first(), *(event(kind, 2) for kind in events), missed(2))
    assert miss.cause is cause


def test_a_miss_names_the_event_that_caused_it_by_its_place_in_the_replay() -> None:
    log = replay_log(window_spec(), first(), event(EventKind.TRIM, 2), missed(2), missed(3))
    one, two = cache_misses(log, PRICES)
    assert (one.event, two.event) == (log.events[0].seq, None)


def test_an_edit_before_the_previous_request_causes_nothing_any_more() -> None:
    one, two = misses(first(), event(EventKind.TRIM, 2), missed(2), missed(3))
    assert (one.cause, two.cause) == (Cause.TRIM, Cause.NONE)


def test_a_summary_that_was_not_used_causes_nothing() -> None:
    (miss,) = misses(first(), event(EventKind.COMPACTION, 2, used=False), missed(2))
    assert miss.cause is Cause.NONE


def test_what_the_api_cleared_is_told_in_the_answer_of_the_request_that_misses() -> None:
    # Requests are numbered from 0: the third is number 2.
    one, two = misses(
        first(), missed(2), event(EventKind.CLEAR, 2, request=1), missed(3), event(EventKind.CAP, 3)
    )
    assert (one.cause, two.cause) == (Cause.CLEAR, Cause.NONE)


def test_a_pause_is_told_with_its_length_whatever_happened_meanwhile() -> None:
    late = missed(2, MissReason.LIFETIME_PASSED, started_ms=901_000.0)
    found = misses(
        first(), event(EventKind.TRIM, 2), late, missed(3, MissReason.LIFETIME_PASSED, started_ms=1e6)
    )
    assert [miss.cause for miss in found] == [Cause.PAUSE, Cause.PAUSE]
    (group,) = miss_groups(found)
    # The first request began at 1 s, the second at 901 s, the third at 1,000 s.
    assert group.caused_by == "pauses of 1 min 39 s to 15 min"


def test_a_change_of_tools_or_system_is_the_scripts_where_the_script_has_it() -> None:
    def hello(number: int, **more: object) -> Turn:
        return Turn(number, ({"type": "text", "text": "Hello"},), **more)

    changing = Script("s", "S", (hello(1), hello(2, system="Be brief."), hello(3, tools=({"name": "look"},))))
    system, tools, nobody = misses(
        first(),
        missed(2, MissReason.SYSTEM_CHANGED),
        missed(3, MissReason.TOOLS_CHANGED),
        missed(3, MissReason.TOOLS_CHANGED, purpose=Purpose.TOOL),
        script=changing,
    )
    assert [system.cause, tools.cause, nobody.cause] == [Cause.SCRIPT_SYSTEM, Cause.SCRIPT_TOOLS, Cause.NONE]


def test_what_the_api_says_stands_beside_what_we_see() -> None:
    told = {"type": "messages_changed", "cache_missed_input_tokens": 780}
    (miss,) = misses(first(), missed(2, diagnosis=told))
    assert (miss.said, miss.said_tokens) == ("messages_changed", 780)


def test_a_change_that_only_the_api_sees_is_shown_too() -> None:
    quiet = request(2, of=usage(3, 100, 1000), missed_tokens=0, diagnosis={"type": "tools_changed"})
    agreed = request(3, of=usage(3, 100, 1100), missed_tokens=0, diagnosis={"type": "nothing_changed"})
    (miss,) = misses(first(), quiet, agreed)
    assert (miss.turn, miss.reason, miss.tokens, miss.said) == (2, None, 0, "tools_changed")


def test_tokens_that_went_unread_without_a_reason_of_ours_are_not_hidden() -> None:
    (miss,) = misses(first(), missed(2, None, 800))
    assert (miss.reason, miss.tokens, miss.cause) == (None, 800, Cause.NONE)


def test_without_caching_nothing_can_be_known_and_nothing_is_claimed() -> None:
    (miss,) = misses(turn(1, input=500, write=None, read=None, miss=MissReason.CACHING_OFF))
    assert (miss.tokens, miss.cost_usd, miss.cause) == (None, None, Cause.SETTING)


def test_groups_add_up_by_series_reason_and_cause_the_dearest_first() -> None:
    found = misses(
        first(),
        missed(2, MissReason.LIFETIME_PASSED, 100, diagnosis={"type": "nothing_changed"}),
        event(EventKind.TRIM, 3),
        missed(3, tokens=500, diagnosis={"type": "messages_changed", "cache_missed_input_tokens": 480}),
        event(EventKind.TRIM, 4),
        missed(4, tokens=700, diagnosis={"type": "messages_changed", "cache_missed_input_tokens": 720}),
        turns=4,
    )
    edited, late = miss_groups(found)
    assert (edited.series, edited.cause, edited.requests, edited.tokens) == (
        "window of 4",
        Cause.TRIM,
        2,
        1200,
    )
    assert edited.cost_usd == pytest.approx(1200 * 4.80 / 1e6)
    assert (edited.said, edited.said_tokens) == ((("messages_changed", 2),), 1200)
    assert (late.reason, late.tokens, late.said_tokens) == (MissReason.LIFETIME_PASSED, 100, None)
    assert edited.caused_by == "old turns dropped"


def test_one_unknown_price_makes_the_cost_of_its_group_unknown() -> None:
    (group,) = miss_groups(misses(first(), missed(2), missed(3, model="nobody-knows-1")))
    assert (group.tokens, group.cost_usd) == (1600, None)


@given(
    input=st.integers(0, 5000),
    write=st.integers(0, 5000),
    write_1h=st.integers(0, 5000),
    read=st.integers(0, 5000),
    tokens=st.integers(0, 20_000),
)
def test_missing_never_costs_less_than_nothing_nor_more_than_the_prompt(
    input: int, write: int, write_1h: int, read: int, tokens: int
) -> None:
    one = request(2, of=usage(input, write, read, write_1h=write_1h))
    cost = cost_of_misses(one, tokens, PRICES)
    whole = PRICES.cost(dataclasses.replace(one.usage, output_tokens=0), one.model)
    assert cost is not None
    assert whole is not None
    assert -1e-12 <= cost <= whole


def test_series_keep_the_order_in_which_they_first_appear() -> None:
    logs = [replay_log(spec(name, script=script(turns=2)), first(), missed(2)) for name in ("b", "a", "b")]
    groups = miss_groups(miss for log in logs for miss in cache_misses(log, PRICES))
    assert [(one.series, one.requests) for one in groups] == [("b", 2), ("a", 1)]
