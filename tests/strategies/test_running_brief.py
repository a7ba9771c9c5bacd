from __future__ import annotations

import pytest

from memdash.records import EventKind
from memdash.strategies import parse
from tests.strategies.workspaces import (
    DeskWorkspace,
    exchange,
    play,
    prompt,
    summary,
    tool_exchange,
    turns_in,
)

FULL = prompt(7_300)  # over 0.6 x 12,000 = 7,200


def running(written, desk, turns, usage=FULL):
    strategy = parse(written).build()
    for one in turns:
        play(strategy, desk, one, usage)
    return strategy


def test_nothing_is_revised_up_to_its_share_of_the_context_limit():
    desk = DeskWorkspace()
    running("running_brief", desk, [exchange(turn) for turn in range(1, 9)], prompt(7_200))
    assert desk.asked == []


def test_between_turns_the_brief_is_made_in_the_background_and_used_in_the_next_turn():
    desk = DeskWorkspace([summary("Ana, 2,400 euros.")])
    strategy = running("running_brief:tail=2", desk, [exchange(1), exchange(2)], prompt(100))
    strategy.close(exchange(3), FULL, desk)
    assert desk.kinds == [EventKind.BACKGROUND_STARTED]
    assert turns_in(strategy.context()) == ["q1", "a1", "q2", "a2", "q3", "a3"]  # a probe sees what is in use
    desk.jobs[0].finished = True
    sent = play(strategy, desk, exchange(4), prompt(100))
    assert turns_in(sent) == ["Brief", "Understood.", "q3", "a3"]
    assert desk.kinds[1:] == [EventKind.BACKGROUND_READY, EventKind.COMPACTION]
    assert desk.events[1][1]["held_up"] is False
    assert desk.events[2][1]["replaced_turns"] == [1, 2]


def test_a_turn_that_comes_before_the_brief_is_ready_is_held_up():
    desk = DeskWorkspace([summary("brief")])
    strategy = running("running_brief:tail=2", desk, [exchange(1)], prompt(100))
    strategy.close(exchange(2), FULL, desk)
    play(strategy, desk, exchange(3))
    assert desk.jobs[0].waited
    assert desk.events[1][1]["held_up"] is True


def test_a_failed_revision_falls_back_to_inline_in_the_next_turn():
    desk = DeskWorkspace([summary("", problem="the summary call failed: Overloaded"), summary("brief")])
    strategy = running("running_brief:tail=2", desk, [exchange(1)], prompt(100))
    strategy.close(exchange(2), FULL, desk)
    desk.jobs[0].finished = True
    sent = play(strategy, desk, exchange(3))
    assert turns_in(sent) == ["Brief", "Understood.", "q2", "a2"]
    assert desk.kinds[1:] == [
        EventKind.BACKGROUND_READY,
        EventKind.FALLBACK_INLINE,
        EventKind.COMPACTION,
    ]
    assert desk.events[2][1] == {"problem": "the summary call failed: Overloaded"}


def test_inline_the_brief_is_made_while_the_next_turn_waits():
    desk = DeskWorkspace([summary("brief")])
    strategy = running("running_brief:tail=2,when=inline", desk, [exchange(1), exchange(2)])
    assert desk.asked == []
    sent = play(strategy, desk, exchange(3), prompt(100))
    assert turns_in(sent) == ["Brief", "Understood.", "q2", "a2"]
    assert (len(desk.asked), desk.jobs) == (1, [])


def test_the_previous_brief_is_handed_in_and_only_older_turns_with_it():
    desk = DeskWorkspace([summary("first brief"), summary("second brief")])
    strategy = running("running_brief:tail=2,words=60", desk, [exchange(1), exchange(2)], prompt(100))
    strategy.close(exchange(3), FULL, desk)
    play(strategy, desk, exchange(4), FULL)
    second = desk.asked[1].messages[0]["content"][0]["text"]
    assert "<memory_so_far>\nfirst brief\n</memory_so_far>" in second
    assert "Revise the memory so far" in second
    assert "at most 60 words" in second
    assert "q3" in second  # folded now
    assert "q1" not in second  # in the brief
    assert "q4" not in second  # in the tail


@pytest.mark.parametrize(
    ("tail", "folded"),
    [
        # Messages: 1-2 | 3-6 | 7-8 (turn 2 has a tool call). The cut moves forward to the start of an exchange.
        (2, [1, 2]),  # 6 older messages: exactly turns 1 and 2
        (3, [1, 2]),  # 5 older: inside turn 2, forward to turn 3
        (5, [1, 2]),  # 3 older: inside turn 2, forward to turn 3
        (6, [1]),  # 2 older: exactly turn 1
        (7, [1]),  # 1 older: inside turn 1, forward to turn 2
        (8, None),  # nothing is older than the tail
        (1, [1, 2]),  # inside turn 3, none is left: back to its start
        (0, [1, 2, 3]),
    ],
)
def test_the_tail_is_cut_at_a_safe_place(tail, folded):
    desk = DeskWorkspace([summary("brief")] * 2)
    strategy = running(f"running_brief:tail={tail}", desk, [exchange(1), tool_exchange(2)], prompt(100))
    strategy.close(exchange(3), FULL, desk)
    play(strategy, desk, exchange(4), prompt(100))
    used = [data["replaced_turns"] for event, data in desk.events if event is EventKind.COMPACTION]
    assert used == ([] if folded is None else [folded])


def test_one_exchange_longer_than_the_tail_is_not_folded_away():
    desk = DeskWorkspace([summary("brief")])
    running("running_brief:tail=2", desk, [tool_exchange(1)])
    assert desk.asked == []


def test_thinking_of_the_tail_is_stripped_unless_the_naive_setting_keeps_it():
    for setting, kinds in (("strip", ["text"]), ("keep", ["thinking", "text"])):
        desk = DeskWorkspace([summary("brief")])
        strategy = running(
            f"running_brief:tail=2,thinking={setting}", desk, [exchange(1, thinking=True)], prompt(100)
        )
        strategy.close(exchange(2, thinking=True), FULL, desk)
        play(strategy, desk, exchange(3), prompt(100))
        assert [block["type"] for block in strategy.context()[3]["content"]] == kinds


def test_a_brief_that_grows_over_three_revisions_is_reported_once_each_time():
    briefs = ["one", "one two", "one two three", "one two three four"]
    desk = DeskWorkspace([summary(text) for text in briefs])
    strategy = running("running_brief:tail=2", desk, [exchange(1)], prompt(100))
    for turn in range(2, 7):
        play(strategy, desk, exchange(turn), FULL if turn < 6 else prompt(100))
    growing = [data for event, data in desk.events if event is EventKind.BRIEF_GROWING]
    assert growing == [{"words": [1, 2, 3, 4]}]


def test_on_the_live_prefix_the_call_is_the_conversation_up_to_the_cut_and_one_instruction():
    desk = DeskWorkspace([summary("brief")])
    running("running_brief:tail=2,live_prefix=true", desk, [exchange(1)], prompt(100)).close(
        exchange(2), FULL, desk
    )
    ask = desk.asked[0]
    assert ask.live_prefix
    assert turns_in(ask.messages[:2]) == ["q1", "a1"]
    assert "up to here in at most 250 words" in ask.messages[2]["content"][0]["text"]
    assert ask.system is None


def test_the_live_prefix_is_the_main_models_own():
    from memdash.errors import InputError

    with pytest.raises(InputError, match="live_prefix reads the main model's cache"):
        parse("running_brief:live_prefix=true,summary_model=claude-haiku-5-5")
