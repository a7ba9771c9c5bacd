"""Compaction, context editing and cache diagnostics through the official Python SDK over real HTTP, at the API's own floors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic import beta_tool, types

from memdash.simulator.hint import HINT_HEADER, Hint, HintedCall, HintedStep

MODEL = "claude-opus-5-5"
THRESHOLD, ON_DEMAND = "compact-2026-01-12", "compact-2026-09-04"
EDITING, DIAGNOSIS = "context-management-2025-06-27", "cache-diagnosis-2026-04-07"
LONG = "The archive moves at night and nobody is to hurry. " * 6_000
"""Well over 50,000 tokens by any count."""
FACT = "Our budget for tapes is 7,300 euros."
TOOLS = [
    {"name": "look_up", "description": "Look it up.", "input_schema": {"type": "object", "properties": {}}}
]


@pytest.fixture(scope="module")
def sdk(simulator_server: str) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key="any-key", base_url=simulator_server, max_retries=0) as client:
        yield client


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def compact(**more: Any) -> dict[str, Any]:
    trigger = {"type": "input_tokens", "value": 50_000}
    return {
        "model": MODEL,
        "max_tokens": 1_000,
        "betas": [THRESHOLD],
        "context_management": {"edits": [{"type": "compact_20260112", "trigger": trigger, **more}]},
    }


class TestThresholdCompaction:
    MESSAGES = (user(f"{FACT} {LONG}"),)

    def test_it_fires_and_its_block_goes_back_as_it_came(self, sdk: anthropic.Anthropic) -> None:
        answer = sdk.beta.messages.create(**compact(), messages=self.MESSAGES)
        block, *rest = answer.content
        assert block.type == "compaction"
        assert "7,300" in (block.content or "")
        assert [one.type for one in rest] == ["thinking", "text"]
        assert answer.usage.iterations is not None
        compaction, message = answer.usage.iterations
        assert (compaction.type, message.type) == ("compaction", "message")
        assert compaction.input_tokens > 50_000 > message.input_tokens == answer.usage.input_tokens
        assert answer.context_management is not None
        assert answer.context_management.applied_edits == []
        history = [*self.MESSAGES, {"role": "assistant", "content": answer.content}, user("Go on.")]
        nxt = sdk.beta.messages.create(**compact(), messages=history)
        assert [one.type for one in nxt.usage.iterations or ()] == ["message"]
        cut = sdk.beta.messages.create(**compact(), messages=history[1:])
        assert nxt.usage.input_tokens == cut.usage.input_tokens < 5_000

    def test_streaming_brings_the_same_message(self, sdk: anthropic.Anthropic) -> None:
        headers = {HINT_HEADER: Hint(7).encode()}
        plain = sdk.beta.messages.create(**compact(), messages=self.MESSAGES, extra_headers=headers)
        with sdk.beta.messages.stream(**compact(), messages=self.MESSAGES, extra_headers=headers) as stream:
            events = list(stream)
            final = stream.get_final_message()
        (compacted,) = [event for event in events if event.type == "compaction"]
        assert compacted.content == plain.content[0].content  # type: ignore[union-attr]
        data, expected = final.to_dict(), plain.to_dict()
        expected["content"][0].setdefault("encrypted_content", None)  # type: ignore[index, attr-defined]
        for block in data["content"]:  # type: ignore[attr-defined]
            block.pop("parsed_output", None)
        assert data["content"] == expected["content"]
        assert data["usage"] == expected["usage"]
        assert data["stop_reason"] == "end_turn"
        assert data["context_management"] == {"applied_edits": []}

    def test_a_pause_and_the_call_after_it(self, sdk: anthropic.Anthropic) -> None:
        asked = compact(pause_after_compaction=True)
        paused = sdk.beta.messages.create(**asked, messages=self.MESSAGES)
        assert (paused.stop_reason, [one.type for one in paused.content]) == ("compaction", ["compaction"])
        assert (paused.usage.input_tokens, paused.usage.output_tokens) == (0, 0)
        history = [*self.MESSAGES, {"role": "assistant", "content": paused.content}]
        assert sdk.beta.messages.create(**asked, messages=history).stop_reason == "end_turn"

    def test_a_lower_trigger_is_refused(self, sdk: anthropic.Anthropic) -> None:
        asked = compact(trigger={"type": "input_tokens", "value": 49_999})
        with pytest.raises(anthropic.BadRequestError, match="greater than or equal to 50000"):
            sdk.beta.messages.create(**asked, messages=[user("Hello")])


class TestCompactionOnDemand:
    ASKED: dict[str, Any] = {"model": MODEL, "max_tokens": 2_000, "betas": [ON_DEMAND]}  # noqa: RUF012
    HISTORY = (user(FACT), {"role": "assistant", "content": "Noted."})

    def block(self, sdk: anthropic.Anthropic) -> Any:
        answer = sdk.beta.messages.create(
            **self.ASKED, messages=self.HISTORY, compaction={"type": "summarize"}
        )
        assert answer.stop_reason == "compaction"
        (block,) = answer.content
        return block

    def test_the_block_replaces_the_conversation(self, sdk: anthropic.Anthropic) -> None:
        block = self.block(sdk)
        assert (block.type, block.tool_changes) == ("compaction", [])
        messages = [{"role": "assistant", "content": [block]}, user("What is our budget for tapes?")]
        answer = sdk.beta.messages.create(**self.ASKED, messages=messages)
        assert "7,300" in answer.content[-1].text  # type: ignore[union-attr]

    def test_streaming_brings_the_block_whole(self, sdk: anthropic.Anthropic) -> None:
        with sdk.beta.messages.stream(
            **self.ASKED, messages=self.HISTORY, compaction={"type": "summarize"}
        ) as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_message()
        assert "content_block_delta" not in kinds
        (block,) = final.content
        assert block.type == "compaction"
        assert block.signature
        assert [one.type for one in final.usage.iterations or ()] == ["compaction"]
        messages = [{"role": "assistant", "content": [block]}, user("Go on.")]
        assert sdk.beta.messages.create(**self.ASKED, messages=messages).stop_reason == "end_turn"

    def test_a_failure_is_empty(self, sdk: anthropic.Anthropic) -> None:
        asked = {**self.ASKED, "max_tokens": 1}
        answer = sdk.beta.messages.create(**asked, messages=self.HISTORY, compaction={"type": "summarize"})
        assert (answer.content, answer.stop_reason) == ([], "max_tokens")
        assert (answer.usage.iterations or [])[0].output_tokens == 1

    def test_every_refusal_has_its_class(self, sdk: anthropic.Anthropic) -> None:
        block = self.block(sdk).to_dict()

        def send(*messages: Any, **more: Any) -> None:
            sdk.beta.messages.create(**{**self.ASKED, **more}, messages=messages)

        def said(*blocks: Any) -> Any:
            return {"role": "assistant", "content": list(blocks)}

        call = {"type": "tool_use", "id": "t1", "name": "look_up", "input": {}}
        summarize = {"compaction": {"type": "summarize"}}
        with pytest.raises(types.CompactionContentMismatchError):
            send(said({**block, "content": "Other words."}), user("Go on."))
        with pytest.raises(types.CompactionSignatureInvalidError):
            send(said({**block, "signature": "QUJD"}), user("Go on."))
        change = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "look_up"}}
        with pytest.raises(types.CompactionToolChangesMismatchError):
            send(said({**block, "tool_changes": [change]}), user("Go on."))
        with pytest.raises(types.CompactionBlockMisplacedError):
            send(user("Hello"), said(block), user("Go on."))
        with pytest.raises(types.CompactionBlockAmbiguousError):
            send(said(block, block), user("Go on."))
        with pytest.raises(types.CompactionIncompleteTurnError):
            send(user("Hello"), said(call), tools=TOOLS, **summarize)
        with pytest.raises(types.CompactionNothingToSummarizeError):
            send(said(), **summarize)

    def test_the_tool_runner_compacts_between_turns(self, sdk: anthropic.Anthropic) -> None:
        @beta_tool
        def look_up() -> str:
            """Look it up."""
            return "K-4471 is the gate code."

        hint = Hint(7, steps=(HintedStep((HintedCall("look_up", {}),)),))
        runner = sdk.beta.messages.tool_runner(
            **self.ASKED,
            thread=False,
            tools=[look_up],
            messages=[user("Please look it up.")],
            extra_headers={HINT_HEADER: hint.encode()},
        )
        reasons = []
        for message in runner:
            reasons.append(message.stop_reason)
            if message.stop_reason == "tool_use":
                runner.compact_before_next_turn()
            if (
                len(reasons) == 3
            ):  # what came after the compaction; the hint would have the tool called for ever
                break
        assert reasons == ["tool_use", "compaction", "tool_use"]


def looked_up(count: int) -> list[dict[str, Any]]:
    messages = [user("Look around.")]
    for number in range(count):
        call = {"type": "tool_use", "id": f"t{number}", "name": "look_up", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "A line of the log. " * 200}
        messages += [{"role": "assistant", "content": [call]}, user([result])]
    return messages


class TestContextEditing:
    EDITS = (
        {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}},
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "tool_uses", "value": 3},
            "keep": {"type": "tool_uses", "value": 1},
        },
    )
    ASKED: dict[str, Any] = {  # noqa: RUF012
        "model": MODEL,
        "tools": TOOLS,
        "betas": [EDITING],
        "context_management": {"edits": EDITS},
    }

    def test_what_was_cleared_is_reported(self, sdk: anthropic.Anthropic) -> None:
        answer = sdk.beta.messages.create(**self.ASKED, max_tokens=500, messages=looked_up(4))
        assert answer.context_management is not None
        (edit,) = answer.context_management.applied_edits
        assert edit.type == "clear_tool_uses_20250919"
        assert edit.cleared_tool_uses == 3
        counted = sdk.beta.messages.count_tokens(**self.ASKED, messages=looked_up(4))
        assert counted.input_tokens == answer.usage.input_tokens
        assert counted.context_management is not None
        assert counted.context_management.original_input_tokens == (
            counted.input_tokens + edit.cleared_input_tokens
        )

    def test_streaming_reports_it_at_the_end(self, sdk: anthropic.Anthropic) -> None:
        with sdk.beta.messages.stream(**self.ASKED, max_tokens=500, messages=looked_up(4)) as stream:
            events = {event.type: event for event in stream}
            final = stream.get_final_message()
        assert events["message_start"].message.context_management is None  # type: ignore[union-attr]
        management = events["message_delta"].context_management  # type: ignore[union-attr]
        assert management.applied_edits[0].cleared_tool_uses == 3
        assert final.context_management is not None
        assert final.context_management.applied_edits == management.applied_edits


class TestDiagnostics:
    ASKED: dict[str, Any] = {"model": MODEL, "max_tokens": 500, "system": LONG[:20_000]}  # noqa: RUF012

    def test_the_reason_comes_with_the_answer(self, sdk: anthropic.Anthropic) -> None:
        def ask(previous: str | None, **more: Any) -> Any:
            return sdk.beta.messages.create(
                **{**self.ASKED, **more},
                betas=[DIAGNOSIS],
                cache_control={"type": "ephemeral"},
                messages=[user("Hello")],
                diagnostics={"previous_message_id": previous},
            )

        first = ask(None)
        assert first.diagnostics is None
        assert "diagnostics" in first.to_dict()
        assert ask(first.id).diagnostics is None
        reason = ask(first.id, system="Something else.").diagnostics.cache_miss_reason
        assert reason.type == "system_changed"
        assert reason.cache_missed_input_tokens > 1_000
        assert ask("msg_never").diagnostics.cache_miss_reason.type == "previous_message_not_found"

    def test_streaming_says_it_at_the_start(self, sdk: anthropic.Anthropic) -> None:
        with sdk.beta.messages.stream(
            **self.ASKED,
            betas=[DIAGNOSIS],
            messages=[user("Hello")],
            diagnostics={"previous_message_id": "msg_never"},
        ) as stream:
            start = next(iter(stream))
            final = stream.get_final_message()
        reason = start.message.diagnostics.cache_miss_reason  # type: ignore[union-attr]
        assert reason.type == "previous_message_not_found"
        assert final.diagnostics is not None
        assert final.diagnostics.cache_miss_reason == reason

    def test_the_plain_namespace_may_ask_too(self, sdk: anthropic.Anthropic) -> None:
        asked = {**self.ASKED, "messages": [user("Hello")], "diagnostics": {"previous_message_id": None}}
        assert "diagnostics" not in sdk.messages.create(**asked).to_dict()
        answer = sdk.messages.create(**asked, extra_headers={"anthropic-beta": DIAGNOSIS})
        assert answer.to_dict()["diagnostics"] is None


def test_models_say_what_they_take(sdk: anthropic.Anthropic) -> None:
    new = sdk.beta.models.retrieve(MODEL).capabilities
    old = sdk.beta.models.retrieve("claude-sonnet-4-5").capabilities
    assert new is not None
    assert old is not None
    for capabilities, supported in ((new, True), (old, False)):
        management = capabilities.context_management
        assert management.clear_tool_uses_20250919 is not None
        assert management.clear_tool_uses_20250919.supported
        assert management.compact_20260112 is not None
        assert management.compact_20260112.supported is supported
