"""What became of each fact, turn by turn, and what changed that."""

from __future__ import annotations

import dataclasses

import pytest

from memdash.inspection.survival import Blocks, Whereabouts, cost_per_surviving_fact, fact_lines, texts_needed
from memdash.records import Control, EventKind, ProbeRecord, RequestRecord, Survival
from memdash.replay.clearing import as_read
from memdash.replay.contexts import CONVERSATION, contexts
from memdash.replay.recall import survival
from memdash.scripts import find_scripts
from memdash.scripts.model import Step, ToolCall
from tests.inspection.plays import play, saying
from tests.replay.scripts import budget, chat, turn


def lines_of(script, strategy):
    played = play(script, strategy)
    return fact_lines(played.log, played.result.probes, Blocks(played.texts))


def path(line):
    """Each change as its turn, where the fact is from then on, and the kind and turn of its event."""
    return [
        (one.turn, one.now.value, one.event and (one.event.event.value, one.event.turn))
        for one in line.changes
    ]


def test_full_history_keeps_a_fact_word_for_word():
    (line,) = lines_of(chat(5, budget()), "full_history")
    assert path(line) == [(1, "verbatim", None)]
    assert (line.stated, line.through, line.measured, line.lost) == ((1,), 5, Survival.VERBATIM, None)
    assert [(probe.asked_after, probe.passed) for probe in line.probes] == [(5, True)]


def test_a_window_loses_a_fact_by_the_cut_that_names_its_turn():
    script = saying(chat(6, budget(2)), t1="Hello.", t2="Our budget is 2,400 euros.")
    (line,) = lines_of(script, "window:2")
    assert path(line) == [(2, "verbatim", None), (4, "gone", ("trim", 4))]
    assert line.lost == line.changes[1]
    assert [line.at(number) for number in (1, 2, 3, 4, 6)] == [
        None,
        Whereabouts.VERBATIM,
        Whereabouts.VERBATIM,
        Whereabouts.GONE,
        Whereabouts.GONE,
    ]


def test_what_the_user_says_again_is_repeated_and_an_update_states_it_anew():
    script = saying(
        chat(9, budget(1, t5="3100")),
        t2="So, 2,400 euros it is.",
        t5="We have 3,100 euros now.",
        t6="Before that it was 2,400 euros.",
    )
    (line,) = lines_of(script, "window:2")
    assert path(line) == [
        (1, "verbatim", None),
        (3, "repeated", ("trim", 3)),
        (4, "gone", ("trim", 4)),
        (5, "verbatim", None),
        (7, "stale", ("trim", 7)),
        (8, "gone", ("trim", 8)),
    ]
    assert line.stated == (1, 5)
    assert line.lost == line.changes[4]  # a value that has been replaced is not the fact


def test_a_summary_is_told_from_what_was_said_in_the_conversation():
    (line,) = lines_of(chat(12, budget()), "compaction:600,words=60")
    first, second = path(line)[:2]
    assert first == (1, "verbatim", None)
    assert second[1:] == ("summary", ("compaction", second[0] - 1))


def test_a_block_of_the_server_is_a_summary_too():
    (line,) = lines_of(chat(12, budget()), "server_compaction:600")
    turn_of_change, where, event = path(line)[1]
    assert (where, event) == ("summary", ("compaction", turn_of_change - 1))


def test_a_summary_made_after_the_last_turn_counts_for_the_memory_that_is_left():
    played = play(chat(12, budget()), "compaction:600,words=60")
    first = next(one.turn for one in played.log.events if one.event is EventKind.COMPACTION)
    (line,) = lines_of(chat(first, budget()), "compaction:600,words=60")
    assert path(line) == [(1, "verbatim", None), (first + 1, "summary", ("compaction", first))]
    assert (line.through, line.measured, line.at(first)) == (first, Survival.RESTATED, Whereabouts.VERBATIM)


def test_a_fact_cut_out_of_a_tool_result_was_never_there():
    long = "row of the log that says nothing much\n" * 60 + "budget 2400\n" + "another row like it\n" * 60
    steps = (Step((ToolCall("a", "look", {"at": 1}, long),)),)
    tool = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
    script = chat(3, budget(2))
    script = dataclasses.replace(
        script, turns=(turn(1, "Hi."), turn(2, "Look.", steps=steps), turn(3)), tools=(tool,)
    )
    (whole,) = lines_of(script, "full_history")
    (cut,) = lines_of(script, "cap_results:100")
    assert path(whole) == [(2, "verbatim", None)]
    assert path(cut) == [(2, "gone", ("cap", 2))]


def test_what_the_api_cleared_from_a_request_is_in_no_models_sight():
    """The request still holds it, and so would a count of its text; yet the model answers from what is left."""
    tool = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
    rows = "a row that says nothing much\n" * 40
    turns = [turn(1, "Hi.")]
    for number in range(2, 7):
        found = f"{rows}budget 2400\n" if number == 2 else rows
        steps = (Step((ToolCall(f"call_{number}", "look", {"at": number}, found),)),)
        turns.append(turn(number, "Look again.", steps=steps))
    script = dataclasses.replace(chat(6, budget(2)), turns=tuple(turns), tools=(tool,))
    (line,) = lines_of(script, "context_editing:trigger=800,keep=1")
    assert [where for _turn, where, _event in path(line)] == ["verbatim", "gone"]
    lost = line.changes[-1]
    assert lost.event is not None
    assert lost.event.event is EventKind.CLEAR
    assert lost.event.turn == lost.turn
    assert line.measured is Survival.GONE
    played = play(script, "context_editing:trigger=800,keep=1")
    (probe,) = (one for one in played.log.probes if one.control is Control.MEMORY)
    assert (probe.visible, probe.survival, probe.passed) == (False, Survival.GONE, False)
    (whole,) = (one for one in played.log.probes if one.control is Control.WHOLE)
    assert (whole.visible, whole.passed) == (True, True)
    assert (played.result.kept, played.result.facts_total) == (0, 1)


