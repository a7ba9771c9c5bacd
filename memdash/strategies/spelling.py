"""How a strategy with its parameters is written: ``name``, ``name:value`` or ``name:key=value,key=value``.

In place of the name, ``path/to/file.py:Class`` names a strategy of the user's own. ``\\,`` and ``\\|`` stand for the characters
themselves in a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from memdash.errors import InputError
from memdash.strategies.registry import StrategyChoice, choose, name_and_rest, parameters_of

_SPECIAL = ",|\\"


class WrittenStrategy(NamedTuple):
    """A strategy's registered name and what is written as its parameters, by name."""

    name: str
    given: Mapping[str, str]


def read_spec(text: str) -> WrittenStrategy:
    """Split a written strategy; what is written as values may still be ranges, see :func:`alternatives`.

    Raises :class:`InputError` where it cannot be read or there is no such strategy.
    """
    name, rest = name_and_rest(text.strip())
    declared = parameters_of(name)
    given: dict[str, str] = {}
    if rest is not None and not rest.strip():
        raise InputError(f"{text!r}: a value must follow the colon, for instance window:4")
    for index, part in enumerate(_split(rest, ",") if rest is not None else ()):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            if index > 0 or not declared:
                raise InputError(f"{text!r}: write each further parameter as key=value")
            key, value = declared[0].name, key
        if key in given:
            raise InputError(f"{text!r}: {key} is given twice")
        given[key] = value
    return WrittenStrategy(name, given)


def parse(text: str) -> StrategyChoice:
    """Read a strategy written with one value a parameter, each in full.

    Raises :class:`InputError` where it cannot be read.
    """
    name, written = read_spec(text)
    return choose(name, {key: _meant(value) for key, value in written.items()})


def alternatives(value: str) -> list[str]:
    """Return what a written value says between its ``|``, each as it is meant."""
    return [_meant(one) for one in _split(value, "|")]


def escaped(text: str) -> str:
    """Write a text so that it is read as itself."""
    for one in reversed(_SPECIAL):
        text = text.replace(one, f"\\{one}")
    return text


def _split(text: str, separator: str) -> list[str]:
    """Split at a separator that no backslash stands before."""
    parts, start, index = [], 0, 0
    while index < len(text):
        if text[index] == "\\" and text[index + 1 : index + 2] in tuple(_SPECIAL):
            index += 1
        elif text[index] == separator:
            parts.append(text[start:index])
            start = index + 1
        index += 1
    return [*parts, text[start:]]


def _meant(text: str) -> str:
    meant, index = [], 0
    while index < len(text):
        if text[index] == "\\" and text[index + 1 : index + 2] in tuple(_SPECIAL):
            index += 1
        meant.append(text[index])
        index += 1
    return "".join(meant).strip()
