"""A replay that needs no model: what it does is in its script's id. As a program it is a child that plays such replays.

``chat``     a request and a turn for each turn, then done
``rejected`` the same, refused at the end
``raises``   raises after the first turn
``killed``   its process kills itself after turn 100
``endless``  never ends by itself
``asks``     plays as many turns as planned and says in its end how many it took from the journal
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from memdash.child import Play, serve
from memdash.records import Purpose, Record, Status, StatusRecord, TurnRecord
from memdash.spec import ReplaySpec
from tests.store.samples import a_request

if TYPE_CHECKING:
    from memdash.replay import Gate

COMMAND = (sys.executable, "-m", "tests.store.fake_replay")


def play(
    spec: ReplaySpec, journal: Sequence[Record], gate: Gate | None = None, key: object = None
) -> Iterator[Record]:
    """Yield what comes after ``journal``."""
    taken = sum(record.kind == "turn" for record in journal)
    for record in _all(spec, gate, taken):
        if record.seq >= len(journal):
            yield record


def _all(spec: ReplaySpec, gate: Gate | None, taken: int) -> Iterator[Record]:
    seq = count()
    behaviour = spec.script.id
    yield StatusRecord(next(seq), Status.RUNNING, 0, 0.0)
    turns = count(1) if behaviour == "endless" else range(1, spec.turns + 1)
    for turn in turns:
        if gate is not None and turn > taken:
            from memdash.replay import PlannedRequest  # takes a second: children do without

            gate(PlannedRequest(spec.model, 3_000, 100, Purpose.TURN))
        yield replace(a_request(next(seq), turn), model=spec.model)
        yield TurnRecord(next(seq), turn, turn * 100.0, turn * 100.0 + 50.0, 50.0, 10.0)
        if turn == 1 and behaviour == "raises" and not taken:
            raise RuntimeError("no luck today")
        if turn == 100 and behaviour == "killed" and not taken:
            print("about to go", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    if behaviour == "rejected":
        yield StatusRecord(next(seq), Status.REJECTED, spec.turns, 1.0, "messages: not like this")
    elif behaviour == "asks":
        keys = sorted(name for name in os.environ if "KEY" in name or name.startswith("ANTHROPIC"))
        yield StatusRecord(next(seq), Status.DONE, spec.turns, 1.0, f"{taken} taken, {keys}")
    else:
        yield StatusRecord(next(seq), Status.DONE, spec.turns, 1.0)


def load() -> Play:
    """What a child plays with."""
    playing: Callable[[ReplaySpec, Sequence[Record]], Iterator[Record]] = play
    return playing


if __name__ == "__main__":
    serve(load)
