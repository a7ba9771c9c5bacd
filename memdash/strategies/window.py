"""Window: the last few exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memdash.errors import InputError
from memdash.records import EventKind, Usage
from memdash.strategies.base import Exchange, Message, Strategy, Workspace
from memdash.strategies.capping import CAP_HELP
from memdash.strategies.messages import THINKING_HELP, Thinking, flatten, strip_exchanges
from memdash.strategies.parameters import param, with_extras
from memdash.strategies.registry import register


@dataclass(frozen=True, slots=True)
class WindowParams:
    """How much the window holds, and what becomes of the thinking in it."""

    keep: int = param(
        4, "Exchanges sent each turn, the current one counted", minimum=1, maximum=10_000, unit="exchanges"
    )
    trim_at: int | None = param(
        None,
        "Let the window grow to this many exchanges before it is cut back to keep, so that the prefix stays the same "
        "between cuts; the same as keep, it slides every turn",
        minimum=1,
        maximum=10_000,
        unit="exchanges",
    )
    thinking: Thinking = param("strip", THINKING_HELP)
    cap_results: int | None = param(None, CAP_HELP, minimum=50, maximum=1_000_000, unit="tokens")

    def __post_init__(self) -> None:
        """Settle ``trim_at``: keep, unless it is given."""
        if self.trim_at is None:
            object.__setattr__(self, "trim_at", self.keep)
        elif self.trim_at < self.keep:
            raise InputError(
                f"trim_at: {self.trim_at} is below keep ({self.keep}); the window must hold what it keeps"
            )


@register
class Window(Strategy):
    """Send the last exchanges only. An exchange with its tool calls and results is one unit and is never split."""

    name: ClassVar[str] = "window"
    title: ClassVar[str] = "window"
    description: ClassVar[str] = "Sends only the last few exchanges; everything older is forgotten."
    Params: ClassVar[type] = WindowParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.TRIM})

    def __init__(self, params: WindowParams) -> None:
        super().__init__(params)
        self._exchanges: list[Exchange] = []

    @classmethod
    def label(cls, params: WindowParams) -> str:
        """Return ``window of 4``, with ``(naive)`` where thinking is kept under an edited history."""
        label = f"window of {params.keep}" + (" (naive)" if params.thinking == "keep" else "")
        told = ["keep"] + (["thinking"] if params.thinking == "keep" else [])
        if params.trim_at == params.keep:
            told.append("trim_at")
        return with_extras(label, params, told=told, words={"trim_at": "trimmed at {}", "thinking": "{}"})

    def open(self, message: Message, workspace: Workspace) -> None:
        """Cut back to ``keep`` exchanges, the one that begins now counted, once there are more than ``trim_at``."""
        assert self.params.trim_at is not None  # settled with the parameters
        if len(self._exchanges) + 1 <= self.params.trim_at:
            return
        cut = len(self._exchanges) - (self.params.keep - 1)
        dropped, kept = self._exchanges[:cut], self._exchanges[cut:]
        workspace.note(
            EventKind.TRIM,
            dropped_turns=[exchange.turn for exchange in dropped],
            kept_turns=[exchange.turn for exchange in kept],
            dropped_tokens=workspace.estimate(flatten(dropped)),
        )
        if self.params.thinking == "strip":
            kept, blocks = strip_exchanges(kept)
            if blocks:
                workspace.note(EventKind.STRIP_THINKING, blocks=blocks)
        self._exchanges = kept

    def context(self) -> Sequence[Message]:
        """Return the exchanges in the window."""
        return flatten(self._exchanges)

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Take the exchange into the window."""
        self._exchanges.append(exchange)
