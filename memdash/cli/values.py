"""Kinds of option values that click does not bring along."""

from __future__ import annotations

import math
from typing import Any

import click


class Finite(click.ParamType[float]):
    """A number that is neither NaN nor infinite and lies within its bounds."""

    name = "number"

    def __init__(self, low: float | None = None, high: float | None = None) -> None:
        self.low = low
        self.high = high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or fail with what was wrong."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        if self.low is not None and number < self.low:
            self.fail(f"{value} is below the smallest value, {self.low:g}", param, ctx)
        if self.high is not None and number > self.high:
            self.fail(f"{value} is above the largest value, {self.high:g}", param, ctx)
        return number


class Budget(click.ParamType[float | str]):
    """US dollars, or ``none`` for "no limit"."""

    name = "USD"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Return the dollars, or ``none``."""
        if isinstance(value, str) and value.strip().lower() == "none":
            return "none"
        dollars = Finite().convert(value, param, ctx)
        if dollars <= 0:
            self.fail(f"{value} is not a budget: give US dollars above 0, or none for no limit", param, ctx)
        return dollars


class Title(click.ParamType[str]):
    """A title: one line of text that is not empty."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the title without space around it."""
        title = str(value).strip()
        if not title:
            self.fail("a title must not be empty", param, ctx)
        if len(title) > 200:
            self.fail(f"a title has at most 200 characters, not {len(title)}", param, ctx)
        if not title.isprintable():
            self.fail("a title is one line of printable text", param, ctx)
        return title
