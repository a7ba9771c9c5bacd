"""The script: a scripted conversation with planted facts and the questions that test them.

Everything here is immutable data, valid by construction once :mod:`memdash.scripts.validation` has passed it. A script knows
nothing of strategies, requests or models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Json = Any
"""A JSON value as the ``json`` module makes it."""

Block = Mapping[str, Any]
"""One content block in the Messages API's own form, for instance ``{"type": "text", "text": "Hello"}``."""


class Material(StrEnum):
    """What a generated tool result is made of."""

    LOG = "log"
    """Lines with a time, in order of time."""
    TABLE = "table"
    """A head and rows of cells between bars, as a query returns them."""
    LISTING = "listing"
    """Files with size, time and path."""
    JSON = "json"
    """An array of objects, one on each line."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a long tool result is generated from (:mod:`memdash.scripts.generating`).

    ``lines`` counts the lines of the body, without a table's head and an array's brackets. The lines ``include`` are among
    them, in this order and at places that the seed decides.
    """

    kind: Material
    lines: int
    seed: int
    include: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One scripted tool call and the result it gets.

    ``id`` is unique in its script and serves error messages only; on the wire every call has the id the model gave it.
    ``generated`` is what ``result`` was made from, None where it was written out; it serves the YAML form only.
    """

    id: str
    name: str
    input: Mapping[str, Json]
    result: str
    is_error: bool = False
    generated: Recipe | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One assistant message of a turn that ends in tool calls (several calls are parallel), with the text before them."""

    calls: tuple[ToolCall, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One user message and what is scripted of the assistant's exchange that follows.

    ``content`` is the user's message as content blocks. ``reply`` is the recorded final answer, None where the model finds its
    own. ``pause`` is user think time in seconds before the turn, None for the comparison's pace. ``system`` and ``tools``, where
    set, replace the fixed part from this turn on (that edits the prefix, and people do it).
    """

    number: int
    content: tuple[Block, ...]
    steps: tuple[Step, ...] = ()
    reply: str | None = None
    pause: float | None = None
    system: str | None = None
    tools: tuple[Mapping[str, Json], ...] | None = None

    @property
    def text(self) -> str:
        """The user's words without other blocks."""
        return "\n".join(block["text"] for block in self.content if block.get("type") == "text")


class Grading(StrEnum):
    """How an answer is checked."""

    REGEX = "regex"
    """The pattern is found in the answer, ignoring case."""
    NUMBER = "number"
    """The number is in the answer, however it is written (2400, 2,400, 2 400.00)."""
    DATE = "date"
    """The date (ISO 8601) is in the answer, however it is written."""
    ALL_OF = "all_of"
    """Every one of several strings is in the answer, ignoring case."""
    F1 = "f1"
    """Token F1 against the reference reaches 0.5; for imported question sets."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a right answer matches. ``values`` holds one pattern, number, date or reference, and several for ``all_of``."""

    grading: Grading
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """What a fact says from one turn on.

    ``answer`` grades an answer to the probe. ``text`` finds the fact's words in a request (the measure *kept*); it is the
    answer's expectation unless the script gives another.
    """

    turn: int
    answer: Expectation
    text: Expectation


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the script states that must be remembered, and the question that asks for it.

    ``values`` are in order of turn: the first as stated, then the updates; the latest value counts, an earlier one is stale.
    ``probe_after`` lists the turns after which the question is asked; empty means after the last turn of the replay. ``kind`` is
    a word for what kind of thing it is, None where the script does not say; breakdowns read :attr:`fact_type`.
    """

    id: str
    question: str
    values: tuple[Value, ...]
    probe_after: tuple[int, ...] = ()
    kind: str | None = None

    @property
    def fact_type(self) -> str:
        """What kind of thing it is, as the script says or as its latest answer is graded: number, date, list or text."""
        return self.kind or _TYPES[self.values[-1].answer.grading]

    def stated_by(self, turn: int) -> tuple[Value, ...]:
        """The values stated up to and including ``turn``, the latest last; empty if the fact is not yet stated."""
        return tuple(value for value in self.values if value.turn <= turn)


_TYPES = {
    Grading.NUMBER: "number",
    Grading.DATE: "date",
    Grading.ALL_OF: "list",
    Grading.REGEX: "text",
    Grading.F1: "text",
}


@dataclass(frozen=True, slots=True)
class Script:
    """A scripted conversation.

    ``fixed_tokens`` stands for a fixed part that is not given (that many tokens of filler go before ``system``); None where the
    script gives all of it. ``tool_defaults`` answers calls the script does not foresee, by tool name. ``warnings`` are what
    validation noticed without refusing the script.
    """

    id: str
    title: str
    turns: tuple[Turn, ...]
    description: str = ""
    system: str = ""
    tools: tuple[Mapping[str, Json], ...] = ()
    tool_defaults: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    fixed_tokens: int | None = None
    max_tokens: int = 1024
    effort: str | None = None
    warnings: tuple[str, ...] = ()
