from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.errors import InputError
from memdash.integrity import as_json, check_log
from memdash.integrity import log as log_module
from memdash.integrity.log import read_log
from tests.integrity.logs import Chat, body, refusal, user, write

COUNT = {"type": "integer", "minimum": 0}
MAYBE_COUNT = {"type": ["integer", "null"], "minimum": 0}
MAYBE_NUMBER = {"type": ["number", "null"]}
MAYBE_TEXT = {"type": ["string", "null"]}
SUMS = {
    "requests": COUNT,
    "edits": COUNT,
    "tokens_lost": MAYBE_COUNT,
    "cost_lost_usd": MAYBE_NUMBER,
    "thinking_lost": MAYBE_COUNT,
    "errors": COUNT,
}


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def listed(one: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": one}


EDIT = closed(
    {
        "line": COUNT,
        "previous_line": COUNT,
        "part": {"enum": ["tools", "system", "messages", "answer"]},
        "change": {"enum": ["changed", "removed", "inserted"]},
        "blocks": {"type": "integer", "minimum": 1},
        "path_before": MAYBE_TEXT,
        "path_after": MAYBE_TEXT,
        "before": MAYBE_TEXT,
        "after": MAYBE_TEXT,
        "tokens_lost": MAYBE_COUNT,
        "cost_lost_usd": MAYBE_NUMBER,
        "thinking_lost": MAYBE_COUNT,
        "thinking_path": MAYBE_TEXT,
        "thinking_fate": {"enum": [None, "refused", "dropped", "refused_for_new_accounts"]},
    }
)
CONVERSATION = closed(
    {
        "conversation": {"type": "integer", "minimum": 1},
        "model": {"type": "string"},
        "lines": listed(COUNT),
        **SUMS,
        "edited": listed(EDIT),
        "failed": listed(closed({"line": COUNT, "message": {"type": "string"}})),
    }
)
SCHEMA = closed(
    {
        "file": {"type": "string"},
        **SUMS,
        "conversations": COUNT,
        "by_conversation": listed(CONVERSATION),
    }
)


def test_the_json_is_as_documented(tmp_path: Path) -> None:
    ada, bob = Chat("ada", thinks=True), Chat("bob")
    lines = [ada.turn(), bob.turn(), ada.turn()]
    ada.history[0] = user("ada asked question 1")
    lines += [ada.turn(), {**bob.turn(), "response": refusal("no")}]
    path = write(tmp_path / "log.jsonl", lines)
    printed = json.loads(json.dumps(as_json(path, check_log(path))))
    jsonschema.validate(printed, SCHEMA)
    assert (printed["requests"], printed["conversations"], printed["edits"]) == (5, 2, 1)
    assert (printed["errors"], printed["thinking_lost"]) == (1, 2)
    first, second = printed["by_conversation"]
    assert (first["lines"], second["lines"]) == ([1, 3, 4], [2, 5])
    assert second["failed"] == [{"line": 5, "message": "no"}]


@pytest.mark.parametrize("form", ["body", "request", "bare", "wrapped", "nested"])
def test_every_form_of_a_line_is_read(form: str, tmp_path: Path) -> None:
    chat = Chat("ada")
    lines = [chat.turn(), chat.turn()]
    match form:
        case "request":
            lines = [{"request": one["body"], "response": one["response"]} for one in lines]
        case "bare":
            lines = [one["body"] for one in lines]
        case "wrapped":
            lines = [{**one, "response": {"status": 200, "body": one["response"]}} for one in lines]
        case "nested":
            lines = [
                {"request": {"url": "…", "body": one["body"]}, "response": one["response"]} for one in lines
            ]
    checked = check_log(write(tmp_path / "log.jsonl", ["", *lines, "  "]))
    assert [one.lines for one in checked.conversations] == [[2, 3]]


@pytest.mark.parametrize(
    "response",
    [
        refusal("no"),
        {"status": 400, "body": refusal("no")},
        {"error": "no"},
        {"error": {"message": "no"}},
    ],
)
def test_every_form_of_a_refusal_is_read(response: Any, tmp_path: Path) -> None:
    (call,) = read_log(write(tmp_path / "log.jsonl", [{"body": body([user("Hi")]), "response": response}]))
    assert call.error == "no"


def test_a_status_alone_is_a_refusal(tmp_path: Path) -> None:
    line = {"body": body([user("Hi")]), "response": {"status_code": 529}}
    (call,) = read_log(write(tmp_path / "log.jsonl", [line]))
    assert call.error == "HTTP status 529"


def test_a_request_refused_for_its_shape_is_an_error_and_no_damage(tmp_path: Path) -> None:
    lines = [
        {"body": {"model": "claude-opus-5-5", "messages": []}, "response": refusal("at least one message")}
    ]
    checked = check_log(write(tmp_path / "log.jsonl", [*lines, Chat("ada").turn()]))
    assert (checked.totals.requests, checked.totals.errors, checked.totals.edits) == (2, 1, 0)


def test_token_counts_are_passed_over(tmp_path: Path) -> None:
    line = {"body": body([user("Hi")]), "response": {"input_tokens": 9}}
    assert list(read_log(write(tmp_path / "log.jsonl", [line]))) == []


GOOD = Chat("ada").turn()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is not JSON: Expecting property name"),
        ('{"a": NaN}', "is not JSON: NaN is no JSON number"),
        ("[" * 100_000 + "]" * 100_000, "is not JSON: lists and objects are nested"),
        ("[]", "holds a list, not an object"),
        ("7", "holds a number"),
        ('{"provider": "openai"}', "holds no request"),
        ({"body": {"model": "m", "messages": "hello"}}, "no list of `messages`"),
        ({"body": {"messages": [user("Hi")]}}, "names no `model`"),
        ({"body": {"model": "m", "messages": [{"role": "tool", "content": "x"}]}}, "messages.0: expected"),
        ({"body": {"model": "m", "messages": [{"role": "user", "content": 7}]}}, "messages.0.content: expected"),
        ({"body": {"model": "m", "messages": [{"role": "user", "content": ["x"]}]}}, "messages.0.content: expected"),
        ({"body": {**body([user("Hi")]), "tools": {}}}, "tools: expected a list of objects"),
        ({"body": {**body([user("Hi")]), "system": 7}}, "system: expected"),
        ({"body": body([user("Hi")]), "response": "data: {}"}, "`response` is a text"),
        ({"body": body([user("Hi")]), "response": {"content": "Hello"}}, "response.content: expected"),
    ],
)  # fmt: skip
def test_a_damaged_line_is_named(line: Any, problem: str, tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", [GOOD, line, GOOD])
    with pytest.raises(InputError) as caught:
        check_log(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert problem in str(caught.value)


def test_a_line_that_ends_in_the_middle_of_a_character_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b'\n{"body": "\xc3\n')
    with pytest.raises(InputError, match=r"log\.jsonl:2: is not UTF-8"):
        check_log(path)


def test_a_cut_off_last_line_says_so(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD)[:-20], "utf-8")
    with pytest.raises(InputError, match="perhaps it is still being written"):
        check_log(path)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "MAX_BYTES", 100)
    with pytest.raises(InputError, match="can be checked: split it"):
        check_log(write(tmp_path / "log.jsonl", [GOOD]))


