"""Full history: everything, append-only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memdash.records import Usage
from memdash.strategies.base import Exchange, Message, Strategy, Workspace
from memdash.strategies.registry import register


@dataclass(frozen=True, slots=True)
class FullHistoryParams:
    """Full history has no parameters."""


@register
class FullHistory(Strategy):
    """Send every message again, each turn, unchanged: the baseline, and what the prompt cache likes best."""

    name: ClassVar[str] = "full_history"
    title: ClassVar[str] = "full history"
    description: ClassVar[str] = "Sends the whole conversation every turn and never changes it."
    Params: ClassVar[type] = FullHistoryParams

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        self._messages: list[Message] = []

    def context(self) -> Sequence[Message]:
        """Return the whole history."""
        return self._messages

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Append the exchange."""
        self._messages.extend(exchange.messages)