def test_a_refused_replay_has_lines_up_to_its_last_answer():
    played = play(chat(8, budget()), "window:keep=2,thinking=keep", check=True)
    (line,) = fact_lines(played.log, played.result.probes, Blocks(played.texts))
    assert line.through == played.result.turns_completed == 2
    assert line.now is Whereabouts.GONE  # in the memory that the refused turn was asked from
    assert line.changes[-1].turn == 3


def test_nothing_is_told_before_the_first_answer_and_of_facts_not_yet_stated():
    played = play(chat(3, budget(3)), "full_history", turns=2)
    assert fact_lines(played.log, (), Blocks(played.texts)) == ()
    nothing = dataclasses.replace(played.log, requests=[])
    assert (fact_lines(nothing, (), Blocks({})), texts_needed(nothing)) == ((), [])


def test_only_the_facts_that_are_asked_for_are_followed():
    script = find_scripts("trip-planning")[0]
    played = play(script, "window:4", turns=8)
    assert [line.fact.id for line in fact_lines(played.log, (), Blocks(played.texts), {"allergy"})] == [
        "allergy"
    ]


def test_the_texts_that_are_needed_are_all_that_are_read():
    played = play(chat(6, budget()), "compaction:600")
    needed = texts_needed(played.log)
    assert len(needed) == len(set(needed))
    lines = fact_lines(played.log, played.result.probes, Blocks({one: played.texts[one] for one in needed}))
    assert lines == fact_lines(played.log, played.result.probes, Blocks(played.texts))


@pytest.mark.parametrize(
    "strategy",
    [
        "full_history",
        "window:keep=2,trim_at=5",
        "truncate:budget=900,down_to=0.5",
        "truncate:budget=700,system=message",
        "compaction:900,words=40",
        "running_brief:context_limit=1500,words=40",
        "instant_compaction:context_limit=2500,first_summary_at=1200,update_every=400,words=60",
        "server_compaction:900",
        "compact_on_demand:trigger=900,tail=2",
        "context_editing:trigger=900,keep=1",
    ],
)
def test_every_turn_agrees_with_the_rule_of_the_replay(strategy):
    assert _agreeing(play(find_scripts("trip-change")[0], strategy, turns=26)) == 4


@pytest.mark.parametrize(
    "strategy", ["context_editing:trigger=3000,keep=1", "context_editing:trigger=3000,clear_tool_inputs=true"]
)
def test_every_turn_agrees_with_the_rule_of_the_replay_where_results_are_cleared(strategy):
    played = play(find_scripts("support-tools")[0], strategy)
    assert played.result.kept is not None
    assert played.result.kept < _agreeing(played) == 7


def _agreeing(played):
    """How many facts a replay has, every turn of which was compared."""
    seen = contexts(played.records)
    last, stated_in, requests = {}, {}, {}
    for record in played.records:
        if isinstance(record, RequestRecord) and record.purpose in CONVERSATION:
            requests[record.number] = record
            last[record.turn] = record.number
            brought = seen[record.number][-1]["content"]
            stated_in.setdefault(record.turn, set()).update(map(id, brought))
    lines = fact_lines(played.log, played.result.probes, Blocks(played.texts))
    for line in lines:
        for number, request in last.items():
            if line.fact.stated_by(number):
                expected = survival(line.fact, number, as_read(seen[request], requests[request]), stated_in)
                at = line.at(number)
                assert at is not None
                assert _plain(at) is expected, (line.fact.id, number)
        assert line.measured is not None
        assert _plain(line.now) is line.measured
        assert all(change.event is not None for change in line.changes if change.is_loss)
    return len(lines)


@pytest.mark.parametrize("strategy", ["compaction:900,words=40", "window:3"])
def test_every_loss_has_an_event(strategy):
    for line in lines_of(find_scripts("trip-change")[0], strategy):
        assert all(change.event is not None for change in line.changes if change.is_loss)


def test_a_probe_says_what_the_line_says_at_its_end():
    played = play(find_scripts("trip-change")[0], "window:3")
    lines = {
        line.fact.id: line for line in fact_lines(played.log, played.result.probes, Blocks(played.texts))
    }
    asked = [one for one in played.log.probes if one.control is Control.MEMORY]
    assert len(asked) == 4
    assert all(_plain(lines[one.fact].now) is one.survival for one in asked if isinstance(one, ProbeRecord))


@pytest.mark.parametrize(
    ("cost", "surviving", "expected"), [(0.3, 3, 0.1), (0.3, 0, None), (None, 3, None), (0.3, None, None)]
)
def test_cost_per_surviving_fact(cost, surviving, expected):
    assert cost_per_surviving_fact(cost, surviving) == pytest.approx(expected)


def _plain(one):
    return Survival.RESTATED if one in (Whereabouts.SUMMARY, Whereabouts.REPEATED) else Survival(one.value)
