"""The outcomes of a stored comparison's replays, by the road that thousands of them can take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memdash.store.protocol import AnyStore
from memdash.store.settings import StoredComparison

if TYPE_CHECKING:
    from memdash.metrics.outcome import ReplayOutcome


class StoredOutcomes(NamedTuple):
    """A comparison, and what each of its replays came to at the prices of when it ran, in their order."""

    stored: StoredComparison
    outcomes: Sequence[ReplayOutcome]


def read_outcomes(store: AnyStore, comparison_id: str) -> StoredOutcomes:
    """Read the outcomes of a comparison, whole columns at a time.

    Raises :class:`memdash.errors.StoreError` where it is not there or cannot be read.
    """
    from memdash.metrics.columns import outcomes_of

    with store.at_hand(comparison_id) as near:
        stored = near.comparison(comparison_id)
        return StoredOutcomes(stored, outcomes_of(near.columns(comparison_id), stored.replays, stored.prices))