def test_a_line_that_is_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "MAX_LINE_BYTES", 100)
    with pytest.raises(InputError, match=r"log\.jsonl:1: the line is longer"):
        check_log(write(tmp_path / "log.jsonl", [GOOD]))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.jsonl: cannot be read: No such file"):
        check_log(tmp_path / "missing.jsonl")


def test_a_log_without_a_request_is_refused_since_no_assertion_on_it_could_fail(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no request; did the client under test talk to the server"):
        check_log(write(tmp_path / "log.jsonl", []))


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda one: st.lists(one, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["body", "request", "response", "messages", "role", "content", "type", "text", "model", "usage",
             "input", "signature", "system", "tools", "thinking", "error", "status", "iterations", "cache_control"]
        ),
        one,
        max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip
_blocks = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["text", "thinking", "tool_use", "tool_result", "compaction", "redacted_thinking"]
        )
    },
    optional={
        "text": _json,
        "content": _json,
        "signature": _json,
        "input": _json,
        "caller": _json,
        "id": _json,
    },
)
_contents = st.text(max_size=5) | st.lists(_blocks, max_size=3)
_messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system"]), "content": _contents}
)
_bodies = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["claude-opus-5-5", "x"]),
        "messages": st.lists(_messages, min_size=1, max_size=4),
    },
    optional={"system": _contents, "tools": st.lists(_blocks, max_size=2), "thinking": _json},
)
_lines = st.fixed_dictionaries(
    {"body": _bodies},
    optional={
        "response": st.fixed_dictionaries(
            {}, optional={"content": st.lists(_blocks, max_size=2), "usage": _json}
        )
    },
)


@settings(max_examples=100)
@given(st.lists(_json | _lines, max_size=6))
def test_whatever_is_in_a_log_it_is_checked_or_refused(
    tmp_path_factory: pytest.TempPathFactory, lines: Any
) -> None:
    path = write(tmp_path_factory.mktemp("log") / "log.jsonl", [json.dumps(one) for one in lines])
    try:
        checked = check_log(path)
    except InputError:
        return
    jsonschema.validate(json.loads(json.dumps(as_json(path, checked))), SCHEMA)
