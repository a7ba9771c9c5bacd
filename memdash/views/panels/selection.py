"""The replays a panel is about, with what is computed of each, once for each state of the store and for all sessions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memdash.metrics import (
    BackgroundJob,
    CacheMiss,
    Compaction,
    ReplayResult,
    background_jobs,
    cache_misses,
    compactions,
)
from memdash.palette import Style, Theme
from memdash.replay_log import ReplayLog
from memdash.views.comparison import View, logs_of
from memdash.views.components import theme

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Computed:
    """By replay id, in the order of the replays."""

    logs: Mapping[str, ReplayLog]
    misses: Mapping[str, tuple[CacheMiss, ...]]
    compactions: Mapping[str, tuple[Compaction, ...]]
    jobs: Mapping[str, tuple[BackgroundJob, ...]]


@dataclass(frozen=True, slots=True)
class Selection:
    """The picked replays of one script, or of all where ``script`` is None, with everything computed of them."""

    logs: Sequence[ReplayLog]
    results: Sequence[ReplayResult]
    styles: Mapping[str, Style]
    theme: Theme
    key: str
    live: bool
    over: bool
    _computed: _Computed
    _of: View

    @classmethod
    def of(cls, shown: View, picked: Iterable[ReplayResult], script: str | None) -> Selection:
        """Select the picked replays of a script."""
        results = [one for one in picked if script in (None, one.script)]
        ids = {one.id for one in results}
        computed = shown.keep("computed", lambda: _computed(shown))
        return cls(
            logs=[log for name, log in computed.logs.items() if name in ids],
            results=results,
            styles=shown.styles,
            theme=theme(),
            key=shown.stored.id,
            live=shown.live,
            over=shown.over,
            _computed=computed,
            _of=shown,
        )

    def keep(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return what was made of these replays under ``name``, made first where nobody has asked for it yet."""
        return self._of.keep((tuple(one.id for one in self.results), name), make)

    @property
    def misses(self) -> list[CacheMiss]:
        """Every cache miss of these replays."""
        return [miss for log in self.logs for miss in self._computed.misses.get(log.spec.id, ())]

    @property
    def compactions(self) -> list[Compaction]:
        """Every compaction of these replays."""
        return [line for log in self.logs for line in self._computed.compactions.get(log.spec.id, ())]

    @property
    def jobs(self) -> tuple[BackgroundJob, ...]:
        """Every background job of these replays."""
        return tuple(job for log in self.logs for job in self._computed.jobs.get(log.spec.id, ()))


def _computed(shown: View) -> _Computed:
    prices = shown.stored.prices
    logs = logs_of(shown)
    return _Computed(
        logs={log.spec.id: log for log in logs},
        misses={log.spec.id: cache_misses(log, prices) for log in logs},
        compactions={log.spec.id: compactions(log, prices) for log in logs},
        jobs={log.spec.id: background_jobs(log) for log in logs},
    )
