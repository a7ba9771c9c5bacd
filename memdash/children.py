"""Child processes that play simulated replays: started when needed, kept while busy, replaced when they die."""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from threading import Condition, Lock, Thread, current_thread
from typing import Any

import memdash
from memdash import codec
from memdash.records import Record, to_line
from memdash.scripts.model import Script
from memdash.spec import ReplaySpec

_log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-m", "memdash.child")

_MOST_CHILDREN = 8
_IDLE_SECONDS = 20.0
"""How long a child without work is kept."""
_TURNS_WORTH_A_CHILD = 400
"""What a child plays in about the processor time that it takes to start: for fewer turns another one only gets in the way."""
_CHUNK = 1 << 16
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")


class Outcome(Enum):
    """How a task ended."""

    FINISHED = "finished"
    RAISED = "raised"
    CRASHED = "crashed"
    """Its process is gone."""
    CANCELLED = "cancelled"
    WITHHELD = "withheld"
    """What all live runs may cost in a day is spent."""


@dataclass(eq=False, slots=True)
class Task:
    """A replay to be played by a child.

    ``on_start`` is called when it starts and gives the records it goes on from. ``on_lines`` gets the lines of several records
    at a time, ``on_end`` how it ended and what went wrong. All are called from the thread of the child that plays it, but for the
    end of a task that never started.
    """

    spec: ReplaySpec
    on_start: Callable[[], Sequence[Record]]
    on_lines: Callable[[list[bytes]], None]
    on_end: Callable[[Outcome, str | None], None]
    cancelled: bool = False
    child: _Child | None = field(default=None, repr=False)


class Children:
    """A pool of at most ``count`` children, one for each processor unless told otherwise; each plays one replay at a time.

    A child costs more than a second of processor time and 100 MB, so there are never more than the work is worth.
    """

    def __init__(
        self,
        count: int | None = None,
        *,
        command: Sequence[str] = COMMAND,
        idle_seconds: float = _IDLE_SECONDS,
    ) -> None:
        self._count = count or min(os.cpu_count() or 1, _MOST_CHILDREN)
        self._command = command
        self._idle_seconds = idle_seconds
        self._changed = Condition()
        self._waiting: deque[Task] = deque()
        self._threads: set[Thread] = set()
        self._running: set[Task] = set()
        self._closed = False

    def submit(self, tasks: Iterable[Task], *, first: bool = False) -> None:
        """Queue tasks; with ``first`` they go before those that wait already."""
        with self._changed:
            tasks = list(tasks)
            if first:
                self._waiting.extendleft(reversed(tasks))
            else:
                self._waiting.extend(tasks)
            self._start(task.spec for task in self._waiting)
            self._changed.notify_all()

    def warm_up(self, replays: Iterable[ReplaySpec]) -> None:
        """Start the children that these replays will need, a second before they are submitted."""
        with self._changed:
            self._start(replays)

    def warm_up_one(self) -> None:
        """Start a child for work that is sure to come, though its replays are not known yet."""
        with self._changed:
            if not self._threads:
                self._start_one()

    def cancel(self, task: Task) -> None:
        """Stop a task before its next record; one that has not started ends at once."""
        for waiting in self.withdraw([task]):
            waiting.on_end(Outcome.CANCELLED, None)

    def withdraw(self, tasks: Iterable[Task]) -> list[Task]:
        """Stop tasks before their next record; returns those that had not started, whose ``on_end`` is not called."""
        with self._changed:
            stopped = set(tasks)
            for task in stopped:
                task.cancelled = True
            withdrawn = [task for task in self._waiting if task in stopped]
            self._waiting = deque(task for task in self._waiting if task not in stopped)
            under_way = [(task.child, task.spec.id) for task in stopped if task.child is not None]
        for child, replay_id in under_way:
            child.cancel(replay_id)
        return withdrawn

    def close(self) -> None:
        """End every child; tasks that wait or run end as cancelled."""
        with self._changed:
            self._closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
            running = list(self._running)
            for task in (*waiting, *running):
                task.cancelled = True
            self._changed.notify_all()
            threads = list(self._threads)
        for task in waiting:
            task.on_end(Outcome.CANCELLED, None)
        for task in running:
            if task.child is not None:
                task.child.kill()
        for thread in threads:
            thread.join()

    def _start(self, replays: Iterable[ReplaySpec]) -> None:
        """Start the children that are missing for these replays and those that are being played; with the lock held.

        What is being played counts as whole: its child may not have begun yet, and a second one for another few turns would
        only take the processor from it.
        """
        turns = [replay.turns for replay in (*replays, *(task.spec for task in self._running))]
        worth = min(len(turns), self._count, math.ceil(sum(turns) / _TURNS_WORTH_A_CHILD))
        for _ in range(worth - len(self._threads)):
            self._start_one()

    def _start_one(self) -> None:
        if self._closed:
            return
        thread = Thread(target=self._work, name="memdash-child", daemon=True)
        self._threads.add(thread)
        thread.start()

    # -- one thread a child ----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        child = _Child(self._command)
        try:
            while (task := self._next()) is not None:
                if not child.alive:
                    child.end()
                    child = _Child(self._command)
                self._play(child, task)
        finally:
            child.end()

    def _next(self) -> Task | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed, timeout=self._idle_seconds)
            if self._closed or not self._waiting:
                self._threads = {thread for thread in self._threads if thread is not current_thread()}
                return None
            task = self._waiting.popleft()
            self._running.add(task)
            return task

    def _play(self, child: _Child, task: Task) -> None:
        try:
            with self._changed:
                task.child = child
            outcome, error = child.play(task)
        except Exception as problem:  # whatever a callback raises ends this task alone
            _log.exception("replay %s", task.spec.id)
            child.kill()
            outcome, error = Outcome.RAISED, f"{type(problem).__name__}: {problem}"
        with self._changed:
            task.child = None
            self._running.discard(task)
        if task.cancelled and outcome is not Outcome.RAISED:
            outcome, error = Outcome.CANCELLED, None
        try:
            task.on_end(outcome, error)
        except Exception:
            _log.exception("the end of replay %s could not be noted", task.spec.id)


