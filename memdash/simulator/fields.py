"""Checks of single JSON fields, with the API's own error texts.

``path`` is where the field stands in the request: ``messages.0.content.1.text``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from memdash.simulator.errors import ApiError, invalid


def extra(path: str) -> ApiError:
    """Return the error for a field that nobody asked for."""
    return invalid(f"{path}: Extra inputs are not permitted")


def required(path: str) -> ApiError:
    """Return the error for a field that is missing."""
    return invalid(f"{path}: Field required")


def closed_object(
    value: Any, path: str, *, needs: Iterable[str] = (), may: Iterable[str] = ()
) -> Mapping[str, Any]:
    """Return ``value`` if it is an object with all of ``needs`` and nothing beside ``needs`` and ``may``."""
    fields = open_object(value, path)
    for name in needs:
        if name not in fields:
            raise required(f"{path}.{name}")
    known = {*needs, *may}
    for name in fields:
        if name not in known:
            raise extra(f"{path}.{name}")
    return fields


def open_object(value: Any, path: str) -> Mapping[str, Any]:
    """Return ``value`` if it is an object."""
    if not isinstance(value, dict):
        raise invalid(f"{path}: Input should be a valid dictionary")
    return value


def array(value: Any, path: str) -> list[Any]:
    """Return ``value`` if it is an array."""
    if not isinstance(value, list):
        raise invalid(f"{path}: Input should be a valid list")
    return value


def string(value: Any, path: str) -> str:
    """Return ``value`` if it is a string."""
    if not isinstance(value, str):
        raise invalid(f"{path}: Input should be a valid string")
    return value


def pattern(value: Any, path: str, expected: re.Pattern[str]) -> str:
    """Return ``value`` if it is a string of the expected form."""
    text = string(value, path)
    if expected.fullmatch(text) is None:
        raise invalid(f"{path}: String should match pattern '^{expected.pattern}$'")
    return text


def boolean(value: Any, path: str) -> bool:
    """Return ``value`` if it is true or false."""
    if not isinstance(value, bool):
        raise invalid(f"{path}: Input should be a valid boolean")
    return value


def integer(value: Any, path: str, *, at_least: int) -> int:
    """Return ``value`` if it is a whole number of at least ``at_least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid(f"{path}: Input should be a valid integer")
    if value < at_least:
        raise invalid(f"{path}: Input should be greater than or equal to {at_least}")
    return value


def fraction(value: Any, path: str) -> float:
    """Return ``value`` if it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise invalid(f"{path}: Input should be a valid number")
    if not value >= 0:
        raise invalid(f"{path}: Input should be greater than or equal to 0")
    if not value <= 1:
        raise invalid(f"{path}: Input should be less than or equal to 1")
    return value


def one_of(value: Any, path: str, choices: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        *most, last = (f"'{choice}'" for choice in choices)
        listed = f"{', '.join(most)} or {last}" if most else last
        raise invalid(f"{path}: Input should be {listed}")
    return value


def tag(value: Any, path: str, expected: Iterable[str]) -> str:
    """Return the ``type`` of the object ``value`` if it is one of the expected."""
    fields = open_object(value, path)
    if "type" not in fields:
        raise required(f"{path}.type")
    found = fields["type"]
    tags = tuple(expected)
    if not isinstance(found, str) or found not in tags:
        listed = ", ".join(f"'{name}'" for name in sorted(tags))
        raise invalid(
            f"{path}: Input tag '{found}' found using 'type' does not match any of the expected tags: {listed}"
        )
    return found
