"""Context editing: the API clears old tool results and old thinking from what it reads; the client sends everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from memdash.errors import InputError
from memdash.records import EventKind
from memdash.strategies.base import RequestOptions
from memdash.strategies.capping import CAP_HELP
from memdash.strategies.full_history import FullHistory
from memdash.strategies.parameters import param, with_extras
from memdash.strategies.registry import register

BETA = "context-management-2025-06-27"


@dataclass(frozen=True, slots=True)
class ContextEditingParams:
    """The settings of ``clear_tool_uses_20250919`` and ``clear_thinking_20251015``."""

    trigger: int = param(
        100_000,
        "Input tokens at which old tool results are cleared",
        minimum=100,
        maximum=1_000_000,
        unit="tokens",
    )
    keep: int = param(3, "Newest tool uses whose results stay", minimum=0, maximum=10_000, unit="tool uses")
    clear_at_least: int | None = param(
        None,
        "Clear nothing unless this much can go, so that a cache miss pays",
        minimum=0,
        maximum=1_000_000,
        unit="tokens",
    )
    exclude_tools: str | None = param(None, "Tools whose results are never cleared, with + between names")
    clear_tool_inputs: bool = param(False, "Clear the inputs of these tool uses too")
    edits: Literal["tool_uses", "thinking", "both"] = param(
        "tool_uses", "What to clear: old tool results, old thinking, or both"
    )
    keep_thinking: int = param(
        1, "Newest turns whose thinking stays", minimum=1, maximum=10_000, unit="turns"
    )
    cap_results: int | None = param(None, CAP_HELP, minimum=50, maximum=1_000_000, unit="tokens")

    def __post_init__(self) -> None:
        """Refuse an empty tool name."""
        if self.exclude_tools is not None and not all(self.tools_kept):
            raise InputError(f"exclude_tools: {self.exclude_tools!r} has an empty name in it")

    @property
    def tools_kept(self) -> list[str]:
        """The tools that are never cleared."""
        return [] if self.exclude_tools is None else [name.strip() for name in self.exclude_tools.split("+")]


@register
class ContextEditing(FullHistory):
    """Append-only for the client; the API replaces old tool results by a placeholder each time it reads the request.

    What it cleared is reported on every request anew: one request's figure, never to be summed over requests.
    """

    name: ClassVar[str] = "context_editing"
    title: ClassVar[str] = "context editing"
    description: ClassVar[str] = (
        "Lets the API leave out old tool results and old thinking; everything is still sent."
    )
    Params: ClassVar[type] = ContextEditingParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.CLEAR})

    @classmethod
    def label(cls, params: ContextEditingParams) -> str:
        """Return ``context editing at 100000``, or what it clears where that is thinking alone."""
        words = {
            "keep": "keep {}",
            "clear_at_least": "at least {}",
            "exclude_tools": "but {}",
            "clear_tool_inputs": "inputs too",
            "edits": "clear {}",
            "keep_thinking": "thinking of {} turns",
        }
        if params.edits == "thinking":
            label = f"context editing, thinking of {params.keep_thinking}"
            return with_extras(label, params, told=("trigger", "edits", "keep_thinking"), words=words)
        return with_extras(f"context editing at {params.trigger}", params, told=("trigger",), words=words)

    def options(self) -> RequestOptions:
        """Ask for the edits; clearing thinking comes first where there are both, as the API wants it."""
        edits: list[dict[str, Any]] = []
        if self.params.edits != "tool_uses":
            keep = {"type": "thinking_turns", "value": self.params.keep_thinking}
            edits.append({"type": "clear_thinking_20251015", "keep": keep})
        if self.params.edits != "thinking":
            edits.append(self._clear_tool_uses())
        return RequestOptions(body={"context_management": {"edits": edits}}, betas=(BETA,))

    def _clear_tool_uses(self) -> dict[str, Any]:
        edit: dict[str, Any] = {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": self.params.trigger},
            "keep": {"type": "tool_uses", "value": self.params.keep},
        }
        if self.params.clear_at_least is not None:
            edit["clear_at_least"] = {"type": "input_tokens", "value": self.params.clear_at_least}
        if self.params.tools_kept:
            edit["exclude_tools"] = self.params.tools_kept
        if self.params.clear_tool_inputs:
            edit["clear_tool_inputs"] = True
        return edit
