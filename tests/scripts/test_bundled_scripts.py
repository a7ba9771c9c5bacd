"""The bundled scripts are what the documents promise of them."""

from __future__ import annotations

import pytest

from memdash.claude import connect
from memdash.models import TokenFamily
from memdash.records import Control, ProbeRecord
from memdash.replay import replay
from memdash.scripts import Script, find_scripts, matches, parse_script, to_yaml
from memdash.simulator.pretend.questions import asked
from memdash.spec import ComparisonSpec
from memdash.strategies import parse
from memdash.tokens import counter

ALL = ["trip-planning", "trip-change", "support-tools", "coffee-breaks", "long-project", "big-tools"]


def bundled(name: str) -> Script:
    [script] = find_scripts(name)
    return script


@pytest.mark.parametrize("name", ALL)
def test_nothing_in_a_bundled_script_spoils_its_measure(name: str) -> None:
    script = bundled(name)
    assert script.warnings == ()
    assert all(turn.reply is None for turn in script.turns)
    assert "at most 80 words" in script.system
    words = len(script.system.split())
    assert (words >= 600) if name == "coffee-breaks" else (150 <= words <= 300)


@pytest.mark.parametrize("name", ALL)
def test_no_user_says_the_same_thing_twice(name: str) -> None:
    texts = [turn.text for turn in bundled(name).turns]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("name", ALL)
def test_ordinary_turns_ask_for_nothing_that_was_said_and_probes_do(name: str) -> None:
    script = bundled(name)
    assert [turn.number for turn in script.turns if asked(turn.text)] == []
    assert [fact.id for fact in script.facts if not asked(fact.question)] == []


@pytest.mark.parametrize("name", ALL)
def test_a_fact_is_in_its_own_turns_and_nowhere_else(name: str) -> None:
    script = bundled(name)
    for fact in script.facts:
        for value in fact.values:
            said = [
                turn.number
                for turn in script.turns
                if matches(value.text, turn.text)
                or any(matches(value.text, call.result) for step in turn.steps for call in step.calls)
            ]
            assert said == [value.turn], fact.id


@pytest.mark.parametrize("name", ALL)
def test_every_fact_of_a_bundled_script_says_what_kind_of_thing_it_is(name: str) -> None:
    kinds = {"name", "amount", "number", "date", "place", "preference", "decision", "identifier"}
    assert {fact.kind for fact in bundled(name).facts} <= kinds


def test_trip_planning_has_four_facts_in_four_turns_and_asks_at_the_end() -> None:
    script = bundled("trip-planning")
    assert len(script.turns) == 30
    assert [(fact.id, fact.values[0].turn) for fact in script.facts] == [
        ("name", 1),
        ("budget", 2),
        ("allergy", 3),
        ("arrival", 4),
    ]
    assert all(fact.probe_after == () for fact in script.facts)


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("You arrive on 14 June at 18:40.", True),
        ("At 6:40 p.m. on June 14th", True),
        ("On 14 June", False),
        ("At 18:40", False),
        ("On 15 June at 18:40", False),
        ("On 14 June at 16:40", False),
    ],
)
def test_an_arrival_needs_the_day_and_the_time(answer: str, right: bool) -> None:
    [arrival] = [fact for fact in bundled("trip-planning").facts if fact.id == "arrival"]
    assert matches(arrival.values[0].answer, answer) is right


def test_the_budget_of_trip_change_changes_in_turn_20() -> None:
    [budget] = [fact for fact in bundled("trip-change").facts if len(fact.values) > 1]
    assert [(value.turn, value.answer.values) for value in budget.values] == [(2, ("1800",)), (20, ("2150",))]


def test_support_tools_has_what_tools_can_do_to_a_conversation() -> None:
    script = bundled("support-tools")
    assert len(script.turns) == 25
    steps = [step for turn in script.turns for step in turn.steps]
    assert sum(len(step.calls) > 1 for step in steps) >= 4  # parallel calls
    assert any(len(turn.steps) > 1 for turn in script.turns)  # calls after calls
    assert max(len(call.result) for step in steps for call in step.calls) > 12_000
    assert any(call.is_error for step in steps for call in step.calls)
    assert [turn.number for turn in script.turns if turn.tools is not None] == [16]
    assert set(script.tool_defaults) == {tool["name"] for tool in script.tools}


def test_some_facts_of_support_tools_stand_only_in_tool_results() -> None:
    script = bundled("support-tools")
    by_user = {
        fact.id: matches(fact.values[0].text, script.turns[fact.values[0].turn - 1].text)
        for fact in script.facts
    }
    assert by_user == {
        "account": True,
        "window": True,
        "ticket": True,
        "commit": False,
        "first-host": False,
        "pool-size": False,
        "index": False,
    }


