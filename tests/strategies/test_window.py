from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memdash.records import EventKind, Usage
from memdash.strategies import parse
from memdash.strategies.messages import flatten
from tests.strategies.workspaces import DeskWorkspace, exchange, tool_exchange, turns_in, user

NOTHING = Usage()


def roles(messages):
    return [message["role"] for message in messages]


def play(window, desk, turns):
    """Play ``turns`` exchanges and return which turns each request carried, the current one included."""
    sent = []
    for one in turns:
        desk.turn = one.turn
        window.open(user("next"), desk)
        sent.append([*turns_in(window.context()), f"q{one.turn}"])
        window.close(one, NOTHING, desk)
    return sent


def test_a_window_of_4_sends_the_last_4_exchanges_with_the_current_one_counted():
    sent = play(parse("window:4").build(), DeskWorkspace(), [exchange(turn) for turn in range(1, 7)])
    assert sent[3] == ["q1", "a1", "q2", "a2", "q3", "a3", "q4"]
    assert sent[4] == ["q2", "a2", "q3", "a3", "q4", "a4", "q5"]
    assert sent[5] == ["q3", "a3", "q4", "a4", "q5", "a5", "q6"]


def test_a_window_of_1_sends_the_message_alone():
    sent = play(parse("window:1").build(), DeskWorkspace(), [exchange(1), exchange(2)])
    assert sent == [["q1"], ["q2"]]


def test_a_probe_after_a_turn_sees_everything_in_the_window():
    window = parse("window:2").build()
    play(window, DeskWorkspace(), [exchange(turn) for turn in range(1, 6)])
    assert turns_in(window.context()) == ["q4", "a4", "q5", "a5"]


def test_with_trim_at_the_prefix_stays_the_same_between_cuts():
    sent = play(
        parse("window:keep=2,trim_at=4").build(), DeskWorkspace(), [exchange(turn) for turn in range(1, 9)]
    )
    first = [one[0] for one in sent]
    # Holds up to 4 exchanges; the 5th cuts back to 2, so turns 5, 6 and 7 start with turn 4, and turn 8 cuts again.
    assert first == ["q1", "q1", "q1", "q1", "q4", "q4", "q4", "q7"]


def test_trimming_is_declared_with_what_went():
    desk = DeskWorkspace()
    play(parse("window:2").build(), desk, [exchange(turn, size=3) for turn in (1, 2, 3)])
    assert desk.events == [
        (EventKind.TRIM, {"dropped_turns": [1], "kept_turns": [2], "dropped_tokens": 6}),
    ]


def test_thinking_is_stripped_from_what_stays_once_it_trims_and_not_before():
    desk = DeskWorkspace()
    window = parse("window:2").build()
    play(window, desk, [exchange(turn, thinking=True) for turn in (1, 2)])
    assert [block["type"] for block in window.context()[1]["content"]] == ["thinking", "text"]
    window.open(user("next"), desk)
    assert [block["type"] for block in window.context()[1]["content"]] == ["text"]
    assert desk.kinds == [EventKind.TRIM, EventKind.STRIP_THINKING]
    assert desk.events[1][1] == {"blocks": 1}


def test_the_naive_window_keeps_thinking_and_asks_for_nothing():
    desk = DeskWorkspace()
    window = parse("window:2,thinking=keep").build()
    play(window, desk, [exchange(turn, thinking=True) for turn in (1, 2, 3)])
    assert window.context()[1]["content"][0]["type"] == "thinking"
    assert desk.kinds == [EventKind.TRIM]
    assert window.options().thinking == {}


def test_drop_block_leaves_the_blocks_to_the_api():
    window = parse("window:2,thinking=drop_block").build()
    assert window.options().thinking == {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    assert window.options().betas == ("thinking-binding-controls-2026-08-01",)


@given(
    kinds=st.lists(st.booleans(), min_size=1, max_size=12),
    keep=st.integers(1, 5),
    extra=st.integers(0, 4),
)
def test_a_window_never_splits_an_exchange_and_never_holds_more_than_trim_at(kinds, keep, extra):
    window = parse(f"window:keep={keep},trim_at={keep + extra}").build()
    desk = DeskWorkspace()
    whole = [
        tool_exchange(turn, thinking=True) if tool else exchange(turn, thinking=True)
        for turn, tool in enumerate(kinds, 1)
    ]
    for one in whole:
        window.open(user("next"), desk)
        context = list(window.context())
        # What is sent is the end of the conversation, exchange by exchange.
        before = whole[: one.turn - 1]
        endings = [roles(flatten(before[first:])) for first in range(len(before) + 1)]
        assert roles(context) in endings
        held = len(before) - endings.index(roles(context))
        assert held + 1 <= keep + extra
        window.close(one, NOTHING, desk)
