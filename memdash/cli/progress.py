"""How far a run is, on standard error: a line that changes for a person, a line a finished replay for a log."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from memdash import numbers
from memdash.cli.grid import one_line
from memdash.cli.output import complain

if TYPE_CHECKING:
    from memdash.progress import ReplayProgress


class Progress(Protocol):
    """Shows where the replays of a run stand."""

    def show(self, replays: Sequence[ReplayProgress]) -> None:
        """Show the present state; called again and again."""

    def end(self) -> None:
        """The run is over."""


def progress() -> Progress:
    """Return what suits standard error."""
    return _StatusLine() if sys.stderr.isatty() else _Log()


class _Log:
    """One line for each replay that has come to its end."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def show(self, replays: Sequence[ReplayProgress]) -> None:
        for one in replays:
            if one.status.over and one.replay_id not in self._told:
                self._told.add(one.replay_id)
                cost = numbers.usd(one.cost_usd)
                complain(f"{one_line(one.label)}: {_words(one)}, {numbers.count(one.turn, 'turn')}, {cost}")

    def end(self) -> None:
        """Every line is out already."""


class _StatusLine:
    """One line, written over itself and wiped away at the end."""

    def __init__(self) -> None:
        self._shown = ""

    def show(self, replays: Sequence[ReplayProgress]) -> None:
        played, planned = sum(one.turn for one in replays), sum(one.turns for one in replays)
        running = [
            f"{one_line(one.label)} {one.turn}/{one.turns}" for one in replays if one.status == "running"
        ]
        over = sum(one.status.over for one in replays)
        parts = [
            numbers.percent(played / planned if planned else 0),
            f"{over} of {len(replays)} replays",
            *running,
        ]
        self._write(" · ".join(parts))

    def end(self) -> None:
        self._write("")

    def _write(self, text: str) -> None:
        if text == self._shown:
            return
        self._shown = text
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[2K{text[:width]}")
        sys.stderr.flush()


def _words(one: ReplayProgress) -> str:
    return one.status.replace("_", " ")
