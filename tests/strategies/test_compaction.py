from __future__ import annotations

import pytest

from memdash.records import EventKind, Usage
from memdash.strategies import parse
from tests.strategies.workspaces import DeskWorkspace, exchange, summary, tool_exchange, turns_in, user

SMALL = Usage(input_tokens=100, cache_creation_input_tokens=0, cache_read_input_tokens=100)
LARGE = Usage(input_tokens=3, cache_creation_input_tokens=1_000, cache_read_input_tokens=1_000)


def test_nothing_happens_up_to_the_trigger_and_the_cached_tokens_count():
    desk = DeskWorkspace()
    strategy = parse("compaction:2003").build()
    strategy.close(exchange(1), LARGE, desk)  # 3 + 1,000 + 1,000 = 2,003 is not over 2,003
    assert desk.asked == []
    assert turns_in(strategy.context()) == ["q1", "a1"]


def test_one_summary_replaces_everything_and_is_one_user_message():
    desk = DeskWorkspace([summary("The budget is 2,400 euros.")])
    strategy = parse("compaction:2000").build()
    strategy.close(exchange(1), SMALL, desk)
    strategy.close(exchange(2), LARGE, desk)
    (message,) = strategy.context()
    assert message["role"] == "user"
    assert message["content"][0]["text"].endswith("\n\nThe budget is 2,400 euros.")
    (event, data) = desk.events[0]
    assert event is EventKind.COMPACTION
    assert data["used"] is True
    assert data["before_tokens"] == 2003
    assert data["replaced_turns"] == [1, 2]
    assert data["summary"] == "The budget is 2,400 euros."
    assert data["elapsed_ms"] == 1500.0


def test_the_old_summary_is_part_of_what_is_summarised_and_nothing_older_is_replayed():
    desk = DeskWorkspace([summary("first memory"), summary("second memory")])
    strategy = parse("compaction:2000").build()
    strategy.close(exchange(1), LARGE, desk)
    strategy.close(exchange(2), LARGE, desk)
    second = desk.asked[1].messages[0]["content"][0]["text"]
    assert "first memory" in second
    assert "q2" in second
    assert "q1" not in second
    assert len(strategy.context()) == 1


def test_the_summary_call_reads_a_transcript_with_tools_and_results_but_no_thinking():
    desk = DeskWorkspace([summary("memory")])
    strategy = parse("compaction:2000,words=40").build()
    strategy.close(tool_exchange(1, thinking=True), LARGE, desk)
    ask = desk.asked[0]
    text = ask.messages[0]["content"][0]["text"]
    assert "User: q1" in text
    assert "Assistant called look: {}" in text
    assert "Result of the call: found" in text
    assert "sig-" not in text
    assert "at most 40 words" in ask.system
    assert ask.max_tokens == 1024


def test_another_model_and_own_instructions_are_passed_on():
    desk = DeskWorkspace([summary("memory")])
    strategy = parse(
        "compaction:2000,summary_model=claude-haiku-5-5,instructions=Only numbers.,max_tokens=300"
    ).build()
    strategy.close(exchange(1), LARGE, desk)
    ask = desk.asked[0]
    assert (ask.model, ask.max_tokens) == ("claude-haiku-5-5", 300)
    assert ask.system.startswith("Only numbers.")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (summary(""), "the summary was empty"),
        (summary("   \n"), "the summary was empty"),
        (summary("<analysis>hm</analysis>"), "the summary was empty"),
        (summary("half a memo", stop_reason="max_tokens"), "the summary was cut off at max_tokens"),
        (summary("", stop_reason="refusal"), "the model refused to summarise"),
        (summary("", problem="the summary call failed: Overloaded"), "the summary call failed: Overloaded"),
    ],
)
def test_an_empty_failed_or_cut_off_summary_is_an_event_and_never_used(answer, problem):
    desk = DeskWorkspace([answer, summary("good")])
    strategy = parse("compaction:2000").build()
    strategy.close(exchange(1), LARGE, desk)
    assert turns_in(strategy.context()) == ["q1", "a1"]
    assert desk.events[0][1] == {
        "used": False,
        "problem": problem,
        "request": 99,
        "before_tokens": 2003,
    }
    strategy.close(exchange(2), LARGE, desk)  # tried again after the next turn
    assert strategy.context()[0]["content"][0]["text"].endswith("good")


def test_scratch_text_is_removed_from_a_summary_before_use():
    desk = DeskWorkspace(
        [summary("<analysis>what matters?</analysis>\n<summary>Ana, 2,400 euros.</summary>")]
    )
    strategy = parse("compaction:2000").build()
    strategy.close(exchange(1), LARGE, desk)
    assert desk.events[0][1]["summary"] == "Ana, 2,400 euros."


def test_when_cold_waits_until_the_cache_has_expired():
    desk = DeskWorkspace([summary("memory")])
    strategy = parse("compaction:2000,when=cold").build()
    strategy.close(exchange(1), LARGE, desk)
    desk.idle_ms = 30_000.0
    strategy.open(user("next"), desk)
    assert desk.asked == []
    desk.idle_ms = 300_001.0
    strategy.open(user("next"), desk)
    assert len(desk.asked) == 1
    assert len(strategy.context()) == 1


def test_when_cold_does_not_wait_beyond_its_ceiling():
    desk = DeskWorkspace([summary("memory")])
    strategy = parse("compaction:trigger=500,when=cold,ceiling=2000").build()
    strategy.close(exchange(1), LARGE, desk)
    assert len(desk.asked) == 1


def test_without_caching_the_cache_is_always_cold():
    desk = DeskWorkspace([summary("memory")], cache_lifetime_ms=None, idle_ms=1.0)
    strategy = parse("compaction:2000,when=cold").build()
    strategy.close(exchange(1), LARGE, desk)
    strategy.open(user("next"), desk)
    assert len(desk.asked) == 1


def test_a_server_that_reports_no_input_is_judged_by_estimate():
    desk = DeskWorkspace([summary("memory")], fixed_tokens=90)
    strategy = parse("compaction:100").build()
    strategy.close(exchange(1, size=4), Usage(), desk)  # 90 + 8 words = 98
    assert desk.asked == []
    strategy.close(exchange(2, size=4), Usage(), desk)  # 90 + 16 words = 106
    assert len(desk.asked) == 1
