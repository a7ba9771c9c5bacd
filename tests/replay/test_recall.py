from __future__ import annotations

from memdash.records import Survival
from memdash.replay.recall import due, survival, visible_text
from memdash.scripts.model import Expectation, Fact, Grading, Script, Turn, Value


def number(turn, value):
    expectation = Expectation(Grading.NUMBER, (value,))
    return Value(turn, expectation, expectation)


BUDGET = Fact("budget", "What is our budget?", (number(2, "2400"), number(5, "3100")))


def user(text):
    return {"role": "user", "content": [{"type": "text", "text": text}]}


STATED = user("Our budget is 2,400 euros.")
UPDATED = user("The budget is 3,100 euros now.")
STATED_IN = {2: {id(STATED["content"][0])}, 5: {id(UPDATED["content"][0])}}


def test_the_stating_message_itself_is_verbatim():
    assert survival(BUDGET, 3, [STATED], STATED_IN) is Survival.VERBATIM
    assert survival(BUDGET, 6, [STATED, UPDATED], STATED_IN) is Survival.VERBATIM


def test_the_latest_value_in_another_message_is_restated():
    assert survival(BUDGET, 6, [user("Memory: budget 3,100")], STATED_IN) is Survival.RESTATED
    assert survival(BUDGET, 6, [STATED, user("Memory: budget 3,100")], STATED_IN) is Survival.RESTATED


def test_only_an_old_value_is_stale_and_nothing_is_gone():
    assert survival(BUDGET, 6, [STATED], STATED_IN) is Survival.STALE
    assert survival(BUDGET, 6, [user("Memory: nothing")], STATED_IN) is Survival.GONE
    assert survival(BUDGET, 6, [], STATED_IN) is Survival.GONE


def test_before_an_update_the_first_value_counts():
    assert survival(BUDGET, 4, [STATED], STATED_IN) is Survival.VERBATIM


def test_facts_are_asked_about_at_the_end_or_after_their_turns_but_not_before_they_are_stated():
    turns = tuple(Turn(number, ({"type": "text", "text": "hi"},)) for number in range(1, 11))
    early = Fact("early", "?", (number(2, "1"),), probe_after=(1, 4, 9))
    script = Script("s", "S", turns, facts=(BUDGET, early))
    asked = {turn: [fact.id for fact in due(script, turn, 10)] for turn in range(1, 11)}
    assert {turn: facts for turn, facts in asked.items() if facts} == {
        4: ["early"],
        9: ["early"],
        10: ["budget"],
    }
    assert [fact.id for fact in due(script, 4, 4)] == ["budget", "early"]
    assert [fact.id for fact in due(script, 1, 1)] == []


def test_tool_inputs_results_and_summaries_can_be_read_and_thinking_cannot():
    assert visible_text({"type": "tool_use", "input": {"a": ["x", {"b": 7}], "c": None}}) == "x 7"
    assert visible_text({"type": "tool_result", "content": [{"type": "text", "text": "log"}]}) == "log"
    assert visible_text({"type": "tool_result"}) == ""
    assert visible_text({"type": "compaction", "content": "memory"}) == "memory"
    assert visible_text({"type": "thinking", "thinking": "secret", "signature": "s"}) == ""
