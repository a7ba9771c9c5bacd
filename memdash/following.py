"""A comparison that is read again and again while it runs: what is over for good is read and measured once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from threading import Lock
from typing import NamedTuple, Protocol, TypeVar

from memdash.collecting import uncollected
from memdash.metrics import Controls, ReplayResult, measure
from memdash.replay_log import AnyLog, ReplayLog, ReplayOutline
from memdash.spec import ReplaySpec
from memdash.store.protocol import AnyStore
from memdash.store.settings import StoredComparison
from memdash.worker import RESUMABLE

_LogT = TypeVar("_LogT", ReplayLog, ReplayOutline)


class Standing(NamedTuple):
    """A comparison as it stood at one moment; outlines and results are in the order of its replays."""

    stored: StoredComparison
    outlines: list[ReplayOutline]
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
        self._outlines: dict[str, ReplayOutline] = {}
        self._logs: dict[str, ReplayLog] = {}
        self._results: dict[str, ReplayResult] = {}
        self._controls = Controls(())

    def read(self) -> Standing:
        """Return how the comparison stands now; raises :class:`~memdash.errors.StoreError` where it is not there."""
        with self._lock, uncollected():
            stored = self._store.comparison(self._comparison_id)
            fresh = _read_open(
                self._store.replay_outlines, self._comparison_id, stored.replays, self._outlines
            )
            self._outlines |= fresh
            outlines = [self._outlines[one.id] for one in stored.replays]
            controls = Controls(outlines)
            stale = outlines if controls != self._controls else fresh.values()
            self._controls = controls
            self._results |= {one.spec.id: measure(one, stored.prices, controls) for one in stale}
            return Standing(stored, outlines, [self._results[one.id] for one in stored.replays])

    def logs(self, replays: Sequence[ReplaySpec]) -> list[ReplayLog]:
        """Return everything that has happened in some of its replays; most of what a page shows does without it."""
        with self._lock, uncollected():
            self._logs |= _read_open(self._store.replay_logs, self._comparison_id, replays, self._logs)
            return [self._logs[one.id] for one in replays]


class _Reading(Protocol[_LogT]):
    def __call__(self, comparison_id: str, only: Collection[str] | None = None) -> list[_LogT]:
        """Read replays of a comparison."""


def _read_open(
    read: _Reading[_LogT], comparison_id: str, replays: Sequence[ReplaySpec], known: Mapping[str, _LogT]
) -> dict[str, _LogT]:
    """Read the replays that may have changed since they were read last."""
    open_ones = [one.id for one in replays if not _is_settled(known.get(one.id))]
    return {log.spec.id: log for log in read(comparison_id, open_ones)} if open_ones else {}


def _is_settled(log: AnyLog | None) -> bool:
    """Whether a replay has come to an end from which it cannot go on."""
    if log is None or not log.statuses:
        return False
    status = log.statuses[-1].status
    return status.over and status not in RESUMABLE
