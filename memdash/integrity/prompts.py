"""What a request says to the model, in a form that can be compared: each block once, by number.

Left out is what makes no difference: cache marks, the order of keys, fields that are null, whether a single text is written as a
string or as a block, and where one message of a role ends and the next begins (the API joins them).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memdash.models import facts

_THINKING = ("thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class Block:
    """One distinct block: ``role`` is user, assistant, system (of a message), ``prompt`` (the system prompt) or ``tool``."""

    role: str
    kind: str
    json: str
    value: Mapping[str, Any]

    @property
    def is_thinking(self) -> bool:
        """Whether it is a thinking block, readable or redacted."""
        return self.kind in _THINKING

    @property
    def is_signed(self) -> bool:
        """Whether it is a thinking block with a signature, which is bound to what stands before it."""
        return self.kind == "thinking" and bool(self.value.get("signature"))

    @property
    def is_compaction(self) -> bool:
        """Whether everything before it is no longer read (Messages API, compaction; one without content changes nothing)."""
        return self.kind == "compaction" and bool(self.value.get("content"))

    @property
    def text(self) -> str:
        """What people look at: the text of a text block, else the JSON."""
        text = self.value.get("text")
        return text if self.kind == "text" and isinstance(text, str) else self.json


@dataclass(slots=True)
class Blocks:
    """All distinct blocks of a log; equal blocks have equal numbers."""

    _known: dict[tuple[str, str], int] = field(default_factory=dict)
    _seen: dict[tuple[str, ...], int] = field(default_factory=dict)
    _blocks: list[Block] = field(default_factory=list)

    def __getitem__(self, number: int) -> Block:
        return self._blocks[number]

    def number(self, role: str, raw: Mapping[str, Any]) -> int:
        """Return the number of a block as a message of ``role`` holds it."""
        short = _short(role, raw)
        if short is not None and short in self._seen:
            return self._seen[short]
        value = _plain(raw)
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        key = (role, text)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._blocks)
            kind = value.get("type")
            self._blocks.append(Block(role, kind if isinstance(kind, str) else "", text, value))
        if short is not None:
            self._seen[short] = number
        return number

    def numbers(self, role: str, content: str | Iterable[Mapping[str, Any]] | None) -> tuple[int, ...]:
        """Return the numbers of all blocks of a content."""
        return tuple(self.number(role, raw) for raw in _as_blocks(content))

    def prompt(self, body: Mapping[str, Any]) -> Prompt:
        """Return what a request says."""
        entries: list[int] = []
        sizes: list[int] = []
        start = 0
        for message in body["messages"]:
            here = self.numbers(message["role"], message["content"])
            for number in here:
                if self[number].is_compaction:
                    start = len(entries) + here.index(number)
            entries += here
            sizes.append(len(here))
        known = facts(body["model"])
        return Prompt(
            model=known.id if known else body["model"],
            tools=self.numbers("tool", body.get("tools")),
            system=self.numbers("prompt", body.get("system")),
            entries=tuple(entries[start:]),
            start=start,
            sizes=tuple(sizes),
        )

    def visible(self, entries: Iterable[int]) -> tuple[int, ...]:
        """Leave the thinking out of ``entries``."""
        return tuple(number for number in entries if not self[number].is_thinking)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request as the model reads it. ``entries`` lack the ``start`` blocks before a compaction block, which the API ignores.

    ``sizes`` are the numbers of blocks of each message.
    """

    model: str
    tools: tuple[int, ...]
    system: tuple[int, ...]
    entries: tuple[int, ...]
    start: int
    sizes: tuple[int, ...]

    @property
    def fixed(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Tools and system prompt."""
        return self.tools, self.system

    def path(self, entry: int) -> str:
        """Return the path of an entry in the request's body, for instance ``messages.4.content.0``."""
        at = self.start + entry
        for message, size in enumerate(self.sizes):
            if at < size:
                return f"messages.{message}.content.{at}"
            at -= size
        raise IndexError(entry)


def _short(role: str, raw: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return what tells the common blocks apart without writing them out: texts, and thinking. A log repeats them many times."""
    match raw:
        case {"type": "text", "text": str(text)} if len(raw) == 2:
            return role, "text", text
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)} if len(raw) == 3:
            return role, "thinking", signature, text
        case _:
            return None


def _as_blocks(content: str | Iterable[Mapping[str, Any]] | None) -> Iterable[Mapping[str, Any]]:
    if content is None:
        return ()
    return ({"type": "text", "text": content},) if isinstance(content, str) else content


def _plain(raw: Mapping[str, Any]) -> dict[str, Any]:
    block = {key: value for key, value in raw.items() if value is not None and key != "cache_control"}
    content = block.get("content")
    if block.get("type") == "tool_result":
        if isinstance(content, str | Sequence):
            block["content"] = [_plain(one) if isinstance(one, dict) else one for one in _as_blocks(content)]
        if block.get("is_error") is False:
            del block["is_error"]
    if block.get("caller") == {"type": "direct"}:
        del block["caller"]
    if block.get("type") == "text" and block.get("citations") == []:
        del block["citations"]
    return block
