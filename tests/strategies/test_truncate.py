from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memdash.records import EventKind, Usage
from memdash.strategies import parse
from memdash.strategies.messages import flatten
from tests.strategies.workspaces import DeskWorkspace, exchange, tool_exchange, turns_in, user

NOTHING = Usage()


def filled(written, desk, exchanges):
    strategy = parse(written).build()
    for one in exchanges:
        strategy.close(one, NOTHING, desk)
    return strategy


def test_safe_counts_the_whole_request_and_drops_whole_exchanges():
    # Each exchange is 40 words; the fixed part is 50, the new message 10: 50 + 10 + 3 x 40 = 180 > 150 drops one.
    desk = DeskWorkspace(fixed_tokens=50)
    strategy = filled("truncate:150", desk, [exchange(turn, size=20) for turn in (1, 2, 3)])
    strategy.open(user("w " * 10), desk)
    assert turns_in(strategy.context()) == ["q2", "a2", "q3", "a3"]
    assert desk.events == [
        (EventKind.TRIM, {"dropped_turns": [1], "dropped_messages": 2, "dropped_tokens": 40}),
    ]


def test_down_to_cuts_further_so_that_the_prefix_stays_for_a_while():
    # 3 x 40 + 40 = 160 > 150; down to 0.6 x 150 = 90 means two of them go: 160 - 80 = 80.
    desk = DeskWorkspace(fixed_tokens=30)
    strategy = filled(
        "truncate:budget=150,down_to=0.6", desk, [exchange(turn, size=20) for turn in (1, 2, 3)]
    )
    strategy.open(user("w " * 10), desk)
    assert turns_in(strategy.context()) == ["q3", "a3"]


def test_nothing_is_dropped_while_the_request_fits():
    desk = DeskWorkspace(fixed_tokens=50)
    strategy = filled("truncate:180", desk, [exchange(turn, size=20) for turn in (1, 2, 3)])
    strategy.open(user("w " * 10), desk)
    assert len(strategy.context()) == 6
    assert desk.events == []


def test_the_exchange_at_hand_always_stays_and_over_budget_is_reported():
    desk = DeskWorkspace(fixed_tokens=50)
    strategy = filled("truncate:100", desk, [exchange(1)])
    strategy.open(user("w " * 90), desk)
    assert strategy.context() == []
    assert desk.kinds == [EventKind.TRIM, EventKind.OVER_BUDGET]
    assert desk.events[1][1] == {"tokens": 140, "budget": 100}


def test_safe_strips_thinking_of_what_stays():
    desk = DeskWorkspace()
    strategy = filled("truncate:100", desk, [exchange(turn, size=20, thinking=True) for turn in (1, 2, 3)])
    strategy.open(user("w " * 10), desk)
    kinds = [block["type"] for message in strategy.context() for block in message["content"]]
    assert kinds == ["text"] * 4
    assert desk.events[1] == (EventKind.STRIP_THINKING, {"blocks": 2})


def test_naive_shifts_single_messages_and_leaves_an_orphaned_tool_result_in_front():
    # q(1) call(1) result(1) answer(1) twice = 8 words, the new message 97: one message must go, then one more.
    desk = DeskWorkspace(fixed_tokens=10_000)
    strategy = filled("truncate:budget=103,mode=naive", desk, [tool_exchange(1), tool_exchange(2)])
    strategy.open(user("w " * 97), desk)
    assert strategy.context()[0]["content"][0]["type"] == "tool_result"
    assert desk.events[0][1]["dropped_messages"] == 2


def test_naive_does_not_count_the_fixed_part():
    desk = DeskWorkspace(fixed_tokens=10_000)
    strategy = filled("truncate:budget=100,mode=naive", desk, [exchange(1)])
    strategy.open(user("hello"), desk)
    assert len(strategy.context()) == 2


def test_naive_always_leaves_the_newest_message():
    desk = DeskWorkspace()
    strategy = filled("truncate:budget=100,mode=naive", desk, [exchange(1)])
    strategy.open(user("w " * 200), desk)
    assert strategy.context() == []
    assert desk.kinds == [EventKind.TRIM, EventKind.OVER_BUDGET]


def test_instructions_kept_as_a_message_are_the_first_thing_to_be_lost():
    desk = DeskWorkspace(system="Answer in verse.")
    strategy = parse("truncate:budget=100,system=message").build()
    strategy.open(user("hello"), desk)
    assert strategy.context() == [user("Answer in verse.")]
    assert strategy.options().omit_system
    strategy.close(exchange(1, size=45), NOTHING, desk)
    strategy.open(user("w " * 20), desk)
    assert strategy.context() == []


@given(
    kinds=st.lists(st.booleans(), min_size=0, max_size=10),
    budget=st.integers(100, 160),
    share=st.sampled_from([0.5, 0.75, 1.0]),
    size=st.integers(1, 60),
    message=st.integers(1, 200),
)
def test_safe_never_splits_an_exchange_and_fits_or_says_so(kinds, budget, share, size, message):
    desk = DeskWorkspace(fixed_tokens=20)
    whole = [tool_exchange(turn) if tool else exchange(turn, size=size) for turn, tool in enumerate(kinds, 1)]
    strategy = filled(f"truncate:budget={budget},down_to={share}", desk, whole)
    strategy.open(user("w " * message), desk)
    context = list(strategy.context())
    endings = [flatten(whole[first:]) for first in range(len(whole) + 1)]
    assert context in endings
    fits = 20 + message + desk.estimate(context) <= budget
    assert fits or (context == [] and EventKind.OVER_BUDGET in desk.kinds)
