"""The worker: runs comparisons, keeps what they yield, and is the only caller of a replay.

Simulated replays use the processor, so they are played by child processes and never slow a page down; live ones wait on the
network, so they are threads. A comparison under a budget is played in threads whatever its provider, since its gate must see
every replay.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from threading import Event, Lock
from typing import Self

from memdash.budget import Budget, BudgetGuard, NoLimit, check_models
from memdash.children import COMMAND, Children, Outcome, Task
from memdash.errors import StoreError
from memdash.estimate import Estimate, Estimator
from memdash.live import Guard, PlayHere, Threads, play_here
from memdash.prices import PriceTable
from memdash.progress import ReplayProgress, Tally
from memdash.records import Record, RequestRecord, Status
from memdash.spec import ComparisonSpec, Provider, ReplaySpec
from memdash.store.protocol import AnyStore

_log = logging.getLogger(__name__)

RESUMABLE = frozenset({Status.INTERRUPTED, Status.CANCELLED, Status.FAILED})
"""The ends from which a replay can go on."""

LIVE_REPLAYS = 12
"""How many live replays run at a time."""

_MOST_CHILDREN = 8


class Worker:
    """Runs the replays of comparisons in the background; safe to use from several threads.

    ``on_change`` is called with a comparison's id whenever something of it has changed, from a thread of the worker. ``command``
    and ``play`` are what plays a replay in a child and in this process.
    """

    def __init__(
        self,
        store: AnyStore,
        *,
        processes: int | None = None,
        on_change: Callable[[str], None] | None = None,
        command: Sequence[str] = COMMAND,
        play: PlayHere = play_here,
    ) -> None:
        self._store = store
        self._on_change = on_change or _ignore
        self._prices = PriceTable.load()
        self._children = Children(processes or min(os.cpu_count() or 1, _MOST_CHILDREN), command=command)
        self._live = Threads(LIVE_REPLAYS, play)
        self._one_by_one = Threads(1, play)
        self._estimator = Estimator(self._children, self._prices)
        self._lock = Lock()
        self._runs: dict[str, _Run] = {}
        self._closing = False

    # -- starting and stopping -------------------------------------------------------------------------------------------

    def submit(self, spec: ComparisonSpec) -> str:
        """Keep a comparison and start its replays; returns its id.

        Raises :class:`memdash.errors.InputError` where it cannot be run, and :class:`StoreError` where it cannot be kept.
        """
        replays = spec.replays()
        check_models(spec, self._prices)
        if _in_children(spec):
            self._children.warm_up(len(replays))
        self._store.save_comparison(spec)
        run = _Run(spec.id)
        if spec.budget is not None:
            run.budget = Budget(spec.budget, self._prices)
        for replay in replays:
            run.replays[replay.id] = _ReplayRun(replay, Tally(replay, self._prices), resumed=False)
        self._start(run, spec)
        return spec.id

    def resume(self, comparison_id: str) -> int:
        """Let the replays of a comparison that were interrupted, cancelled or failed go on; returns how many.

        They go on from what is stored of them: no answered request is sent again.
        """
        run = _Run(comparison_id)
        with self._lock:
            if comparison_id in self._runs:
                return 0
            self._runs[comparison_id] = run
        try:
            spec = self._prepare(run)
        except BaseException:
            self._drop(run)
            raise
        if not run.replays:
            self._drop(run)
            return 0
        self._start(run, spec)
        return len(run.replays)

    def _prepare(self, run: _Run) -> ComparisonSpec:
        """Fill a run with the replays of its comparison that can go on; returns what was compared."""
        stored = self._store.comparison(run.comparison_id)
        logs = self._store.replay_logs(run.comparison_id)
        if stored.spec.budget is not None:
            requests = [request for log in logs for request in log.requests]
            run.budget = Budget(stored.spec.budget, self._prices, requests)
        for log in logs:
            if log.statuses and log.statuses[-1].status in RESUMABLE:
                self._store.append_state(log.spec.id, Status.QUEUED, "goes on from what was recorded")
                tally = Tally.of(log, self._prices)
                tally.status, tally.message = Status.QUEUED, None
                run.replays[log.spec.id] = _ReplayRun(log.spec, tally, resumed=True)
        return stored.spec

    def cancel(self, comparison_id: str, replay_id: str | None = None) -> None:
        """Stop a comparison, or one replay of it, before the next request; what was measured is kept and can go on."""
        with self._lock:
            run = self._runs.get(comparison_id)
            replays = list(run.replays.values()) if run else []
        for replay in replays:
            if replay_id in (None, replay.spec.id) and replay.task and not replay.tally.status.over:
                replay.pool.cancel(replay.task)

    def wait(self, comparison_id: str, timeout: float | None = None) -> bool:
        """Wait until nothing of a comparison runs any more; returns whether that is so."""
        with self._lock:
            run = self._runs.get(comparison_id)
        return run is None or run.done.wait(timeout)

    def running(self) -> list[str]:
        """Return the ids of the comparisons that this worker runs now."""
        with self._lock:
            return list(self._runs)

    def close(self) -> None:
        """Stop everything and leave nothing running; replays without an end are marked as interrupted."""
        with self._lock:
            self._closing = True
        self._children.close()
        self._live.close()
        self._one_by_one.close()
        with self._lock:
            left = [
                (run, replay)
                for run in self._runs.values()
                for replay in run.replays.values()
                if not replay.ended
            ]
        for run, replay in left:  # they hang on the network; whatever they still say is not heard
            self._end(run, replay, Outcome.CANCELLED, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- looking on ------------------------------------------------------------------------------------------------------

    def progress(self, comparison_id: str) -> list[ReplayProgress]:
        """Return where each replay of a comparison stands, whoever runs it."""
        with self._lock:
            run = self._runs.get(comparison_id)
            held = {replay.spec.id: replay.tally for replay in run.replays.values()} if run else {}
            if run and run.whole:
                return [tally.progress() for tally in held.values()]
        return [
            held[log.spec.id].progress() if log.spec.id in held else Tally.of(log, self._prices).progress()
            for log in self._store.replay_logs(comparison_id)
        ]

    def estimate(self, spec: ComparisonSpec) -> Estimate | None:
        """Return what a comparison will take, rehearsed in the simulator; None while that is still being worked out.

        Raises :class:`memdash.errors.InputError` where it cannot be run.
        """
        return self._estimator.estimate(spec)

    def estimate_now(self, spec: ComparisonSpec) -> Estimate:
        """Return what a comparison will take, however long that takes to work out."""
        return self._estimator.wait(spec)

    # -- within ----------------------------------------------------------------------------------------------------------

    def _start(self, run: _Run, spec: ComparisonSpec) -> None:
        in_child = _in_children(spec)
        threads = self._live if spec.provider is Provider.ANTHROPIC else self._one_by_one
        for replay in run.replays.values():
            replay.pool = self._children if in_child else threads
            replay.task = self._task(run, replay, spec.provider)
        with self._lock:
            if self._closing:
                raise StoreError("the worker is closed")
            self._runs[run.comparison_id] = run
        tasks = [replay.task for replay in run.replays.values() if replay.task]
        if in_child:
            self._children.submit(tasks)
            return
        for task in tasks:
            guard: Guard = BudgetGuard(run.budget, task.spec.id) if run.budget else NoLimit()
            threads.submit([task], guard)

    def _task(self, run: _Run, replay: _ReplayRun, provider: Provider) -> Task:
        replay_id = replay.spec.id
        paid = provider is Provider.ANTHROPIC

        def start() -> list[Record]:
            if not replay.resumed:
                return []
            journal = self._store.journal(replay_id)
            if journal:  # else the replay says so itself
                self._store.append_state(replay_id, Status.RUNNING)
            replay.tally.status = Status.RUNNING
            self._on_change(run.comparison_id)
            return journal

        def take(lines: Iterable[bytes]) -> None:
            if replay.ended:
                return
            records = self._store.append_lines(replay_id, lines)
            for record in records:
                replay.tally.add(record)
            if paid and any(isinstance(record, RequestRecord) for record in records):
                self._store.flush()  # an answer that was paid for is kept before the next request is sent
            self._on_change(run.comparison_id)

        return Task(replay.spec, start, take, lambda outcome, error: self._end(run, replay, outcome, error))

    def _end(self, run: _Run, replay: _ReplayRun, outcome: Outcome, error: str | None) -> None:
        with self._lock:
            if replay.ended:
                return
            replay.ended = True
        if run.budget:
            run.budget.release(replay.spec.id)
        if not replay.tally.status.over:
            replay.tally.status, replay.tally.message = self._verdict(outcome, error)
            try:
                self._store.append_state(replay.spec.id, replay.tally.status, replay.tally.message)
            except StoreError as problem:
                _log.error("the end of %s could not be kept: %s", replay.spec.id, problem)
        with self._lock:
            replay.settled = True
            over = all(one.settled for one in run.replays.values())
        if over:
            with suppress(StoreError):  # whoever reads the results flushes too, and is told
                self._store.flush()
            self._drop(run)
        self._on_change(run.comparison_id)

    def _drop(self, run: _Run) -> None:
        with self._lock:
            if self._runs.get(run.comparison_id) is run:
                del self._runs[run.comparison_id]
        run.done.set()

    def _verdict(self, outcome: Outcome, error: str | None) -> tuple[Status, str | None]:
        if outcome is Outcome.CANCELLED and self._closing:
            return Status.INTERRUPTED, "the program was ended while it ran"
        if outcome is Outcome.CANCELLED:
            return Status.CANCELLED, "cancelled"
        if outcome is Outcome.CRASHED:
            return Status.INTERRUPTED, error
        return Status.FAILED, error or "the replay ended without saying how"


class _ReplayRun:
    """One replay while this worker has it."""

    def __init__(self, spec: ReplaySpec, tally: Tally, *, resumed: bool) -> None:
        self.spec = spec
        self.tally = tally
        self.resumed = resumed
        self.ended = False
        self.settled = False
        """Whether its end is stored as well."""
        self.pool: Children | Threads
        self.task: Task | None = None


class _Run:
    """One comparison while this worker has replays of it."""

    def __init__(self, comparison_id: str) -> None:
        self.comparison_id = comparison_id
        self.budget: Budget | None = None
        self.replays: dict[str, _ReplayRun] = {}
        self.done = Event()

    @property
    def whole(self) -> bool:
        """Whether every replay of the comparison is here, as none was left out by a resume."""
        return bool(self.replays) and not any(replay.resumed for replay in self.replays.values())


def _in_children(spec: ComparisonSpec) -> bool:
    """Whether its replays are played by child processes."""
    return spec.provider is Provider.SIMULATOR and spec.budget is None


def _ignore(_comparison_id: str) -> None:
    return
