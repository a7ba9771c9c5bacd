"""How the findings of a sweep are spelled, where :mod:`memdash.numbers` has no word for it."""

from __future__ import annotations

from memdash import numbers


def amount(number: float) -> str:
    """Spell a mean number of things: ``1.3``, ``2``, ``<0.1``."""
    if 0 < number < 0.05:
        return "<0.1"
    return f"{number:.1f}".removesuffix(".0")


def between(low: float | None, high: float | None) -> str:
    """Spell an interval of dollars: ``$0.0101 to $0.0212``; without one, nothing."""
    return "" if low is None or high is None else f"{numbers.usd(low)} to {numbers.usd(high)}"


def points(share: float) -> str:
    """Spell a share as a number of points before a noun: ``5-point``."""
    return f"{share * 100:g}-point"
