"""What several strategies do with messages: leave thinking out, flatten exchanges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from memdash.strategies.base import Exchange, Message

Thinking = Literal["strip", "keep", "drop_block"]
"""What happens to the thinking blocks of kept turns once history was edited before them."""

THINKING_KINDS = frozenset({"thinking", "redacted_thinking"})

THINKING_HELP = (
    "What to do with the thinking blocks of kept turns once older turns are gone: strip them, keep them "
    "(naive: a model that checks them refuses the request), or have the API drop them (drop_block)"
)


class Stripped(NamedTuple):
    """Messages without thinking, and how many thinking blocks were left out."""

    messages: tuple[Message, ...]
    blocks: int


def strip_thinking(messages: Iterable[Message]) -> Stripped:
    """Leave out every thinking block; other blocks and untouched messages are the same objects as before.

    A message that held nothing else is left out too, as the API takes no empty one.
    """
    return _without(messages, THINKING_KINDS)


def strip_compactions(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Leave out every compaction block, so that the API reads what stands before it again."""
    return _without(messages, _COMPACTIONS).messages


_COMPACTIONS = frozenset({"compaction"})


def _without(messages: Iterable[Message], kinds: frozenset[str]) -> Stripped:
    kept: list[Message] = []
    blocks = 0
    for message in messages:
        content = [block for block in message["content"] if block.get("type") not in kinds]
        dropped = len(message["content"]) - len(content)
        blocks += dropped
        if not dropped:
            kept.append(message)
        elif content:
            kept.append({"role": message["role"], "content": content})
    return Stripped(tuple(kept), blocks)


def strip_exchanges(exchanges: Iterable[Exchange]) -> tuple[list[Exchange], int]:
    """Leave thinking out of whole exchanges; returns them and how many blocks went."""
    stripped = [(exchange.turn, strip_thinking(exchange.messages)) for exchange in exchanges]
    return [Exchange(turn, one.messages) for turn, one in stripped], sum(one.blocks for _, one in stripped)


def flatten(exchanges: Iterable[Exchange]) -> list[Message]:
    """Return the messages of ``exchanges`` in order."""
    return [message for exchange in exchanges for message in exchange.messages]


def user_message(text: str) -> Message:
    """Return a user message of one text block."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}
