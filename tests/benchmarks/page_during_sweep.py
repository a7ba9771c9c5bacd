"""How long a page takes to answer while a sweep runs, against the same page when nothing runs.

    python -m tests.benchmarks.page_during_sweep [--rounds 5] [--answers 10] [--thresholds 100] [--repeats 5]

A real server with its worker, asked through Streamlit's agent interface: each answer is a whole run of the page's script, its
elements encoded and sent. In each round ten answers of the finished first comparison on the Compare page and of the Library with
nothing running, then the same while a sweep of 1,500 replays runs in the child processes; medians of all rounds. The bar: at most
twice the idle time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from memdash.store import open_for_command
from tests.benchmarks.dashboard import PATIENCE_S, Dashboard, served, wait_until


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--answers", type=int, default=10, help="of each page, in each round")
    parser.add_argument("--thresholds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, _server(Path(name)) as server:
        wait_until(lambda: server.running() == 0 and bool(server.comparisons()))
        pages = {
            "Compare": {"query_params": {"c": server.comparisons()}},
            "Library": {"page": "library"},
        }
        idle: dict[str, list[float]] = {page: [] for page in pages}
        busy: dict[str, list[float]] = {page: [] for page in pages}
        for _ in range(options.rounds):  # in turns, so that a noisy minute hits both
            for page, where in pages.items():
                idle[page] += _answers(server, where, options.answers)
            server.begin(f"{options.thresholds} {options.repeats}")
            wait_until(lambda: server.running() > 0)
            for page, where in pages.items():
                busy[page] += _answers(server, where, options.answers)
            over = server.running() == 0
            server.end()
            wait_until(lambda: server.running() == 0)
    for page in pages:
        without, during = (1000 * statistics.median(times[page]) for times in (idle, busy))
        print(
            f"{page}: {without:5.0f} ms idle, {during:5.0f} ms during a sweep: {during / without:.2f} × (bar: 2)"
        )
    if over:
        print("the sweep was over before the last answer: choose more thresholds or repeats")


class Server:
    """The server under measurement."""

    def __init__(self, dashboard: Dashboard, order: Path) -> None:
        self._dashboard = dashboard
        self._order = order

    def begin(self, sweep: str) -> None:
        """Let a sweep begin."""
        draft = self._order.with_suffix(".draft")
        draft.write_text(sweep)
        draft.rename(self._order)

    def end(self) -> None:
        """Let it be cancelled."""
        self._order.unlink()

    def running(self) -> int:
        """How many comparisons run; -1 while the server is not up."""
        return self._dashboard.running()

    def comparisons(self) -> list[str]:
        """The ids of what has been stored, asked of the owner of the database as any command does."""
        with closing(open_for_command(self._dashboard.database)) as store:
            return [one.id for one in store.comparisons()]

    def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """Run a page and return what it shows."""
        request = urllib.request.Request(
            f"{self._dashboard.url}/_stcore/agent/interact",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            shown: dict[str, Any] = json.loads(answer.read())
        return shown


def _answers(server: Server, where: dict[str, Any], count: int) -> list[float]:
    """Seconds of each answer of a page, the first left out: it fills the caches."""
    session = server.ask(where)["session_id"]
    times = []
    for _ in range(count):
        started = time.perf_counter()
        server.ask({"session_id": session})
        times.append(time.perf_counter() - started)
    return times


@contextmanager
def _server(folder: Path) -> Iterator[Server]:
    order = folder / "sweep"
    with served(
        folder,
        script=Path(__file__).with_name("page_server.py"),
        options=("--server.enableAgentApi", "true"),
        environment={"BENCHMARK_SWEEP": str(order)},
    ) as dashboard:
        yield Server(dashboard, order)


if __name__ == "__main__":
    main()
