"""Anthropic Messages requests and logs of them as scripts."""

# ruff: noqa: E501 - tables of inputs and their messages, one case a line

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.errors import ScriptError
from memdash.scripts import Script, Step, ToolCall, Turn, from_json, import_text, to_json

TOOL = {"name": "find", "input_schema": {"type": "object"}}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def says(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def call(id: str, **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "find", "input": input}


def result(id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def answer(*content: dict[str, Any] | str) -> dict[str, Any]:
    """A response of the API."""
    blocks = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    return {"id": "msg_1", "type": "message", "role": "assistant", "content": blocks, "usage": {}}


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values)


def imported(content: str) -> list[Script]:
    return import_text(content, "log.jsonl")


def text(words: str) -> tuple[dict[str, str], ...]:
    return ({"type": "text", "text": words},)


def test_a_request_body() -> None:
    marked = {"cache_control": {"type": "ephemeral"}}
    body = {
        "model": "claude-opus-5-5",
        "max_tokens": 300,
        "output_config": {"effort": "low"},
        "system": [{"type": "text", "text": "Be"}, {"type": "text", "text": "brief.", **marked}],
        "tools": [{**TOOL, **marked}, {"type": "web_search_20250305", "name": "web_search"}],
        "messages": [
            user("Find it."),
            says(
                [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "text", "text": "Looking."},
                    call("a", q=1),
                    call("b"),
                ]
            ),
            user([result("a", [{"type": "text", "text": "A"}, {"type": "image", "source": {}}]), result("b", "no", is_error=True)]),
            says([{"type": "text", "text": "Done."}]),
            user([{"type": "text", "text": "Thanks.", **marked}]),
        ],
    }  # fmt: skip
    [script] = imported(json.dumps(body))
    assert script == Script(
        id="log",
        title="Find it.",
        description="Imported from log.jsonl (Anthropic Messages).",
        system="Be\nbrief.",
        tools=(TOOL,),
        max_tokens=300,
        effort="low",
        turns=(
            Turn(
                1,
                text("Find it."),
                steps=(
                    Step(
                        (
                            ToolCall("a", "find", {"q": 1}, "A\n[image]"),
                            ToolCall("b", "find", {}, "no", is_error=True),
                        ),
                        "Looking.",
                    ),
                ),
                reply="Done.",
            ),
            Turn(2, text("Thanks.")),
        ),
        warnings=script.warnings,
    )
    assert script.warnings == (
        "messages[1].content[0]: thinking is left out; its signature belongs to the conversation it came from",
        "messages[2].content[0].content[1]: a part of type image in a place for text is replaced by a note",
        "messages[0]: the tool 'web_search' of type 'web_search_20250305' is left out; it is defined at the provider",
    )


def test_a_log_of_one_growing_conversation_is_one_script_with_its_last_answer() -> None:
    thinking = {"type": "thinking", "thinking": "", "signature": "s"}
    log = lines(
        {"request": {"system": "s", "messages": [user("one")]}, "response": answer(thinking, "1")},
        {
            "body": {"system": "s", "messages": [user("one"), says("1"), user("two")]},
            "response": answer(call("a")),
        },
        {
            "request": {
                "system": "s",
                "messages": [
                    user("one"),
                    says("1"),
                    user("two"),
                    says([call("a")]),
                    user([result("a", "A")]),
                ],
            },
            "response": {"status_code": 200, "body": answer("2")},
        },
    )
    [script] = imported(log)
    assert script.turns == (
        Turn(1, text("one"), reply="1"),
        Turn(2, text("two"), steps=(Step((ToolCall("a", "find", {}, "A"),)),), reply="2"),
    )


def test_a_change_of_the_fixed_part_in_a_log_is_a_change_of_its_turn() -> None:
    log = lines(
        {"request": {"system": "old", "tools": [TOOL], "messages": [user("one")]}, "response": answer("1")},
        {
            "request": {"system": "new", "messages": [user("one"), says("1"), user("two")]},
            "response": answer("2"),
        },
        {
            "request": {
                "system": "new",
                "messages": [user("one"), says("1"), user("two"), says("2"), user("three")],
            },
            "response": answer("3"),
        },
    )
    [script] = imported(log)
    assert (script.system, script.tools) == ("old", (TOOL,))
    assert [turn.system for turn in script.turns] == [None, "new", None]
    assert [turn.tools for turn in script.turns] == [None, (), None]
    assert [turn.reply for turn in script.turns] == ["1", "2", "3"]


