"""OpenAI chat conversations as scripts."""

# ruff: noqa: E501 - tables of inputs and their messages, one case a line

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memdash.errors import InputError, ScriptError
from memdash.scripts import Script, Step, ToolCall, Turn, import_file, import_text, parse_script, to_yaml

TAU_BENCH = Path(__file__).resolve().parents[3] / "shared" / "data" / "tau_bench" / "gpt-4o-airline.json"


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def says(text: str | None, *calls: tuple[str, str, str]) -> dict[str, Any]:
    """An assistant message with calls given as (id, name, arguments)."""
    tool_calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id, name, arguments in calls
    ]
    return {"role": "assistant", "content": text, "tool_calls": tool_calls or None}


def result(id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def imported(*messages: dict[str, Any], **body: Any) -> Script:
    [script] = import_text(json.dumps({"messages": messages, **body}), "chat.json", "openai")
    return script


def text(words: str) -> tuple[dict[str, str], ...]:
    return ({"type": "text", "text": words},)


def test_a_conversation_with_tools() -> None:
    tool = {
        "type": "function",
        "function": {
            "name": "find",
            "description": "Finds.",
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
        },
    }
    script = imported(
        system("Be brief."),
        user("Find a and b."),
        says("Looking.", ("x", "find", '{"q": "a"}'), ("y", "find", '{"q": "b"}')),
        result("y", "B"),
        result("x", "A"),
        says(None, ("z", "find", '{"q": "c"}')),
        result("z", ""),
        says("Found."),
        user("Thanks."),
        tools=[tool],
        max_completion_tokens=500,
    )
    assert script == Script(
        id="chat",
        title="Find a and b.",
        description="Imported from chat.json (OpenAI chat).",
        system="Be brief.",
        max_tokens=500,
        tools=(
            {
                "name": "find",
                "description": "Finds.",
                "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
            },
        ),
        turns=(
            Turn(
                1,
                text("Find a and b."),
                steps=(
                    Step(
                        (ToolCall("x", "find", {"q": "a"}, "A"), ToolCall("y", "find", {"q": "b"}, "B")),
                        "Looking.",
                    ),
                    Step((ToolCall("z", "find", {"q": "c"}, ""),)),
                ),
                reply="Found.",
            ),
            Turn(2, text("Thanks.")),
        ),
    )
    assert script.warnings == ()


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        (json.dumps({"messages": [user("hi")]}), ["chat"]),
        (json.dumps([user("hi"), says("hello")]), ["chat"]),
        (json.dumps([{"traj": [user("hi")]}, {"messages": [user("ho")]}, [user("hey")]]), ["chat-1", "chat-2", "chat-3"]),
        (json.dumps({"messages": [user("hi")]}) + "\n\n" + json.dumps([user("ho")]) + "\n", ["chat-1", "chat-2"]),
        (json.dumps(user("hi")) + "\n" + json.dumps(says("hello")) + "\n", ["chat"]),
        (json.dumps(user("hi")), ["chat"]),
    ],
)  # fmt: skip
def test_every_way_a_file_can_hold_conversations(content: str, ids: list[str]) -> None:
    scripts = import_text(content, "chat.jsonl")
    assert [script.id for script in scripts] == ids
    assert all(script.turns[0].number == 1 for script in scripts)


def test_consecutive_messages_of_one_side_are_one() -> None:
    script = imported(user("One."), user("Two."), says("Three."), says("Four."), user("Five."))
    assert script.turns == (
        Turn(1, text("One.") + text("Two."), reply="Three.\n\nFour."),
        Turn(2, text("Five.")),
    )


def test_an_assistant_that_speaks_first_keeps_its_words() -> None:
    script = imported(system("s"), says("Welcome."), user("hi"))
    assert script.turns == (
        Turn(1, text("(The assistant opens the conversation.)"), reply="Welcome."),
        Turn(2, text("hi")),
    )
    assert script.title == "hi"
    assert script.warnings == (
        "messages[1]: the assistant speaks first; the user's text '(The assistant opens the conversation.)' stands before it",
    )


def test_a_later_system_message_changes_the_prompt_from_the_next_turn_on() -> None:
    script = imported(
        system("A"), {"role": "developer", "content": "B"}, user("one"), says("x"), system("C"), system("A\n\nB\n\nC"), user("two")
    )  # fmt: skip
    assert script.system == "A\n\nB"
    assert [turn.system for turn in script.turns] == [None, "A\n\nB\n\nC"]
    assert script.warnings == (
        "messages[4]: a system message amid the conversation is added to the system prompt from the next turn on",
    )


