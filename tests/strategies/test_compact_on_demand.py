from __future__ import annotations

import pytest

from memdash.records import EventKind, Usage
from memdash.strategies import parse
from memdash.strategies.base import Answer
from tests.strategies.workspaces import DeskWorkspace, exchange, play, prompt, turns_in, user

BLOCK = {"type": "compaction", "content": "The sum of it.", "signature": "sig", "tool_changes": []}


def compaction(*content, stop_reason="compaction", problem=None):
    return Answer(content, stop_reason, Usage(input_tokens=0, output_tokens=0), 99, 1500.0, problem)


def build(text, *answers):
    return parse(f"compact_on_demand:{text}").build(), DeskWorkspace(list(answers))


def test_it_asks_once_a_prompt_is_over_the_trigger_with_the_conversations_own_prefix():
    strategy, desk = build("trigger=1000,instructions=Names only.", compaction(BLOCK))
    play(strategy, desk, exchange(1), prompt(1_000))
    assert desk.asked == []
    play(strategy, desk, exchange(2), prompt(1_001))
    (ask,) = desk.asked
    assert turns_in(ask.messages) == ["q1", "a1", "q2", "a2"]
    assert ask.live_prefix
    assert ask.options.body == {"compaction": {"type": "summarize", "instructions": "Names only."}}
    assert ask.options.betas == ("compact-2026-09-04",)


def test_the_block_stands_first_from_then_on_untouched_and_under_its_header():
    strategy, desk = build("1000", compaction(BLOCK))
    assert strategy.options().betas == ()
    play(strategy, desk, exchange(1), prompt(2_000))
    head, *rest = strategy.context()
    assert head == {"role": "assistant", "content": [BLOCK]}
    assert head["content"][0] is BLOCK
    assert rest == []
    assert strategy.options().betas == ("compact-2026-09-04",)
    ((event, data),) = desk.events
    assert event is EventKind.COMPACTION
    assert (data["used"], data["request"], data["before_tokens"], data["after_tokens"]) == (
        True,
        99,
        2_000,
        4,
    )
    assert (data["replaced_turns"], data["kept_turns"]) == ([1], [])


def test_a_tail_of_whole_exchanges_stays_as_it_was_thinking_included():
    strategy, desk = build("trigger=1000,tail=1", compaction(BLOCK))
    play(strategy, desk, exchange(1), prompt(10))
    last = exchange(2, thinking=True)
    play(strategy, desk, last, prompt(2_000))
    assert turns_in(desk.asked[0].messages) == ["q1", "a1"]
    assert list(strategy.context()[1:]) == list(last.messages)


def test_a_conversation_that_is_all_tail_is_not_compacted():
    strategy, desk = build("trigger=1000,tail=2")
    play(strategy, desk, exchange(1), prompt(2_000))
    play(strategy, desk, exchange(2), prompt(2_000))
    assert desk.asked == []


def test_the_next_compaction_covers_the_block_and_replaces_it():
    newer = {**BLOCK, "content": "All of it."}
    strategy, desk = build("1000", compaction(BLOCK), compaction(newer))
    play(strategy, desk, exchange(1), prompt(2_000))
    play(strategy, desk, exchange(2), prompt(2_000))
    assert turns_in(desk.asked[1].messages) == ["The", "q2", "a2"]
    assert strategy.context() == [{"role": "assistant", "content": [newer]}]


@pytest.mark.parametrize(
    "answer",
    [
        compaction(stop_reason="max_tokens"),
        compaction({**BLOCK, "content": None}),
        compaction({"type": "text", "text": "Sorry."}, stop_reason="end_turn"),
        compaction(problem="the summary call failed: Overloaded"),
    ],
)
def test_an_empty_answer_is_an_event_changes_nothing_and_is_tried_again(answer):
    strategy, desk = build("1000", answer, compaction(BLOCK))
    play(strategy, desk, exchange(1), prompt(2_000))
    assert turns_in(strategy.context()) == ["q1", "a1"]
    assert strategy.options().betas == ()
    play(strategy, desk, exchange(2), prompt(2_000))
    assert [data["used"] for _, data in desk.events] == [False, True]
    assert desk.events[0][1]["problem"]
    assert turns_in(strategy.context()) == ["The"]


def test_in_the_background_the_conversation_goes_on_and_the_block_replaces_what_it_covers():
    strategy, desk = build("trigger=1000,background=true", compaction(BLOCK))
    play(strategy, desk, exchange(1), prompt(2_000))
    assert desk.kinds == [EventKind.BACKGROUND_STARTED]
    assert turns_in(play(strategy, desk, exchange(2), prompt(3_000))) == ["q1", "a1"]
    assert len(desk.jobs) == 1, "one in flight at a time"
    desk.jobs[0].finished = True
    strategy.open(user("q3"), desk)
    assert turns_in(strategy.context()) == ["The", "q2", "a2"]
    assert not desk.jobs[0].waited
    assert desk.events[-1][1]["kept_turns"] == [2]


def test_where_no_size_is_reported_it_is_estimated():
    strategy, desk = build("100", compaction(BLOCK))
    play(strategy, desk, exchange(1, size=50), Usage())  # 100 words
    assert desk.asked == []
    play(strategy, desk, exchange(2, size=1), Usage())
    assert len(desk.asked) == 1
