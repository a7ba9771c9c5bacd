"""What the engine asks of a pretend model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from memdash.simulator.hint import Hint, HintedCall


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply before the engine makes content blocks of it.

    ``text`` stands before the calls, or is the final answer. ``thinking_tokens`` is how long the model would think about it
    (0: it does not); the engine drops it where the request has thinking off. ``calls`` become ``tool_use`` blocks.
    """

    text: str
    thinking_tokens: int
    calls: tuple[HintedCall, ...] = ()


class Overloaded(Exception):  # an outcome that a model may have, named for what happened
    """Raised by a pretend model that cannot answer now: the API says 529, and the caller may try again."""


class PretendModel(Protocol):
    """Finds a reply to a request.

    The engine hands in the validated body exactly as sent, the hint of our own road (None for other clients) and a seed that
    fixes every random choice: the same three give the same draft. A reply's text follows the seed and what the request
    shows, never the strategy behind it.
    """

    def draft(self, request: Mapping[str, Any], hint: Hint | None, seed: int) -> Draft:
        """Return the reply to ``request``. May raise :class:`Overloaded`."""
        ...