def test_conversations_that_run_side_by_side_stay_apart() -> None:
    log = lines(
        {"request": {"messages": [user("hello")]}, "response": answer("A")},
        {"request": {"messages": [user("hello")]}, "response": answer("B")},
        {"request": {"messages": [user("hello"), says("B"), user("b")]}, "response": answer("b!")},
        {"request": {"messages": [user("hello"), says("A"), user("a")]}, "response": answer("a!")},
    )
    scripts = imported(log)
    assert [[turn.reply for turn in script.turns] for script in scripts] == [["B", "b!"], ["A", "a!"]]
    assert [script.id for script in scripts] == ["log-1", "log-2"]


def test_a_retry_after_an_error_is_the_same_conversation() -> None:
    log = lines(
        {
            "request": {"messages": [user("hello")]},
            "response": {"type": "error", "error": {"type": "overloaded_error"}},
        },
        {"request": {"messages": [user("hello")]}, "response": answer("hi")},
    )
    [script] = imported(log)
    assert script.turns == (Turn(1, text("hello"), reply="hi"),)


def test_an_edited_history_is_another_conversation() -> None:
    log = lines(
        {"request": {"messages": [user("one")]}, "response": answer("1")},
        {"request": {"messages": [user("one"), says("1"), user("two")]}, "response": answer("2")},
        {"request": {"messages": [user("two"), says("2"), user("three")]}, "response": answer("3")},
    )
    assert [[turn.text for turn in script.turns] for script in imported(log)] == [
        ["one", "two"],
        ["two", "three"],
    ]


def test_text_beside_tool_results_is_the_next_turn() -> None:
    [script] = imported(
        json.dumps(
            {
                "messages": [
                    user("go"),
                    says([call("a")]),
                    user([result("a", "A"), {"type": "text", "text": "and?"}]),
                ]
            }
        )
    )
    assert script.turns == (
        Turn(1, text("go"), steps=(Step((ToolCall("a", "find", {}, "A"),)),)),
        Turn(2, text("and?")),
    )


