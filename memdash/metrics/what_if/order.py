"""Who is cheaper than whom: ranks, and who overtakes whom on other terms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

_SAME = 1e-9
"""Costs that differ by a smaller share are the same: they were added up in another order."""


class Priced(NamedTuple):
    """A setting with what it cost and what it would have cost."""

    name: str
    before: float
    after: float


class Overtaking(NamedTuple):
    """``cheaper`` was not cheaper than ``dearer`` as charged, and is on the other terms."""

    cheaper: Priced
    dearer: Priced


def ranks(costs: Sequence[float | None]) -> list[int | None]:
    """Return the place of each cost, 1 for the cheapest; equal costs share a place, and a cost that is not known has none."""
    known = [cost for cost in costs if cost is not None]
    return [None if cost is None else 1 + sum(_is_less(other, cost) for other in known) for cost in costs]


def overtakings(settings: Iterable[Priced]) -> list[Overtaking]:
    """Return every pair that changes its order: first those with the new cheapest, then those that differ most afterwards."""
    chosen = list(settings)
    found = []
    for one, other in combinations(chosen, 2):
        for cheaper, dearer in ((one, other), (other, one)):
            if _is_less(cheaper.after, dearer.after) and not _is_less(cheaper.before, dearer.before):
                found.append(Overtaking(cheaper, dearer))
    first = min((one.after for one in chosen), default=0.0)
    return sorted(
        found, key=lambda pair: (pair.cheaper.after > first, pair.cheaper.after / pair.dearer.after)
    )


def _is_less(one: float, other: float) -> bool:
    return one < other and not math.isclose(one, other, rel_tol=_SAME)
