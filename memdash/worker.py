"""The worker: runs comparisons, keeps what they yield, and is the only caller of a replay.

Simulated replays use the processor, so they are played by child processes and never slow a page down; live ones wait on the
network, so they are threads. A comparison under a budget is played in threads whatever its provider, since its gate must see
every replay.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from threading import Lock, Thread, current_thread
from typing import Self

from memdash import numbers
from memdash.answerer import check_answerer
from memdash.budget import Budget, BudgetGuard, check_models
from memdash.children import Children, Outcome, Task
from memdash.errors import InputError, StoreError
from memdash.estimate import Estimate, Estimator
from memdash.launch import NOBODY, Launch
from memdash.live import Guard, Guards, PlayHere, Threads, play_here
from memdash.outcomes import read_outcomes
from memdash.prices import PriceTable
from memdash.progress import ReplayProgress, RunProgress, Tally, add_up_outcomes
from memdash.records import Record, RequestRecord, Status
from memdash.refining import NextRound, next_round
from memdash.replay_log import ReplayLog
from memdash.runs import OverBefore, ReplayRun, Run
from memdash.spec import ComparisonSpec, Provider
from memdash.store.protocol import AnyStore
from memdash.treasury import DayBudget, Treasury

_log = logging.getLogger(__name__)

RESUMABLE = frozenset({Status.INTERRUPTED, Status.CANCELLED, Status.FAILED})
"""The ends from which a replay can go on."""

LIVE_REPLAYS = 12
"""How many live replays run at a time."""

_LOGS_AT_A_TIME = 100


class Worker:
    """Runs the replays of comparisons in the background; safe to use from several threads.

    ``on_change`` is called with a comparison's id whenever something of it has changed, from a thread of the worker. ``children``
    and ``play`` are what plays replays in other processes and in this one, ``next_round`` what says how a sweep goes on.
    ``day_budget`` is what all live requests of a day may cost together, None for no limit; ``spent_in`` says what those of a
    comparison have come to by the ledger.
    """

    def __init__(
        self,
        store: AnyStore,
        *,
        children: Children | None = None,
        on_change: Callable[[str], None] | None = None,
        play: PlayHere = play_here,
        next_round: NextRound = next_round,
        day_budget: DayBudget | None = None,
        spent_in: Callable[[str], float] | None = None,
    ) -> None:
        self._store = store
        self._on_change = on_change or _ignore
        self._prices = PriceTable.load()
        self._children = children or Children()
        self._live = Threads(LIVE_REPLAYS, play)
        self._one_by_one = Threads(1, play)
        self._estimator = Estimator(self._children, self._prices)
        self._spent_in = spent_in
        self._limited = day_budget is not None
        self._treasury = Treasury(store, self._prices, day_budget)
        self._lock = Lock()
        self._next_round = next_round
        self._runs: dict[str, Run] = {}
        self._refining: set[Thread] = set()
        self._closing = False

    # -- starting and stopping -------------------------------------------------------------------------------------------

    def submit(self, spec: ComparisonSpec, launch: Launch = NOBODY) -> str:
        """Keep a comparison and start its replays for whoever launches it; returns its id.

        Raises :class:`memdash.errors.InputError` where it cannot be run, and :class:`StoreError` where it cannot be kept.
        """
        replays = spec.replays()
        check_models(spec, self._prices, day_budget=self._limited and spec.provider is Provider.ANTHROPIC)
        if _in_children(spec):
            self._children.warm_up(replays)
        self._store.save_comparison(spec)
        run = Run(spec.id)
        run.spec, run.launch = spec, launch
        if spec.budget is not None:
            run.budget = Budget(spec.budget, self._prices)
        for replay in replays:
            run.add(ReplayRun(replay, Tally(replay, self._prices)))
        self._note_start(run)
        self._start(run, run.unended)
        return spec.id

    def resume(self, comparison_id: str, launch: Launch = NOBODY) -> int:
        """Let the replays of a comparison that were interrupted, cancelled or failed go on; returns how many.

        They go on from what is stored of them: no answered request is sent again. The refinement of a sweep goes on as well,
        also where it was stopped between two rounds. Raises :class:`memdash.errors.InputError` where another server would
        answer a live one now.
        """
        run = Run(comparison_id)
        run.launch = launch
        with self._lock:
            if comparison_id in self._runs:
                return 0
            self._runs[comparison_id] = run
        try:
            self._prepare(run)
        except BaseException:
            self._drop(run)
            raise
        resumed = run.unended
        if resumed:
            self._note_start(run)
            self._start(run, resumed)
        else:
            self._all_ended(run)
        return len(resumed)

    def _prepare(self, run: Run) -> None:
        """Fill a run with the replays of its comparison, those that can go on and those that cannot."""
        stored = self._store.comparison(run.comparison_id)
        if any(replay.provider is not stored.spec.provider for replay in stored.replays):
            # Who may let it go on, and what stands between it and the money, follow from its settings alone.
            raise InputError("its replays are not answered by what its settings say, so it cannot go on")
        if stored.spec.provider is Provider.ANTHROPIC:
            check_answerer(stored.versions)
        run.spec, run.rounds = stored.spec, len(stored.refinements)
        requests: list[RequestRecord] = []
        for log in self._logs(run.comparison_id):
            tally = Tally.of(log, self._prices)
            if stored.spec.budget is not None:
                requests += log.requests
            if tally.status not in RESUMABLE:
                run.replays[log.spec.id] = OverBefore(tally.progress())
                continue
            tally.status, tally.message = Status.QUEUED, None
            run.add(ReplayRun(log.spec, tally, resumed=True))
        if stored.spec.budget is not None:
            set_aside = self._spent_in(run.comparison_id) if self._spent_in else 0.0
            run.budget = Budget(stored.spec.budget, self._prices, requests, set_aside)
        going_on = [replay.spec.id for replay in run.unended]
        if going_on:
            self._store.append_states(going_on, Status.QUEUED, "goes on from what was recorded")

    def cancel(self, comparison_id: str, replay_id: str | None = None) -> None:
        """Stop a comparison, or one replay of it, before the next request; what was measured is kept and can go on."""
        with self._lock:
            run = self._runs.get(comparison_id)
            if run is None:
                return
            if replay_id is None:
                run.cancelled = True
            replays = [one for one in run.unended if replay_id in (None, one.spec.id)]
        self._withdraw(run, replays)

    def _withdraw(self, run: Run, replays: Sequence[ReplayRun]) -> None:
        """Stop replays before their next request; those that had not started end here, all at once."""
        by_task = {replay.task: replay for replay in replays if replay.task is not None}
        for pool in {replay.pool for replay in by_task.values()}:
            withdrawn = pool.withdraw(task for task, replay in by_task.items() if replay.pool is pool)
            self._end(run, [by_task[task] for task in withdrawn], Outcome.CANCELLED)

    def wait(self, comparison_id: str, timeout: float | None = None) -> bool:
        """Wait until nothing of a comparison runs any more; returns whether that is so."""
        with self._lock:
            run = self._runs.get(comparison_id)
        return run is None or run.done.wait(timeout)

    def running(self) -> list[str]:
        """Return the ids of the comparisons that this worker runs now."""
        with self._lock:
            return list(self._runs)

    def waits_for(self, comparison_id: str) -> str | None:
        """Return the id of the comparison that is played before this one, None once this one is being played."""
        with self._lock:
            run = self._runs.get(comparison_id)
            if run is None or not run.waits:
                return None
            pool = next(one.pool for one in run.unended)
            before = takewhile(lambda one: one is not run, self._runs.values())
            return next((one.comparison_id for one in before if one.is_played_by(pool)), None)

    def running_alike(self, spec: ComparisonSpec) -> str | None:
        """Return the id of a comparison that runs now with just these settings, None where there is none.

        Its title and what a refinement has added to it do not matter.
        """
        with self._lock:
            going_on = [run.spec for run in self._runs.values() if not run.cancelled and run.replays]
        for one in going_on:
            if replace(one, id=spec.id, title=spec.title, refined=spec.refined) == spec:
                return one.id
        return None

    def close(self) -> None:
        """Stop everything and leave nothing running; replays without an end are marked as interrupted."""
        with self._lock:
            self._closing = True
            waiting = [(run, run.unended) for run in self._runs.values()]
            refining = list(self._refining)
        for run, replays in waiting:
            self._withdraw(run, replays)
        self._children.close()
        self._live.close()
        self._one_by_one.close()
        with self._lock:
            left = [(run, run.unended) for run in self._runs.values()]
        for run, replays in left:  # they hang on the network; whatever they still say is not heard
            self._end(run, replays, Outcome.CANCELLED)
        for thread in refining:
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- looking on ------------------------------------------------------------------------------------------------------

    def progress(self, comparison_id: str) -> list[ReplayProgress]:
        """Return where each replay of a comparison stands, whoever runs it; costs nothing while it runs here."""
        with self._lock:
            run = self._runs.get(comparison_id)
            if run and run.replays:
                return run.progress()
        return [Tally.of(log, self._prices).progress() for log in self._logs(comparison_id)]

    def overview(self, comparison_id: str) -> RunProgress:
        """Return where all replays of a comparison stand together, and whether its refinement is being worked out."""
        with self._lock:
            run = self._runs.get(comparison_id)
            if run and run.replays:
                return run.overview()
        stored, outcomes = read_outcomes(self._store, comparison_id)
        return replace(add_up_outcomes(outcomes), rounds=len(stored.refinements))

    def estimate(self, spec: ComparisonSpec) -> Estimate | None:
        """Return what a comparison will take, rehearsed in the simulator; None while that is still being worked out.

        Raises :class:`memdash.errors.InputError` where it cannot be run.
        """
        return self._estimator.estimate(spec)

    def estimate_now(self, spec: ComparisonSpec) -> Estimate:
        """Return what a comparison will take, however long that takes to work out."""
        return self._estimator.wait(spec)

    # -- within ----------------------------------------------------------------------------------------------------------

    def _start(self, run: Run, replays: Sequence[ReplayRun]) -> None:
        spec = run.spec
        in_child = _in_children(spec)
        threads = self._live if spec.provider is Provider.ANTHROPIC else self._one_by_one
        for replay in replays:
            replay.pool = self._children if in_child else threads
            replay.task = self._task(run, replay)
        with self._lock:
            if self._closing:
                raise StoreError("the worker is closed")
            self._runs[run.comparison_id] = run
        tasks = [replay.task for replay in replays if replay.task]
        if in_child:
            self._children.submit(tasks)
        else:
            for task in tasks:
                threads.submit([task], self._guard(run, task.spec.id), run.launch.key)
        if run.cancelled:  # while they were made ready
            self._withdraw(run, replays)

    def _guard(self, run: Run, replay_id: str) -> Guard:
        """What stands between a replay and its money: the comparison's own budget, and what everybody's may cost in a day."""
        guards: list[Guard] = [BudgetGuard(run.budget, replay_id)] if run.budget else []
        if run.spec.provider is Provider.ANTHROPIC:
            limited = run.budget is not None
            guards.append(self._treasury.guard(run.comparison_id, run.launch, limited=limited))
        return Guards(tuple(guards))

    def _note_start(self, run: Run) -> None:
        if run.spec.provider is Provider.ANTHROPIC:
            self._treasury.note_start(run.comparison_id, run.launch)

    def _logs(self, comparison_id: str) -> Iterator[ReplayLog]:
        """What is stored of each replay, some of them in memory at a time."""
        with self._store.at_hand(comparison_id) as near:
            ids = [one.id for one in near.comparison(comparison_id).replays]
            for start in range(0, len(ids), _LOGS_AT_A_TIME):
                yield from near.replay_logs(comparison_id, ids[start : start + _LOGS_AT_A_TIME])

    def _task(self, run: Run, replay: ReplayRun) -> Task:
        replay_id = replay.spec.id
        paid = replay.spec.provider is Provider.ANTHROPIC

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

        return Task(replay.spec, start, take, lambda outcome, error: self._end(run, [replay], outcome, error))

    def _end(
        self, run: Run, replays: Sequence[ReplayRun], outcome: Outcome, error: str | None = None
    ) -> None:
        """Note how replays ended, where they have not said so themselves; all of them in the same way."""
        with self._lock:
            run.withheld = run.withheld or outcome is Outcome.WITHHELD
            ending = [replay for replay in replays if not replay.ended]
            for replay in ending:
                replay.ended = True
        if not ending:
            return
        silent = [replay for replay in ending if not replay.tally.status.over]
        for replay in ending:
            if run.budget:
                run.budget.release(replay.spec.id)
        if silent:
            status, message = self._verdict(outcome, error)
            for replay in silent:
                replay.tally.status, replay.tally.message = status, message
            try:
                self._store.append_states([replay.spec.id for replay in silent], status, message)
            except StoreError as problem:
                what = numbers.listing([replay.spec.id for replay in silent])
                _log.error("the end of %s could not be kept: %s", what, problem)
        with self._lock:
            run.settle(ending)
            over = run.unsettled == 0
        if over:
            self._all_ended(run)
        self._on_change(run.comparison_id)

    def _all_ended(self, run: Run) -> None:
        """Every replay has ended: let a sweep's refinement go on, or be done."""
        with suppress(StoreError):  # whoever reads the results flushes too, and is told
            self._store.flush()
        with self._lock:
            run.refining = run.wants_refinement and not self._closing
            if run.refining:
                thread = Thread(target=self._refine, args=(run,), name="memdash-refine", daemon=True)
                self._refining.add(thread)
                thread.start()
                return
        self._drop(run)

    def _refine(self, run: Run) -> None:
        """Have the settings played that the next round of a sweep's refinement asks for; be done where there is none."""
        try:
            goes_on = self._play_next_round(run)
        except Exception:  # what was played stays, and resuming takes the refinement up again
            _log.exception("the refinement of %s ended early", run.comparison_id)
            goes_on = False
        with self._lock:
            self._refining.discard(current_thread())
        if not goes_on:
            self._drop(run)
        self._on_change(run.comparison_id)

    def _play_next_round(self, run: Run) -> bool:
        proposal = self._next_round(self._store, run.comparison_id)
        if proposal is None or run.cancelled or self._closing:
            return False
        spec = run.spec.with_refined(proposal.choices)
        added = [
            ReplayRun(replay, Tally(replay, self._prices)) for replay in spec.replays()[len(run.replays) :]
        ]
        self._store.extend(run.comparison_id, proposal)
        with self._lock:
            run.spec = spec
            run.refining = False
            run.rounds += 1
            for replay in added:
                run.add(replay)
        try:
            self._start(run, added)
        except StoreError:  # closed meanwhile
            self._end(run, added, Outcome.CANCELLED)
        return True

    def _drop(self, run: Run) -> None:
        with self._lock:
            if self._runs.get(run.comparison_id) is run:
                del self._runs[run.comparison_id]
        run.done.set()

    def _verdict(self, outcome: Outcome, error: str | None) -> tuple[Status, str | None]:
        if outcome is Outcome.CANCELLED and self._closing:
            return Status.INTERRUPTED, "the program was ended while it ran"
        if outcome is Outcome.CANCELLED:
            return Status.CANCELLED, "cancelled"
        if outcome in (Outcome.CRASHED, Outcome.WITHHELD):
            return Status.INTERRUPTED, error
        return Status.FAILED, error or "the replay ended without saying how"


def _in_children(spec: ComparisonSpec) -> bool:
    """Whether its replays are played by child processes."""
    return spec.provider is Provider.SIMULATOR and spec.budget is None


def _ignore(_comparison_id: str) -> None:
    return