def test_the_long_log_is_not_filler() -> None:
    log = max((c.result for t in bundled("support-tools").turns for s in t.steps for c in s.calls), key=len)
    lines = log.splitlines()
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize("name", ALL)
def test_a_bundled_script_survives_being_written_and_read(name: str) -> None:
    script = bundled(name)
    assert parse_script(to_yaml(script)) == script


@pytest.mark.parametrize("name", ["coffee-breaks", "long-project", "big-tools"])
def test_every_probe_passes_with_the_whole_history_and_fails_with_an_empty_one(name: str) -> None:
    spec = ComparisonSpec((bundled(name),), (parse("window:4"),))
    client, clock = connect(spec.replays()[0])
    probes = [
        record for record in replay(spec.replays()[0], client, clock) if isinstance(record, ProbeRecord)
    ]
    assert {probe.control for probe in probes} == {Control.MEMORY, Control.WHOLE, Control.EMPTY}
    wrong = [
        (probe.fact, probe.asked_after, probe.control, probe.answer)
        for probe in probes
        if probe.control is not Control.MEMORY and probe.passed is not (probe.control is Control.WHOLE)
    ]
    assert wrong == []


def test_coffee_breaks_end_on_both_sides_of_five_minutes_and_of_an_hour() -> None:
    script = bundled("coffee-breaks")
    assert len(script.turns) == 20
    assert [len(fact.values) for fact in script.facts] == [1, 1, 1, 1]
    assert all(fact.values[0].turn <= 4 and fact.probe_after == () for fact in script.facts)
    pauses = [turn.pause for turn in script.turns if turn.pause is not None]
    assert sum(pause < 120 for pause in pauses) >= 5
    assert sum(240 <= pause < 300 for pause in pauses) >= 5  # read from a cache of five minutes
    assert sum(300 < pause < 3600 for pause in pauses) >= 4  # read from a cache of one hour only
    assert sum(pause > 3600 for pause in pauses) == 2  # read from none


def test_the_fixed_part_of_coffee_breaks_can_be_cached_by_every_newer_model() -> None:
    # 1,024 tokens are the least that most models cache; the newest take 512.
    assert counter("estimate").count(bundled("coffee-breaks").system, TokenFamily.NEW) > 1_100


def test_long_project_spreads_its_facts_over_the_conversation() -> None:
    script = bundled("long-project")
    assert len(script.turns) == 124
    stated = sorted(fact.values[0].turn for fact in script.facts)
    assert len(stated) == 24
    for start in range(0, 120, 20):  # a fact is told in every stretch of twenty turns, up to the last
        assert any(start < turn <= start + 20 for turn in stated), start
    assert {
        fact.id: [value.turn for value in fact.values] for fact in script.facts if len(fact.values) > 1
    } == {
        "budget": [2, 47, 98],
        "opening": [4, 61, 103],
        "back-door": [13, 74],
        "corner": [21, 55],
        "loan-period": [39, 90],
        "program": [50, 88],
    }
    in_results = [
        fact.id
        for fact in script.facts
        if not matches(fact.values[0].text, script.turns[fact.values[0].turn - 1].text)
    ]
    assert in_results == ["shelves", "permit", "donation", "program", "inspection", "invoice", "policy"]
    assert sum(bool(turn.steps) for turn in script.turns) == 13
    assert {call.name for turn in script.turns for step in turn.steps for call in step.calls} == {
        tool["name"] for tool in script.tools
    }
    assert [turn.pause for turn in script.turns if turn.pause is not None] == [5400, 28800, 4200]


def test_every_fact_of_long_project_is_asked_for_every_twenty_turns_and_at_the_end() -> None:
    for fact in bundled("long-project").facts:
        told = fact.values[0].turn
        assert fact.probe_after == (*range(told + 20, 124, 20), 124), fact.id


def test_big_tools_reaches_the_floors_of_server_compaction_and_clearing() -> None:
    script = bundled("big-tools")
    assert 12 <= len(script.turns) <= 16
    count = counter("estimate").count
    seen, sizes = 0, []
    for turn in script.turns:
        seen += sum(count(call.result, TokenFamily.NEW) for step in turn.steps for call in step.calls)
        sizes.append(seen)
    assert 155_000 <= seen <= 165_000
    # Clearing starts at 100,000 tokens and compaction at 150,000, both with turns to come.
    assert sizes[9] > 100_000 > sizes[8]
    assert sizes[-1] > 150_000 > sizes[-2]
    assert sum(len(turn.steps[0].calls) > 1 for turn in script.turns if turn.steps) == len(script.turns) - 1


def test_big_tools_tells_facts_in_its_turns_and_in_single_lines_of_its_results() -> None:
    script = bundled("big-tools")
    by_user = [
        fact.id
        for fact in script.facts
        if matches(fact.values[0].text, script.turns[fact.values[0].turn - 1].text)
    ]
    assert by_user == ["switch-off", "tapes", "change-request"]
    assert len(script.facts) == 8


def test_big_tools_is_small_as_a_file() -> None:
    assert len(to_yaml(bundled("big-tools"))) < 20_000
