"""What the Thresholds page shows of one sweep, read and analysed once for each state of the store and for all sessions.

A sweep that runs changes many times a second. Its numbers are then renewed at a pace that leaves the server most of its time,
however many replays there are; how far it is costs nothing and is always up to date.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final, TypeVar

import streamlit as st

from memdash.charts.sweep import Curve, Grid, curve_styles, curves, grids
from memdash.metrics.columns import outcomes_of
from memdash.metrics.conversations import Floor, common_floor, floors, multiples
from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep import Setting, SweepAnalysis, analyse
from memdash.palette import Style
from memdash.progress import RunProgress
from memdash.records import Status
from memdash.spec import Sweep
from memdash.store import StoredComparison
from memdash.views.evidence import basis_of
from memdash.views.shelf import shelf_of
from memdash.views.state import services
from memdash.worker import RESUMABLE

T = TypeVar("T")

_KEPT_IN_MEMORY: Final = 8
_IDLE_FOR_EACH_SECOND: Final = 8.0
"""While a sweep runs, reading it anew waits this many times as long as the last reading took."""
_OVERVIEW_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """The replays of a sweep as they stand at a version of the store."""

    stored: StoredComparison
    outcomes: Sequence[ReplayOutcome]
    version: int

    @property
    def id(self) -> str:
        """The sweep's id."""
        return self.stored.id

    @property
    def sweep(self) -> Sweep:
        """What it goes over. Raises ValueError where the comparison is no sweep."""
        if self.stored.spec.sweep is None:
            raise ValueError(f"{self.id} is no sweep")
        return self.stored.spec.sweep

    @property
    def over(self) -> bool:
        """Whether no replay of it is going on."""
        return all(one.status.over for one in self.outcomes)

    @property
    def resumable(self) -> list[Status]:
        """The ends of the replays that can go on."""
        return [one.status for one in self.outcomes if one.status in RESUMABLE]

    @property
    def basis(self) -> str:
        """What its numbers rest on; stands wherever they are shown."""
        return basis_of(self.stored)

    @property
    def progress(self) -> RunProgress:
        """Where its replays stand together: from the worker while it has them, else as stored."""
        worker = services().worker
        if self.id in worker.running():
            return _overview(str(services().store.path), self.id)
        return RunProgress(
            replays=len(self.outcomes),
            over=sum(one.status.over for one in self.outcomes),
            turn=sum(one.turns_completed for one in self.outcomes),
            turns=sum(one.turns_planned for one in self.outcomes),
            prompt_tokens=sum(one.prompt_tokens or 0 for one in self.outcomes),
            cost_usd=sum(one.cost_usd or 0.0 for one in self.outcomes),
            rounds=len(self.stored.refinements),
        )


@dataclass(frozen=True, slots=True)
class SweepView:
    """A sweep with what its replays say together, and with how its settings are drawn."""

    reading: Reading
    analysis: SweepAnalysis
    drawn: Sequence[Curve]
    grids: Sequence[Grid]
    styles: Mapping[str, Style]

    @property
    def recommended(self) -> str | None:
        """The series of the recommended setting, None where there is none."""
        advice = self.analysis.recommendation
        return None if advice is None else advice.setting.series

    def keep(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return what was made of this under ``name``, made first where nobody has asked for it yet."""

        def paced() -> T:
            started = time.monotonic()
            made = make()
            _rest(self.reading, time.monotonic() - started)
            return made

        name = (self.analysis.max_loss, name)
        return shelf_of(self.reading.id).take(self.reading.version, name, paced)

    @property
    def to_confirm(self) -> tuple[str, ...]:
        """The series of the settings that a live run should confirm; none without a recommendation."""
        advice = self.analysis.recommendation
        return () if advice is None else advice.to_confirm

    @property
    def unranked(self) -> list[Setting]:
        """Settings that are played to the end and exist in the simulator alone."""
        ranked = {one.setting.series for one in self.analysis.frontier}
        return [one for one in self.analysis.settings if one.simulator_only and one.series not in ranked]


@dataclass(frozen=True, slots=True)
class Floored:
    """The floor under a sweep: a conversation's cost with a perfect memory, and each series' cost as a multiple of it.

    ``under`` are the floors of its scripts and repeats. ``usd`` is None where there is none, or of several models or caches.
    """

    under: Sequence[Floor]
    usd: float | None
    multiples: Mapping[str, float | None]


def floor_of(reading: Reading) -> Floored:
    """Return the floor under a sweep once it is over; nothing before."""
    if not reading.over:
        return Floored((), None, {})
    return shelf_of(reading.id).take(reading.version, "floor", lambda: _floored(reading))


def reading_of(comparison_id: str) -> Reading:
    """Return a sweep as it stands, or while it runs as it stood a moment ago.

    Raises :class:`StoreError` where it is not there, and ValueError where it is no sweep.
    """
    store = services().store
    kept = _kept(str(store.path), comparison_id)
    version = store.version(comparison_id)
    running = comparison_id in services().worker.running()
    with kept.lock:
        if kept.reading is None or (kept.reading.version != version and not (running and kept.is_fresh())):
            started = time.monotonic()
            stored = store.comparison(comparison_id)
            outcomes = outcomes_of(store.columns(comparison_id), stored.replays, stored.prices)
            kept.reading = Reading(stored, outcomes, version)
            kept.rest(time.monotonic() - started)
        return kept.reading


def sweep_view(reading: Reading, max_loss: float) -> SweepView:
    """Return what a sweep says where ``max_loss`` is the largest share of the facts that may be lost."""
    return shelf_of(reading.id).take(reading.version, ("view", max_loss), lambda: _view(reading, max_loss))


@st.cache_resource(ttl=_OVERVIEW_SECONDS, max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _overview(path: str, comparison_id: str) -> RunProgress:
    """Adding up thousands of replays is done once for all who look on."""
    return services().worker.overview(comparison_id)


class _Kept:
    """The latest reading of a sweep, and until when it is new enough."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.reading: Reading | None = None
        self._next_at = 0.0

    def rest(self, took: float) -> None:
        """Read nothing anew for as long as befits work that took so many seconds."""
        self._next_at = max(self._next_at, time.monotonic()) + _IDLE_FOR_EACH_SECOND * took

    def is_fresh(self) -> bool:
        """Whether it is too early to read again."""
        return time.monotonic() < self._next_at


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _kept(path: str, comparison_id: str) -> _Kept:
    """``path`` tells the comparisons of two databases apart."""
    return _Kept()


def _view(reading: Reading, max_loss: float) -> SweepView:
    started = time.monotonic()
    analysis = analyse(reading.outcomes, max_loss=max_loss)
    drawn = curves(reading.sweep.families, analysis.settings)
    found = SweepView(
        reading=reading,
        analysis=analysis,
        drawn=drawn,
        grids=grids(reading.sweep.families, analysis.settings),
        styles=curve_styles(drawn),
    )
    _rest(reading, time.monotonic() - started)
    return found


def _rest(reading: Reading, took: float) -> None:
    _kept(str(services().store.path), reading.id).rest(took)


def _floored(reading: Reading) -> Floored:
    stored = reading.stored
    under = floors(stored.replays, reading.outcomes, stored.prices)
    usd = common_floor(under, (script.id for script in stored.spec.scripts))
    return Floored(under, usd, multiples(reading.outcomes, under))