def test_a_system_message_that_no_turn_follows_is_left_out_with_a_warning() -> None:
    script = imported(user("one"), system("too late"))
    assert script.system == ""
    assert "messages[1]: a system message after the last user message is left out" in script.warnings


def test_a_call_without_a_result_gets_an_error_result() -> None:
    script = imported(user("go"), says(None, ("x", "find", "{}")), user("and?"))
    assert script.turns[0].steps == (
        Step((ToolCall("x", "find", {}, "No result was recorded for this call.", is_error=True),)),
    )
    assert script.warnings == (
        "messages[1]: a tool call without a result gets an error result",
        "messages[0]: there is no final answer to this message; the model gives one",
        "messages[1]: tool definitions are built from the calls for: find",
    )


def test_a_result_without_a_call_is_left_out_with_a_warning() -> None:
    script = imported(user("go"), result("nowhere", "lost"), says("well"))
    assert script.turns == (Turn(1, text("go"), reply="well"),)
    assert script.warnings == ("messages[1]: a tool result without its call is left out",)


def test_an_unfinished_exchange_is_left_to_the_model() -> None:
    script = imported(user("go"), says(None, ("x", "find", "{}")), result("x", "found"))
    assert script.turns[-1].reply is None
    assert script.turns[-1].steps[0].calls[0].result == "found"


def test_repeated_ids_are_renumbered_and_answered_in_order() -> None:
    script = imported(
        user("go"),
        says(None, ("x", "find", "{}"), ("x", "find", '{"q": 1}')),
        result("x", "first"),
        result("x", "second"),
        says(None, ("x", "find", "{}")),
        result("x", "third"),
    )
    calls = [call for step in script.turns[0].steps for call in step.calls]
    assert [(call.id, call.result) for call in calls] == [("x", "first"), ("x-2", "second"), ("x-3", "third")]


@pytest.mark.parametrize(
    ("arguments", "given", "odd"),
    [
        ('{"a": 1}', {"a": 1}, False),
        ("", {}, False),
        ("{oops", {"arguments": "{oops"}, True),
        ("[1]", {"arguments": "[1]"}, True),
        ('{"a": NaN}', {"arguments": '{"a": NaN}'}, True),
        ('{"a": 1e999}', {"arguments": '{"a": 1e999}'}, True),
        ("[" * 100_000, {"arguments": "[" * 100_000}, True),
        ('{"a":' * 200 + "1" + "}" * 200, {"arguments": '{"a":' * 200 + "1" + "}" * 200}, True),
        ('{"a": "\\ud800"}', {"a": "\ufffd"}, False),
    ],
)
def test_arguments_that_are_no_object_are_kept_as_text(
    arguments: str, given: dict[str, Any], odd: bool
) -> None:
    script = imported(user("go"), says(None, ("x", "find", arguments)), result("x", "r"))
    assert script.turns[0].steps[0].calls[0].input == given
    remark = "messages[1].tool_calls[0]: the arguments of a tool call are no JSON object; their text is kept as 'arguments'"
    assert (remark in script.warnings) is odd


def test_the_older_form_with_functions() -> None:
    script = imported(
        user("go"),
        {"role": "assistant", "content": None, "function_call": {"name": "find", "arguments": '{"q": 1}'}},
        {"role": "function", "name": "find", "content": "found"},
        says("Done."),
        functions=[{"name": "find", "parameters": {"type": "object"}}],
    )
    assert script.turns[0].steps == (Step((ToolCall("call-1", "find", {"q": 1}, "found"),)),)
    assert script.tools == ({"name": "find", "input_schema": {"type": "object"}},)
    assert script.warnings == ()


def test_definitions_are_built_from_what_the_calls_passed() -> None:
    script = imported(
        user("go"),
        says(
            None,
            ("1", "f", '{"a": 1, "b": "x", "c": [1, 2.5], "d": {"e": true}}'),
            ("2", "f", '{"a": null, "d": {}}'),
        ),
        result("1", ""),
        result("2", ""),
    )
    # a is in both calls with two types; b, c in one only; d in both, its e in one of the two objects.
    assert script.tools[0]["input_schema"] == {
        "type": "object",
        "properties": {
            "a": {"type": ["integer", "null"]},
            "b": {"type": "string"},
            "c": {"type": "array", "items": {"type": "number"}},
            "d": {"type": "object", "properties": {"e": {"type": "boolean"}}},
        },
        "required": ["a", "d"],
    }


