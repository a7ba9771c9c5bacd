"""A workspace for strategies under test: it answers from a list, and counts one token a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memdash.records import EventKind, Usage
from memdash.strategies.base import Answer, Ask, Exchange, Job, Message


def summary(text: str, stop_reason: str = "end_turn", problem: str | None = None) -> Answer:
    content = ({"type": "text", "text": text},) if text else ()
    return Answer(content, stop_reason, Usage(input_tokens=10, output_tokens=5), 99, 1500.0, problem)


@dataclass
class DeskJob:
    """A background job that is ready when the test says so."""

    answer: Answer
    finished: bool = False
    waited: bool = False
    started_ms: float = 0.0

    def ready(self) -> bool:
        return self.finished

    def result(self) -> Answer:
        self.waited = not self.finished
        return self.answer


@dataclass
class DeskWorkspace:
    """Everything a strategy asks for, with its answers given beforehand."""

    answers: list[Answer] = field(default_factory=list)
    turn: int = 1
    model: str = "claude-opus-5-5"
    system: str = ""
    fixed_tokens: int = 0
    idle_ms: float | None = None
    cache_lifetime_ms: float | None = 300_000.0
    asked: list[Ask] = field(default_factory=list)
    events: list[tuple[EventKind, dict[str, Any]]] = field(default_factory=list)
    jobs: list[DeskJob] = field(default_factory=list)

    def estimate(self, messages: Sequence[Message]) -> int:
        return sum(len(words(message)) for message in messages)

    def ask(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        return self.answers.pop(0)

    def start(self, ask: Ask) -> Job:
        self.asked.append(ask)
        self.jobs.append(DeskJob(self.answers.pop(0)))
        return self.jobs[-1]

    def note(self, event: EventKind, **data: Any) -> None:
        self.events.append((event, data))

    @property
    def kinds(self) -> list[EventKind]:
        return [event for event, _ in self.events]


def play(strategy: Any, desk: DeskWorkspace, one: Exchange, usage: Usage | None = None) -> list[Message]:
    """Play one turn and return the messages that were sent before its user message."""
    desk.turn = one.turn
    strategy.open(one.messages[0], desk)
    sent = list(strategy.context())
    strategy.close(one, usage or Usage(), desk)
    return sent


def prompt(size: int, output: int = 0) -> Usage:
    """The usage of a request of ``size`` tokens, most of them cached."""
    return Usage(
        input_tokens=3,
        cache_creation_input_tokens=7,
        cache_read_input_tokens=size - 10,
        output_tokens=output,
    )


def words(message: Message) -> list[str]:
    """The words of all text in a message: each counts as one token."""
    found: list[str] = []
    for block in message["content"]:
        text = block.get("text") or block.get("content") or block.get("name") or ""
        found += text.split() if isinstance(text, str) else words({"content": text})
    return found


def user(text: str) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def assistant(text: str, *, thinking: bool = False) -> Message:
    head = [{"type": "thinking", "thinking": "", "signature": f"sig-{text}"}] if thinking else []
    return {"role": "assistant", "content": [*head, {"type": "text", "text": text}]}


def exchange(turn: int, *, size: int = 2, thinking: bool = False) -> Exchange:
    """One question and one answer of ``size`` words each."""
    question = " ".join([f"q{turn}"] * size)
    answer = " ".join([f"a{turn}"] * size)
    return Exchange(turn, (user(question), assistant(answer, thinking=thinking)))


def tool_exchange(turn: int, *, thinking: bool = False) -> Exchange:
    """One question, a tool call with its result, and the answer: four messages."""
    head = [{"type": "thinking", "thinking": "", "signature": f"call-{turn}"}] if thinking else []
    return Exchange(
        turn,
        (
            user(f"q{turn}"),
            {
                "role": "assistant",
                "content": [*head, {"type": "tool_use", "id": f"t{turn}", "name": "look", "input": {}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"t{turn}", "content": "found"}],
            },
            assistant(f"a{turn}", thinking=thinking),
        ),
    )


def turns_in(messages: Sequence[Message]) -> list[str]:
    """The first word of each message's text, in order."""
    return [words(message)[0] for message in messages if words(message)]
