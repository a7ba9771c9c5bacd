"""How the findings of a sweep are spelled, where :mod:`memdash.numbers` has no word for it."""

from __future__ import annotations


def amount(number: float) -> str:
    """Spell a mean number of things: ``1.3``, ``2``, ``<0.1``."""
    if 0 < number < 0.05:
        return "<0.1"
    return f"{number:.1f}".removesuffix(".0")


def points(share: float) -> str:
    """Spell a share as a number of points before a noun: ``5-point``."""
    return f"{share * 100:g}-point"
