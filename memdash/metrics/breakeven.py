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


def order_changes(costs: Sequence[float], others: Sequence[float]) -> tuple[int, ...]:
    """Return every index at which the order of ``costs`` and ``others`` turns round, up to the last one both have.

    The last of them is where it changes for good. A tie is no change: whoever was dearer before it counts as dearer still.
    """
    changes: list[int] = []
    before = 0
    for index, (cost, other) in enumerate(zip(costs, others, strict=False)):
        if abs(cost - other) <= _TOLERANCE:
            continue
        now = 1 if cost > other else -1
        if before and now != before:
            changes.append(index)
        before = now
    return tuple(changes)
