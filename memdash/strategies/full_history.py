"""Full history: everything, append-only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memdash.records import EventKind, Usage
from memdash.strategies.base import Exchange, Message, RequestOptions, Workspace, register


@dataclass(frozen=True, slots=True)
class FullHistoryParams:
    """Full history has no parameters."""


@register
class FullHistory:
    """Send every message again, each turn, unchanged: the baseline, and what the prompt cache likes best."""

    name: ClassVar[str] = "full_history"
    title: ClassVar[str] = "full history"
    description: ClassVar[str] = "Sends the whole conversation every turn and never changes it."
    Params: ClassVar[type] = FullHistoryParams
    fires: ClassVar[frozenset[EventKind]] = frozenset()

    def __init__(self, params: FullHistoryParams) -> None:
        self._messages: list[Message] = []

    @classmethod
    def label(cls, params: FullHistoryParams) -> str:
        """Return its name in a comparison."""
        return cls.title

    def open(self, message: Message, workspace: Workspace) -> None:
        """Nothing is done to the past."""

    def context(self) -> Sequence[Message]:
        """Return the whole history."""
        return self._messages

    def options(self) -> RequestOptions:
        """Return no options."""
        return RequestOptions()

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Append the exchange."""
        self._messages.extend(exchange.messages)
