"""Replays in threads of this process: the live ones, which wait on the network, and those under a budget."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from memdash.children import Outcome, Task
from memdash.records import Record, RequestRecord, to_line
from memdash.spec import ReplaySpec

if TYPE_CHECKING:
    from memdash.replay import Gate, PlannedRequest

_log = logging.getLogger(__name__)

PlayHere = Callable[[ReplaySpec, Sequence[Record], "Gate"], Iterator[Record]]
"""Plays a replay in this process, from where recorded records end; the gate is called before every request."""

_CLOSING_SECONDS = 2.0
"""How long :meth:`Threads.close` waits for threads that may be waiting on the network."""


def play_here(spec: ReplaySpec, journal: Sequence[Record], gate: Gate) -> Iterator[Record]:
    """Play a replay against what its specification names."""
    from memdash.claude import connect
    from memdash.replay import replay

    client, clock = connect(spec)
    try:
        yield from replay(spec, client, clock, resume_from=journal, gate=gate)
    finally:
        client.close()


class Guard(Protocol):
    """What stands between a replay and its money."""

    def reserve(self, planned: PlannedRequest) -> None:
        """Called before every request; raises :class:`memdash.errors.BudgetExceeded` where it must not be made."""

    def settle(self, request: RequestRecord) -> None:
        """Called with every answered request, once it is kept."""


class _Cancelled(BaseException):
    """Ends a replay from within its gate; no exception handler of the replay is meant to catch it."""


class Threads:
    """At most ``count`` replays at a time, each in a thread of its own, their turns in order.

    The threads are daemons: one that waits on the network cannot be stopped, but it never touches the database itself.
    """

    def __init__(self, count: int, play: PlayHere = play_here) -> None:
        self._count = count
        self._play = play
        self._changed = Lock()
        self._waiting: deque[tuple[Task, Guard]] = deque()
        self._running: dict[Task, Thread] = {}

    def submit(self, tasks: Iterable[Task], guard: Guard) -> None:
        """Queue tasks whose requests are let through by ``guard``."""
        with self._changed:
            self._waiting.extend((task, guard) for task in tasks)
            self._start()

    def withdraw(self, tasks: Iterable[Task]) -> list[Task]:
        """Stop tasks before their next request or record; returns those that had not started, whose ``on_end`` is not called."""
        with self._changed:
            stopped = set(tasks)
            for task in stopped:
                task.cancelled = True
            withdrawn = [task for task, _guard in self._waiting if task in stopped]
            self._waiting = deque(entry for entry in self._waiting if entry[0] not in stopped)
        return withdrawn

    def close(self) -> None:
        """Stop everything; tasks end as cancelled, but for those that hang on the network, which are left behind."""
        with self._changed:
            waiting = [task for task, _guard in self._waiting]
            self._waiting.clear()
            for task in (*waiting, *self._running):
                task.cancelled = True
            threads = list(self._running.values())
        for task in waiting:
            task.on_end(Outcome.CANCELLED, None)
        until = monotonic() + _CLOSING_SECONDS
        for thread in threads:
            thread.join(timeout=max(0.0, until - monotonic()))

    def _start(self) -> None:
        """Start what there is room for; with the lock held."""
        while self._waiting and len(self._running) < self._count:
            task, guard = self._waiting.popleft()
            thread = Thread(target=self._run, args=(task, guard), name=f"memdash-{task.spec.id}", daemon=True)
            self._running[task] = thread
            thread.start()

    def _run(self, task: Task, guard: Guard) -> None:
        outcome, error = self._outcome(task, guard)
        with self._changed:
            del self._running[task]
            self._start()
        try:
            task.on_end(outcome, error)
        except Exception:
            _log.exception("the end of replay %s could not be noted", task.spec.id)

    def _outcome(self, task: Task, guard: Guard) -> tuple[Outcome, str | None]:
        def gate(planned: PlannedRequest) -> None:
            if task.cancelled:
                raise _Cancelled
            guard.reserve(planned)

        try:
            for record in self._play(task.spec, task.on_start(), gate):
                task.on_lines([to_line(record)])
                if isinstance(record, RequestRecord):
                    guard.settle(record)
                if task.cancelled:
                    return Outcome.CANCELLED, None
        except _Cancelled:
            return Outcome.CANCELLED, None
        except Exception as problem:
            _log.exception("replay %s", task.spec.id)
            return Outcome.RAISED, f"{type(problem).__name__}: {problem}"
        return Outcome.FINISHED, None
