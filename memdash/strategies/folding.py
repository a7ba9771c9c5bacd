"""A history whose older part is folded into a memory: the state that every summarising strategy keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memdash.strategies.base import Exchange, Message
from memdash.strategies.messages import Thinking, flatten, strip_exchanges, user_message

Render = Callable[[str], Sequence[Message]]
"""Turns a memory's text into the messages that stand for it."""


@dataclass(frozen=True, slots=True)
class Fold:
    """What a fold did: the turns the memory now stands for, those that stay as they were, and the thinking blocks stripped."""

    replaced_turns: tuple[int, ...]
    kept_turns: tuple[int, ...]
    stripped_blocks: int


class FoldedHistory:
    """A memory, if there is one, and the exchanges after it.

    A fold names the last turn its memory covers, not a position, so that it is right whatever was appended or folded since the
    memory's text was asked for: every exchange is in the memory's covered turns or among the kept ones, exactly once.
    """

    def __init__(self, render: Render, thinking: Thinking = "strip") -> None:
        self._render = render
        self._thinking = thinking
        self._head: tuple[Message, ...] = ()
        self._exchanges: list[Exchange] = []
        self.memory: str | None = None
        self.covered_through = 0

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """The exchanges the memory does not cover."""
        return self._exchanges

    @property
    def last_turn(self) -> int:
        """The latest turn taken in, 0 before the first."""
        return self._exchanges[-1].turn if self._exchanges else self.covered_through

    def messages(self, through: int | None = None) -> list[Message]:
        """Return the memory and the exchanges after it, up to and including turn ``through`` if that is given."""
        kept = self._exchanges if through is None else [one for one in self._exchanges if one.turn <= through]
        return [*self._head, *flatten(kept)]

    def append(self, exchange: Exchange) -> None:
        """Take in a finished exchange."""
        self._exchanges.append(exchange)

    def fold(self, text: str, through: int) -> Fold:
        """Let the memory ``text`` stand for everything up to and including turn ``through``."""
        replaced = [one.turn for one in self._exchanges if one.turn <= through]
        kept = [one for one in self._exchanges if one.turn > through]
        stripped = 0
        if self._thinking == "strip":
            kept, stripped = strip_exchanges(kept)
        self._exchanges = kept
        self._head = tuple(self._render(text))
        self.memory = text
        self.covered_through = max(self.covered_through, through)
        return Fold(tuple(replaced), tuple(one.turn for one in kept), stripped)


def as_user_message(text: str) -> Sequence[Message]:
    """Render a memory as one user message, which announces that an earlier conversation goes on."""
    return (user_message(f"This conversation continues an earlier one. What matters of it:\n\n{text}"),)


def as_pair(text: str) -> Sequence[Message]:
    """Render a brief as a user message and the assistant's acknowledgement."""
    acknowledgement = "Understood. I go on from this brief."
    return (
        user_message(f"Brief of our conversation so far:\n\n{text}"),
        {"role": "assistant", "content": [{"type": "text", "text": acknowledgement}]},
    )
