"""A test kit for strategies of your own: what our own must keep to, asked of yours.

In a ``conftest.py``::

    pytest_plugins = ["memdash.testing"]

and in a test::

    def test_my_strategy(check_strategy):
        check_strategy("./mine.py:MyWindow:keep=3")

It needs pytest, which memdash itself does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from memdash.claude import connect
from memdash.records import EventKind, EventRecord, Record, Status, last_status
from memdash.replay import replay
from memdash.scripts.model import Expectation, Fact, Grading, Script, Step, ToolCall, Turn, Value
from memdash.spec import ComparisonSpec, ReplaySpec
from memdash.strategies import StrategyChoice, parse

_LOOK = {"name": "look", "description": "Look at a place.", "input_schema": {"type": "object"}}


def check(strategy: str | StrategyChoice, scripts: Sequence[Script] | None = None) -> None:
    """Replay conversations through a strategy and raise AssertionError with every rule it breaks.

    ``strategy`` is written as on the command line. The conversations have tool calls in parallel and in steps, pauses beyond the
    cache's lifetime, thinking in every answer and the history check on; ``scripts`` puts others in their place. The
    rules: each replay runs to its end, user turns go out word for word, roles and tool calls are in an order
    the API takes, earlier
    messages change only with a declared event, :meth:`context` is pure, token counts and cache reads add up, and a
    replay cut short goes on to the same end.
    """
    choice = parse(strategy) if isinstance(strategy, str) else strategy
    problems = [
        f"{script.id}: {problem}"
        for script in scripts or trial_scripts()
        for problem in _problems(choice, script)
    ]
    if problems:
        raise AssertionError(f"{choice.label} breaks {len(problems)} rule(s):\n" + "\n".join(problems))


@pytest.fixture
def check_strategy() -> Callable[..., None]:
    """:func:`check`, as a fixture."""
    return check


def trial_scripts() -> tuple[Script, ...]:
    """Return the conversations that :func:`check` plays: plain chat, tools, and one with pauses and large results."""
    chat = tuple(_turn(number, f"And what about point {number} of our plan?") for number in range(2, 15))
    first = _turn(1, "Hello! Our budget is 2,400 euros for everything.")
    budget = Expectation(Grading.NUMBER, ("2400",))
    fact = Fact("budget", "What is our budget?", (Value(1, budget, budget),), probe_after=(4, 9, 14))
    calls = Step((_call("a", 1, "all quiet"), _call("b", 2, "a door is open")), "Let me look.")
    again = Step((_call("c", 3, "the door is shut now"),))
    tools = (
        _turn(1, "Please look around.", steps=(calls, again)),
        _turn(2, "Thanks. And once more?", steps=(again,)),
        *(_turn(number, f"Fine, go on with step {number}.") for number in range(3, 9)),
    )
    large = Step((_call("d", 4, "line of a long log, nothing to see here\n" * 400),))
    paused = tuple(
        _turn(
            number, f"Let us look at part {number}.", steps=(large,) if number % 3 == 0 else (), pause=pause
        )
        for number, pause in enumerate((None, 400.0, None, None, 4_000.0, None, 310.0, None), 1)
    )
    system = "You help with plans. Answer in at most 80 words."
    return (
        Script("chat", "Chat", (first, *chat), system=system, facts=(fact,)),
        Script("tools", "Tools", tools, system=system, tools=(_LOOK,)),
        Script("pauses", "Pauses and large results", paused, system=system, tools=(_LOOK,)),
    )


def _turn(number: int, text: str, *, steps: tuple[Step, ...] = (), pause: float | None = None) -> Turn:
    return Turn(number, ({"type": "text", "text": text},), steps=steps, pause=pause)


def _call(id: str, at: int, result: str) -> ToolCall:
    return ToolCall(id, "look", {"at": at}, result)


def _problems(choice: StrategyChoice, script: Script) -> list[str]:
    comparison = ComparisonSpec((script,), (choice,), check=True, token_counter="estimate")
    (spec,) = comparison.replays()
    records = _play(spec)
    end = last_status(records)
    if end is None or end.status is not Status.DONE:
        return [f"the replay ended as {end.status}: {end.message}" if end else "the replay did not end"]
    verdicts = [
        one.data for one in records if isinstance(one, EventRecord) and one.event is EventKind.VERDICT
    ]
    problems = [
        f"request {violation['request']}, {violation['rule']}: {violation['text']}"
        for verdict in verdicts
        for violation in verdict["violations"]
    ]
    return problems or _broken_promises(spec, records)


def _broken_promises(spec: ReplaySpec, records: list[Record]) -> list[str]:
    """What only shows when a replay is run again: state outside the instance, or work done where none may be."""
    if _play(spec) != records:
        return [
            "a second replay went otherwise; keep all state in the instance, and use no clock or chance of your own"
        ]
    cut = len(records) // 2
    rest = _play(spec, records[:cut])
    if rest != records[cut:]:
        return [f"a replay cut before record {cut} did not go on to the same end"]
    return []


def _play(spec: ReplaySpec, resume_from: Sequence[Record] = ()) -> list[Record]:
    return list(replay(spec, *connect(spec), resume_from=resume_from))
