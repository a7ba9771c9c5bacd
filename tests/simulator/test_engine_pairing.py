from __future__ import annotations

from typing import Any

import pytest

from memdash.simulator.errors import ApiError
from tests.simulator.engine_kit import (
    assistant,
    body,
    caller,
    new_engine,
    text,
    tool,
    tool_result,
    tool_use,
    user,
)


def send(*messages: dict[str, Any]) -> None:
    new_engine().create_message(body(list(messages), tools=[tool()]), caller(), 0.0)


def refusal(*messages: dict[str, Any]) -> str:
    with pytest.raises(ApiError) as refused:
        send(*messages)
    return refused.value.message


def unanswered(index: int, *ids: str) -> str:
    return (
        f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(ids)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def unexpected(path: str, id: str) -> str:
    return (
        f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a "
        "corresponding `tool_use` block in the previous message."
    )


ASK = user("Look it up")
CALL = assistant([text("A moment."), tool_use("a"), tool_use("b")])
RESULTS = user([tool_result("a"), tool_result("b")])


def test_all_results_in_one_message_right_after_the_calls() -> None:
    send(ASK, CALL, RESULTS)
    send(ASK, CALL, user([tool_result("b"), tool_result("a"), text("And what else?")]))


def test_a_call_without_a_result() -> None:
    assert refusal(ASK, CALL, user("Never mind")) == unanswered(1, "a", "b")
    assert refusal(ASK, CALL, user([tool_result("a")]), assistant("x"), user("y")) == unanswered(1, "b")
    assert refusal(ASK, CALL, user([tool_result("b")])) == unanswered(1, "a")


def test_a_conversation_cannot_end_with_an_open_call() -> None:
    assert refusal(ASK, CALL) == unanswered(1, "a", "b")


def test_results_come_before_any_text() -> None:
    late = user([text("Here you are"), tool_result("a"), tool_result("b")])
    assert refusal(ASK, CALL, late) == unanswered(1, "a", "b")
    between = user([tool_result("a"), text("and"), tool_result("b")])
    assert refusal(ASK, CALL, between) == unanswered(1, "b")


def test_a_result_without_a_call() -> None:
    assert refusal(user([tool_result("a")])) == unexpected("messages.0.content.0", "a")
    assert refusal(ASK, assistant("Sure"), user([text("x"), tool_result("a")])) == unexpected(
        "messages.2.content.1", "a"
    )
    three = user([tool_result("a"), tool_result("b"), tool_result("c")])
    assert refusal(ASK, CALL, three) == unexpected("messages.2.content.2", "c")


def test_a_window_that_begins_with_a_result() -> None:
    assert refusal(RESULTS, assistant("Found it"), user("Thanks")) == unexpected("messages.0.content.0", "a")


def test_a_result_of_an_earlier_call() -> None:
    again = user([tool_result("a")])
    assert refusal(ASK, CALL, RESULTS, assistant("Found it"), again) == unexpected(
        "messages.4.content.0", "a"
    )


def test_a_call_is_answered_once() -> None:
    twice = user([tool_result("a"), tool_result("b"), tool_result("a")])
    assert refusal(ASK, CALL, twice) == (
        "messages.2.content.2: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a"
    )


def test_ids_of_calls_are_unique() -> None:
    message = "messages.3.content.0: `tool_use` ids must be unique"
    assert refusal(ASK, CALL, RESULTS, assistant([tool_use("a")]), user([tool_result("a")])) == message


def test_two_branches_of_a_conversation_may_use_the_same_id() -> None:
    engine = new_engine()
    for answer in ("one way", "another way"):
        messages = [ASK, CALL, RESULTS, assistant([text(answer), tool_use("c")]), user([tool_result("c")])]
        engine.create_message(body(messages, tools=[tool()]), caller(), 0.0)


def test_messages_of_one_role_are_one_turn_and_keep_their_numbers() -> None:
    send(ASK, assistant("A moment."), assistant([tool_use("a")]), user([tool_result("a")]))
    send(ASK, CALL, user([tool_result("a")]), user([tool_result("b")]))
    send(ASK, CALL, RESULTS, user("And what else?"))
    split = (ASK, assistant([tool_use("a")]), assistant([tool_use("b")]))
    assert refusal(*split, user([tool_result("a")])) == unanswered(2, "b")
    assert refusal(*split, user("Never mind")) == unanswered(1, "a")
    assert refusal(ASK, user("x"), assistant("y"), user("z"), user([tool_result("a")])) == unexpected(
        "messages.4.content.0", "a"
    )


def test_a_system_message_cannot_stand_between_a_call_and_its_result() -> None:
    system = {"role": "system", "content": "Be brief."}
    assert refusal(ASK, CALL, system, RESULTS) == unanswered(1, "a", "b")
    send(ASK, CALL, RESULTS, system)


def test_a_conversation_that_was_accepted_before_is_checked_to_its_end() -> None:
    engine = new_engine()
    accepted = [ASK, CALL, RESULTS]
    engine.create_message(body(accepted, tools=[tool()]), caller(), 0.0)
    with pytest.raises(ApiError) as refused:
        engine.create_message(body(accepted[:2], tools=[tool()]), caller(), 0.0)
    assert refused.value.message == unanswered(1, "a", "b")
