"""The replays a panel is about, with what is computed of each, once for each state of the store and for all sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

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
from memdash.views.comparison import View, logs_of, view
from memdash.views.components import theme
from memdash.views.state import services

_KEPT_IN_MEMORY: Final = 8


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

    @classmethod
    def of(cls, shown: View, picked: Iterable[ReplayResult], script: str | None) -> Selection:
        """Select the picked replays of a script."""
        results = [one for one in picked if script in (None, one.script)]
        ids = {one.id for one in results}
        store = services().store
        computed = _computed(str(store.path), shown.stored.id, store.version(shown.stored.id))
        return cls(
            logs=[log for name, log in computed.logs.items() if name in ids],
            results=results,
            styles=shown.styles,
            theme=theme(),
            key=shown.stored.id,
            live=shown.live,
            over=shown.over,
            _computed=computed,
        )

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


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _computed(path: str, comparison_id: str, version: int) -> _Computed:
    """``path`` and ``version`` are what makes two readings different; neither is read here."""
    shown = view(comparison_id)
    prices = shown.stored.prices
    logs = logs_of(shown)
    return _Computed(
        logs={log.spec.id: log for log in logs},
        misses={log.spec.id: cache_misses(log, prices) for log in logs},
        compactions={log.spec.id: compactions(log, prices) for log in logs},
        jobs={log.spec.id: background_jobs(log) for log in logs},
    )
