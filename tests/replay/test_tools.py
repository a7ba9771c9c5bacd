from __future__ import annotations

from memdash.replay.tools import ToolAnswers
from memdash.scripts.model import Script, Step, ToolCall, Turn


def turn(number, *steps):
    return Turn(number, ({"type": "text", "text": "go"},), steps=tuple(Step(tuple(calls)) for calls in steps))


def call(id, result, name="status", input=None, is_error=False):
    return ToolCall(id, name, input or {}, result, is_error)


def use(name="status", input=None):
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": input or {}}


def test_the_same_call_twice_in_a_turn_gets_its_results_in_order():
    one = turn(1, [call("a", "pending")], [call("b", "finished")])
    answers = ToolAnswers(Script("s", "S", (one,)))
    answers.begin(one)
    assert [answers.result_block(use())["content"] for _ in range(3)] == ["pending", "finished", "pending"]


def test_a_call_of_another_turn_answers_before_the_tools_default():
    turns = (turn(1, [call("a", "early")]), turn(2))
    answers = ToolAnswers(Script("s", "S", turns, tool_defaults={"status": "default", "search": "nothing"}))
    answers.begin(turns[1])
    assert answers.result_block(use())["content"] == "early"
    assert answers.result_block(use(input={"id": 1}))["content"] == "default"
    assert answers.result_block(use("search"))["content"] == "nothing"


def test_an_unscripted_call_has_no_result():
    one = turn(1, [call("a", "early")])
    answers = ToolAnswers(Script("s", "S", (one,)))
    answers.begin(one)
    assert answers.result_block(use("delete_everything")) is None


def test_an_error_result_says_so_under_the_id_the_model_gave():
    one = turn(1, [call("a", "no such host", is_error=True)])
    answers = ToolAnswers(Script("s", "S", (one,)))
    answers.begin(one)
    assert answers.result_block(use()) == {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": "no such host",
        "is_error": True,
    }