class _Child:
    """One child process and the scripts it has."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            bufsize=0,
        )
        self._scripts: dict[int, tuple[Script, str]] = {}
        self._sending = Lock()
        self._killed = False
        self._rest = b""
        self._last_words: deque[str] = deque(maxlen=20)
        self._listener = Thread(target=self._listen, name="memdash-child-errors", daemon=True)
        self._listener.start()

    @property
    def alive(self) -> bool:
        """Whether it can play another task; one that was killed may take a moment to be gone."""
        return not self._killed and self._process.poll() is None

    def play(self, task: Task) -> tuple[Outcome, str | None]:
        """Have a task played and hand on what comes back."""
        journal = task.on_start()
        try:
            script = self._send_script(task.spec.script)
            order = {
                "op": "replay",
                "spec": codec.dump_replay(task.spec),
                "script": script,
                "journal": [to_line(record).decode() for record in journal],
            }
            self._send(order)
            if task.cancelled:
                self.cancel(task.spec.id)
        except OSError:
            return self._crashed()
        while True:
            lines = self._lines()
            if not lines:
                return self._crashed()
            last = lines[-1]
            ended = last.startswith(b'{"op"')
            if ended:
                lines.pop()
            if lines:
                task.on_lines(lines)
            if ended:
                error = json.loads(last)["error"]
                return (Outcome.FINISHED, None) if error is None else (Outcome.RAISED, error)

    def cancel(self, replay_id: str) -> None:
        try:
            self._send({"op": "cancel", "replay": replay_id})
        except OSError:
            return  # it is gone, which ends the replay as well

    def kill(self) -> None:
        self._killed = True
        self._process.kill()

    def end(self) -> None:
        """Let the process end, make sure of it, and leave nothing open."""
        with self._sending:
            _close(self._process.stdin)
        try:
            self._process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(timeout=2.0)
        _close(self._process.stdout)
        _close(self._process.stderr)

    def _send_script(self, script: Script) -> str:
        """Send a script that the child does not have yet; returns its hash. Scripts are known by object."""
        known = self._scripts.get(id(script))
        if known is None:
            stored = codec.dump_script(script)
            if all(other != stored.hash for _script, other in self._scripts.values()):
                self._send({"op": "script", "hash": stored.hash, "body": stored.body})
            known = self._scripts[id(script)] = (script, stored.hash)
        return known[1]

    def _send(self, order: dict[str, Any]) -> None:
        data = memoryview(json.dumps(order).encode() + b"\n")
        with self._sending:
            if self._process.stdin is None or self._process.stdin.closed:
                raise BrokenPipeError
            while data:
                data = data[self._process.stdin.write(data) :]

    def _lines(self) -> list[bytes]:
        """Wait for the next whole lines; none at the end of the stream."""
        if self._process.stdout is None:
            return []
        while True:
            chunk = self._process.stdout.read(_CHUNK)
            if not chunk:
                return []
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            if lines:
                return lines

    def _crashed(self) -> tuple[Outcome, str]:
        code = self._process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self._listener.join(timeout=2.0)
        said = f": {self._last_words[-1]}" if self._last_words else ""
        return Outcome.CRASHED, f"the process that played it ended ({how}){said}"

    def _listen(self) -> None:
        if self._process.stderr is None:
            return
        rest = b""
        while chunk := self._process.stderr.read(4096):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                text = line.decode(errors="replace").rstrip()
                if text:
                    self._last_words.append(text)
                    _log.warning("child %d: %s", self._process.pid, text)


def _environment() -> dict[str, str]:
    """What a child needs of our environment: no keys, and this memdash whatever its working folder."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ANTHROPIC_") and not any(word in name.upper() for word in _SECRET_WORDS)
    }
    package = str(Path(memdash.__file__).resolve().parent.parent)
    kept["PYTHONPATH"] = os.pathsep.join(part for part in (package, os.environ.get("PYTHONPATH")) if part)
    return kept


def _close(file: Any) -> None:
    try:
        if file is not None:
            file.close()
    except OSError:
        return
