"""A foreign conversation -> a valid script.

The rules, in the order in which they bite:

* System messages before the first other message are the system prompt. A later one is added to it from the next turn on, as
that turn's ``system``.
* A user message begins a turn; directly after another user message it is added to the same turn.
* Where the assistant speaks first, a placeholder stands for the user's message before it.
* An assistant message with tool calls is a step; text after the last step is the recorded reply; several messages are joined.
* A call without a result is answered by an error result; a result without a call is left out. Each is a warning.
* An exchange without a final answer has no recorded reply, so the model closes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memdash.scripts.importers.conversation import Conversation, FixedPart, Message, Notes, Origin
from memdash.scripts.importers.definitions import build_definition, usable_definition, usable_name
from memdash.scripts.limits import EFFORTS, MAX_OUTPUT_TOKENS
from memdash.scripts.model import Script, Step, ToolCall, Turn
from memdash.scripts.validation import ensure_valid

OPENING = "(The assistant opens the conversation.)"
"""User text of a first turn that the source does not have: the API wants the user first."""
EMPTY_MESSAGE = "(empty message)"
"""Stands for a user message without content, which the API refuses."""
NO_RESULT = "No result was recorded for this call."
"""Error result of a call that the source leaves unanswered."""

_MAX_PROMPT_CHANGES = 100
_MOST_NAMED = 20
_TITLE_LENGTH = 80


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    input: dict[str, Any]
    origin: Origin
    result: str | None = None
    is_error: bool = False


@dataclass(slots=True)
class _Step:
    text: str
    calls: list[_Call]


@dataclass(slots=True)
class _Exchange:
    """A turn while it is read."""

    origin: Origin
    content: list[dict[str, Any]] = field(default_factory=list)
    steps: list[_Step] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    fixed: FixedPart | None = None

    @property
    def answered(self) -> bool:
        return bool(self.steps or self.spoken)


def build_script(conversation: Conversation, identifier: str, description: str) -> Script:
    """Return ``conversation`` as a valid script with the id ``identifier``; what was odd is in its warnings.

    Raises:
        ScriptError: there is no user or assistant message in it, or it passes a bound; names file, line and field.
    """
    notes = conversation.notes
    exchanges, fixed = _Reading(conversation).exchanges()
    if not exchanges:
        raise conversation.origin.error("there is no message of a user or an assistant in it")
    _number_calls(exchanges, notes)
    tools_by_turn = _tools_in_force(exchanges, fixed, notes)
    turns, system, tools = [], fixed.system, tools_by_turn[0]
    for number, (exchange, in_force) in enumerate(zip(exchanges, tools_by_turn, strict=True), start=1):
        turn = Turn(number, tuple(exchange.content), _steps(exchange), "\n\n".join(exchange.spoken) or None)
        if exchange.fixed and exchange.fixed.system != system:
            system = exchange.fixed.system
            turn = replace(turn, system=system)
        if in_force is not tools and in_force != tools:
            tools = in_force
            turn = replace(turn, tools=tools)
        turns.append(turn)
    max_tokens = conversation.max_tokens or 0
    return ensure_valid(
        Script(
            id=identifier,
            title=_title(turns),
            turns=tuple(turns),
            description=description,
            system=fixed.system,
            tools=tools_by_turn[0],
            max_tokens=max_tokens if 1 <= max_tokens <= MAX_OUTPUT_TOKENS else 1024,
            effort=conversation.effort if conversation.effort in EFFORTS else None,
            warnings=notes.lines(),
        ),
        conversation.origin.path,
    )


class _Reading:
    """Goes through the messages of one conversation and gathers its exchanges."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._notes = conversation.notes
        self._exchanges: list[_Exchange] = []
        self._fixed = conversation.fixed
        self._now = conversation.fixed
        self._prompt_changes = 0
        self._waiting: dict[str, list[_Call]] = {}

    def exchanges(self) -> tuple[list[_Exchange], FixedPart]:
        for index, message in enumerate(self._conversation.messages):
            if index in self._conversation.changes:
                self._now = self._conversation.changes[index]
            match message.role:
                case "system":
                    self._system(message)
                case "user":
                    self._user(message)
                case "assistant":
                    self._assistant(message)
        if self._exchanges and self._now.system != (self._exchanges[-1].fixed or self._fixed).system:
            last = self._conversation.messages[-1].origin
            self._notes.add(last, "a system message after the last user message is left out")
        for exchange in self._exchanges:
            self._close(exchange)
        for exchange in self._exchanges[:-1]:
            if not exchange.spoken:
                self._notes.add(
                    exchange.origin, "there is no final answer to this message; the model gives one"
                )
        return self._exchanges, self._fixed

    def _system(self, message: Message) -> None:
        text = _joined(message)
        if not text.strip() or text == self._now.system:
            return
        system = f"{self._now.system}\n\n{text}" if self._now.system else text
        self._now = replace(self._now, system=system)
        if not self._exchanges:
            self._fixed = self._now
            return
        self._prompt_changes += 1
        if self._prompt_changes > _MAX_PROMPT_CHANGES:
            problem = f"there are more than {_MAX_PROMPT_CHANGES} system messages after the start of the conversation"
            raise message.origin.error(problem)
        self._notes.add(
            message.origin,
            "a system message amid the conversation is added to the system prompt from the next turn on",
        )

    def _user(self, message: Message) -> None:
        content = [block for block in message.content if block["type"] != "tool_result"]
        results = [block for block in message.content if block["type"] == "tool_result"]
        for block in results:
            self._result(block, message.origin)
        content = [block for block in content if block["type"] != "text" or block["text"].strip()]
        if not content and results:
            return
        if not self._exchanges or self._exchanges[-1].answered:
            self._exchanges.append(_Exchange(message.origin, fixed=self._now))
        self._exchanges[-1].content += content

    def _assistant(self, message: Message) -> None:
        text = _joined(message)
        calls = [
            _Call(block["id"], block["name"], block["input"], message.origin)
            for block in message.content
            if block["type"] == "tool_use"
        ]
        if not text.strip() and not calls:
            self._notes.add(message.origin, "an empty assistant message is left out")
            return
        if not self._exchanges:
            opening: dict[str, Any] = {"type": "text", "text": OPENING}
            self._exchanges.append(_Exchange(message.origin, [opening], fixed=self._now))
            self._notes.add(
                message.origin, f"the assistant speaks first; the user's text {OPENING!r} stands before it"
            )
        exchange = self._exchanges[-1]
        if text.strip():
            exchange.spoken.append(text)
        if calls:
            exchange.steps.append(_Step("\n\n".join(exchange.spoken), calls))
            exchange.spoken.clear()
            # An id that comes again belongs to the new call; twice in one message, the results come in the order of the calls.
            self._waiting |= {call.id: [] for call in calls}
            for call in calls:
                self._waiting[call.id].append(call)

    def _result(self, block: dict[str, Any], origin: Origin) -> None:
        waiting = self._waiting.get(block["tool_use_id"])
        if not waiting:
            self._notes.add(origin, "a tool result without its call is left out")
            return
        call = waiting.pop(0)
        call.result, call.is_error = block["content"], block.get("is_error", False)

    def _close(self, exchange: _Exchange) -> None:
        if not exchange.content:
            exchange.content = [{"type": "text", "text": EMPTY_MESSAGE}]
            self._notes.add(exchange.origin, f"an empty user message reads {EMPTY_MESSAGE!r}")
        for step in exchange.steps:
            for call in step.calls:
                if call.result is None:
                    call.result, call.is_error = NO_RESULT, True
                    self._notes.add(call.origin, "a tool call without a result gets an error result")


