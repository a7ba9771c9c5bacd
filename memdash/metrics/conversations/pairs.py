"""At which length of conversation one setting becomes the cheaper of two, for every pair of settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memdash.metrics.breakeven import order_changes
from memdash.metrics.conversations.curves import Curve


class BreakEven(NamedTuple):
    """Two settings whose order of cost depends on the length of the conversation.

    ``short`` is cheaper than ``other`` in the shortest conversations (where the two differ at all). ``changes`` are the lengths
    in turns from which the order is another one, the last of them for good, as far as was replayed.
    """

    short: str
    other: str
    changes: tuple[int, ...]

    @property
    def turns(self) -> int:
        """The break-even length: from it on the order stays as it is."""
        return self.changes[-1]

    @property
    def long(self) -> str:
        """The cheaper one from the break-even length on; after an even number of changes it is ``short`` again."""
        return self.short if len(self.changes) % 2 == 0 else self.other

    @property
    def words(self) -> str:
        """The pair in a sentence, all its changes told."""
        if len(self.changes) == 1:
            return f"{self.short} is cheaper than {self.other} up to {self.turns - 1} turns and dearer from {self.turns} on"
        turns = ", ".join(str(one) for one in self.changes[:-1])
        end = "cheaper" if self.long == self.short else "dearer"
        return (
            f"{self.short} is cheaper than {self.other} at first; the order changes at {turns} and at {self.turns} turns, and it "
            f"is {end} from {self.turns} on"
        )


def break_evens(curves: Sequence[Curve]) -> tuple[BreakEven, ...]:
    """Return every pair of settings that changes order; a pair that is not among them has one order at all lengths."""
    longest = max((curve.longest for curve in curves), default=0)
    costs = np.full((len(curves), longest), np.nan)  # pairs are compared as far as both go
    for row, curve in enumerate(curves):
        costs[row, : curve.longest] = curve.cost_usd
    known = costs.tolist()
    return tuple(
        _pair(curves[one].series, curves[other].series, known[one], known[other], changes)
        for one in range(len(curves) - 1)
        for other, changes in enumerate(order_changes(costs[one], costs[one + 1 :]), one + 1)
        if changes
    )


def _pair(
    one: str, other: str, costs: Sequence[float], others: Sequence[float], changes: tuple[int, ...]
) -> BreakEven:
    # At the first change the order is the other way round than before it.
    short, beside = (one, other) if costs[changes[0]] > others[changes[0]] else (other, one)
    return BreakEven(short, beside, tuple(index + 1 for index in changes))
