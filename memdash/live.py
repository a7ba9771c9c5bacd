"""Replays in threads of this process: the live ones, which wait on the network, and those under a budget."""

from __future__ import annotations

import logging
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from memdash.children import Outcome, Task
from memdash.errors import DayBudgetSpent
from memdash.launch import Key
from memdash.records import Record, RequestRecord, to_line
from memdash.spec import ReplaySpec

if TYPE_CHECKING:
    from memdash.replay import Gate, PlannedRequest

_log = logging.getLogger(__name__)

PlayHere = Callable[[ReplaySpec, Sequence[Record], "Gate", Key | None], Iterator[Record]]
"""Plays a replay in this process, from where recorded records end; the gate is called before every request.

The key is a person's own for live requests, None the one of the environment.
"""

_CLOSING_SECONDS = 2.0
"""How long :meth:`Threads.close` waits for threads that may be waiting on the network."""


def play_here(
    spec: ReplaySpec, journal: Sequence[Record], gate: Gate, key: Key | None = None
) -> Iterator[Record]:
    """Play a replay against what its specification names."""
    from memdash.claude import connect
    from memdash.replay import replay

    client, clock = connect(spec, key)
    try:
        yield from replay(spec, client, clock, resume_from=journal, gate=gate)
    finally:
        client.close()


class Guard(Protocol):
    """What stands between a replay and its money."""

    def reserve(self, planned: PlannedRequest) -> None:
        """Called before every request; raises :class:`memdash.errors.BudgetExceeded` or
        :class:`memdash.errors.DayBudgetSpent` where it must not be made."""

    def settle(self, request: RequestRecord) -> None:
        """Called with every answered request, once it is kept."""


@dataclass(frozen=True, slots=True)
class Guards:
    """Several guards, asked in their order: all of them must let a request through. Without any, everything is let through."""

    guards: tuple[Guard, ...] = ()

    def reserve(self, planned: PlannedRequest) -> None:
        """Ask each of them."""
        for guard in self.guards:
            guard.reserve(planned)

    def settle(self, request: RequestRecord) -> None:
        """Tell each of them."""
        for guard in self.guards:
            guard.settle(request)


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
        self._waiting: deque[tuple[Task, Guard, Key | None]] = deque()
        self._running: dict[Task, Thread] = {}

    def submit(self, tasks: Iterable[Task], guard: Guard, key: Key | None = None) -> None:
        """Queue tasks whose requests are let through by ``guard`` and made with ``key``."""
        with self._changed:
            self._waiting.extend((task, guard, key) for task in tasks)
            self._start()

    def withdraw(self, tasks: Iterable[Task]) -> list[Task]:
        """Stop tasks before their next request or record; returns those that had not started, whose ``on_end`` is not called."""
        with self._changed:
            stopped = set(tasks)
            for task in stopped:
                task.cancelled = True
            withdrawn = [entry[0] for entry in self._waiting if entry[0] in stopped]
            self._waiting = deque(entry for entry in self._waiting if entry[0] not in stopped)
        return withdrawn

    def close(self) -> None:
        """Stop everything; tasks end as cancelled, but for those that hang on the network, which are left behind."""
        with self._changed:
            waiting = [entry[0] for entry in self._waiting]
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
            task, guard, key = self._waiting.popleft()
            thread = Thread(
                target=self._run, args=(task, guard, key), name=f"memdash-{task.spec.id}", daemon=True
            )
            self._running[task] = thread
            thread.start()

    def _run(self, task: Task, guard: Guard, key: Key | None) -> None:
        outcome, error = self._outcome(task, guard, key)
        with self._changed:
            del self._running[task]
            self._start()
        try:
            task.on_end(outcome, error)
        except Exception:
            _log.exception("the end of replay %s could not be noted", task.spec.id)

    def _outcome(self, task: Task, guard: Guard, key: Key | None) -> tuple[Outcome, str | None]:
        def gate(planned: PlannedRequest) -> None:
            if task.cancelled:
                raise _Cancelled
            guard.reserve(planned)

        try:
            for record in self._play(task.spec, task.on_start(), gate, key):
                line = to_line(record)
                task.on_lines([line if key is None else key.scrub(line.decode()).encode()])
                if isinstance(record, RequestRecord):
                    guard.settle(record)
                if task.cancelled:
                    return Outcome.CANCELLED, None
        except _Cancelled:
            return Outcome.CANCELLED, None
        except DayBudgetSpent as spent:
            return Outcome.WITHHELD, str(spent)
        except Exception as problem:
            _log.error("replay %s\n%s", task.spec.id, _scrubbed(traceback.format_exc(), key))
            return Outcome.RAISED, _scrubbed(f"{type(problem).__name__}: {problem}", key)
        return Outcome.FINISHED, None


def _scrubbed(text: str, key: Key | None) -> str:
    """What is written down never holds a person's own key, whatever a server answers."""
    return text if key is None else key.scrub(text)
