"""Small scripts for tests of the replay."""

from __future__ import annotations

import dataclasses
from typing import Any

from memdash.scripts.model import Expectation, Fact, Grading, Script, Step, ToolCall, Turn, Value
from memdash.spec import ComparisonSpec, ReplaySpec
from memdash.strategies import parse


def turn(number: int, text: str = "", **more: Any) -> Turn:
    return Turn(number, ({"type": "text", "text": text or f"message {number}"},), **more)


def budget(
    stated: int = 1, *, value: str = "2400", probe_after: tuple[int, ...] = (), **updates: str
) -> Fact:
    def expect(number: str) -> Expectation:
        return Expectation(Grading.NUMBER, (number,))

    values = [Value(stated, expect(value), expect(value))]
    values += [Value(int(at[1:]), expect(new), expect(new)) for at, new in updates.items()]
    return Fact("budget", "What is our budget?", tuple(values), probe_after)


def chat(turns: int, *facts: Fact, **more: Any) -> Script:
    """``turns`` messages of small talk; turn 1 states a budget of 2,400 euros."""
    first = turn(1, "Hi! Our budget is 2,400 euros.")
    return Script("chat", "A chat", (first, *(turn(n) for n in range(2, turns + 1))), facts=facts, **more)


def with_tools() -> Script:
    """Three turns; the second calls two tools at once, then one more."""
    tool = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
    steps = (
        Step(
            (ToolCall("a", "look", {"at": 1}, "one"), ToolCall("b", "look", {"at": 2}, "two", is_error=True)),
            "Let me look.",
        ),
        Step((ToolCall("c", "look", {"at": 3}, "three"),)),
    )
    return Script(
        "tools",
        "Tools",
        (turn(1), turn(2, "Look around.", steps=steps), turn(3)),
        tools=(tool,),
        system="Help.",
    )


def spec(script: Script, strategy: str = "full_history", **changes: Any) -> ReplaySpec:
    settings = {name: changes.pop(name) for name in ("provider", "check", "turns", "pace") if name in changes}
    (replay,) = ComparisonSpec((script,), (parse(strategy),), id="cmp_test", **settings).replays()
    return dataclasses.replace(replay, token_counter="estimate", **changes)
