from __future__ import annotations

import copy
from typing import Any

import pytest

from memdash.models import MODELS
from memdash.simulator.errors import ApiError
from memdash.simulator.rules import BINDING_CONTROLS, OUTPUT_CONFIG_IN_CONVERSATION, THINKING_UPDATES
from tests.simulator.engine_kit import (
    AUTO,
    assistant,
    body,
    caller,
    new_engine,
    text,
    tool,
    tool_result,
    tool_use,
    user,
    words,
)

OLD = caller(version="2023-06-01")
PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
THINKING = {"type": "thinking", "thinking": "", "signature": "x"}
MANUAL = {"type": "enabled", "budget_tokens": 2_048}
FORMAT = {"type": "json_schema", "schema": {"type": "object"}}


def refusal(request: Any, asker: Any = None) -> ApiError:
    with pytest.raises(ApiError) as refused:
        new_engine().create_message(request, asker or caller(), 0.0)
    return refused.value


def says(*content: Any) -> dict[str, Any]:
    """A request of one user message with these blocks."""
    return body([user(list(content))])


REFUSED = {
    "no model": (body(model=...), "model: Field required"),
    "no max_tokens": (body(max_tokens=...), "max_tokens: Field required"),
    "no messages": (body(messages=...), "messages: Field required"),
    "an unknown field": (body(temprature=1), "temprature: Extra inputs are not permitted"),
    "context editing without its header": (
        body(context_management={"edits": []}),
        "context_management: Extra inputs are not permitted",
    ),
    "compaction without its header": (
        body(compaction={"type": "summarize"}),
        "compaction: this parameter requires anthropic-beta: compact-2026-09-04",
    ),
    "threads without their header": (
        body(thread={"type": "create"}),
        "thread: Extra inputs are not permitted",
    ),
    "fallbacks without their header": (body(fallbacks=[]), "fallbacks: Extra inputs are not permitted"),
    "binding controls without their header": (
        body(thinking={"type": "adaptive", "block_binding": {}}),
        "thinking.adaptive.block_binding: Extra inputs are not permitted",
    ),
    "max_tokens as text": (body(max_tokens="9"), "max_tokens: Input should be a valid integer"),
    "max_tokens as a truth": (body(max_tokens=True), "max_tokens: Input should be a valid integer"),
    "negative max_tokens": (body(max_tokens=-1), "max_tokens: Input should be greater than or equal to 0"),
    "too many max_tokens": (
        body(model="claude-haiku-4-5", max_tokens=64_001),
        "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5",
    ),
    "messages as text": (body(messages="Hello"), "messages: Input should be a valid list"),
    "no message at all": (body([]), "messages: at least one message is required"),
    "a message as text": (body(["Hello"]), "messages.0: Input should be a valid dictionary"),
    "no role": (body([{"content": "Hello"}]), "messages.0.role: Field required"),
    "an unknown role": (
        body([{"role": "tool", "content": "x"}]),
        'messages: Unexpected role "tool". Allowed roles are "user" or "assistant".',
    ),
    "no content": (body([{"role": "user"}]), "messages.0.content: Field required"),
    "a field of another API": (
        body([{"role": "user", "content": "Hello", "name": "Ada"}]),
        "messages.0.name: Extra inputs are not permitted",
    ),
    "content as a number": (body([user(7)]), "messages.0.content: Input should be a valid list"),
    "an empty user message": (
        body([user("Hello"), assistant("Hello"), user("")]),
        "messages.2: all messages must have non-empty content except for the optional final assistant message",
    ),
    "an empty list of blocks": (
        body([user([])]),
        "messages.0: all messages must have non-empty content except for the optional final assistant message",
    ),
    "an empty assistant message in the middle": (
        body([user("Hello"), assistant(""), user("Hello")]),
        "messages.1: all messages must have non-empty content except for the optional final assistant message",
    ),
    "an empty text": (says(text("")), "messages: text content blocks must be non-empty"),
    "a marked empty text": (
        says(text("", cache_control=AUTO)),
        "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
    ),
    "a block without type": (says({"text": "x"}), "messages.0.content.0.type: Field required"),
    "an unknown field of a block": (
        says(text("x", style="bold")),
        "messages.0.content.0.text.style: Extra inputs are not permitted",
    ),
    "a text that is none": (
        says({"type": "text", "text": 7}),
        "messages.0.content.0.text.text: Input should be a valid string",
    ),
    "a marked thinking block": (
        body([user("x"), assistant([{**THINKING, "cache_control": AUTO}]), user("y")]),
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    ),
    "an unknown kind of mark": (
        says(text("x", cache_control={"type": "eternal"})),
        "messages.0.content.0.text.cache_control.type: Input should be 'ephemeral'",
    ),
    "an unknown lifetime": (
        body(cache_control={"type": "ephemeral", "ttl": "2h"}),
        "cache_control.ttl: Input should be '5m' or '1h'",
    ),
    "a tool call by the user": (
        says(tool_use("a")),
        "messages.0: `tool_use` blocks can only be in `assistant` messages",
    ),
    "thinking by the user": (
        says(THINKING),
        "messages.0: `thinking` blocks can only be in `assistant` messages",
    ),
    "a tool result by the assistant": (
        body([user("x"), assistant([tool_result("a")]), user("y")]),
        "messages.1: `tool_result` blocks can only be in `user` messages",
    ),
    "a strange tool id": (
        body([user("x"), assistant([tool_use("a b")]), user([tool_result("a b")])]),
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    "a tool input that is no object": (
        body([user("x"), assistant([tool_use("a", input=[])]), user([tool_result("a")])]),
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    "a document by the assistant": (
        body([user("x"), assistant([{"type": "document", "source": PDF}]), user("y")]),
        "messages.1: `document` blocks can only be in `user` messages",
    ),
    "citations by the user": (
        says(text("x", citations=[{"type": "char_location"}])),
        "messages.0.content.0.text.citations: citations on a text block are not permitted in a user message",
    ),
    "an image of no known kind": (
        says({"type": "image", "source": {**IMAGE["source"], "media_type": "image/bmp"}}),  # type: ignore[dict-item]
        "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', "
        "'image/gif' or 'image/webp'",
    ),
    "prefill": (
        body([user("x"), assistant("The answer is")]),
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    ),
    "an empty system text": (body(system=[text("")]), "system: text content blocks must be non-empty"),
    "an image as system": (
        body(system=[IMAGE]),
        "system.0: Input tag 'image' found using 'type' does not match any of the expected tags: 'text'",
    ),
    "a system message on a model that takes none": (
        body([user("x"), {"role": "system", "content": "Be brief."}], model="claude-sonnet-5"),
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" '
        "as an input message role, for this model.",
    ),
    "a system message at the start": (
        body([{"role": "system", "content": "Be brief."}, user("x")]),
        "messages.0: the first message cannot use the `system` role",
    ),
    "thinking switched off on Opus 5.5": (
        body(thinking={"type": "disabled"}),
        '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and '
        '"output_config.effort" to control thinking behavior.',
    ),
    "a thinking budget on Opus 5.5": (
        body(thinking=MANUAL, max_tokens=4_000),
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
        '"output_config.effort" to control thinking behavior.',
    ),
    "thinking switched off on Sonnet 5.5": (
        body(model="claude-sonnet-5-5", thinking={"type": "disabled"}),
        '"thinking.type.disabled" is not supported for this model. Use "thinking.type.between_tools" to limit '
        "thinking to the time between tool calls.",
    ),
    "thinking between tools at the highest effort": (
        body(model="claude-sonnet-5-5", thinking={"type": "between_tools"}, output_config={"effort": "max"}),
        '"thinking.type.between_tools" is only supported at effort "low", "medium" or "high".',
    ),
    "a field beside between_tools": (
        body(model="claude-sonnet-5-5", thinking={"type": "between_tools", "display": "omitted"}),
        "thinking.between_tools.display: Extra inputs are not permitted",
    ),
    "no thinking at the highest effort on Opus 5": (
        body(model="claude-opus-5", thinking={"type": "disabled"}, output_config={"effort": "xhigh"}),
        '"thinking.type.disabled" is not supported at effort "xhigh" for this model.',
    ),
    "adaptive thinking on an old model": (
        body(model="claude-haiku-4-5", thinking={"type": "adaptive"}),
        "adaptive thinking is not supported on this model",
    ),
    "an unknown way of thinking": (
        body(thinking={"type": "hard"}),
        "thinking: Input tag 'hard' found using 'type' does not match any of the expected tags: 'adaptive', "
        "'between_tools', 'disabled', 'enabled'",
    ),
    "a budget that is too small": (
        body(model="claude-haiku-4-5", thinking={"type": "enabled", "budget_tokens": 1_023}),
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    "no budget": (
        body(model="claude-haiku-4-5", thinking={"type": "enabled"}),
        "thinking.enabled.budget_tokens: Field required",
    ),
    "a budget above max_tokens": (
        body(model="claude-haiku-4-5", thinking=MANUAL, max_tokens=2_048),
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    "updates without their header": (
        body(thinking={"type": "adaptive", "display": "updates"}),
        "thinking.adaptive.display: Input should be 'summarized' or 'omitted'",
    ),
    "an unknown effort": (
        body(output_config={"effort": "none"}),
        "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
    ),
    "effort on a model without it": (
        body(model="claude-haiku-4-5", output_config={"effort": "low"}),
        "This model does not support the effort parameter.",
    ),
    "a forced tool on Opus 5.5": (
        body(tools=[tool()], tool_choice={"type": "any"}),
        'tool_choice: type "tool" and "any" are not supported for this model.',
    ),
    "a choice without tools": (
        body(tool_choice={"type": "auto"}),
        "tool_choice: tool_choice may only be specified while providing tools",
    ),
    "a choice of a tool that is not there": (
        body(model="claude-opus-5", tools=[tool()], tool_choice={"type": "tool", "name": "other"}),
        "tool_choice: Tool 'other' not found in provided tools",
    ),
    "a tool without a schema": (body(tools=[{"name": "x"}]), "tools.0.custom.input_schema: Field required"),
    "a tool name with a dot": (
        body(tools=[tool("a.b")]),
        "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
    "a schema without type": (
        body(tools=[{"name": "x", "input_schema": {}}]),
        "tools.0.custom.input_schema.type: Field required",
    ),
    "two tools of one name": (body(tools=[tool(), tool()]), "tools: Tool names must be unique."),
    "temperature": (body(temperature=1.0), "temperature: Extra inputs are not permitted"),
    "top_p": (body(top_p=1.0), "top_p: Extra inputs are not permitted"),
    "top_k": (body(top_k=0), "top_k: Extra inputs are not permitted"),
    "an unknown service tier": (
        body(service_tier="best"),
        "service_tier: Input should be 'auto' or 'standard_only'",
    ),
    "an unknown field of metadata": (
        body(metadata={"user": "x"}),
        "metadata.user: Extra inputs are not permitted",
    ),
    "fast mode on a model without it": (
        body(model="claude-sonnet-5-5", speed="fast"),
        'speed: "fast" is not supported for claude-sonnet-5-5',
    ),
    "a stop sequence of white space": (
        body(stop_sequences=["\n"]),
        "stop_sequences.0: each stop sequence must contain non-whitespace",
    ),
    "stream that is no truth": (body(stream="yes"), "stream: Input should be a valid boolean"),
    "pre-warming with a stream": (
        body(max_tokens=0, stream=True),
        "max_tokens: 0 is not supported together with stream",
    ),
    "pre-warming with a thinking budget": (
        body(max_tokens=0, model="claude-haiku-4-5", thinking=MANUAL),
        "max_tokens: 0 is not supported together with thinking.type.enabled",
    ),
    "pre-warming with an output format": (
        body(max_tokens=0, output_config={"format": FORMAT}),
        "max_tokens: 0 is not supported together with output_config.format",
    ),
    "pre-warming with a forced tool": (
        body(max_tokens=0, model="claude-opus-5", tools=[tool()], tool_choice={"type": "any"}),
        'max_tokens: 0 is not supported together with tool_choice of type "any"',
    ),
    "a body that is no object": ([], "Input should be a valid dictionary"),
}


@pytest.mark.parametrize(("request_body", "message"), REFUSED.values(), ids=REFUSED)
def test_the_api_refuses(request_body: Any, message: str) -> None:
    error = refusal(request_body)
    assert (error.status, error.type, error.message) == (400, "invalid_request_error", message)


def test_an_unknown_model_is_not_found() -> None:
    error = refusal(body(model="claude-3-opus"))
    assert (error.status, error.type, error.message) == (404, "not_found_error", "model: claude-3-opus")


def test_a_prompt_over_the_window_is_too_long() -> None:
    # 4 + 199,993 + 3 fits exactly.
    fits = body([user(words(199_993))], model="claude-haiku-4-5")
    new_engine().create_message(fits, caller(), 0.0)
    error = refusal(body([user(words(199_994))], model="claude-haiku-4-5"))
    assert error.message == "prompt is too long: 200001 tokens > 200000 maximum"


ACCEPTED = {
    "a system message later on": body(
        [user("x"), assistant("y"), user("z"), {"role": "system", "content": "Be brief."}]
    ),
    "a first message by the assistant": body([assistant("Welcome"), user("Hello")]),
    "an empty tool result": body(
        [user("x"), assistant([tool_use("a")]), user([tool_result("a", "")])], tools=[tool()]
    ),
    "an image": says(IMAGE, text("What is this?")),
    "a PDF": says({"type": "document", "source": PDF, "title": "Terms", "citations": {"enabled": True}}),
    "a search result": says(
        {
            "type": "search_result",
            "source": "a",
            "title": "b",
            "content": [text("c")],
            "citations": {"enabled": False},
        }
    ),
    "null for nothing": body(
        cache_control=None, thinking=None, system="Be kind.", inference_geo=None, speed=None
    ),
    "a built-in tool": body(tools=[{"type": "memory_20250818", "name": "memory"}, tool()]),
    "an output format": body(output_config={"format": FORMAT, "effort": "max"}),
    "everything that is only carried along": body(
        metadata={"user_id": "someone"},
        service_tier="auto",
        inference_geo="us",
        container="c",
        diagnostics={},
    ),
}


@pytest.mark.parametrize("request_body", ACCEPTED.values(), ids=ACCEPTED)
def test_the_api_accepts(request_body: Any) -> None:
    assert new_engine().create_message(request_body, caller(), 0.0).message["type"] == "message"


@pytest.mark.parametrize(
    ("more", "asker"),
    [
        ({"thinking": {"type": "adaptive", "block_binding": {}}}, caller(BINDING_CONTROLS)),
        ({"thinking": {"type": "adaptive", "display": "updates"}}, caller(THINKING_UPDATES)),
        ({"temperature": 0.3, "top_p": 0.9, "top_k": 40, "model": "claude-sonnet-4-6"}, OLD),
    ],
    ids=["binding controls", "thinking updates", "sampling under the older version"],
)
def test_a_header_allows_its_fields(more: dict[str, Any], asker: Any) -> None:
    new_engine().create_message(body(**more), asker, 0.0)


def test_effort_inside_the_conversation_needs_its_header() -> None:
    quiet = {"role": "system", "content": "Be brief.", "output_config": {"effort": "low"}}
    request = body([user("x"), assistant("y"), user("z"), quiet])
    assert refusal(request).message == "messages.3.output_config: Extra inputs are not permitted"
    new_engine().create_message(request, caller(OUTPUT_CONFIG_IN_CONVERSATION), 0.0)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"temperature": 1.5}, "temperature: Input should be less than or equal to 1"),
        ({"temperature": "hot"}, "temperature: Input should be a valid number"),
        ({"top_p": -0.1}, "top_p: Input should be greater than or equal to 0"),
        ({"top_k": 1.5}, "top_k: Input should be a valid integer"),
    ],
)
def test_sampling_parameters_have_ranges_under_the_older_version(more: dict[str, Any], message: str) -> None:
    assert refusal(body(**more), OLD).message == message


def test_the_older_version_takes_documents_from_the_assistant_and_citations_from_the_user() -> None:
    document = {"type": "document", "source": PDF}
    new_engine().create_message(body([user("x"), assistant([document]), user("y")]), OLD, 0.0)
    new_engine().create_message(says(text("x", citations=[{"type": "char_location"}])), OLD, 0.0)


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-5"])
def test_only_the_4_5_generation_takes_prefill_and_not_while_thinking(model: str) -> None:
    request = body([user("x"), assistant("The answer is")], model=model, max_tokens=4_000)
    new_engine().create_message(request, caller(), 0.0)
    assert "prefill" in refusal({**request, "thinking": MANUAL}).message
    assert [name for name, facts in MODELS.items() if facts.prefill].count(model) == 1


@pytest.mark.parametrize("name", ["max_tokens", "stop_sequences", "metadata", "stream", "temperature"])
def test_counting_takes_no_field_about_the_reply(name: str) -> None:
    with pytest.raises(ApiError, match=f"{name}: Extra inputs are not permitted"):
        new_engine().count_tokens({**body(max_tokens=...), name: 1}, OLD, 0.0)


def test_a_wrong_shape_anywhere_is_reported_before_a_wrong_order() -> None:
    messages = [user([tool_result("a")]), assistant("x"), user([{"type": "text"}])]
    assert refusal(body(messages)).message == "messages.2.content.0.text.text: Field required"


def test_a_truth_is_not_taken_for_the_number_it_equals() -> None:
    engine = new_engine()
    messages = [user("x"), assistant([tool_use("a")]), user([{**tool_result("a"), "is_error": True}])]
    engine.create_message(body(messages), caller(), 0.0)
    again = copy.deepcopy(messages)
    again[2]["content"][0]["is_error"] = 1
    with pytest.raises(ApiError, match=r"is_error: Input should be a valid boolean"):
        engine.create_message(body(again), caller(), 0.0)


def test_a_request_that_the_caller_changes_afterwards_is_read_anew() -> None:
    engine = new_engine()
    request = body([user("One two")])
    counts = []
    for value in ("One two", "One two three"):
        request["messages"][0]["content"] = value
        counts.append(engine.count_tokens(body(request["messages"], max_tokens=...), caller(), 0.0))
    assert counts == [{"input_tokens": 8}, {"input_tokens": 9}]


def test_a_body_nested_without_end_is_refused() -> None:
    deep: Any = "x"
    for _ in range(20_000):
        deep = [deep]
    messages = [user("x"), assistant([tool_use("a", input={"deep": deep})]), user([tool_result("a")])]
    assert refusal(body(messages)).message == "The request body is nested too deeply"