def test_images_and_documents_of_the_user_are_kept() -> None:
    image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    [script] = imported(
        json.dumps(
            {
                "system": "",
                "messages": [user([image, {"type": "image", "source": {"type": "file", "file_id": "f"}}])],
            }
        )
    )
    assert script.turns[0].content == (image, {"type": "text", "text": "[image]"})
    assert script.title == "[image]"
    assert script.warnings == (
        "messages[0].content[1]: a block of type image without its data is replaced by a note",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"system": "s"}', "l.json: 'messages' is missing or no list; this is no request body of the Messages API"),
        ('{"request": {"messages": 7}, "response": {}}', "l.json: request: 'messages' is missing or no list; this is no request body of the Messages API"),
        ('{"system": "s", "messages": []}', "l.json: there is no message of a user or an assistant in it"),
        ('{"system": 7, "messages": []}', "l.json: system: must be text or a list of content blocks"),
        ('{"system": "s", "messages": [{"role": "tool"}]}', "l.json: messages[0]: the role is 'tool'; the Messages API has user, assistant and system"),
        ('{"system": "s", "messages": [{"role": "user", "content": 7}]}', "l.json: messages[0]: 'content' must be text or a list of content blocks"),
        ('{"system": "s", "messages": [{"role": "user", "content": [{"type": "text"}]}]}', "l.json: messages[0].content[0]: 'text' of a block of type text must be text"),
        ('{"system": "s", "messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": "x"}]}]}', "l.json: messages[0].content[0]: 'input' of a tool call must be an object"),
        ('{"system": "s", "messages": []}\n{"system": "s"}', "l.json:2: 'messages' is missing or no list; this is no request body of the Messages API"),
        ("[7]", "l.json: [0]: must be an object with 'messages', or with 'request' and 'response'"),
    ],
)  # fmt: skip
def test_what_is_no_request_names_its_place(content: str, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        import_text(content, "l.json", "anthropic")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "x.json: the file is empty"),
        ("hello", "x.json:1: not JSON: Expecting value (column 1)"),
        ('{"a": 1}\n{"b": \n', "x.json:2: this line is not JSON: Expecting value (column 7)"),
        ('{"a": NaN}', "x.json: not JSON: NaN is no JSON number"),
        ('{"a": 1e999}', "x.json: not JSON: the number 1e999 is too large"),
        ("[" * 100_000, "x.json: not JSON: lists and objects are nested more than 100 deep"),
        ("[" * 101 + "]" * 101, "x.json: not JSON: lists and objects are nested more than 100 deep"),
        ("7" * 5000, "x.json: not JSON: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits"),
        ("7", "x.json: no conversation in a known format was found in it; known are Anthropic Messages (anthropic), OpenAI chat (openai)"),
        ('{"conversations": [{"from": "human", "value": "hi"}]}', "x.json: no conversation in a known format was found in it; known are Anthropic Messages (anthropic), OpenAI chat (openai)"),
    ],
)  # fmt: skip
def test_what_is_no_conversation_at_all(content: str, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        import_text(content, "x.json")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ({"system": "s", "messages": [user("hi")]}, "Anthropic Messages"),
        ({"model": "claude-opus-5-5", "messages": [user("hi")]}, "Anthropic Messages"),
        ({"messages": [user("hi"), says([call("a")]), user([result("a", "A")])]}, "Anthropic Messages"),
        ({"tools": [TOOL], "messages": [user("hi")]}, "Anthropic Messages"),
        ({"request": {"messages": [user("hi")]}, "response": answer("ho")}, "Anthropic Messages"),
        ([user("hi"), says([call("a")])], "Anthropic Messages"),
        ({"messages": [user("hi")]}, "OpenAI chat"),
        ({"messages": [{"role": "system", "content": "s"}, user("hi")]}, "OpenAI chat"),
        ([user("hi"), {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]}], "OpenAI chat"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}], "messages": [user("hi")]}, "OpenAI chat"),
    ],
)  # fmt: skip
def test_formats_are_told_apart_by_looking(content: Any, format: str) -> None:
    [script] = import_text(json.dumps(content), "x.json")
    assert script.description == f"Imported from x.json ({format})."


KEYS = ["role", "content", "type", "text", "id", "name", "input", "tool_use_id", "tool_calls", "function", "arguments",
        "tool_call_id", "messages", "system", "tools", "request", "response", "source", "traj"]  # fmt: skip
WORDS = [
    "user",
    "assistant",
    "system",
    "tool",
    "text",
    "tool_use",
    "tool_result",
    "image",
    "thinking",
    "",
    "a",
    "{}",
    "\ud800",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result", "thinking"])},
    optional={
        "text": st.sampled_from(["", "hi", "\ud800"]),
        "id": st.sampled_from(["a", "b", ""]),
        "tool_use_id": st.sampled_from(["a", "b", ""]),
        "name": st.sampled_from(["f", "g.h", ""]),
        "input": st.just({}) | VALUES,
        "content": st.none() | st.just("r") | VALUES,
    },
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system", "tool"]), "content": st.sampled_from(["", "x"]) | st.lists(BLOCKS, max_size=3)},
        optional={"tool_calls": VALUES, "tool_call_id": st.sampled_from(["a", "b"])},
    ),
    max_size=6,
)  # fmt: skip


@settings(max_examples=100)
@given(
    st.one_of(VALUES, MESSAGES, st.fixed_dictionaries({"messages": MESSAGES, "system": st.just("s")})),
    st.sampled_from([None, "anthropic", "openai"]),
)
def test_any_json_is_valid_scripts_or_one_clear_error(value: Any, format: str | None) -> None:
    scripts, message = [], "x.json"
    try:
        scripts = import_text(json.dumps(value), "x.json", format)
    except ScriptError as error:
        message = str(error)
    assert message.startswith("x.json")
    assert "\n" not in message
    for script in scripts:
        assert from_json(to_json(script)) == script  # which validates it
