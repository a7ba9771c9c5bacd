"""Every known strategy by name, and a choice of one with its parameters checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from memdash.errors import InputError
from memdash.strategies.base import Strategy
from memdash.strategies.parameters import parameters


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
    """Return every known strategy, in the order they were registered; the built-in ones are, with their package."""
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
