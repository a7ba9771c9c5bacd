"""Which tool calls are due: the script's, or one that the request forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from memdash.simulator.hint import Hint, HintedCall, HintedStep
from memdash.simulator.pretend.visible import Request, has_tool_result


def steps_taken(given: Sequence[Mapping[str, Any]]) -> int:
    """Count the assistant messages since the user last spoke; a message that brings a tool result is no speaking,
    and a compaction alone is no step.
    """
    count = 0
    for message in reversed(given):
        if message.get("role") == "assistant":
            count += not _only_compacts(message)
        elif message.get("role") == "user" and not has_tool_result(message):
            break
    return count


def _only_compacts(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return (
        isinstance(content, list)
        and bool(content)
        and all(block.get("type") == "compaction" for block in content)
    )


def due_step(request: Request, hint: Hint | None) -> HintedStep | None:
    """Return the scripted step to take now, without calls of tools that the request does not offer; None when all are done.

    Steps before a compaction count too: where a script has come to is not a matter of memory.
    """
    if hint is None or not hint.steps:
        return None
    offered = _offered(request)
    if not offered:
        return None
    taken = steps_taken(request.get("messages") or ())
    if taken >= len(hint.steps):
        return None
    step = hint.steps[taken]
    calls = tuple(call for call in step.calls if call.name in offered)
    return HintedStep(calls, step.text) if calls else None


def forced_call(request: Request, random: Random) -> HintedCall | None:
    """Return a plausible call where ``tool_choice`` demands one, else None."""
    choice = request.get("tool_choice")
    kind = choice.get("type") if isinstance(choice, Mapping) else None
    if kind not in ("any", "tool"):
        return None
    offered = _offered(request)
    if kind == "tool" and isinstance(choice, Mapping):
        offered = {name: tool for name, tool in offered.items() if name == choice.get("name")}
    if not offered:
        return None
    name = random.choice(sorted(offered))
    schema = offered[name].get("input_schema")
    value = _instance(schema if isinstance(schema, Mapping) else {}, 0)
    return HintedCall(name, value if isinstance(value, Mapping) else {})


def _offered(request: Request) -> dict[str, Mapping[str, Any]]:
    choice = request.get("tool_choice")
    if isinstance(choice, Mapping) and choice.get("type") == "none":
        return {}
    return {
        str(tool["name"]): tool
        for tool in request.get("tools") or ()
        if isinstance(tool, Mapping) and "name" in tool
    }


def _instance(schema: Mapping[str, Any], depth: int) -> Any:
    """Return a small value that satisfies the common part of JSON Schema."""
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    if "default" in schema:
        return schema["default"]
    for key in ("anyOf", "oneOf", "allOf"):
        options = schema.get(key)
        if isinstance(options, list) and options and isinstance(options[0], Mapping):
            return _instance(options[0], depth + 1)
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if kind == "object":
        properties = schema.get("properties")
        required = schema.get("required")
        if depth > 8 or not isinstance(properties, Mapping) or not isinstance(required, list):
            return {}
        return {
            name: _instance(
                properties[name] if isinstance(properties.get(name), Mapping) else {"type": "string"},
                depth + 1,
            )
            for name in required
            if isinstance(name, str)
        }
    if kind == "array":
        items = schema.get("items")
        least = schema.get("minItems", 0)
        count = min(least, 8) if isinstance(least, int) else 0
        return [
            _instance(items if isinstance(items, Mapping) else {"type": "string"}, depth + 1)
            for _ in range(count)
        ]
    if kind in ("integer", "number"):
        least = schema.get("minimum", 1)
        return least if isinstance(least, int | float) else 1
    return {"boolean": True, "null": None}.get(str(kind), "example")
