"""Tool definitions of imported conversations: those given, made acceptable, and those built from what the calls passed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from memdash.scripts.tools import TOOL_KEYS, TOOL_NAME


def usable_name(name: str) -> str:
    """Return ``name`` in the form the API accepts; every other character becomes ``_``."""
    if TOOL_NAME.fullmatch(name):
        return name
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:128] or "tool"


def usable_definition(tool: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
    """Return ``tool`` (in the Messages API's form) as a script can hold it, or None, and what there is to say about it."""
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        return None, "a tool definition without a name is left out"
    if tool.get("type", "custom") not in ("custom", None):
        return (
            None,
            f"the tool {name[:80]!r} of type {str(tool['type'])[:80]!r} is left out; it is defined at the provider",
        )
    definition = {key: tool[key] for key in TOOL_KEYS if tool.get(key) is not None}
    definition["name"] = usable_name(name)
    if not isinstance(definition.get("description", ""), str):
        del definition["description"]
    schema = definition.get("input_schema")
    if not isinstance(schema, Mapping):
        schema = {"type": "object", "properties": {}}
    definition["input_schema"] = schema if schema.get("type") == "object" else {**schema, "type": "object"}
    return definition, None


def build_definition(name: str, inputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a definition of the tool ``name`` that fits every one of ``inputs``, what its calls passed."""
    schema = _object_schema(inputs)
    return {"name": name, "description": f"{name} (as its recorded calls use it)", "input_schema": schema}


def _object_schema(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    values: dict[str, list[Any]] = {}
    for item in objects:
        for key, value in item.items():
            values.setdefault(key, []).append(value)
    required = [key for key, seen in values.items() if len(seen) == len(objects)]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: _schema(seen) for key, seen in values.items()},
    }
    return schema | ({"required": required} if required else {})


def _schema(values: Sequence[Any]) -> dict[str, Any]:
    """The JSON schema that fits all ``values``; recursion is bounded by the depth a file may have."""
    types = list(dict.fromkeys(_type(value) for value in values))
    if "integer" in types and "number" in types:
        types.remove("integer")
    schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    if "object" in types:
        nested = _object_schema([value for value in values if isinstance(value, Mapping)])
        schema |= {key: part for key, part in nested.items() if key != "type"}
    if "array" in types:
        items = [item for value in values if isinstance(value, list) for item in value]
        schema |= {"items": _schema(items)} if items else {}
    return schema


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