def _joined(message: Message) -> str:
    return "\n\n".join(
        block["text"] for block in message.content if block["type"] == "text" and block["text"].strip()
    )


def _number_calls(exchanges: list[_Exchange], notes: Notes) -> None:
    """Give every call an id of its own and a name the API accepts."""
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for call in _all_calls(exchanges):
        given = identifier = call.id or "call"
        while identifier in taken:
            numbers[given] = numbers.get(given, 1) + 1
            identifier = f"{given}-{numbers[given]}"
        taken.add(identifier)
        call.id = identifier
        name = usable_name(call.name)
        if name != call.name:
            notes.add(
                call.origin, f"the tool {call.name[:80]!r} is renamed {name!r}; the API would refuse the name"
            )
            call.name = name


def _all_calls(exchanges: list[_Exchange]) -> Iterator[_Call]:
    return (call for exchange in exchanges for step in exchange.steps for call in step.calls)


def _tools_in_force(
    exchanges: list[_Exchange], fixed: FixedPart, notes: Notes
) -> list[tuple[Mapping[str, Any], ...]]:
    """Return the tool definitions of each exchange: those given, and one built from the calls for each tool that is not."""
    inputs: dict[str, list[dict[str, Any]]] = {}
    for call in _all_calls(exchanges):
        inputs.setdefault(call.name, []).append(call.input)
    given = [(exchange.fixed or fixed).tools for exchange in exchanges]
    usable: dict[int, tuple[Mapping[str, Any], ...]] = {}
    built: dict[str, Mapping[str, Any]] = {}
    for index, tools in enumerate(given):
        if id(tools) not in usable:
            usable[id(tools)] = _usable_tools(tools, exchanges[index].origin, notes)
    # A tool that is called where it is not defined gets a definition that holds throughout, so that no tools change by accident.
    defined = {key: {tool["name"] for tool in tools} for key, tools in usable.items()}
    for exchange, tools in zip(exchanges, given, strict=True):
        for step in exchange.steps:
            for call in step.calls:
                if call.name not in defined[id(tools)] and call.name not in built:
                    built[call.name] = build_definition(call.name, inputs[call.name])
    if built:
        first = next(_all_calls(exchanges))
        names = ", ".join(list(built)[:_MOST_NAMED]) + (" and others" if len(built) > _MOST_NAMED else "")
        notes.add(first.origin, f"tool definitions are built from the calls for: {names}")
    complete = {key: _with_built(tools, built) for key, tools in usable.items()}
    return [complete[id(tools)] for tools in given]


