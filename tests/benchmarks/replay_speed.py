"""What a simulated replay costs beside the SDK calls it makes.

    python -m tests.benchmarks.replay_speed [--rounds 15]

A 30-turn replay (trip-planning, full history, its probes and their controls included), stored in a database file, in a warm
process whose texts are already counted; against the very same SDK calls answered by a canned transport. The bar: at most 3
times. The cold figure is the first replay of the process. All are replays of one comparison, which is in the file already.

Replay and calls alternate, and the ratio is the median of each pair's, so that a noisy moment hits both; the ratio of processor
time beside it leaves out what the replay waits for (the disk).
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from memdash.claude import Request, connect
from memdash.records import Status
from memdash.replay import replay
from memdash.scripts import find_scripts
from memdash.spec import ComparisonSpec, ReplaySpec
from memdash.store import Store
from memdash.strategies import parse
from tests.benchmarks.canned import canned_call, requests_of


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds that something took, and processor seconds of all threads."""

    wall: float
    processor: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    comparison = ComparisonSpec(
        scripts=tuple(find_scripts("trip-planning")), strategies=(parse("full_history"),), repeats=rounds + 2
    )
    first, *others = (replace(spec, controls=True) for spec in comparison.replays())
    first, recorded, *others = (
        replace(spec, seed=first.seed) for spec in (first, *others)
    )  # the same texts each time
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "bench.duckdb") as store:
        store.save_comparison(comparison)
        cold = _timed(partial(_stored, first, store))
        requests = requests_of(recorded)
        calls = _calls(requests)
        calls()
        gc.collect()
        gc.freeze()  # as in the child processes that play replays
        ours, theirs = [], []
        for spec in others:
            ours.append(_timed(partial(_stored, spec, store)))
            theirs.append(_timed(calls))
        ends = {log.statuses[-1].status for log in store.replay_logs(comparison.id) if log.requests}
        assert ends == {Status.DONE}, ends
    pairs = list(zip(ours, theirs, strict=True))
    ratio = statistics.median(one.wall / other.wall for one, other in pairs)
    processor = statistics.median(one.processor / other.processor for one, other in pairs)
    print(f"{len(requests)} calls a replay; medians of {rounds} rounds")
    print(f"replay, stored: {_ms(ours)}, {1000 * cold.wall:.0f} ms cold")
    print(f"SDK calls, canned: {_ms(theirs)}")
    print(f"ratio: {ratio:.2f} (bar: 3); of processor time {processor:.2f}")


def _ms(times: Sequence[Took]) -> str:
    walls = [one.wall for one in times]
    return f"{1000 * statistics.median(walls):.1f} ms (best {1000 * min(walls):.1f})"


def _stored(spec: ReplaySpec, store: Store) -> None:
    """Play one replay and have it in the file."""
    store.append(spec.id, replay(spec, *connect(spec)))
    store.flush()


def _calls(requests: Sequence[Request]) -> Callable[[], None]:
    call = canned_call()

    def calls() -> None:
        for request in requests:
            call(request)

    return calls


def _timed(work: Callable[[], None]) -> Took:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - wall, time.process_time() - processor)


if __name__ == "__main__":
    main()
