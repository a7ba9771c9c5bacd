"""One message of a request: its shape, its blocks and the cache marks on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.simulator import fields
from memdash.simulator.block_reading import Place, read_block
from memdash.simulator.blocks import Block, text_block
from memdash.simulator.digests import as_written
from memdash.simulator.errors import invalid
from memdash.simulator.marks import Lifetime, lifetime_of
from memdash.simulator.options import EFFORTS
from memdash.simulator.rules import OUTPUT_CONFIG_IN_CONVERSATION, Rules

NEVER_EMPTY = "all messages must have non-empty content except for the optional final assistant message"

_ROLES = ("user", "assistant", "system")


@dataclass(slots=True, eq=False)
class Message:
    """One message as read: its blocks, the marks on them and what its neighbours need to know.

    ``raw`` is the message as sent. ``is_plain`` says that Python's equality is exact enough to know it again:
    it holds nothing but strings in the places of strings. ``written`` is the JSON of those of its blocks for
    which it is not (equality takes ``1`` for ``true``, and does not see the order of keys). ``opens_at`` is the
    last of its blocks that is a compaction with content: everything before that is closed.
    """

    role: str
    raw: Mapping[str, Any]
    blocks: tuple[Block, ...]
    marks: tuple[tuple[int, Lifetime, str], ...]
    is_plain: bool
    written: tuple[tuple[int, str], ...]
    opens_at: int | None = None

    def is_same(self, raw: Any) -> bool:
        """Whether ``raw`` is this very message again."""
        if self.raw != raw:
            return False
        return self.is_plain or (
            bool(self.written)
            and all(as_written(raw["content"][index]) == text for index, text in self.written)
        )

    @property
    def opens_turn(self) -> bool:
        """Whether a new user turn begins here: a user message with anything but tool results."""
        return self.role == "user" and any(block.answers is None for block in self.blocks)


def read_message(raw: Any, index: int, rules: Rules) -> Message:
    """Read the message at ``index`` of a request.

    Raises ApiError where the API would refuse its shape.
    """
    path = f"messages.{index}"
    fields.open_object(raw, path)
    if "role" not in raw:
        raise fields.required(f"{path}.role")
    role = fields.string(raw["role"], f"{path}.role")
    if role not in _ROLES:
        raise invalid(f'messages: Unexpected role "{role}". Allowed roles are "user" or "assistant".')
    may = ("output_config",) if role == "system" and rules.allows(OUTPUT_CONFIG_IN_CONVERSATION) else ()
    fields.closed_object(raw, path, needs=("role", "content"), may=may)
    if raw.get("output_config") is not None:
        config = fields.closed_object(raw["output_config"], f"{path}.output_config", may=("effort",))
        if config.get("effort") is not None:
            fields.one_of(config["effort"], f"{path}.output_config.effort", EFFORTS)
    # The caller may go on to change its own objects.
    raw = _copy(raw)
    content = raw["content"]
    blocks: tuple[Block, ...]
    marks: tuple[tuple[int, Lifetime, str], ...] = ()
    written: tuple[tuple[int, str], ...] = ()
    if isinstance(content, str):
        blocks = (text_block(content),) if content else ()
    else:
        fields.array(content, f"{path}.content")
        blocks = tuple(
            read_block(block, Place(f"{path}.content.{at}", role, rules)) for at, block in enumerate(content)
        )
        marks = tuple(
            (at, *mark) for at, block in enumerate(content) for mark in _marks_on(block, f"content.{at}")
        )
        written = _written(content)
    if not blocks and role != "assistant":
        raise invalid(f"{path}: {NEVER_EMPTY}")
    is_plain = not written and raw.get("output_config") is None
    opens_at = max((at for at, block in enumerate(blocks) if block.is_compaction), default=None)
    return Message(
        role,
        raw,
        blocks,
        marks,
        is_plain,
        written if raw.get("output_config") is None else (),
        opens_at,
    )


def telling_text(raw: Any) -> tuple[str, str] | None:
    """Return the role and a string that differs from message to message as a rule; None where there is none."""
    if not isinstance(raw, dict):
        return None
    role, content = raw.get("role"), raw.get("content")
    if isinstance(content, list) and content and isinstance(content[-1], dict):
        last = content[-1]
        content = last.get("text") or last.get("tool_use_id") or last.get("id") or last.get("signature")
        content = content or last.get("content")
    return (role, content) if isinstance(role, str) and isinstance(content, str) else None


def _written(content: list[Any]) -> tuple[tuple[int, str], ...]:
    """Return the JSON of the blocks that hold anything but strings in the places of strings."""
    return tuple(
        (index, as_written(block))
        for index, block in enumerate(content)
        if not _only_strings(block, is_block=True)
    )


def _only_strings(value: Any, *, is_block: bool = False) -> bool:
    if value is None or isinstance(value, str):
        return True
    if isinstance(value, list):
        return all(_only_strings(part) for part in value)
    if not isinstance(value, dict) or (is_block and value.get("type") == "tool_use"):
        return False
    return all(_only_strings(part) for part in value.values())


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_copy(part) for part in value]
    return value


def _marks_on(raw: Mapping[str, Any], path: str) -> list[tuple[Lifetime, str]]:
    """Return the marks on a block that was found valid; one inside a tool result counts for the whole of it."""
    marks = []
    inner = raw.get("content")
    if raw["type"] == "tool_result" and isinstance(inner, list):
        for index, part in enumerate(inner):
            lifetime = lifetime_of(part, path)
            if lifetime is not None:
                marks.append((lifetime, f"{path}.content.{index}"))
    lifetime = lifetime_of(raw, path)
    if lifetime is not None:
        marks.append((lifetime, path))
    return marks
