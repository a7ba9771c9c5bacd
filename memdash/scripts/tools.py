"""Tool definitions: what the Messages API accepts of a client's own tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from memdash.scripts.model import Json
from memdash.scripts.problems import Place, Problem, brief, nearest, suggest

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
"""Form of a tool's name (Messages API, tool use)."""
TOOL_KEYS = (
    "name",
    "description",
    "input_schema",
    "type",
    "strict",
    "input_examples",
    "eager_input_streaming",
)
"""Keys of a definition that scripts keep; ``cache_control`` is a setting of the comparison."""


def tool_problems(tools: Sequence[Mapping[str, Json]], place: Place) -> Iterator[Problem]:
    """Yield what is wrong with the definitions ``tools`` that stand at ``place``."""
    names: set[str] = set()
    for index, tool in enumerate(tools):
        here = (*place, index)
        yield from _key_problems(tool, here)
        name = tool.get("name")
        if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
            shown = brief(name) if isinstance(name, str) else "missing or no text"
            yield Problem(
                (*here, "name"),
                f"a tool's name has letters, digits, '_' and '-', at most 128; this one is {shown}",
            )
        elif name in names:
            yield Problem((*here, "name"), f"there are two tools named {brief(name)}")
        else:
            names.add(name)


def _key_problems(tool: Mapping[str, Json], place: Place) -> Iterator[Problem]:
    for key in tool:
        if key == "cache_control":
            yield Problem(
                (*place, key), "leave it out: where the cache marks stand is a setting of the comparison"
            )
        elif key not in TOOL_KEYS:
            yield Problem((*place, key), f"unknown key{suggest(key, TOOL_KEYS)}")
    if tool.get("type", "custom") != "custom":
        shown = brief(str(tool["type"]))
        yield Problem(
            (*place, "type"), f"only tools of the script's own are possible (type 'custom'), not {shown}"
        )
    elif not isinstance(tool.get("description", ""), str):
        yield Problem((*place, "description"), "must be text")
    schema = tool.get("input_schema")
    if schema is None and "input_schema" in (nearest(key, TOOL_KEYS) for key in tool if key not in TOOL_KEYS):
        return
    if not isinstance(schema, Mapping):
        yield Problem((*place, "input_schema"), "a tool needs 'input_schema', a JSON schema of type object")
    elif schema.get("type") != "object":
        yield Problem((*place, "input_schema"), "must have type: object")
