"""What a request asks to be done to its own context: clearing, compaction past a threshold, compaction on demand.

Each kind of edit exists under its own beta header; without it the API does not know the kind (Messages API, context
editing and compaction).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.models import ModelFacts
from memdash.simulator import fields
from memdash.simulator.errors import invalid
from memdash.simulator.rules import (
    COMPACTION_ON_DEMAND,
    CONTEXT_EDITING,
    THRESHOLD_COMPACTION,
    Rules,
)

CLEAR_TOOL_USES = "clear_tool_uses_20250919"
CLEAR_THINKING = "clear_thinking_20251015"
COMPACT = "compact_20260112"

COMPACT_FLOOR = 50_000
"""The lowest trigger the API takes; a simulator with relaxed limits takes any."""
MOST_INSTRUCTIONS = 16_384
"""Characters of instructions for a compaction on demand."""

_COMPACT_DEFAULT = 150_000
_CLEAR_DEFAULT = 100_000
_KEEP_DEFAULT = 3
_HEADERS = {
    CLEAR_TOOL_USES: CONTEXT_EDITING,
    CLEAR_THINKING: CONTEXT_EDITING,
    COMPACT: THRESHOLD_COMPACTION,
}


@dataclass(frozen=True, slots=True)
class ClearToolUses:
    """``clear_tool_uses_20250919``.

    Either ``over_tokens`` or ``over_uses`` is the trigger. ``clears_inputs_of`` names the tools whose inputs go
    too, None means those of all.
    """

    over_tokens: int | None
    over_uses: int | None
    keep: int
    at_least: int
    excluded: frozenset[str]
    clears_inputs_of: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class ClearThinking:
    """``clear_thinking_20251015``: the newest turns whose thinking stays, None for all of them."""

    keep: int | None


@dataclass(frozen=True, slots=True)
class Compact:
    """``compact_20260112``: compaction once the prompt has reached ``trigger`` tokens; ``pause`` returns it alone."""

    trigger: int
    pause: bool
    instructions: str | None


@dataclass(frozen=True, slots=True)
class Summarize:
    """``compaction: {"type": "summarize"}``: compaction on demand."""

    instructions: str | None


@dataclass(frozen=True, slots=True)
class ContextManagement:
    """The edits of a request; ``asked`` says that it has ``context_management`` at all."""

    asked: bool = False
    clear_thinking: ClearThinking | None = None
    clear_tool_uses: ClearToolUses | None = None
    compact: Compact | None = None

    @property
    def clears(self) -> bool:
        """Whether anything may be cleared."""
        return self.clear_thinking is not None or self.clear_tool_uses is not None


NO_MANAGEMENT = ContextManagement()


def read_context_management(
    value: Any, model: ModelFacts, rules: Rules, *, relax_limits: bool
) -> ContextManagement:
    """Read ``context_management``.

    Raises ApiError where the API would refuse it.
    """
    kinds = tuple(kind for kind, beta in _HEADERS.items() if rules.allows(beta))
    if not kinds:
        raise fields.extra("context_management")
    if value is None:
        return NO_MANAGEMENT
    fields.closed_object(value, "context_management", may=("edits",))
    edits = [] if value.get("edits") is None else fields.array(value["edits"], "context_management.edits")
    thinking: ClearThinking | None = None
    tool_uses: ClearToolUses | None = None
    compact: Compact | None = None
    seen: set[str] = set()
    for index, edit in enumerate(edits):
        kind = fields.tag(edit, f"context_management.edits.{index}", kinds)
        path = f"context_management.edits.{index}.{kind}"
        if kind in seen:
            raise invalid(f"{path}: each kind of edit may be given once")
        seen.add(kind)
        if kind == CLEAR_THINKING:
            if index:
                raise invalid(f"{path}: `{CLEAR_THINKING}` must be the first edit")
            thinking = _clear_thinking(edit, path)
        elif kind == CLEAR_TOOL_USES:
            tool_uses = _clear_tool_uses(edit, path)
        else:
            compact = _compact(edit, path, model, relax_limits)
    return ContextManagement(True, thinking, tool_uses, compact)


def read_compaction(value: Any, model: ModelFacts, rules: Rules) -> Summarize | None:
    """Read the parameter ``compaction``.

    Raises ApiError where the API would refuse it.
    """
    if not rules.allows(COMPACTION_ON_DEMAND):
        raise invalid(f"compaction: this parameter requires anthropic-beta: {COMPACTION_ON_DEMAND}")
    if value is None:
        return None
    kind = fields.tag(value, "compaction", ("summarize",))
    fields.closed_object(value, f"compaction.{kind}", needs=("type",), may=("instructions",))
    if not model.compaction:
        raise invalid(f"compaction: compaction is not supported for {model.id}")
    instructions = _instructions(value, f"compaction.{kind}")
    if instructions is not None and len(instructions) > MOST_INSTRUCTIONS:
        raise invalid(
            f"compaction.{kind}.instructions: String should have at most {MOST_INSTRUCTIONS} characters"
        )
    return Summarize(instructions)


def _clear_thinking(edit: Mapping[str, Any], path: str) -> ClearThinking:
    fields.closed_object(edit, path, needs=("type",), may=("keep",))
    keep = edit.get("keep")
    if keep is None:
        return ClearThinking(1)
    if keep == "all":
        return ClearThinking(None)
    kind = fields.tag(keep, f"{path}.keep", ("thinking_turns", "all"))
    if kind == "all":
        fields.closed_object(keep, f"{path}.keep.all", needs=("type",))
        return ClearThinking(None)
    return ClearThinking(_amount(keep, f"{path}.keep", ("thinking_turns",), at_least=1)[1])


def _clear_tool_uses(edit: Mapping[str, Any], path: str) -> ClearToolUses:
    may = ("trigger", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs")
    fields.closed_object(edit, path, needs=("type",), may=may)
    trigger, value = "input_tokens", _CLEAR_DEFAULT
    if edit.get("trigger") is not None:
        kinds = ("input_tokens", "tool_uses")
        trigger, value = _amount(edit["trigger"], f"{path}.trigger", kinds, at_least=1)
    keep, at_least = _KEEP_DEFAULT, 0
    if edit.get("keep") is not None:
        keep = _amount(edit["keep"], f"{path}.keep", ("tool_uses",))[1]
    if edit.get("clear_at_least") is not None:
        at_least = _amount(edit["clear_at_least"], f"{path}.clear_at_least", ("input_tokens",))[1]
    inputs: frozenset[str] | None = frozenset()
    asked = edit.get("clear_tool_inputs")
    if asked is True:
        inputs = None
    elif asked is not None and asked is not False:
        inputs = _names(asked, f"{path}.clear_tool_inputs")
    excluded = edit.get("exclude_tools")
    return ClearToolUses(
        value if trigger == "input_tokens" else None,
        value if trigger == "tool_uses" else None,
        keep,
        at_least,
        frozenset() if excluded is None else _names(excluded, f"{path}.exclude_tools"),
        inputs,
    )


def _compact(edit: Mapping[str, Any], path: str, model: ModelFacts, relax_limits: bool) -> Compact:
    may = ("trigger", "pause_after_compaction", "instructions")
    fields.closed_object(edit, path, needs=("type",), may=may)
    if not model.compaction:
        raise invalid(f"{path}: `{COMPACT}` is not supported for {model.id}")
    trigger = _COMPACT_DEFAULT
    if edit.get("trigger") is not None:
        floor = 1 if relax_limits else COMPACT_FLOOR
        trigger = _amount(edit["trigger"], f"{path}.trigger", ("input_tokens",), at_least=floor)[1]
    pause = edit.get("pause_after_compaction")
    return Compact(
        trigger,
        pause is not None and fields.boolean(pause, f"{path}.pause_after_compaction"),
        _instructions(edit, path),
    )


def _amount(value: Any, path: str, kinds: tuple[str, ...], *, at_least: int = 0) -> tuple[str, int]:
    """Read ``{"type": …, "value": …}``."""
    kind = fields.tag(value, path, kinds)
    fields.closed_object(value, f"{path}.{kind}", needs=("type", "value"))
    return kind, fields.integer(value["value"], f"{path}.{kind}.value", at_least=at_least)


def _names(value: Any, path: str) -> frozenset[str]:
    return frozenset(
        fields.string(name, f"{path}.{index}") for index, name in enumerate(fields.array(value, path))
    )


def _instructions(value: Mapping[str, Any], path: str) -> str | None:
    """Return the instructions; blank ones count as absent."""
    if value.get("instructions") is None:
        return None
    return fields.string(value["instructions"], f"{path}.instructions").strip() or None
