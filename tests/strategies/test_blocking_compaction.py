from __future__ import annotations

from memdash.records import EventKind
from memdash.strategies import parse
from tests.strategies.workspaces import DeskWorkspace, exchange, play, prompt, summary, turns_in, user


def test_it_summarises_before_a_turn_that_would_reach_the_limit_new_message_included():
    desk = DeskWorkspace([summary("memory")])
    strategy = parse("blocking_compaction:1000").build()
    strategy.close(exchange(1), prompt(900, output=90), desk)
    strategy.open(user("w " * 9), desk)  # 900 + 90 + 9 = 999
    assert desk.asked == []
    strategy.open(user("w " * 10), desk)
    assert turns_in(strategy.context()) == ["This"]
    assert desk.kinds == [EventKind.COMPACTION]
    assert desk.events[0][1]["before_tokens"] == 990


def test_the_first_message_is_never_summarised_however_long_it_is():
    desk = DeskWorkspace()
    strategy = parse("blocking_compaction:1000").build()
    assert play(strategy, desk, exchange(1, size=2_000)) == []


def test_a_summary_that_must_not_be_used_leaves_everything_and_is_tried_again():
    desk = DeskWorkspace([summary("", stop_reason="max_tokens"), summary("memory")])
    strategy = parse("blocking_compaction:1000").build()
    strategy.close(exchange(1), prompt(1_000), desk)
    assert turns_in(play(strategy, desk, exchange(2), prompt(1_100))) == ["q1", "a1"]
    assert turns_in(play(strategy, desk, exchange(3), prompt(100))) == ["This"]
    assert [data["used"] for _, data in desk.events] == [False, True]
