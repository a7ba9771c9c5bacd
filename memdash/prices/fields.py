"""One mapping of a price file, read field by field with messages that say where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from memdash.errors import InputError
from memdash.prices.models import FIELDS, Tier

MAX_PRICE = 1_000_000
"""Dollars per million tokens; anything above is a slip of the pen."""


class Fields:
    """One mapping of the file; every method raises :class:`InputError` with file and field for what it cannot read."""

    def __init__(self, path: Path, where: str, data: object, known: Iterable[str]) -> None:
        self.path = path
        self.where = where
        if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
            raise InputError(f"{path}: {where or 'the file'}: is not a mapping of names to values")
        self.data: Mapping[str, Any] = data
        unknown = data.keys() - set(known)
        if unknown:
            name = min(unknown)
            raise self.problem(name, f"unknown; known are {', '.join(sorted(known))}")

    def problem(self, name: str, text: str) -> InputError:
        """Return the error for a field."""
        return InputError(f"{self.path}: {self.where + '.' if self.where else ''}{name}: {text}")

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a field that maps names to values."""
        value = self.data.get(name)
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise self.problem(name, "is not a mapping of names to values")
        return value

    def entries(self, name: str) -> list[Any]:
        """Return a field that is a list, empty where it is not given."""
        value = self.data.get(name, [])
        if not isinstance(value, list):
            raise self.problem(name, "is not a list")
        return value

    def day(self, name: str) -> date | None:
        """Return a field that is a date, None where it is not given."""
        value = self.data.get(name)
        if value is not None and type(value) is not date:
            raise self.problem(name, f"{value!r} is not a date such as 2026-11-30")
        return value

    def tier(self, above: int) -> Tier:
        """Return a tier of which all five prices are given."""
        return Tier(above, *(self.dollars(name) for name in FIELDS))

    def given(self) -> dict[str, float]:
        """Return those of the five prices that are given."""
        return {name: self.dollars(name) for name in FIELDS if name in self.data}

    def dollars(self, name: str) -> float:
        """Return a price in dollars per million tokens."""
        value = self.data.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_PRICE:
            raise self.problem(name, f"{value!r} is not a price in dollars per million tokens")
        return float(value)