def _usable_tools(
    tools: tuple[Mapping[str, Any], ...], origin: Origin, notes: Notes
) -> tuple[Mapping[str, Any], ...]:
    usable: dict[str, Mapping[str, Any]] = {}
    for tool in tools:
        definition, remark = usable_definition(tool)
        if remark:
            notes.add(origin, remark)
        if definition:
            usable.setdefault(definition["name"], definition)
    return tuple(usable.values())


def _with_built(
    tools: tuple[Mapping[str, Any], ...], built: dict[str, Mapping[str, Any]]
) -> tuple[Mapping[str, Any], ...]:
    names = {tool["name"] for tool in tools}
    return (*tools, *(tool for name, tool in built.items() if name not in names))


def _steps(exchange: _Exchange) -> tuple[Step, ...]:
    return tuple(
        Step(
            tuple(
                ToolCall(call.id, call.name, call.input, call.result or "", call.is_error)
                for call in step.calls
            ),
            step.text,
        )
        for step in exchange.steps
    )


def _title(turns: list[Turn]) -> str:
    texts = (turn.text for turn in turns if turn.text.strip() and turn.text != OPENING)
    words = re.sub(r"\s+", " ", next(texts, "")).strip()
    if len(words) > _TITLE_LENGTH:
        words = words[: _TITLE_LENGTH - 1].rsplit(" ", 1)[0] + "…"
    return words or "Imported conversation"
