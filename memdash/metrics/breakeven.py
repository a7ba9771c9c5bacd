"""From which turn on one strategy has cost more than another, for good."""

from __future__ import annotations

from collections.abc import Sequence

from memdash.metrics.result import ReplayResult

_TOLERANCE = 1e-9
"""Two costs nearer than this, in dollars, are the same: they differ by the order of a sum."""


def overtakes_at(costs: Sequence[float], others: Sequence[float]) -> int | None:
    """Return the index from which ``costs`` stay above ``others`` up to the last one both have; None if they do not end above."""
    first = None
    for index in range(min(len(costs), len(others)) - 1, -1, -1):
        if not costs[index] > others[index] + _TOLERANCE:
            break
        first = index
    return first


def break_even_turn(one: ReplayResult, other: ReplayResult) -> int | None:
    """Return the first turn from which ``one`` has cost more than ``other`` so far, and stays so to the end of the shorter.

    None where it does not end dearer, or where a cost is not known. From turn 1 means that it was dearer all along.
    """
    costs = {row.turn: row.cumulative_cost_usd for row in one.turns}
    others = {row.turn: row.cumulative_cost_usd for row in other.turns}
    shared = sorted(costs.keys() & others.keys())
    ours = [cost for turn in shared if (cost := costs[turn]) is not None]
    theirs = [cost for turn in shared if (cost := others[turn]) is not None]
    if not len(shared) == len(ours) == len(theirs):
        return None
    index = overtakes_at(ours, theirs)
    return None if index is None else shared[index]
