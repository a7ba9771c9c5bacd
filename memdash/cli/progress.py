"""How far a run is, on standard error: a line that changes for a person, a line a finished replay for a log.

Thousands of replays are counted instead.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from memdash import numbers
from memdash.cli.output import complain
from memdash.tables.lines import one_line

if TYPE_CHECKING:
    from memdash.progress import ReplayProgress
    from memdash.worker import Worker

_LOG_SECONDS = 10.0
"""How often a log is told how far thousands of replays are."""
_SURE_SECONDS = 1.0
"""Before this the pace says nothing: the processes are still being started."""


class Progress(Protocol):
    """Shows where the replays of a run stand."""

    def show(self, worker: Worker, comparison_id: str) -> None:
        """Show the present state; called again and again."""

    def end(self) -> None:
        """The run is over."""


def progress(*, together: bool = False) -> Progress:
    """Return what suits standard error; with ``together`` replays are counted and not named, as there are very many."""
    if sys.stderr.isatty():
        return _StatusLine(_counted if together else _named)
    return _Counts() if together else _Log()


class _Log:
    """One line for each replay that has come to its end."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def show(self, worker: Worker, comparison_id: str) -> None:
        for one in worker.progress(comparison_id):
            if one.status.over and one.replay_id not in self._told:
                self._told.add(one.replay_id)
                cost = numbers.usd(one.cost_usd)
                complain(f"{one_line(one.label)}: {_words(one)}, {numbers.count(one.turn, 'turn')}, {cost}")

    def end(self) -> None:
        """Every line is out already."""


class _Counts:
    """One line every few seconds, and one at the end."""

    def __init__(self) -> None:
        self._pace = _Pace()
        self._told_at = self._pace.started
        self._last = ""

    def show(self, worker: Worker, comparison_id: str) -> None:
        self._last = _counted(worker, comparison_id, self._pace)
        if monotonic() - self._told_at >= _LOG_SECONDS:
            self._told_at = monotonic()
            self.end()

    def end(self) -> None:
        if self._last:
            complain(self._last)
        self._last = ""


class _StatusLine:
    """One line, written over itself and wiped away at the end."""

    def __init__(self, describe: Callable[[Worker, str, _Pace], str]) -> None:
        self._describe = describe
        self._pace = _Pace()
        self._shown = ""

    def show(self, worker: Worker, comparison_id: str) -> None:
        self._write(self._describe(worker, comparison_id, self._pace))

    def end(self) -> None:
        self._write("")

    def _write(self, text: str) -> None:
        if text == self._shown:
            return
        self._shown = text
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[2K{text[:width]}")
        sys.stderr.flush()


class _Pace:
    """How long it has taken so far, and so how long it will."""

    def __init__(self) -> None:
        self.started = monotonic()

    def left(self, played: int, planned: int) -> str:
        """Say how long the rest will take at the pace so far; nothing before there is one."""
        elapsed = monotonic() - self.started
        if played == planned or played < planned * 0.01 or elapsed < _SURE_SECONDS:
            return ""
        return f"about {numbers.seconds(max(1.0, round(elapsed * (planned / played - 1))) * 1000)} left"


def _named(worker: Worker, comparison_id: str, _pace: _Pace) -> str:
    """Say how far it is and which replays run."""
    replays = worker.progress(comparison_id)
    played, planned = sum(one.turn for one in replays), sum(one.turns for one in replays)
    running = [f"{one_line(one.label)} {one.turn}/{one.turns}" for one in replays if one.status == "running"]
    over = sum(one.status.over for one in replays)
    parts = [
        numbers.percent(played / planned if planned else 0),
        f"{over} of {len(replays)} replays",
        *running,
    ]
    return " · ".join(parts)


def _counted(worker: Worker, comparison_id: str, pace: _Pace) -> str:
    """Say how far it is and how long it will take."""
    seen = worker.overview(comparison_id)
    parts = [
        numbers.percent(seen.turn / seen.turns if seen.turns else 0),
        f"{seen.over:,} of {numbers.count(seen.replays, 'replay')}",
        f"turn {seen.turn:,} of {seen.turns:,}",
        f"{numbers.tokens_short(seen.prompt_tokens)} tokens",
    ]
    if seen.rounds:
        parts.append(f"refinement, round {seen.rounds}")
    if seen.refining:
        parts.append("working out what to play next")
    elif left := pace.left(seen.turn, seen.turns):
        parts.append(left)
    return " · ".join(parts)


def _words(one: ReplayProgress) -> str:
    return one.status.replace("_", " ")
