"""Tell conversation formats apart by looking at what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from memdash.scripts.importers.conversation import Document

_OPENAI_KEYS = ("tool_calls", "tool_call_id", "function_call")
_OPENAI_ROLES = ("tool", "function", "developer", "system")
_OPENAI_PARTS = ("image_url", "input_text", "input_audio", "refusal")
_ANTHROPIC_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document")
_LOOKED_AT = 2_000
"""Messages looked at before plain text on both sides is taken as what it is: the same in both formats."""


def detect(documents: Sequence[Document]) -> str | None:
    """Return the name of the format of ``documents``, None if it is no known one. Plain messages are the same in all."""
    bodies = list(islice(_bodies([document.value for document in documents]), _LOOKED_AT))
    for body in bodies:
        if "system" in body or "output_config" in body or isinstance(body.get("response"), dict):
            return "anthropic"
        if "functions" in body or "traj" in body:
            return "openai"
        found = _by_tools(body.get("tools"))
        if found:
            return found
    messages = list(islice((message for body in bodies for message in _messages(body)), _LOOKED_AT))
    found = next((name for name in map(_by_message, messages) if name), None)
    if found:
        return found
    if any(
        str(body.get("model", "")).startswith("claude") or "request" in body or "body" in body
        for body in bodies
    ):
        return "anthropic"
    return "openai" if any("role" in message for message in messages) else None


def _bodies(values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield whatever may be one conversation, as an object with ``messages`` (or ``traj``)."""
    for value in values:
        if isinstance(value, list) and any(isinstance(item, dict) and "role" in item for item in value):
            yield {"messages": value}
        elif isinstance(value, list):
            yield from _bodies(value)
        elif isinstance(value, dict) and "role" in value and "messages" not in value:
            yield {"messages": [value]}
        elif isinstance(value, dict):
            inner = value.get("request", value.get("body"))
            yield value | inner if isinstance(inner, dict) else value


def _messages(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in ("messages", "traj"):
        if isinstance(body.get(key), list):
            yield from (message for message in body[key] if isinstance(message, dict))


def _by_tools(tools: Any) -> str | None:
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and ("function" in tool or "parameters" in tool):
            return "openai"
        if isinstance(tool, dict) and "input_schema" in tool:
            return "anthropic"
    return None


def _by_message(message: dict[str, Any]) -> str | None:
    if any(message.get(key) for key in _OPENAI_KEYS) or message.get("role") in _OPENAI_ROLES:
        return "openai"
    content = message.get("content")
    kinds = (
        {str(part.get("type")) for part in content if isinstance(part, dict)}
        if isinstance(content, list)
        else set()
    )
    if kinds & set(_OPENAI_PARTS):
        return "openai"
    return "anthropic" if kinds & set(_ANTHROPIC_BLOCKS) else None
