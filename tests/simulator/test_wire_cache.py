"""Prompt cache and thinking binding as any client sees them: random conversations over raw HTTP.

Every example uses a key of its own, so that it starts with an empty cache (Messages API: caches are per workspace).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

MODEL = "claude-opus-5-5"
BINDING_BETA = "thinking-binding-controls-2026-08-01"
MARK = {"type": "ephemeral"}
# 2,150 characters: over the model's minimum of 512 tokens in either tokenizer, so that the first mark already writes
FIXED = "You are a travel agent. Answer briefly. " + "Prefer trains to planes. Name prices in euros. " * 45

_KEYS = count()


class Api:
    """One client of the simulator, under a key that nobody used before."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http
        self._headers = {"x-api-key": f"key-{next(_KEYS)}", "anthropic-version": "2026-10-21"}

    def post(self, path: str, body: dict[str, Any], betas: str = "") -> httpx2.Response:
        headers = {**self._headers, "anthropic-beta": betas}
        return self._http.post(path, content=json.dumps(body).encode(), headers=headers)

    def ask(self, body: dict[str, Any], betas: str = "") -> dict[str, Any]:
        answer = self.post("/v1/messages", body, betas)
        assert answer.status_code == 200, answer.text
        message: dict[str, Any] = answer.json()
        return message

    def count(self, body: dict[str, Any]) -> int:
        answer = self.post("/v1/messages/count_tokens", {k: v for k, v in body.items() if k != "max_tokens"})
        assert answer.status_code == 200, answer.text
        tokens: int = answer.json()["input_tokens"]
        return tokens


@pytest.fixture(scope="module")
def http(simulator_server: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=simulator_server, timeout=60) as client:
        yield client


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).map(
    lambda text: f"Note {text} end."
)
TURNS = st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=2, max_size=4)
fast = settings(max_examples=60, deadline=None)


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def start() -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 1000, "system": [text(FIXED)], "messages": []}


def converse(api: Api, turns: list[list[str]], **more: Any) -> dict[str, Any]:
    """Hold a conversation, blocks sent back as received, and return the request of its last turn."""
    body = {**start(), **more}
    for number, parts in enumerate(turns):
        body["messages"].append({"role": "user", "content": [text(part) for part in parts]})
        if number < len(turns) - 1:
            body["messages"].append({"role": "assistant", "content": api.ask(body)["content"]})
    return body


def blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every block in the order of the prefix."""
    return [*body["system"], *(block for message in body["messages"] for block in message["content"])]


def total(usage: dict[str, Any]) -> int:
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(usage[part] for part in parts)


def editable(body: dict[str, Any]) -> list[int]:
    """Return where the text blocks are."""
    return [i for i, block in enumerate(blocks(body)) if block["type"] == "text"]


def with_one_character_changed(body: dict[str, Any], at: int) -> dict[str, Any]:
    changed = copy.deepcopy(body)
    block = blocks(changed)[at]
    block["text"] = ("X" if block["text"][0] != "X" else "Y") + block["text"][1:]
    return changed


def before(body: dict[str, Any], at: int) -> dict[str, Any]:
    """Return the request cut before block ``at``, with a word more where the API wants the user to speak last."""
    cut = copy.deepcopy(body)
    left = at - len(cut["system"])
    messages = []
    for message in cut["messages"]:
        if left <= 0:
            break
        messages.append({**message, "content": message["content"][:left]})
        left -= len(message["content"])
    if messages[-1]["role"] == "assistant":
        messages.append({"role": "user", "content": "?"})
    return {**cut, "messages": messages}


@fast
@given(TURNS, st.sets(st.integers(0, 11), max_size=3), st.booleans())
def test_input_writes_and_reads_add_up_to_the_count(
    http: httpx2.Client, turns: list[list[str]], marked: set[int], automatic: bool
) -> None:
    api = Api(http)
    body = converse(api, turns, **({"cache_control": MARK} if automatic else {}))
    for at in marked:
        if at in editable(body):
            blocks(body)[at]["cache_control"] = MARK
    counted = api.count(body)
    first, second = api.ask(body)["usage"], api.ask(body)["usage"]
    assert total(first) == counted
    assert total(second) == counted
    # what was marked is in the cache now
    assert second["cache_creation_input_tokens"] == 0
    assert (
        second["cache_read_input_tokens"]
        == first["cache_read_input_tokens"] + first["cache_creation_input_tokens"]
    )


@fast
@given(TURNS)
def test_in_an_append_only_conversation_each_turn_reads_what_the_last_one_read_and_wrote(
    http: httpx2.Client, turns: list[list[str]]
) -> None:
    api = Api(http)
    body = {**start(), "cache_control": MARK}
    cached = 0
    for parts in turns:
        body["messages"].append({"role": "user", "content": [text(part) for part in parts]})
        reply = api.ask(body)
        assert reply["usage"]["cache_read_input_tokens"] == cached
        cached += reply["usage"]["cache_creation_input_tokens"]
        body["messages"].append({"role": "assistant", "content": reply["content"]})
    assert cached > 512


@fast
@given(TURNS, st.data())
def test_one_character_changed_limits_the_read_to_what_stands_before_it(
    http: httpx2.Client, turns: list[list[str]], data: st.DataObject
) -> None:
    api = Api(http)
    body = converse(api, turns, cache_control=MARK)
    body["system"][0]["cache_control"] = MARK
    api.ask(body)
    whole = api.ask(body)["usage"]["cache_read_input_tokens"]

    at = data.draw(st.sampled_from(editable(body)), label="changed block")
    changed = with_one_character_changed(body, at)
    read = api.ask(changed)["usage"]["cache_read_input_tokens"]
    assert read < whole
    if at == 0:
        assert read == 0
    else:
        fixed_part = api.ask(
            {**start(), "system": body["system"], "messages": [{"role": "user", "content": "?"}]}
        )
        assert fixed_part["usage"]["cache_read_input_tokens"] <= read
        if at > 1:
            assert read <= api.count(before(body, at))


@fast
@given(TURNS, st.data())
def test_one_character_changed_makes_later_signed_thinking_a_400_under_the_check(
    http: httpx2.Client, turns: list[list[str]], data: st.DataObject
) -> None:
    api = Api(http)
    binding = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}
    body = converse(api, turns)
    body["thinking"] = binding
    assert api.ask(body, BINDING_BETA)["input_transformations"] == []

    thinking = [i for i, block in enumerate(blocks(body)) if block["type"] == "thinking"]
    assert thinking
    at = data.draw(st.sampled_from(editable(body)), label="changed block")
    answer = api.post("/v1/messages", with_one_character_changed(body, at), BINDING_BETA)
    if at < max(thinking):
        assert answer.status_code == 400
        error = answer.json()["error"]
        assert error["type"] == "invalid_request_error"
        assert (
            "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
            in error["message"]
        )
    else:
        assert answer.status_code == 200


@fast
@given(TURNS, st.data())
def test_a_moved_cache_mark_or_all_thinking_removed_passes_the_check(
    http: httpx2.Client, turns: list[list[str]], data: st.DataObject
) -> None:
    api = Api(http)
    body = converse(api, turns)
    body["thinking"] = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}
    marked = copy.deepcopy(body)
    blocks(marked)[data.draw(st.sampled_from(editable(body)), label="marked block")]["cache_control"] = MARK
    bare = copy.deepcopy(body)
    for message in bare["messages"]:
        message["content"] = [block for block in message["content"] if block["type"] != "thinking"]
    for allowed in (marked, {**body, "cache_control": {"type": "ephemeral", "ttl": "1h"}}, bare):
        assert api.ask(allowed, BINDING_BETA)["input_transformations"] == []


@fast
@given(TURNS)
def test_a_moved_cache_mark_still_reads_the_entry_before_it(
    http: httpx2.Client, turns: list[list[str]]
) -> None:
    api = Api(http)
    body = converse(api, turns)
    body["system"][0]["cache_control"] = MARK
    written = api.ask(body)["usage"]["cache_creation_input_tokens"]
    assert written > 512
    del body["system"][0]["cache_control"]
    blocks(body)[1]["cache_control"] = MARK
    assert api.ask(body)["usage"]["cache_read_input_tokens"] == written
