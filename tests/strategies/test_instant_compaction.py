"""Published versions of the instant pattern lose messages when a refresh ends after a swap, forget cache writes in their size
measure, never bill the summary call, drop tool and thinking blocks, and accept a cut-off summary. None of it happens here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.errors import InputError
from memdash.records import EventKind, Usage
from memdash.strategies import parse
from tests.strategies.workspaces import (
    DeskJob,
    DeskWorkspace,
    exchange,
    play,
    prompt,
    summary,
    tool_exchange,
    turns_in,
    user,
)

WRITTEN = "instant_compaction:context_limit=1000,first_summary_at=600,update_every=100"


def started(desk):
    return [data["covers_through"] for event, data in desk.events if event is EventKind.BACKGROUND_STARTED]


def test_the_first_memory_is_built_once_the_context_is_large_enough_and_not_before():
    desk = DeskWorkspace([summary("memory")])
    strategy = parse(WRITTEN).build()
    strategy.close(exchange(1), prompt(500, output=99), desk)
    assert started(desk) == []
    strategy.close(exchange(2), prompt(500, output=100), desk)
    assert started(desk) == [2]


def test_cache_writes_and_the_answer_count_in_the_size():
    desk = DeskWorkspace([summary("memory")])
    strategy = parse(WRITTEN).build()
    written = Usage(
        input_tokens=3, cache_creation_input_tokens=500, cache_read_input_tokens=0, output_tokens=97
    )
    strategy.close(exchange(1), written, desk)
    assert started(desk) == [1]


def test_one_job_at_a_time_and_a_refresh_after_enough_new_tokens():
    desk = DeskWorkspace([summary("first"), summary("second")])
    strategy = parse(WRITTEN).build()
    strategy.close(exchange(1), prompt(600), desk)
    strategy.close(exchange(2), prompt(720), desk)  # the first job still runs
    assert started(desk) == [1]
    desk.jobs[0].finished = True
    strategy.close(exchange(3), prompt(690), desk)  # 90 more than at the job's start
    assert started(desk) == [1]
    strategy.close(exchange(4), prompt(700), desk)
    assert started(desk) == [1, 4]
    refresh = desk.asked[1].messages[0]["content"][0]["text"]
    assert "<memory_so_far>\nfirst\n</memory_so_far>" in refresh
    assert "q1" not in refresh
    assert all(turn in refresh for turn in ("q2", "q3", "q4"))


def test_a_full_update_reads_the_whole_context():
    desk = DeskWorkspace([summary("first"), summary("second")])
    strategy = parse(f"{WRITTEN},update=full").build()
    strategy.close(exchange(1), prompt(600), desk)
    desk.jobs[0].finished = True
    strategy.close(exchange(2), prompt(700), desk)
    refresh = desk.asked[1].messages[0]["content"][0]["text"]
    assert "memory_so_far" not in refresh
    assert "q1" in refresh
    assert "q2" in refresh


def test_at_the_limit_the_ready_memory_is_swapped_in_at_once_and_uncovered_turns_stay():
    desk = DeskWorkspace([summary("memory of 1")], fixed_tokens=50)
    strategy = parse("instant_compaction:context_limit=1000,first_summary_at=600,update_every=900").build()
    strategy.close(exchange(1), prompt(600), desk)
    desk.jobs[0].finished = True
    strategy.close(tool_exchange(2, thinking=True), prompt(700), desk)
    strategy.close(exchange(3), prompt(999), desk)
    sent = play(strategy, desk, exchange(4), prompt(100))
    assert turns_in(sent) == ["This", "q2", "look", "found", "a2", "q3", "a3"]
    event, data = next(one for one in desk.events if one[0] is EventKind.SWAP)
    assert event is EventKind.SWAP
    assert (data["used"], data["built"], data["stale_turns"]) == (True, "background", 2)
    assert (data["replaced_turns"], data["kept_turns"]) == ([1], [2, 3])
    # Its tools are whole; its thinking, which was signed over what is gone, is not.
    assert (EventKind.STRIP_THINKING, {"blocks": 2}) in desk.events
    assert not any(job.waited for job in desk.jobs)


def test_where_no_memory_is_ready_the_turn_waits_for_the_running_job():
    desk = DeskWorkspace([summary("memory")])
    strategy = parse(WRITTEN).build()
    strategy.close(exchange(1), prompt(999), desk)
    play(strategy, desk, exchange(2), prompt(100))
    assert desk.jobs[0].waited
    ready = next(data for event, data in desk.events if event is EventKind.BACKGROUND_READY)
    assert ready["held_up"] is True
    assert EventKind.SWAP in desk.kinds


@pytest.mark.parametrize(
    "bad",
    [summary("cut", stop_reason="max_tokens"), summary(""), summary("", problem="the summary call failed")],
    ids=["cut off", "empty", "failed"],
)
def test_a_memory_that_must_not_be_used_is_discarded_and_one_is_built_inline(bad):
    desk = DeskWorkspace([bad, summary("inline memory")])
    strategy = parse(WRITTEN).build()
    strategy.close(exchange(1), prompt(999), desk)
    sent = play(strategy, desk, exchange(2), prompt(100))
    assert EventKind.BACKGROUND_DISCARDED in desk.kinds
    assert EventKind.FALLBACK_INLINE in desk.kinds
    assert sent[0]["content"][0]["text"].endswith("inline memory")


def test_an_inline_memory_that_must_not_be_used_leaves_the_history_as_it_was():
    desk = DeskWorkspace([summary(""), summary("")])
    strategy = parse(WRITTEN).build()
    strategy.close(exchange(1), prompt(999), desk)
    assert turns_in(play(strategy, desk, exchange(2), prompt(100))) == ["q1", "a1"]
    swap = next(data for event, data in desk.events if event is EventKind.SWAP)
    assert swap["used"] is False


def test_a_refresh_that_ends_after_a_swap_is_the_memory_of_the_next_one():
    desk = DeskWorkspace([summary("of 1"), summary("of 1 and 2"), summary("never used")])
    strategy = parse(WRITTEN).build()
    strategy.close(exchange(1), prompt(600), desk)
    desk.jobs[0].finished = True
    strategy.close(exchange(2), prompt(700), desk)  # starts the refresh that covers turn 2
    strategy.close(exchange(3), prompt(999), desk)
    sent = play(strategy, desk, exchange(4), prompt(300))
    assert turns_in(sent) == ["This", "q2", "a2", "q3", "a3"]
    desk.jobs[1].finished = True
    strategy.open(user("next"), desk)
    strategy.close(exchange(5), prompt(999), desk)
    sent = play(strategy, desk, exchange(6), prompt(300))
    assert sent[0]["content"][0]["text"].endswith("of 1 and 2")
    assert turns_in(sent) == ["This", "q3", "a3", "q4", "a4", "q5", "a5"]


def test_the_memory_must_come_before_the_limit():
    with pytest.raises(InputError, match="first_summary_at: 900 is not below context_limit"):
        parse("instant_compaction:context_limit=900,first_summary_at=900")


@given(
    sizes=st.lists(st.integers(300, 1_200), min_size=1, max_size=25),
    endings=st.lists(st.integers(0, 4), max_size=40),
    good=st.lists(st.booleans(), min_size=60, max_size=60),
    update=st.sampled_from(["incremental", "full"]),
)
def test_no_exchange_ever_vanishes_or_stands_twice_whenever_the_jobs_end(sizes, endings, good, update):
    """Each memory says which turns it read; what is sent must hold every turn so far, once."""
    desk = DeskWorkspace()
    strategy = parse(f"{WRITTEN},update={update}").build()
    answers = iter(good)

    def answer_for(ask):
        # A truthful summariser: it repeats the turns of what it was given, or fails.
        text = ask.messages[-1]["content"][0]["text"]
        turns = sorted(
            {
                int(word[1:])
                for word in text.replace("\n", " ").split()
                if word[:1] == "q" and word[1:].isdigit()
            }
        )
        return summary(" ".join(f"q{turn}" for turn in turns)) if next(answers) else summary("")

    def ask(request):
        return answer_for(request)

    def start(request):
        desk.jobs.append(DeskJob(answer_for(request)))
        return desk.jobs[-1]

    desk.ask, desk.start = ask, start  # type: ignore[method-assign]
    ends = iter(endings)
    for turn, size in enumerate(sizes, 1):
        for job in desk.jobs:
            job.finished = job.finished or next(ends, 4) == 0
        sent = play(strategy, desk, exchange(turn), prompt(size))
        seen = [int(word[1:]) for message in sent for word in text_words(message) if word[:1] == "q"]
        assert sorted(set(seen)) == list(range(1, turn))
        tail = [int(text_words(message)[0][1:]) for message in sent if text_words(message)[0][:1] == "q"]
        head = [turn for turn in seen if turn not in tail]
        assert sorted({*head, *tail}) == list(range(1, turn))
        assert len(set(head) & set(tail)) == 0


def text_words(message):
    return message["content"][0].get("text", "").split()
