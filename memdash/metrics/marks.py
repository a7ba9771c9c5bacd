"""What an event says of a strategy's threshold, and what is odd about a threshold on the script at hand."""

from __future__ import annotations

from collections.abc import Mapping, Set

from memdash.errors import InputError
from memdash.metrics.result import Mark
from memdash.records import EventKind, Status
from memdash.strategies import strategy

INTO_USE = frozenset({EventKind.COMPACTION, EventKind.SWAP})
"""The events that put a summary into use, unless they say of themselves that they came to nothing."""


def puts_a_summary_into_use(kind: EventKind, data: Mapping[str, object]) -> bool:
    """Whether an event means that a summary stands in for turns now; one that came to nothing says ``used=False``."""
    return kind in INTO_USE and data.get("used", True) is not False


def firing_events(name: str) -> frozenset[EventKind]:
    """Return the events that say that a strategy's threshold was reached; none for a strategy without one."""
    try:
        return strategy(name).fires
    except InputError:  # a strategy of someone else's that is not installed here
        return frozenset()


def threshold_marks(
    fires: Set[EventKind], status: Status, completed: int, fired: Set[int]
) -> tuple[Mark, ...]:
    """Return what is odd about a threshold that was reached in the turns ``fired``, told of finished replays alone.

    It fires on every turn if it does so from the second turn at the latest, which is the first that has a history.
    """
    if not fires or status is not Status.DONE:
        return ()
    if not fired:
        return (Mark.NEVER_FIRES,)
    first = min(fired)
    if first <= 2 < completed and fired >= set(range(first, completed + 1)):
        return (Mark.FIRES_EVERY_TURN,)
    return ()
