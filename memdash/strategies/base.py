"""The seam every strategy is built on: its contract, its parameters and the registry.

A strategy decides what goes before the user's message and what is kept after the answer. It sees content blocks exactly as
the API gave them and hands them back unchanged, unless it declares the edit as an event. It never talks to the API itself: extra
model calls, background jobs and the clock come from its :class:`Workspace`.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from memdash.errors import InputError
from memdash.records import EventKind, Usage

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


class Strategy(Protocol):
    """A conversation-memory strategy.

    The replay calls, for each turn: :meth:`open` when the user's message has arrived, then :meth:`context` and :meth:`options`
    (what is sent is decided once an exchange; inside a tool loop requests only grow), and :meth:`close` when
    the final answer is there.
    Between turns it may call :meth:`context` any number of times, for probes: it must be pure.
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
    fires: ClassVar[frozenset[EventKind]]
    """The events that show that its threshold was reached; empty where it has none."""

    def __init__(self, params: Any) -> None: ...

    @classmethod
    def label(cls, params: Any) -> str:
        """Its name in a comparison, for instance ``window of 4``."""

    def open(self, message: Message, workspace: Workspace) -> None:
        """A user message has arrived; do what must be done before it is sent."""

    def context(self) -> Sequence[Message]:
        """Return the messages that go before the next user message."""

    def options(self) -> RequestOptions:
        """Return what this strategy adds to each request."""

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Take in a finished exchange; ``usage`` is that of its last request."""


# -- parameters ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a strategy, as the form, the command line and validation see it."""

    name: str
    type: type[int] | type[float] | type[bool] | type[str]
    default: Any
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    optional: bool = False

    def parse(self, value: Any) -> Any:
        """Turn a typed or written value into one of this parameter's type.

        Raises :class:`InputError` where it is out of range or of another kind.
        """
        if value is None or (self.optional and isinstance(value, str) and value.lower() in ("", "none")):
            if self.optional:
                return None
            raise InputError(f"{self.name}: a value is needed")
        converted = self._convert(value)
        if self.choices and converted not in self.choices:
            raise InputError(f"{self.name}: {value!r} is not one of {', '.join(self.choices)}")
        if self.minimum is not None and converted < self.minimum:
            raise InputError(f"{self.name}: {value} is below the smallest value, {self.minimum:g}")
        if self.maximum is not None and converted > self.maximum:
            raise InputError(f"{self.name}: {value} is above the largest value, {self.maximum:g}")
        return converted

    def _convert(self, value: Any) -> Any:
        if self.type is bool:
            if isinstance(value, bool):
                return value
            if isinstance(value, str) and value.lower() in ("true", "yes", "on", "1"):
                return True
            if isinstance(value, str) and value.lower() in ("false", "no", "off", "0"):
                return False
            raise InputError(f"{self.name}: {value!r} is not true or false")
        if self.type is str:
            return str(value)
        kind = "a whole number" if self.type is int else "a number"
        if isinstance(value, bool):
            raise InputError(f"{self.name}: {value!r} is not {kind}")
        try:
            number = self.type(value.replace("_", "") if isinstance(value, str) else value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{self.name}: {value!r} is not {kind}") from None
        if number != number or number in (float("inf"), float("-inf")):
            raise InputError(f"{self.name}: {value!r} is not {kind}")
        if self.type is int and not isinstance(value, str) and number != value:
            raise InputError(f"{self.name}: {value!r} is not {kind}")
        return number


def param(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    unit: str = "",
) -> Any:
    """Declare a parameter of a strategy, as the default of a field of its ``Params``."""
    return field(
        default=default, metadata={"help": help, "minimum": minimum, "maximum": maximum, "unit": unit}
    )


@cache
def parameters(params: type[Any]) -> tuple[Parameter, ...]:
    """Return the parameters that a ``Params`` class declares, the main one first."""
    hints = typing.get_type_hints(params)
    return tuple(_parameter(one, hints[one.name]) for one in dataclasses.fields(params))


def _parameter(one: dataclasses.Field[Any], hint: Any) -> Parameter:
    optional = False
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        optional = len(members) < len(typing.get_args(hint))
        (hint,) = members
    choices: tuple[str, ...] = ()
    if typing.get_origin(hint) is Literal:
        choices, hint = typing.get_args(hint), str
    return Parameter(
        name=one.name, type=hint, default=one.default, choices=choices, optional=optional, **one.metadata
    )


# -- choices and registry ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """A strategy with its parameters, checked; ``params`` holds every parameter in its native type."""

    name: str
    params: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Its name in a comparison, for instance ``window of 4``."""
        cls = strategy(self.name)
        return cls.label(cls.Params(**self.params))

    def build(self) -> Strategy:
        """Return a new strategy at the start of a conversation."""
        cls = strategy(self.name)
        return cls(cls.Params(**self.params))


_registry: dict[str, type[Strategy]] = {}


S = TypeVar("S", bound=type[Strategy])


def register(cls: S) -> S:
    """Make a strategy known under its name; used as a class decorator.

    Raises ValueError where the name is taken by another class.
    """
    known = _registry.setdefault(cls.name, cls)
    if known is not cls:
        raise ValueError(
            f"the strategy name {cls.name!r} is taken by {known.__module__}.{known.__qualname__}"
        )
    return cls


def strategies() -> tuple[type[Strategy], ...]:
    """Return every known strategy, in the order they were registered."""
    import memdash.strategies  # the built-in ones register themselves when their package is imported  # noqa: F401

    return tuple(_registry.values())


def strategy(name: str) -> type[Strategy]:
    """Return the strategy of this name.

    Raises :class:`InputError` where there is none, with what comes near.
    """
    known = {cls.name: cls for cls in strategies()}
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"there is no strategy {name!r}{hint} Known are: {', '.join(known)}")
    return known[name]


def choose(name: str, given: Mapping[str, Any] | None = None) -> StrategyChoice:
    """Return a checked choice: ``given`` parameters in their types, the others at their defaults.

    Raises :class:`InputError` for an unknown strategy or parameter and for a value out of range.
    """
    cls = strategy(name)
    declared = parameters(cls.Params)
    given = dict(given or {})
    unknown = given.keys() - {one.name for one in declared}
    if unknown:
        wrong = min(unknown)
        names = ", ".join(one.name for one in declared) or "none"
        raise InputError(f"{name}: there is no parameter {wrong!r}; its parameters: {names}")
    values: dict[str, Any] = {}
    for one in declared:
        try:
            values[one.name] = one.parse(given[one.name]) if one.name in given else one.default
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    try:
        settled = cls.Params(**values)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return StrategyChoice(name, dataclasses.asdict(settled))


def parse(text: str) -> StrategyChoice:
    """Read a strategy as written on the command line: ``name``, ``name:value`` or ``name:key=value,key=value``.

    Raises :class:`InputError` where it cannot be read.
    """
    name, colon, rest = text.strip().partition(":")
    name = name.strip()
    given: dict[str, Any] = {}
    if colon and not rest.strip():
        raise InputError(f"{text!r}: a value must follow the colon, for instance window:4")
    for index, part in enumerate(rest.split(",") if colon else ()):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            declared = parameters(strategy(name).Params)
            if index > 0 or not declared:
                raise InputError(f"{text!r}: write each further parameter as key=value")
            key, value = declared[0].name, key
        if key in given:
            raise InputError(f"{text!r}: {key} is given twice")
        given[key] = value
    return choose(name, given)
