"""From which turn on one strategy has cost more than another, for good."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memdash.metrics.result import ReplayResult

Floats = NDArray[np.float64]

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


def order_changes(costs: Floats, others: Floats) -> list[tuple[int, ...]]:
    """Return, for each row of ``others``, every index at which its order with ``costs`` turns round.

    The last of them is where it changes for good. A tie is no change: whoever was dearer before it counts as dearer still. What
    is NaN on one side is compared no further.
    """
    apart = costs - others
    dearer = np.where(np.abs(apart) > _TOLERANCE, np.sign(apart), 0)  # NaN is not above, so it is a tie
    latest = np.maximum.accumulate(np.where(dearer != 0, np.arange(costs.size), 0), axis=1)
    standing = np.take_along_axis(dearer, latest, axis=1)
    turned = (standing[:, 1:] != standing[:, :-1]) & (standing[:, :-1] != 0)
    rows, places = np.nonzero(turned)
    ends = np.searchsorted(rows, np.arange(len(others) + 1))
    changes = (places + 1).tolist()
    return [tuple(changes[start:end]) for start, end in itertools.pairwise(ends.tolist())]
