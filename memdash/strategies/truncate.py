"""Truncate: drop from the front until an estimate fits a token budget."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from memdash.records import EventKind, Usage
from memdash.strategies.base import Exchange, Message, RequestOptions, Strategy, Workspace
from memdash.strategies.capping import CAP_HELP
from memdash.strategies.messages import (
    THINKING_HELP,
    Thinking,
    flatten,
    strip_exchanges,
    user_message,
)
from memdash.strategies.parameters import param, with_extras
from memdash.strategies.registry import register


@dataclass(frozen=True, slots=True)
class TruncateParams:
    """The budget, how far below it to cut, and how carefully."""

    budget: int = param(
        4_000, "Tokens a request may have, by estimate", minimum=100, maximum=1_000_000, unit="tokens"
    )
    down_to: float = param(
        1.0,
        "Once over the budget, cut to this share of it, so that the prefix stays the same for a while",
        minimum=0.1,
        maximum=1.0,
    )
    mode: Literal["safe", "naive"] = param(
        "safe",
        "safe counts the whole request and drops whole exchanges; naive counts the messages only and shifts them out one by "
        "one, which splits tool calls from their results",
    )
    system: Literal["prompt", "message"] = param(
        "prompt",
        "Where the instructions stand: in the system prompt, or as the first message, which truncation then throws away",
    )
    thinking: Thinking = param("strip", THINKING_HELP)
    cap_results: int | None = param(None, CAP_HELP, minimum=50, maximum=1_000_000, unit="tokens")


@register
class Truncate(Strategy):
    """Drop the oldest until the rest fits; the exchange at hand always stays."""

    name: ClassVar[str] = "truncate"
    title: ClassVar[str] = "truncate"
    description: ClassVar[str] = "Drops the oldest messages until the request fits a token budget."
    Params: ClassVar[type] = TruncateParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.TRIM})

    def __init__(self, params: TruncateParams) -> None:
        super().__init__(params)
        self._exchanges: list[Exchange] = []
        self._instructions_placed = False

    @classmethod
    def label(cls, params: TruncateParams) -> str:
        """Return ``truncate to 4000``, with ``(naive)`` for the naive mode."""
        label = f"truncate to {params.budget}" + (" (naive)" if params.mode == "naive" else "")
        return with_extras(
            label,
            params,
            told=("budget", "mode"),
            words={"down_to": "down to {}", "system": "system as message"},
        )

    def open(self, message: Message, workspace: Workspace) -> None:
        """Drop from the front until the request, the new message included, fits."""
        if self.params.system == "message" and not self._instructions_placed:
            self._instructions_placed = True
            if workspace.system:
                self._exchanges.append(Exchange(workspace.turn, (user_message(workspace.system),)))
        if self.params.mode == "safe":
            self._drop_exchanges(message, workspace)
        else:
            self._shift_messages(message, workspace)

    def _drop_exchanges(self, message: Message, workspace: Workspace) -> None:
        fixed = 0 if self.params.system == "message" else workspace.fixed_tokens
        newest = fixed + workspace.estimate([message])
        sizes = [workspace.estimate(exchange.messages) for exchange in self._exchanges]
        total = newest + sum(sizes)
        if total > self.params.budget:
            target = self.params.budget * self.params.down_to
            cut = 0
            while cut < len(sizes) and total > target:
                total -= sizes[cut]
                cut += 1
            if cut:
                self._note_trim(self._exchanges[:cut], sum(sizes[:cut]), workspace)
                self._exchanges = self._without_thinking(self._exchanges[cut:], workspace)
        if newest > self.params.budget:
            workspace.note(EventKind.OVER_BUDGET, tokens=newest, budget=self.params.budget)

    def _shift_messages(self, message: Message, workspace: Workspace) -> None:
        messages = flatten(self._exchanges)
        sizes = [workspace.estimate([one]) for one in messages]
        total = sum(sizes) + workspace.estimate([message])
        if total <= self.params.budget:
            return
        target = self.params.budget * self.params.down_to
        cut = 0
        while cut < len(messages) and total > target:
            total -= sizes[cut]
            cut += 1
        self._note_trim(_split(self._exchanges, cut)[0], sum(sizes[:cut]), workspace)
        self._exchanges = self._without_thinking(_split(self._exchanges, cut)[1], workspace)
        if total > self.params.budget:
            workspace.note(EventKind.OVER_BUDGET, tokens=total, budget=self.params.budget)

    def _note_trim(self, dropped: Sequence[Exchange], tokens: int, workspace: Workspace) -> None:
        workspace.note(
            EventKind.TRIM,
            dropped_turns=[exchange.turn for exchange in dropped],
            dropped_messages=sum(len(exchange.messages) for exchange in dropped),
            dropped_tokens=tokens,
        )

    def _without_thinking(self, exchanges: list[Exchange], workspace: Workspace) -> list[Exchange]:
        if self.params.thinking != "strip":
            return exchanges
        stripped, blocks = strip_exchanges(exchanges)
        if blocks:
            workspace.note(EventKind.STRIP_THINKING, blocks=blocks)
        return stripped

    def context(self) -> Sequence[Message]:
        """Return what is left of the history."""
        return flatten(self._exchanges)

    def options(self) -> RequestOptions:
        """Leave the system prompt out where it is a message; ask the API to drop blocks where that was chosen."""
        return dataclasses.replace(super().options(), omit_system=self.params.system == "message")

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Append the exchange."""
        self._exchanges.append(exchange)


def _split(exchanges: Sequence[Exchange], messages: int) -> tuple[list[Exchange], list[Exchange]]:
    """Cut after ``messages`` messages, through an exchange if it comes to that."""
    before: list[Exchange] = []
    after: list[Exchange] = []
    for exchange in exchanges:
        here = min(messages, len(exchange.messages))
        messages -= here
        if here:
            before.append(Exchange(exchange.turn, exchange.messages[:here]))
        if here < len(exchange.messages):
            after.append(Exchange(exchange.turn, exchange.messages[here:]))
    return before, after
