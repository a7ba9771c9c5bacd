"""A comparison that is read again and again while it runs: what is over for good is read and measured once."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

from memdash.collecting import uncollected
from memdash.metrics import Controls, ReplayResult, measure
from memdash.replay_log import ReplayLog
from memdash.store.protocol import AnyStore
from memdash.store.settings import StoredComparison
from memdash.worker import RESUMABLE


class Standing(NamedTuple):
    """A comparison as it stood at one moment; logs and results are in the order of its replays."""

    stored: StoredComparison
    logs: list[ReplayLog]
    results: list[ReplayResult]


class Follower:
    """Reads one comparison of ``store``; safe to use from several threads.

    A page asks every second while replays run. Then only those that may have changed are read from the database; the numbers of
    a replay that is over change no more, unless a control shows that one of its probes is no test.
    """

    def __init__(self, store: AnyStore, comparison_id: str) -> None:
        self._store = store
        self._comparison_id = comparison_id
        self._lock = Lock()
        self._logs: dict[str, ReplayLog] = {}
        self._results: dict[str, ReplayResult] = {}
        self._controls = Controls(())

    def read(self) -> Standing:
        """Return how the comparison stands now; raises :class:`~memdash.errors.StoreError` where it is not there."""
        with self._lock, uncollected():
            stored = self._store.comparison(self._comparison_id)
            open_ones = [one.id for one in stored.replays if not _is_settled(self._logs.get(one.id))]
            fresh = {log.spec.id: log for log in self._store.replay_logs(self._comparison_id, open_ones)}
            self._logs |= fresh
            logs = [self._logs[one.id] for one in stored.replays]
            controls = Controls(logs)
            stale = logs if controls != self._controls else fresh.values()
            self._controls = controls
            self._results |= {log.spec.id: measure(log, stored.prices, controls) for log in stale}
            return Standing(stored, logs, [self._results[one.id] for one in stored.replays])


def _is_settled(log: ReplayLog | None) -> bool:
    """Whether a replay has come to an end from which it cannot go on."""
    if log is None or not log.statuses:
        return False
    status = log.statuses[-1].status
    return status.over and status not in RESUMABLE
