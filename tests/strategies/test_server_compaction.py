from __future__ import annotations

import pytest

from memdash.records import EventKind
from memdash.strategies import parse
from memdash.strategies.base import Exchange
from tests.strategies.workspaces import DeskWorkspace, assistant, exchange, play, turns_in, user

BLOCK = {"type": "compaction", "content": "The sum of it."}
FAILED = {"type": "compaction", "content": None}


def compacted(turn, block=BLOCK):
    """An exchange in which the API compacts before it answers."""
    answer = {"role": "assistant", "content": [block, {"type": "text", "text": f"a{turn}"}]}
    return Exchange(turn, (user(f"q{turn}"), answer))


def test_it_asks_for_the_edit_with_its_header():
    options = parse("server_compaction:60000").build().options()
    trigger = {"type": "input_tokens", "value": 60_000}
    assert options.body == {
        "context_management": {"edits": [{"type": "compact_20260112", "trigger": trigger}]}
    }
    assert options.betas == ("compact-2026-01-12",)


def test_pause_and_instructions_are_handed_on():
    options = parse("server_compaction:trigger=60000,pause=true,instructions=Names only.").build().options()
    (edit,) = options.body["context_management"]["edits"]
    assert (edit["pause_after_compaction"], edit["instructions"]) == (True, "Names only.")


def test_without_a_compaction_everything_is_sent():
    desk, strategy = DeskWorkspace(), parse("server_compaction").build()
    play(strategy, desk, exchange(1))
    play(strategy, desk, exchange(2))
    assert turns_in(strategy.context()) == ["q1", "a1", "q2", "a2"]
    assert desk.events == []


def test_from_the_block_on_it_is_sent_untouched():
    desk, strategy = DeskWorkspace(), parse("server_compaction").build()
    play(strategy, desk, exchange(1))
    one = compacted(2)
    play(strategy, desk, one)
    play(strategy, desk, exchange(3))
    context = strategy.context()
    assert context[0] is one.messages[1]
    assert turns_in(context[1:]) == ["q3", "a3"]
    ((event, data),) = desk.events
    assert event is EventKind.COMPACTION
    # q1 q1 a1 a1 before; "The sum of it." and a2 are five words.
    assert (data["before_tokens"], data["after_tokens"], data["replaced_turns"]) == (4, 5, [1])
    assert data["summary"] == "The sum of it."


def test_a_paused_compaction_is_the_first_message_and_its_answer_the_second():
    desk, strategy = DeskWorkspace(), parse("server_compaction:pause=true").build()
    play(strategy, desk, exchange(1))
    alone = {"role": "assistant", "content": [BLOCK]}
    play(strategy, desk, Exchange(2, (user("q2"), alone, assistant("a2"))))
    assert strategy.context()[0] is alone
    assert turns_in(strategy.context()) == ["The", "a2"]


def test_a_compaction_between_tool_calls_keeps_what_follows_it():
    desk, strategy = DeskWorkspace(), parse("server_compaction").build()
    call = {"type": "tool_use", "id": "t2", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t2", "content": "found"}
    messages = (
        user("q1"),
        {"role": "assistant", "content": [{**call, "id": "t1"}]},
        {"role": "user", "content": [{**result, "tool_use_id": "t1"}]},
        {"role": "assistant", "content": [BLOCK, call]},
        {"role": "user", "content": [result]},
        assistant("a1"),
    )
    play(strategy, desk, Exchange(1, messages))
    assert strategy.context() == list(messages[3:])


def test_of_two_compactions_in_one_turn_the_later_one_opens_what_is_sent():
    desk, strategy = DeskWorkspace(), parse("server_compaction").build()
    later = {"type": "compaction", "content": "Later."}
    messages = (
        user("q1"),
        {"role": "assistant", "content": [BLOCK]},
        {"role": "assistant", "content": [later]},
        assistant("a1"),
    )
    play(strategy, desk, Exchange(1, messages))
    assert strategy.context() == list(messages[2:])
    assert [data["used"] for _, data in desk.events] == [True, True]


@pytest.mark.parametrize("block", [FAILED, {**BLOCK, "content": ""}])
def test_a_failed_compaction_is_an_event_and_changes_nothing(block):
    desk, strategy = DeskWorkspace(), parse("server_compaction").build()
    one = compacted(2, block)
    play(strategy, desk, exchange(1))
    play(strategy, desk, one)
    assert list(strategy.context()[2:]) == list(one.messages)
    assert turns_in(strategy.context()) == ["q1", "a1", "q2", "a2"]
    ((event, data),) = desk.events
    assert (event, data["used"], data["problem"]) == (
        EventKind.COMPACTION,
        False,
        "the API returned an empty compaction",
    )
