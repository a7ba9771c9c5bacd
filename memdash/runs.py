"""What the worker holds of a comparison while it runs: its replays, how far each is, and how many have not ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from threading import Event
from typing import Protocol

from memdash.budget import Budget
from memdash.children import Task
from memdash.launch import NOBODY
from memdash.progress import ReplayProgress, RunProgress, Tally, add_up
from memdash.records import Status
from memdash.spec import ComparisonSpec, ReplaySpec


class Pool(Protocol):
    """What plays replays: child processes or threads."""

    def withdraw(self, tasks: Iterable[Task]) -> list[Task]:
        """Stop tasks before their next record; returns those that had not started, whose ``on_end`` is not called."""


class ReplayRun:
    """One replay while a worker has it. ``ended`` says that its end was heard, ``settled`` that it is stored as well."""

    def __init__(self, spec: ReplaySpec, tally: Tally, *, resumed: bool = False) -> None:
        self.spec = spec
        self.tally = tally
        self.resumed = resumed
        self.ended = False
        self.settled = False
        self.pool: Pool
        self.task: Task | None = None

    def progress(self) -> ReplayProgress:
        """Where it stands now."""
        return self.tally.progress()


class OverBefore:
    """A replay of a resumed comparison that had ended before."""

    ended = True
    settled = True

    def __init__(self, progress: ReplayProgress) -> None:
        self._progress = progress

    def progress(self) -> ReplayProgress:
        """Where it stands: where it ended."""
        return self._progress


class Run:
    """One comparison while a worker has it; everything is read and changed under the worker's lock.

    ``launch`` says who started it and holds their own key while it goes on, ``withheld`` that the day's money is spent.
    ``cancelled`` says that the whole of it was cancelled, ``refining`` that the next round of its refinement is being worked out.
    """

    def __init__(self, comparison_id: str) -> None:
        self.comparison_id = comparison_id
        self.spec: ComparisonSpec
        self.launch = NOBODY
        self.budget: Budget | None = None
        self.replays: dict[str, ReplayRun | OverBefore] = {}
        self.unsettled = 0
        self.cancelled = False
        self.withheld = False
        self.refining = False
        self.rounds = 0
        self.done = Event()

    def add(self, replay: ReplayRun) -> None:
        """Take in a replay that is to be played."""
        self.replays[replay.spec.id] = replay
        self.unsettled += 1

    def settle(self, replays: Iterable[ReplayRun]) -> None:
        """The end of these replays is stored: what only playing them needed is let go."""
        for replay in replays:
            replay.settled = True
            replay.task = None
            self.unsettled -= 1

    @property
    def unended(self) -> list[ReplayRun]:
        """The replays whose end has not been heard."""
        return [one for one in self.replays.values() if isinstance(one, ReplayRun) and not one.ended]

    @property
    def waits(self) -> bool:
        """Whether nothing of it is being played yet."""
        own = [one for one in self.replays.values() if isinstance(one, ReplayRun)]
        return bool(own) and all(not one.ended and one.tally.status is Status.QUEUED for one in own)

    def is_played_by(self, pool: Pool) -> bool:
        """Whether this pool has a replay of it still to play, or to end."""
        return any(
            isinstance(one, ReplayRun) and not one.ended and one.pool is pool for one in self.replays.values()
        )

    @property
    def wants_refinement(self) -> bool:
        """Whether more settings may follow once all replays have ended."""
        sweep = self.spec.sweep
        stopped = any(one.progress().status is Status.STOPPED_BY_BUDGET for one in self.replays.values())
        return sweep is not None and sweep.refine and not (self.cancelled or self.withheld or stopped)

    def progress(self) -> list[ReplayProgress]:
        """Where each replay stands, in the comparison's order."""
        return [one.progress() for one in self.replays.values()]

    def overview(self) -> RunProgress:
        """Where all of them stand together."""
        return replace(add_up(self.progress()), rounds=self.rounds, refining=self.refining)
