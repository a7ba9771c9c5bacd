"""What one replay is looked at for, turn by turn: one panel each, drawn only while it is chosen."""

from __future__ import annotations

from dataclasses import dataclass

from memdash.metrics import ReplayResult
from memdash.replay_log import ReplayLog
from memdash.store import StoredComparison


@dataclass(frozen=True, slots=True)
class Opened:
    """One replay as the Replay page holds it.

    ``log`` has its requests without their blocks' texts: a page that shows one turn asks the store for the texts of that turn
    alone (``services().store.blocks(replay_id, ids)``).
    """

    stored: StoredComparison
    log: ReplayLog
    result: ReplayResult


__all__ = ["Opened"]
