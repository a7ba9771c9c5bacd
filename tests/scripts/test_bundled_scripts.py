"""The bundled scripts are what the documents promise of them."""

from __future__ import annotations

import pytest

from memdash.scripts import Script, find_scripts, matches

ALL = ["trip-planning", "trip-change", "support-tools"]


def bundled(name: str) -> Script:
    [script] = find_scripts(name)
    return script


@pytest.mark.parametrize("name", ALL)
def test_nothing_in_a_bundled_script_spoils_its_measure(name: str) -> None:
    script = bundled(name)
    assert script.warnings == ()
    assert all(turn.reply is None for turn in script.turns)
    assert "at most 80 words" in script.system
    assert 150 <= len(script.system.split()) <= 300


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