def test_names_that_the_api_refuses_are_changed_everywhere() -> None:
    script = imported(
        user("go"),
        says(None, ("x", "my.find", "{}")),
        result("x", "r"),
        tools=[{"type": "function", "function": {"name": "my.find"}}],
    )
    assert [tool["name"] for tool in script.tools] == ["my_find"]
    assert script.turns[0].steps[0].calls[0].name == "my_find"
    assert script.warnings == (
        "messages[1]: the tool 'my.find' is renamed 'my_find'; the API would refuse the name",
    )


def test_content_parts() -> None:
    script = imported(
        user(
            [
                {"type": "text", "text": "See"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {"type": "image_url", "image_url": {"url": "file:///a.png"}},
                {"type": "input_audio", "input_audio": {}},
            ]
        )
    )
    assert script.turns[0].content == (
        {"type": "text", "text": "See"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "text", "text": "[image_url]"},
        {"type": "text", "text": "[input_audio]"},
    )
    assert script.warnings == (
        "messages[0].content[3]: a content part of type image_url is replaced by a note",
        "messages[0].content[4]: a content part of type input_audio is replaced by a note",
    )


def test_messages_without_content() -> None:
    script = imported(user("  "), says(""), says("hello"), user(None))
    assert [turn.text for turn in script.turns] == ["(empty message)", "(empty message)"]
    assert script.turns[0].reply == "hello"
    assert script.warnings == (
        "messages[1]: an empty assistant message is left out",
        "messages[0]: an empty user message reads '(empty message)' (2 times in all)",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"messages": []}', "c.json: there is no message of a user or an assistant in it"),
        ("[]", "c.json: the list is empty; there is no conversation in it"),
        ("[[]]", "c.json: [0]: there is no message of a user or an assistant in it"),
        ('{"messages": [{"role": "moderator"}]}', "c.json: messages[0]: the role is 'moderator'; known are system, developer, user, assistant, tool, function"),
        ('{"messages": [7]}', "c.json: messages[0]: a message must be an object with 'role' and 'content'"),
        ('{"messages": [{"role": "user", "content": 7}]}', "c.json: messages[0].content: must be text or a list of content parts"),
        ('{"messages": [{"role": "user", "content": [7]}]}', "c.json: messages[0].content[0]: a content part must be an object with 'type'"),
        ('{"messages": [{"role": "assistant", "tool_calls": [{}]}]}', "c.json: messages[0].tool_calls[0]: a tool call must be an object with 'function', and that one with 'name'"),
        ('{"messages": [{"role": "assistant", "tool_calls": {"a": 1}}]}', "c.json: messages[0].tool_calls: must be a list of tool calls"),
        ('{"tools": 1, "messages": [{"role": "user", "content": "a"}]}', "c.json: tools: must be a list of tool definitions"),
        ("7", "c.json: must be a conversation: an object with a list 'messages' or 'traj', or a list of messages"),
        ('{"traj": [{"role": "user", "content": "a"}]}\n{"traj": 1}\n', "c.json:2: must be a conversation: an object with a list 'messages' or 'traj', or a list of messages"),
    ],
)  # fmt: skip
def test_what_is_no_conversation_names_its_place(content: str, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        import_text(content, "c.json", "openai")
    assert str(caught.value) == message


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"^there is no conversation format 'openia'; did you mean 'openai'\?$"
    ):
        import_text("[]", "c.json", "openia")


@pytest.mark.skipif(not TAU_BENCH.exists(), reason="the shared conversations are not beside this clone")
def test_two_hundred_real_runs_import() -> None:
    scripts = import_file(TAU_BENCH)
    assert len(scripts) == 200
    source = json.loads(TAU_BENCH.read_text())
    for script, run in zip(scripts, source, strict=True):
        calls = [call for turn in script.turns for step in turn.steps for call in step.calls]
        said = [message for message in run["traj"] if message["role"] == "user"]
        assert script.system == run["traj"][0]["content"]
        assert [turn.text for turn in script.turns] == [message["content"] for message in said]
        assert [call.result for call in calls] == [m["content"] for m in run["traj"] if m["role"] == "tool"]
        assert not any(call.is_error for call in calls)
        assert all("tool definitions are built" in warning for warning in script.warnings)
    assert scripts[0].id == "gpt-4o-airline-1"
    assert parse_script(to_yaml(scripts[7])).turns == scripts[7].turns
