"""What our own road tells the pretend model beside the request, in one extension header.

The header carries a seed, the recorded reply of this turn and its scripted tool calls: things a real model would
bring along itself. It never carries facts, probes, the purpose of a request or the strategy, so the pretend model cannot
cheat. Requests from other clients carry no hint and get seeded replies of their own.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

HINT_HEADER = "memdash-hint"
"""Name of the extension request header; its value is URL-safe base64 of a JSON object."""

SIMULATED_KEY = "simulator"
"""The key that our own road asks with; signatures are bound to it."""


@dataclass(frozen=True, slots=True)
class HintedCall:
    """One scripted tool call: the name and the input the assistant is to ask for."""

    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HintedStep:
    """One assistant message of the turn that ends in tool calls, with what it says before them."""

    calls: tuple[HintedCall, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Hint:
    """The seed of this request's reply, and what the script says the assistant does in this turn.

    ``steps`` are all tool-calling messages of the turn in order; the pretend model finds the one that is due by counting the
    assistant messages after the last user message that holds no tool result. ``reply`` is the recorded final answer, or None
    where the model is to find its own.
    """

    seed: int
    reply: str | None = None
    steps: tuple[HintedStep, ...] = ()

    def encode(self) -> str:
        """Return the header value."""
        payload: dict[str, Any] = {"seed": self.seed}
        if self.reply is not None:
            payload["reply"] = self.reply
        if self.steps:
            payload["steps"] = [
                {
                    "text": step.text,
                    "calls": [{"name": call.name, "input": call.input} for call in step.calls],
                }
                for step in self.steps
            ]
        return base64.urlsafe_b64encode(json.dumps(payload, separators=(",", ":")).encode()).decode()

    @classmethod
    def decode(cls, value: str) -> Hint:
        """Read a header value.

        Raises ValueError where it is not what :meth:`encode` writes.
        """
        return _decoded(value)


@lru_cache(maxsize=256)
def _decoded(value: str) -> Hint:
    """Every strategy that plays a script brings the same hints."""
    try:
        payload = json.loads(base64.urlsafe_b64decode(value.encode()))
        steps = tuple(
            HintedStep(
                calls=tuple(HintedCall(call["name"], call["input"]) for call in step["calls"]),
                text=step.get("text", ""),
            )
            for step in payload.get("steps", ())
        )
        return Hint(int(payload["seed"]), payload.get("reply"), steps)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a memdash hint: {error}") from error
