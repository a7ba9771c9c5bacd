"""No request, however broken, is answered with anything but a message or the API's own refusal."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.simulator.engine import Engine, SimulatorConfig
from memdash.simulator.routes import Wire

HEADERS = {
    "x-api-key": "any-key",
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "thinking-binding-controls-2026-08-01,cache-diagnosis-2026-04-07,"
    "context-management-2025-06-27,compact-2026-01-12,compact-2026-09-04",
}
MARK = {"type": "ephemeral", "ttl": "5m"}
# the smallest PNG there is: one pixel
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
WIRE = Wire(Engine(SimulatorConfig(seed=1, token_counter="estimate")), seed=1)


def ask(body: bytes, path: str = "/v1/messages") -> tuple[int, dict[str, Any]]:
    answer = WIRE.answer("POST", path, HEADERS, body, 0.0)
    data: dict[str, Any] = json.loads(answer.encode())
    return answer.status, data


def rich_request() -> dict[str, Any]:
    """Return a request that uses most of what the API takes, with a thinking block this simulator signed."""
    body: dict[str, Any] = {
        "model": "claude-opus-5-5",
        "max_tokens": 1000,
        "system": [{"type": "text", "text": "You are a travel agent.", "cache_control": MARK}],
        "tools": [
            {
                "name": "look_up",
                "description": "Look a word up.",
                "input_schema": {"type": "object", "properties": {"word": {"type": "string"}}},
                "cache_control": MARK,
            }
        ],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": False},
        "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
        "output_config": {"effort": "low"},
        "metadata": {"user_id": "u"},
        "stop_sequences": ["STOP"],
        "diagnostics": {"previous_message_id": None},
        "cache_control": MARK,
        "messages": [{"role": "user", "content": "My name is Ada."}],
    }
    status, reply = ask(json.dumps(body).encode())
    assert status == 200, reply
    body["messages"] += [
        {"role": "assistant", "content": reply["content"]},
        {"role": "user", "content": "Look up spring."},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "One moment."},
                {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"word": "spring"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{"type": "text", "text": "a season"}],
                    "is_error": False,
                },
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "A page."},
                },
                {"type": "text", "text": "What is my name?", "cache_control": MARK},
            ],
        },
    ]
    return body


RICH = rich_request()


def edited_request() -> dict[str, Any]:
    """Return the request with every edit of its context, behind a compaction past a threshold."""
    body = copy.deepcopy(RICH)
    block = {"type": "compaction", "content": "Ada wants to travel.", "cache_control": MARK}
    failed = {"type": "compaction", "content": None}
    body["messages"][2:2] = [{"role": "assistant", "content": [block, failed]}]
    del body["system"]
    trigger = {"type": "input_tokens", "value": 50_000}
    uses = {"type": "tool_uses", "value": 0}
    body["context_management"] = {
        "edits": [
            {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}},
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "tool_uses", "value": 1},
                "keep": uses,
                "clear_at_least": {"type": "input_tokens", "value": 0},
                "exclude_tools": ["other"],
                "clear_tool_inputs": ["look_up"],
            },
            {
                "type": "compact_20260112",
                "trigger": trigger,
                "pause_after_compaction": False,
                "instructions": "Names only.",
            },
        ]
    }
    return body


def compaction_request() -> dict[str, Any]:
    """Return a request for a compaction on demand that is to replace an earlier one."""
    body = copy.deepcopy(RICH)
    for name in ("stop_sequences", "system"):
        del body[name]
    body["compaction"] = {"type": "summarize", "instructions": "Names only."}
    status, reply = ask(json.dumps(body).encode())
    assert status == 200, reply
    body["messages"] = [{"role": "assistant", "content": reply["content"]}, *body["messages"][2:]]
    return body


EDITED, COMPACTED = edited_request(), compaction_request()
COUNTED = {
    key: value
    for key, value in RICH.items()
    if key not in {"max_tokens", "stop_sequences", "metadata", "diagnostics"}
}

WORDS = [
    "text",
    "thinking",
    "tool_use",
    "tool_result",
    "image",
    "user",
    "assistant",
    "system",
    "enabled",
    "ephemeral",
    "1h",
]
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 10**12),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12),
        st.sampled_from(WORDS),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*WORDS, "type", "content"]), inner, max_size=3),
    ),
    max_leaves=6,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) inside a JSON value."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    found = [(value, key) for key in keys]
    return found + [place for container, key in found for place in places(container[key])]


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(["rich", "edited", "compacted", "counted"]))
def test_a_request_broken_anywhere_is_answered_or_refused(data: st.DataObject, kind: str) -> None:
    body = copy.deepcopy({"rich": RICH, "edited": EDITED, "compacted": COMPACTED, "counted": COUNTED}[kind])
    path = "/v1/messages/count_tokens" if kind == "counted" else "/v1/messages"
    for _ in range(data.draw(st.integers(1, 3))):
        everywhere = places(body)
        if not everywhere:
            break
        container, key = everywhere[data.draw(st.integers(0, len(everywhere) - 1))]
        match data.draw(st.sampled_from(["replace", "remove", "repeat", "add"])):
            case "replace":
                container[key] = data.draw(VALUES)
            case "remove":
                del container[key]
            case "repeat" if isinstance(container, list):
                container.insert(key, copy.deepcopy(container[key]))
            case _ if isinstance(container, dict):
                container[data.draw(st.text(max_size=8))] = data.draw(VALUES)
    status, answer = ask(json.dumps(body).encode(), path)
    assert status in {200, 400, 404}, answer
    if status != 200:
        assert (answer["type"], bool(answer["error"]["message"])) == ("error", True)


@given(
    st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=60).map(lambda tail: json.dumps(RICH).encode()[:-1] + tail),
    )
)
def test_any_bytes_are_answered_or_refused(body: bytes) -> None:
    status, answer = ask(body)
    assert (status, answer["type"]) in {(200, "message"), (400, "error")}


def test_the_unbroken_request_is_answered() -> None:
    """Without this the test above could pass on refusals alone."""
    for body in (RICH, EDITED, COMPACTED):
        assert ask(json.dumps(body).encode())[0] == 200
    assert ask(json.dumps(COUNTED).encode(), "/v1/messages/count_tokens")[0] == 200
