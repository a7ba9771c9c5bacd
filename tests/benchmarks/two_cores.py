"""A simulated sweep in one child process, against the same sweep in two.

    python -m tests.benchmarks.two_cores [--turns 30] [--rounds 3]

Compaction at ten thresholds and windows of ten lengths over two scripts, stored, in children that are warm.
Two virtual cores are seldom worth two: they may be two threads of one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from memdash.children import Children
from memdash.records import Status
from memdash.scripts import parse_script
from memdash.spec import ComparisonSpec
from memdash.store import Store
from memdash.strategies import parse
from memdash.worker import Worker
from tests.benchmarks.conversations import script_yaml

STRATEGIES = (
    "full_history",
    *(f"compaction:{trigger}" for trigger in range(1_000, 6_000, 500)),
    *(f"window:{keep}" for keep in range(2, 22, 2)),
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    one, two = measure(STRATEGIES, options.turns, options.rounds)
    turns = 2 * len(STRATEGIES) * options.turns
    print(f"{turns:,} turns: {one:.2f} s in one process, {two:.2f} s in two, {turns / two:,.0f} turns/s")
    print(f"two processes are {one / two:.2f} times as fast as one")


def measure(strategies: Sequence[str], turns: int, rounds: int) -> tuple[float, float]:
    """Return the seconds of a sweep in one process and in two (medians), one after the other in each round."""
    took: dict[int, list[float]] = {1: [], 2: []}
    with TemporaryDirectory() as folder, ExitStack() as open_ones:
        workers = {}
        for processes in took:
            store = open_ones.enter_context(Store.open(Path(folder) / f"{processes}.duckdb"))
            workers[processes] = open_ones.enter_context(Worker(store, children=Children(processes)))
        for worker in workers.values():
            _run(worker, strategies, turns=2)
        for _ in range(rounds):
            for processes, worker in workers.items():
                took[processes].append(_run(worker, strategies, turns))
    return statistics.median(took[1]), statistics.median(took[2])


def _run(worker: Worker, strategies: Sequence[str], turns: int) -> float:
    scripts = tuple(parse_script(script_yaml(one, turns)) for one in (1, 2))
    spec = ComparisonSpec(scripts, tuple(parse(one) for one in strategies))
    began = time.perf_counter()
    worker.submit(spec)
    worker.wait(spec.id)
    seconds = time.perf_counter() - began
    ends = {one.status for one in worker.progress(spec.id)}
    assert ends == {Status.DONE}, ends
    return seconds


if __name__ == "__main__":
    main()
