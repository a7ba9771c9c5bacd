"""The value between two values of a swept parameter."""

from __future__ import annotations

import math

Number = int | float

_CLOSE = 0.05
"""Two values nearer than this share of the larger one count as adjacent."""
_DIGITS = 6
"""Significant digits that a label shows: values that differ further down would look the same."""


def midpoint(low: Number, high: Number, *, geometric: bool) -> Number | None:
    """Return a round value between two, near the middle; None where they are adjacent: 5 % or one whole unit apart.

    The middle is the geometric mean on an axis whose values are steps of a factor. Whole numbers stay whole. The value is
    as round as it can be within the middle half, since 1400 is easier to remember than 1414.
    """
    whole = isinstance(low, int) and isinstance(high, int)
    if high - low <= max(_CLOSE * max(abs(low), abs(high)), 1 if whole else 0):
        return None
    if geometric and low > 0:
        start, end = math.log(low), math.log(high)
        first, middle, last = (math.exp(start + (end - start) * part) for part in (0.25, 0.5, 0.75))
    else:
        first, middle, last = (low + (high - low) * part for part in (0.25, 0.5, 0.75))
    for digits in range(1, _DIGITS + 1):
        value = float(f"{middle:.{digits - 1}e}")
        if whole:
            value = round(value)
        if first <= value <= last and low < value < high:
            return value
    return round(middle) if whole and low < round(middle) < high else None
