"""The other process in tests of several: says a line at each step and ends when its standard input does."""

from __future__ import annotations

import json
import random
import resource
import signal
import string
import sys
from itertools import count
from pathlib import Path

from memdash.errors import StoreError
from memdash.records import Status
from memdash.store import InboxStore, Store, open_for_command
from tests.store.samples import a_comparison, a_request, some_records


def say(text: str) -> None:
    print(text, flush=True)


def wait() -> None:
    sys.stdin.read()


def hold(path: Path) -> None:
    """Have the file open."""
    with Store.open(path):
        say("open")
        wait()


def write(path: Path) -> None:
    """Write turn after turn and say which is in the file, until killed."""
    store = Store.open(path)
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    say(spec.id)
    (replay,) = spec.replays()
    store.append(replay.id, some_records(turns=0, end=None))
    for turn in count(1):
        store.append(replay.id, [a_request(2 * turn - 1, turn)])
        store.append(replay.id, [_turn(2 * turn, turn)])
        if turn % 7 == 0:
            store.flush()
            say(str(turn))


def fill_log(path: Path) -> None:
    """Write more than there is room for, so that a commit fails, then find room."""
    _fill(Store.open(path))


def fill_file(path: Path) -> None:
    """The same with so many checkpoints that it is one of them that fails, after a commit that took effect."""
    store = Store.open(path)
    with store._database.alone() as connection:
        connection.execute("set checkpoint_threshold = '200KB'")
    _fill(store)


def _fill(store: Store) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    (replay,) = spec.replays()
    store.append(replay.id, some_records(turns=0, end=None))
    _soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
    told = None
    for turn in range(1, 401):
        text = "".join(random.choices(string.printable, k=6_000))
        try:
            store.append(replay.id, [a_request(2 * turn - 1, turn, text=text), _turn(2 * turn, turn)])
            if told is None and turn % 20 == 0:
                store.flush()
        except StoreError as error:
            told = str(error)
    say(told or "never told")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    while True:
        try:
            store.flush()
            break
        except StoreError:
            continue
    say("written after all")
    store.close()


def command(path: Path) -> None:
    """Do what a command does, whoever has the file."""
    store = open_for_command(path)
    say(type(store).__name__)
    spec = a_comparison("full_history", "window:2", title="theirs")
    store.save_comparison(spec)
    say(spec.id)
    first, second = spec.replays()
    store.append(first.id, some_records(turns=3))
    store.append_state(second.id, Status.CANCELLED)
    store.flush()
    say(json.dumps({one.id: one.title for one in store.comparisons()}))
    log = store.replay_logs(spec.id)[0]
    say(json.dumps([log.statuses[-1].status, len(log.turns), len(log.requests)]))
    store.close()


def begin(path: Path) -> None:
    """Begin a comparison and do not finish it."""
    store = open_for_command(path)
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    store.append(spec.replays()[0].id, some_records(turns=1, end=None))
    store.flush()
    say(spec.id)
    wait()


def leave(path: Path) -> None:
    """Begin a comparison in the inbox and do not finish it."""
    store = open_for_command(path, wait=0.0)
    assert isinstance(store, InboxStore)
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    store.append(spec.replays()[0].id, some_records(turns=1, end=None))
    store.flush()
    say(spec.id)
    wait()


def _turn(seq: int, turn: int):  # type: ignore[no-untyped-def]
    from memdash.records import TurnRecord

    return TurnRecord(seq, turn, turn * 100.0, turn * 100.0 + 50.0, 50.0, 10.0)


if __name__ == "__main__":
    globals()[sys.argv[1]](Path(sys.argv[2]))
