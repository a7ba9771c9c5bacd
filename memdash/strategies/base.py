"""The seam every strategy is built on: what it may do, and what it may use.

A strategy decides what goes before the user's message and what is kept after the answer. It sees content blocks exactly as
the API gave them and hands them back unchanged, unless it declares the edit as an event. It never talks to the API itself: extra
model calls, background jobs and the clock come from its :class:`Workspace`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from memdash.records import EventKind, Usage
from memdash.strategies.capping import cap_result
from memdash.strategies.parameters import with_extras

Message = Mapping[str, Any]
"""One message in the API's form: ``{"role": "user" | "assistant", "content": [block, …]}``; content is always a list."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One user message and everything up to the assistant's final answer, tool calls and results included."""

    turn: int
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What a strategy adds to each request of a turn: body fields, and the beta headers they need.

    ``thinking`` fields are merged into the request's own thinking configuration. ``omit_system`` leaves the
    system prompt out, for
    a strategy that carries it in its messages.
    """

    body: Mapping[str, Any] = field(default_factory=dict)
    thinking: Mapping[str, Any] = field(default_factory=dict)
    betas: tuple[str, ...] = ()
    omit_system: bool = False


DROP_BLOCK = RequestOptions(
    thinking={"block_binding": {"prefix_mismatch_behavior": "drop_block"}},
    betas=("thinking-binding-controls-2026-08-01",),
)
"""Asks the API to leave out thinking blocks that an edit of the history has made invalid (Messages API, preserved thinking)."""


@dataclass(frozen=True, slots=True)
class Ask:
    """An extra model call, charged to the strategy as purpose ``summary``.

    With ``live_prefix`` it goes out with the conversation's own system prompt and tools, else with
    ``system`` alone and no cache mark.
    ``model`` None is the replay's model.
    """

    messages: tuple[Message, ...]
    system: str | None = None
    model: str | None = None
    max_tokens: int = 1024
    live_prefix: bool = False
    options: RequestOptions = RequestOptions()


@dataclass(frozen=True, slots=True)
class Answer:
    """What an extra model call gave. ``problem`` says why it must not be used (an API error), else None."""

    content: tuple[Mapping[str, Any], ...]
    stop_reason: str | None
    usage: Usage
    request: int
    elapsed_ms: float
    problem: str | None = None

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(block["text"] for block in self.content if block.get("type") == "text")


class Job(Protocol):
    """An extra model call that runs beside the conversation, on the replay's clock."""

    @property
    def started_ms(self) -> float:
        """When it was started."""

    def ready(self) -> bool:
        """Whether its answer is there now."""

    def result(self) -> Answer:
        """Return the answer; where it is not there yet, the turn waits for it, and that is wait."""


class Workspace(Protocol):
    """What a strategy may use while it works."""

    @property
    def turn(self) -> int:
        """The number of the turn at hand, from 1."""

    @property
    def model(self) -> str:
        """The model that answers the conversation."""

    @property
    def system(self) -> str:
        """The conversation's system prompt as of this turn."""

    @property
    def fixed_tokens(self) -> int:
        """An estimate of the fixed part (system prompt and tools), in tokens."""

    @property
    def idle_ms(self) -> float | None:
        """Time since the last request of the conversation began; None before the first."""

    @property
    def cache_lifetime_ms(self) -> float | None:
        """How long a cache entry lives; None without caching."""

    def estimate(self, messages: Sequence[Message]) -> int:
        """Estimate ``messages`` in tokens, without the fixed part. An estimate: the API's own count is in the usage."""

    def ask(self, ask: Ask) -> Answer:
        """Make an extra model call now; what it takes is wait."""

    def start(self, ask: Ask) -> Job:
        """Start an extra model call beside the conversation."""

    def note(self, event: EventKind, **data: Any) -> None:
        """Declare what was done. Every edit of earlier messages must be declared."""


class Strategy(ABC):
    """A conversation-memory strategy: a small class that says what is sent, and what is kept.

    The replay calls, for each turn: :meth:`open` when the user's message has arrived, then :meth:`context` and
    :meth:`options` (what is sent is decided once an exchange; inside a tool loop requests only grow), :meth:`admit` for each
    tool result, and :meth:`close` when the final answer is there. Between turns it may call :meth:`context` any
    number of times, for probes: it must be pure. A subclass says its ``name``, ``title``, ``description``
    and ``Params``, and writes
    :meth:`context` and :meth:`close`; the rest has defaults that fit a strategy with no work of its own.
    """

    name: ClassVar[str]
    """Its spelling on the command line."""
    title: ClassVar[str]
    """Its name for people, in lower case."""
    description: ClassVar[str]
    """One line a newcomer understands."""
    Params: ClassVar[type]
    """A frozen dataclass of :func:`param` fields; the first is the main one. Its ``__post_init__`` may settle a default that
    depends on another parameter, and raise :class:`InputError` where two do not fit."""
    fires: ClassVar[frozenset[EventKind]] = frozenset()
    """The events that show that its threshold was reached; empty where it has none."""
    signed_by_api: ClassVar[bool] = False
    """Whether the API signs what this strategy keeps, so that the simulator and the live API cannot share a conversation."""

    def __init__(self, params: Any) -> None:
        self.params = params

    @classmethod
    def label(cls, params: Any) -> str:
        """Return its name in a comparison, for instance ``window of 4``: the title, and every parameter not at its default."""
        return with_extras(cls.title, params)

    def open(self, message: Message, workspace: Workspace) -> None:
        """A user message has arrived; do what must be done before it is sent. Nothing by default."""

    @abstractmethod
    def context(self) -> Sequence[Message]:
        """Return the messages that go before the next user message."""

    def options(self) -> RequestOptions:
        """Return what this strategy adds to each request: nothing by default, ``drop_block`` where ``thinking`` says so."""
        return DROP_BLOCK if getattr(self.params, "thinking", None) == "drop_block" else RequestOptions()

    def admit(self, result: Mapping[str, Any], workspace: Workspace) -> Mapping[str, Any]:
        """Return the ``tool_result`` block as it is to be added: shortened where a parameter ``cap_results`` says so."""
        limit: int | None = getattr(self.params, "cap_results", None)
        return result if limit is None else cap_result(result, limit, workspace)

    @abstractmethod
    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Take in a finished exchange; ``usage`` is that of its last request."""
