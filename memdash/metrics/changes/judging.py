"""Whether a number changed: exactly in a simulation, which is deterministic; by intervals live, where no two runs are alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from memdash.metrics.changes.model import Value, Verdict
from memdash.metrics.changes.numbers import Number

NOISE = 1e-9
"""Numbers nearer than this share of each other differ by the noise of their addition."""

Values = Sequence[float | None]


class Judged(NamedTuple):
    """Both sides of a number, and what the change is."""

    before: Value
    after: Value
    verdict: Verdict


def exact(before: Values, after: Values, number: Number, *, comparable: bool = True) -> Judged:
    """Compare values of the same repeats, one by one."""
    sides = Value(mean(before)), Value(mean(after))
    if comparable and all(same(one, other) for one, other in zip(before, after, strict=True)):
        return Judged(*sides, Verdict.SAME)
    if not comparable or sides[0].mean is None or sides[1].mean is None:
        return Judged(*sides, Verdict.UNKNOWN)
    return Judged(*sides, _direction(sides[0].mean, sides[1].mean, number.better))


def judged(before: Values, after: Values, number: Number, *, comparable: bool = True) -> Judged:
    """Compare values of repeats that vary by nature: they differ only where their 95 % intervals lie apart."""
    most = 1.0 if number.is_share else None
    sides = interval(before, most=most), interval(after, most=most)
    if comparable and same(sides[0].mean, sides[1].mean):
        return Judged(*sides, Verdict.SAME)
    if not comparable or any(one.low is None for one in sides):
        return Judged(*sides, Verdict.UNKNOWN)
    if not apart(*sides):
        return Judged(*sides, Verdict.WITHIN)
    return Judged(*sides, _direction(sides[0].mean, sides[1].mean, number.better))


def interval(values: Values, *, most: float | None = None) -> Value:
    """Return the mean of repeats with its 95 % interval (Student's t); a single value has none, and None is "not known".

    ``most`` is what the mean, and so its interval, cannot go beyond.
    """
    from memdash.metrics.sweep.intervals import Sample, estimates

    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return Value(None)
    found = estimates({"": Sample([known], max(known), 0.0, math.inf if most is None else most)})[""]
    return Value(found.mean, found.low, found.high)


def apart(before: Value, after: Value) -> bool:
    """Whether two intervals have no value in common."""
    assert before.low is not None
    assert before.high is not None
    assert after.low is not None
    assert after.high is not None
    return after.low > before.high + slack(before.high) or after.high < before.low - slack(before.low)


def mean(values: Values) -> float | None:
    """Return the mean of values; None without any, or where one is not known."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def same(one: float | None, other: float | None) -> bool:
    """Whether two values differ by the noise of their addition at most."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=NOISE, abs_tol=1e-12)


def slack(value: float) -> float:
    """Return what values around ``value`` may differ by without being different."""
    return max(abs(value) * NOISE, 1e-12)


def _direction(before: float | None, after: float | None, better: int) -> Verdict:
    assert before is not None
    assert after is not None
    if not better or same(before, after):  # repeats that changed and come to the same mean
        return Verdict.OTHER
    return Verdict.BETTER if (after - before) * better > 0 else Verdict.WORSE
