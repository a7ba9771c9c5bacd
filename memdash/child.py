"""The child process that plays simulated replays: ``python -m memdash.child``.

It reads orders as JSON lines from standard input and writes records as JSON lines to standard output, each as
:func:`memdash.records.to_line` makes it. It opens no database and ends when its standard input does, so nothing is left
behind by a parent that was killed.

    in   {"op": "script", "hash": …, "body": …}                            once for each script
         {"op": "replay", "spec": {…}, "script": hash, "journal": [line, …]}
         {"op": "cancel", "replay": id}
    out  a record a line, then {"op": "end", "replay": id, "error": null | text}
"""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

from memdash import codec
from memdash.records import Record, from_line, to_line
from memdash.scripts.model import Script
from memdash.spec import ReplaySpec

Play = Callable[[ReplaySpec, Sequence[Record]], Iterable[Record]]
"""Plays a replay, from where recorded records end."""

_FLUSH_BYTES = 32_768
_FLUSH_SECONDS = 0.1


_NICENESS = 5
"""A page's answer goes before a replay where both want the processor; alone, a replay is as fast as ever."""


def main() -> None:
    """Serve replays through the client and the loop that live replays use."""
    serve(_simulated)


def _simulated() -> Play:
    from memdash.claude import connect
    from memdash.replay import replay

    def play(spec: ReplaySpec, journal: Sequence[Record]) -> Iterator[Record]:
        client, clock = connect(spec)
        return replay(spec, client, clock, resume_from=journal)

    return play


def serve(load: Callable[[], Play]) -> None:
    """Read orders until standard input ends. ``load`` imports what is needed to play; it takes a while."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then tells us
    out = _Output(os.fdopen(os.dup(1), "wb", buffering=0))
    os.dup2(2, 1)  # whatever prints must not end up among the records
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    orders = _Orders()
    gc.disable()  # a replay makes few cycles, and looking for them in all that it holds takes a quarter of its time
    play = load()
    gc.collect()
    gc.freeze()  # what was imported stays: no need to look through it again
    while True:
        order = orders.next()
        error = _carry_out(play, order, orders, out)
        out.write(json.dumps({"op": "end", "replay": order["spec"]["id"], "error": error}).encode())
        out.flush()
        gc.collect()


def _carry_out(play: Play, order: dict[str, Any], orders: _Orders, out: _Output) -> str | None:
    """Play one replay and write its records; returns what went wrong, None where nothing did."""
    replay_id = order["spec"]["id"]
    try:
        spec = codec.load_replay(order["spec"], orders.scripts[order["script"]])
        journal = [from_line(line) for line in order["journal"]]
        for record in play(spec, journal):
            out.write(to_line(record))
            if replay_id in orders.cancelled:
                break
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        return f"{type(error).__name__}: {error}"
    return None


class _Output:
    """Lines to the parent, many in one write."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self._lines: list[bytes] = []
        self._size = 0
        self._flushed = monotonic()

    def write(self, line: bytes) -> None:
        self._lines.append(line)
        self._size += len(line) + 1
        if self._size >= _FLUSH_BYTES or monotonic() - self._flushed >= _FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        data = memoryview(b"".join(line + b"\n" for line in self._lines))
        while data:
            data = data[self._file.write(data) :]
        self._lines.clear()
        self._size = 0
        self._flushed = monotonic()


class _Orders:
    """What the parent wants, read by a thread so that a cancel is seen while a replay runs."""

    def __init__(self) -> None:
        self.scripts: dict[str, Script] = {}
        self.cancelled: set[str] = set()
        self._replays: SimpleQueue[dict[str, Any]] = SimpleQueue()
        Thread(target=self._read, daemon=True).start()

    def next(self) -> dict[str, Any]:
        """Wait for the next replay to play."""
        return self._replays.get()

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            order = json.loads(line)
            if order["op"] == "script":
                self.scripts[order["hash"]] = codec.load_script(order["body"])
            elif order["op"] == "replay":
                self.cancelled.discard(order["spec"]["id"])
                self._replays.put(order)
            else:
                self.cancelled.add(order["replay"])
        os._exit(0)


if __name__ == "__main__":
    main()
