"""Choices of a form in the address: what a link spells, and what is read back from one, with every number checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from memdash.errors import InputError
from memdash.spec import CacheLifetime, CacheMarks
from memdash.strategies import parse_family
from memdash.views.choices import (
    COUNTERS,
    DEMO,
    EFFORTS,
    MAX_OUTPUT,
    MAX_PACE,
    MAX_REPEATS,
    MAX_SWEEP_REPLAYS,
    MAX_TEXT,
    MAX_TURNS,
    Choices,
    SweepChoices,
    read_strategy,
    spell,
    spell_value,
)

C = TypeVar("C", bound=Choices)

_KEYS: Final[Mapping[str, str]] = {
    one.name: {"strategies": "s", "families": "f"}.get(one.name, one.name) for one in fields(SweepChoices)
}
"""The name of each choice in a link."""

_NEVER_IN_A_LINK: Final = frozenset({"budget", "no_limit", "provider"})
"""So that no link can spend money."""

QUERY_KEYS: Final = frozenset(key for name, key in _KEYS.items() if name not in _NEVER_IN_A_LINK)
"""Every name that a choice has in a link."""


def to_query(choices: Choices, base: Choices = DEMO) -> dict[str, list[str]]:
    """Return the part of a link that says how ``choices`` differ from ``base``. It never holds a budget or a provider."""
    query: dict[str, list[str]] = {}
    for name, key in _KEYS.items():
        value = getattr(choices, name, None)
        if name in _NEVER_IN_A_LINK or value == getattr(base, name, None):
            continue
        values = value if isinstance(value, tuple) else (value,)
        query[key] = [spell_value(one) if not isinstance(one, str) else str(one) for one in values]
    return query


def from_query(query: Mapping[str, Sequence[str]], base: C) -> tuple[C, list[str]]:
    """Read the choices of a link; what cannot be read keeps ``base`` and is described in the list."""
    changes: dict[str, Any] = {}
    problems: list[str] = []
    for name in (one.name for one in fields(base)):
        key = _KEYS[name]
        if key not in query or name in _NEVER_IN_A_LINK:
            continue
        try:
            changes[name] = _READERS[name](list(query[key]))
        except (ValueError, InputError) as error:
            problems.append(f"{key}: {error}")
    return replace(base, **changes), problems


Reader = Callable[[list[str]], Any]


def _whole(minimum: int, maximum: int) -> Reader:
    def read(values: list[str]) -> int:
        try:
            number = int(values[-1])
        except ValueError:
            raise InputError(f"{values[-1]!r} is not a whole number") from None
        if not minimum <= number <= maximum:
            raise InputError(f"{number} is not between {minimum} and {maximum}")
        return number

    return read


def _seconds(values: list[str]) -> float:
    try:
        number = float(values[-1])
    except ValueError:
        raise InputError(f"{values[-1]!r} is not a number of seconds") from None
    if not 0 <= number <= MAX_PACE:
        raise InputError(f"{values[-1]} is not between 0 and {MAX_PACE:,} seconds")
    return number


def share(values: Sequence[str]) -> float:
    """Read a share from 0 to 1. Raises :class:`InputError`."""
    try:
        number = float(values[-1])
    except ValueError:
        raise InputError(f"{values[-1]!r} is not a share from 0 to 1") from None
    if not 0 <= number <= 1:
        raise InputError(f"{values[-1]} is not between 0 and 1")
    return number


def _flag(values: list[str]) -> bool:
    if values[-1] not in ("true", "false"):
        raise InputError(f"{values[-1]!r} is not true or false")
    return values[-1] == "true"


def _among(allowed: Sequence[str]) -> Reader:
    def read(values: list[str]) -> str:
        if values[-1] not in allowed:
            raise InputError(f"{values[-1]!r} is not one of {', '.join(allowed)}")
        return values[-1]

    return read


def _members(kind: type[StrEnum]) -> Reader:
    def read(values: list[str]) -> tuple[StrEnum, ...]:
        known = [str(one) for one in kind]
        for value in values:
            if value not in known:
                raise InputError(f"{value!r} is not one of {', '.join(known)}")
        return tuple(kind(value) for value in dict.fromkeys(values))

    return read


def _texts(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value[:MAX_TEXT] for value in values))


def _text(values: list[str]) -> str:
    return values[-1][:MAX_TEXT]


def _strategies(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spell(read_strategy(value)) for value in values))


def _families(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(parse_family(value)) for value in values))


def _or_none(read: Reader) -> Reader:
    return lambda values: None if values[-1] in ("", "none") else read(values)


_READERS: Final[Mapping[str, Reader]] = {
    "scripts": _texts,
    "strategies": _strategies,
    "models": _texts,
    "turns": _or_none(_whole(1, MAX_TURNS)),
    "repeats": _whole(1, MAX_REPEATS),
    "caches": _members(CacheLifetime),
    "marks": _members(CacheMarks),
    "pace": _or_none(_seconds),
    "check": _flag,
    "warm": _flag,
    "effort": _or_none(_among(EFFORTS)),
    "max_tokens": _or_none(_whole(1, MAX_OUTPUT)),
    "counter": _among(COUNTERS),
    "relax": _flag,
    "seed": _whole(0, 2**31 - 1),
    "title": _text,
    "families": _families,
    "max_loss": share,
    "refine": _flag,
    "limit": _whole(1, MAX_SWEEP_REPLAYS),
}
