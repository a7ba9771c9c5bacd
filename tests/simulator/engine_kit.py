"""An engine whose arithmetic can be done by hand: one token a word, and a model that says what it is told to.

Frames on Claude Opus 5.5: 3 tokens open a message, 3 the system prompt, 3 the reply; 12 stand around a tool call, 10
around a tool result, 12 around a tool definition, 286 are the hidden prompt of any tools.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memdash.models import TokenFamily
from memdash.simulator.engine import Caller, Engine, Outcome, SimulatorConfig
from memdash.simulator.hint import Hint, HintedCall
from memdash.simulator.pretend.draft import Draft
from memdash.simulator.rules import BINDING_CONTROLS

OPUS = "claude-opus-5-5"
AUTO = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
MINUTE_MS = 60_000.0


class WordCounter:
    """One token a word."""

    name = "words"

    def count(self, text: str, family: TokenFamily) -> int:
        return len(text.split())


@dataclass
class Parrot:
    """Says, thinks and calls what it is told to."""

    text: str = "Fine by me."
    thinking: int = 0
    calls: tuple[HintedCall, ...] = ()
    seeds: list[int] = field(default_factory=list)

    def draft(self, request: Mapping[str, Any], hint: Hint | None, seed: int) -> Draft:
        self.seeds.append(seed)
        return Draft(self.text, self.thinking, self.calls)


def words(count: int, word: str = "word") -> str:
    """A text of so many tokens."""
    return " ".join([word] * count)


def new_engine(parrot: Parrot | None = None, **config: Any) -> Engine:
    """An engine that counts words; latency 0, so that an entry is readable at once."""
    settings = {"seed": 7, "latency_factor": 0.0, **config}
    return Engine(SimulatorConfig(**settings), parrot or Parrot(), WordCounter())


def caller(*betas: str, version: str = "2026-10-21", key: str = "key", hint: Hint | None = None) -> Caller:
    """A caller under the newer API version unless told otherwise."""
    return Caller(key, version, frozenset(betas), hint)


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def tool_use(id: str, name: str = "look_up", input: Any = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": {} if input is None else input}


def tool_result(id: str, content: Any = "found") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def tool(name: str = "look_up", **more: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": {"type": "object"}, **more}


def body(messages: Any = None, **more: Any) -> dict[str, Any]:
    """A valid request of one user message, with changes; a value of ``...`` takes a field out."""
    request = {
        "model": OPUS,
        "max_tokens": 1_000,
        "messages": [user("Hello there")] if messages is None else messages,
        **more,
    }
    return {name: value for name, value in request.items() if value is not ...}


def usage(outcome: Outcome) -> tuple[int, int, int]:
    """Plain input, written and read tokens."""
    reported = outcome.message["usage"]
    return (
        reported["input_tokens"],
        reported["cache_creation_input_tokens"],
        reported["cache_read_input_tokens"],
    )


class Talk:
    """A conversation that grows: each turn sends everything and keeps the answer as received."""

    def __init__(self, engine: Engine, asker: Caller | None = None, **more: Any) -> None:
        self.engine = engine
        self.caller = asker or caller(BINDING_CONTROLS)
        self.more = more
        self.messages: list[dict[str, Any]] = []
        self.now = 0.0

    def say(self, content: Any, **more: Any) -> Outcome:
        self.messages.append(user(content))
        outcome = self.send(**more)
        self.messages.append(assistant(outcome.message["content"]))
        return outcome

    def send(self, messages: list[dict[str, Any]] | None = None, **more: Any) -> Outcome:
        sent = copy.deepcopy(self.messages if messages is None else messages)
        return self.engine.create_message(body(sent, **{**self.more, **more}), self.caller, self.now)
