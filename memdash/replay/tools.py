"""Answering the model's tool calls from the script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memdash.scripts.model import Script, ToolCall, Turn


class ToolAnswers:
    """Finds the scripted result of a call.

    A call is answered by the next scripted call of its turn with the same name and input, else by one
    already used in this turn, else
    by one of another turn, else by the script's default for that tool.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._open: list[ToolCall] = []
        self._turn_calls: list[ToolCall] = []

    def begin(self, turn: Turn) -> None:
        """A turn begins; its scripted calls are all open."""
        self._turn_calls = _calls(turn)
        self._open = list(self._turn_calls)

    def result_block(self, call: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the ``tool_result`` block that answers a ``tool_use`` block; None where nothing is scripted."""
        scripted = self._find(call["name"], call["input"])
        if scripted is not None:
            block = {"type": "tool_result", "tool_use_id": call["id"], "content": scripted.result}
            return {**block, "is_error": True} if scripted.is_error else block
        default = self._script.tool_defaults.get(call["name"])
        return (
            None
            if default is None
            else {"type": "tool_result", "tool_use_id": call["id"], "content": default}
        )

    def _find(self, name: str, input: Mapping[str, Any]) -> ToolCall | None:
        for scripted in self._open:
            if scripted.name == name and scripted.input == input:
                self._open.remove(scripted)
                return scripted
        others = (call for turn in self._script.turns for call in _calls(turn))
        for scripted in (*self._turn_calls, *others):
            if scripted.name == name and scripted.input == input:
                return scripted
        return None


def _calls(turn: Turn) -> list[ToolCall]:
    return [call for step in turn.steps for call in step.calls]
