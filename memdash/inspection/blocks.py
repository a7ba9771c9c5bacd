"""A content block as a person looks at it: what kind it is and what it says. Text stays text; whoever draws it escapes it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from memdash.replay.journal import Context, entry_block


class Kind(StrEnum):
    """What a part of a request is; the values are the words for it."""

    TOOL = "tool definition"
    SYSTEM = "system prompt"
    TEXT = "text"
    SUMMARY = "summary"
    THINKING = "thinking"
    CALL = "tool call"
    RESULT = "tool result"
    COMPACTION = "compaction by the API"
    IMAGE = "image"
    DOCUMENT = "document"
    OTHER = "block"


CODE = frozenset({Kind.TOOL, Kind.CALL, Kind.RESULT, Kind.OTHER})
"""Kinds that are no prose."""

_KINDS = {
    "text": Kind.TEXT,
    "thinking": Kind.THINKING,
    "redacted_thinking": Kind.THINKING,
    "tool_use": Kind.CALL,
    "tool_result": Kind.RESULT,
    "compaction": Kind.COMPACTION,
    "image": Kind.IMAGE,
    "document": Kind.DOCUMENT,
}


class Entry(NamedTuple):
    """A block of a context in its place: ``messages.{message}.content.{place}`` of the request's body."""

    role: str
    block: str
    message: int
    place: int

    @property
    def path(self) -> str:
        """Its path in the request's body."""
        return f"messages.{self.message}.content.{self.place}"


def entries_of(context: Context) -> list[Entry]:
    """Return the blocks of a context's messages in order."""
    entries: list[Entry] = []
    role, message, place = "", -1, 0
    for entry in context.entries:
        if entry.startswith("+"):
            place += 1
        else:
            role, message, place = entry.partition(":")[0], message + 1, 0
        entries.append(Entry(role, entry_block(entry), message, place))
    return entries


def kind_of(block: Mapping[str, Any]) -> Kind:
    """Return what a block of a message is."""
    return _KINDS.get(str(block.get("type")), Kind.OTHER)


def text_of(block: Mapping[str, Any]) -> str:
    """Return what a block of a message says; empty for thinking whose text the API keeps to itself.

    A tool call is its name and its input as JSON. What has no words is its JSON.
    """
    match block.get("type"):
        case "text":
            return str(block.get("text") or "")
        case "thinking":
            return str(block.get("thinking") or "")
        case "redacted_thinking":
            return ""
        case "tool_use":
            return f"{block.get('name')} {as_json(block.get('input'))}"
        case "tool_result":
            return _joined(block.get("content"))
        case "compaction":
            return str(block.get("content") or "")
        case _:
            return as_json(block)


def tool_text(tool: Mapping[str, Any]) -> str:
    """Return a tool definition as a person reads it: its name, what it is for, and the schema of its input."""
    described = (
        f"{tool.get('name')}: {tool['description']}" if tool.get("description") else str(tool.get("name"))
    )
    rest = {name: value for name, value in tool.items() if name not in ("name", "description")}
    return f"{described}\n{as_json(rest)}" if rest else described


def as_json(value: Any) -> str:
    """Return indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _joined(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text_of(part) for part in content or ())
