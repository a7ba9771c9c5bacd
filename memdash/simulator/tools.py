"""Tool definitions and the system prompt: what every request of a conversation starts with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.simulator import fields
from memdash.simulator.block_reading import Place, read_system_block
from memdash.simulator.blocks import Block, block_of, text_block, without_mark
from memdash.simulator.digests import as_written
from memdash.simulator.errors import invalid
from memdash.simulator.marks import Mark, lifetime_of
from memdash.simulator.rules import Rules

TOOL_TOKENS = 12
"""What the prompt writes around one tool definition; our assumption."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CUSTOM_FIELDS = (
    "type",
    "description",
    "cache_control",
    "allowed_callers",
    "defer_loading",
    "eager_input_streaming",
    "input_examples",
    "strict",
)
# Tools that the API defines. They are accepted by type, so that a request that declares them can be replayed;
# none is executed here.
_BUILT_IN = (
    "bash_20250124",
    "browser_toolset_20260801",
    "code_execution_20250522",
    "code_execution_20250825",
    "code_execution_20260120",
    "code_execution_20260521",
    "computer_toolset_20260801",
    "memory_20250818",
    "text_editor_20250124",
    "text_editor_20250429",
    "text_editor_20250728",
    "tool_search_tool_bm25_20251119",
    "tool_search_tool_regex_20251119",
    "web_fetch_20250910",
    "web_fetch_20260209",
    "web_fetch_20260309",
    "web_fetch_20260318",
    "web_search_20250305",
    "web_search_20260209",
    "web_search_20260318",
)


@dataclass(frozen=True, slots=True)
class ToolSet:
    """The tools of a request: their names, those that stand in the prompt from the start as blocks, and the
    marks on them.
    """

    names: frozenset[str]
    blocks: tuple[Block, ...]
    marks: tuple[Mark, ...]
    first: str | None


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The top-level system prompt as blocks, and the marks on them."""

    blocks: tuple[Block, ...]
    marks: tuple[Mark, ...]


NO_TOOLS = ToolSet(frozenset(), (), (), None)
NO_SYSTEM = SystemPrompt((), ())


def read_tools(value: Any) -> ToolSet:
    """Read ``tools``.

    Raises ApiError where the API would refuse one.
    """
    names: list[str] = []
    blocks: list[Block] = []
    marks: list[Mark] = []
    for index, tool in enumerate(fields.array(value, "tools")):
        path = f"tools.{index}"
        fields.open_object(tool, path)
        kind = "custom" if tool.get("type") is None else fields.tag(tool, path, (*_BUILT_IN, "custom"))
        names.append(
            _custom(tool, f"{path}.custom") if kind == "custom" else _built_in(tool, f"{path}.{kind}")
        )
        lifetime = lifetime_of(tool, f"{path}.{kind}")
        # A deferred tool is not in the prompt until a tool search names it, so it changes nothing before
        # that.
        if tool.get("defer_loading") is True:
            if lifetime is not None:
                raise invalid(f"{path}.{kind}: cache_control cannot be set for tools with defer_loading")
            continue
        if lifetime is not None:
            marks.append(Mark(len(blocks), lifetime, path))
        blocks.append(_block(tool))
    if len(set(names)) != len(names):
        raise invalid("tools: Tool names must be unique.")
    return ToolSet(frozenset(names), tuple(blocks), tuple(marks), names[0] if names else None)


def read_system(value: Any, rules: Rules) -> SystemPrompt:
    """Read ``system``.

    Raises ApiError where the API would refuse it.
    """
    if isinstance(value, str):
        return SystemPrompt((text_block(value),), ()) if value else NO_SYSTEM
    blocks: list[Block] = []
    marks: list[Mark] = []
    for index, raw in enumerate(fields.array(value, "system")):
        path = f"system.{index}"
        blocks.append(read_system_block(raw, Place(path, "system", rules)))
        lifetime = lifetime_of(raw, path)
        if lifetime is not None:
            marks.append(Mark(index, lifetime, path))
    return SystemPrompt(tuple(blocks), tuple(marks))


def _custom(tool: Mapping[str, Any], path: str) -> str:
    fields.closed_object(tool, path, needs=("name", "input_schema"), may=_CUSTOM_FIELDS)
    name = fields.pattern(tool["name"], f"{path}.name", _NAME)
    if tool.get("description") is not None:
        fields.string(tool["description"], f"{path}.description")
    for flag in ("defer_loading", "eager_input_streaming", "strict"):
        if tool.get(flag) is not None:
            fields.boolean(tool[flag], f"{path}.{flag}")
    for listed in ("allowed_callers", "input_examples"):
        if tool.get(listed) is not None:
            fields.array(tool[listed], f"{path}.{listed}")
    schema = fields.open_object(tool["input_schema"], f"{path}.input_schema")
    if "type" not in schema:
        raise fields.required(f"{path}.input_schema.type")
    fields.one_of(schema["type"], f"{path}.input_schema.type", ("object",))
    return name


def _built_in(tool: Mapping[str, Any], path: str) -> str:
    if tool["type"].split("_")[1] == "toolset":
        return str(tool["type"])
    if "name" not in tool:
        raise fields.required(f"{path}.name")
    return fields.pattern(tool["name"], f"{path}.name", _NAME)


def _block(tool: Mapping[str, Any]) -> Block:
    return block_of("tool", tool, texts=(as_written(without_mark(tool)),), more_tokens=TOOL_TOKENS)
