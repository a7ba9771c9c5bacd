"""The next round of a sweep's refinement, from what is stored of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memdash.outcomes import read_outcomes
from memdash.store.protocol import AnyStore

if TYPE_CHECKING:
    from memdash.metrics.sweep.refinement import Proposal


NextRound = Callable[[AnyStore, str], "Proposal | None"]
"""Says what the sweep of this id should play next."""


def next_round(store: AnyStore, comparison_id: str) -> Proposal | None:
    """Return what a sweep should play next; None where its answer has stopped moving or its limit is reached.

    Raises :class:`memdash.errors.StoreError` where it cannot be read.
    """
    from memdash.metrics.sweep.refinement import propose

    stored, outcomes = read_outcomes(store, comparison_id)
    return propose(stored.spec, outcomes, stored.refinements)
