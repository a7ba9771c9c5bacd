"""Each refusal of the API in a newcomer's words; the messages are the API's own."""

from __future__ import annotations

import pytest

from memdash.metrics import explain


@pytest.mark.parametrize(
    ("message", "meaning"),
    [
        (
            "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
            'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
            "signed over everything before it",
        ),
        (
            "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
            "The tool definitions have changed since the block was created.",
            "the script changed those",
        ),
        ("messages.3.content.0: Invalid `signature` in `thinking` block", "other than the model wrote it"),
        (
            "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block "
            "must have a corresponding `tool_use` block in the previous message.",
            "whose call is gone",
        ),
        (
            "messages.243: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` "
            "block must have a corresponding `tool_result` block in the next message.",
            "whose result is missing",
        ),
        ("prompt is too long: 205000 tokens > 200000 maximum", "no longer fits"),
        ("messages: at least one message is required", "dropped every message"),
        (
            "This model does not support assistant message prefill. The conversation must end with a user message.",
            "ended with an assistant message",
        ),
        ("messages: text content blocks must be non-empty", "with nothing in it"),
        ("A maximum of 4 blocks with cache_control may be provided. Found 5.", "four cache marks"),
        ("context_management: Extra inputs are not permitted", "beta header"),
        ("something new", "its own message says"),
        ("", "its own message says"),
    ],
)
def test_a_refusal_is_explained(message: str, meaning: str) -> None:
    assert meaning in explain(message)
