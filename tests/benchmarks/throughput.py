"""How many turns a second: 6 strategies × 10 scripts × 60 turns from the command line, stored, start-up included.

    python -m tests.benchmarks.throughput [--rounds 3] [--inspect PYTHON]

Beside it, in the same run, the same number of conversations and turns through Inspect AI with its mock model, where the
given interpreter has ``inspect_ai`` (it is not among our dependencies). The bar: at least 3 times its turn rate, and less than
350 MB resident for all our processes together.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.conversations import script_yaml
from tests.benchmarks.processes import Measured, run

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS, TURNS = 10, 60
STRATEGIES = (
    "full_history",
    "window:4",
    "window:keep=4,trim_at=12",
    "truncate:3000",
    "compaction:2000",
    "compaction:6000",
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--inspect", default=sys.executable, metavar="PYTHON", help="interpreter that has inspect_ai"
    )
    options = parser.parse_args()
    peer = _has_inspect(options.inspect)
    ours, theirs = [], []
    for _ in range(options.rounds):  # alternating, so that a noisy minute hits both
        ours.append(memdash())
        if peer:
            theirs.append(inspect(options.inspect))
    turns = SCRIPTS * len(STRATEGIES) * TURNS
    rate = _report("memdash", ours, turns)
    if theirs:
        other = _report("Inspect AI", theirs, turns)
        best = min(one.seconds for one in theirs) / min(one.seconds for one in ours)
        print(
            f"memdash / Inspect AI: {rate / other:.1f}× the turn rate (bar: 3×); in the best round of each, which other work on "
            f"the machine touches least: {best:.1f}×"
        )
    else:
        print(
            f"{options.inspect} has no inspect_ai; measured elsewhere on 2 cores: 318 turns/s, so {rate / 318:.1f}×"
        )


def memdash() -> Measured:
    """One comparison in a new process with a new database."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [
            sys.executable,
            "-m",
            "memdash",
            "run",
            "--quiet",
            "--format",
            "json",
            "--db",
            str(folder / "bench.duckdb"),
        ]
        for number in range(1, SCRIPTS + 1):
            path = folder / f"script-{number}.yaml"
            path.write_text(script_yaml(number, TURNS), "utf-8")
            command += ["--script", str(path)]
        for strategy in STRATEGIES:
            command += ["--strategy", strategy]
        measured = run(command, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)})
        played = sum(replay["turns_completed"] for replay in json.loads(measured.output)["replays"])
        assert played == SCRIPTS * len(STRATEGIES) * TURNS, f"only {played} turns were played"
        return measured


def inspect(python: str) -> Measured:
    """One evaluation in a new process with a new log folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = str(ROOT / "tests" / "benchmarks" / "inspect_peer.py")
        conversations = SCRIPTS * len(STRATEGIES)
        measured = run(
            [python, script, str(conversations), str(TURNS), str(folder / "logs")], cwd=folder, env=os.environ
        )
        assert int(measured.output.split()[-1]) == conversations * TURNS, measured.output
        return measured


def _has_inspect(python: str) -> bool:
    found = subprocess.run([python, "-c", "import inspect_ai"], capture_output=True, check=False)
    return found.returncode == 0


def _report(name: str, rounds: list[Measured], turns: int) -> float:
    seconds = statistics.median(one.seconds for one in rounds)
    peak = max(one.peak_bytes for one in rounds) / 1e6
    rss = max(one.peak_rss_bytes for one in rounds) / 1e6
    print(
        f"{name}: {turns:,} turns in {seconds:.1f} s (median of {len(rounds)}; "
        f"{', '.join(f'{one.seconds:.1f}' for one in rounds)}), {turns / seconds:,.0f} turns/s, "
        f"{statistics.median(one.cpu_seconds for one in rounds):.1f} s of processor time, "
        f"peak {peak:,.0f} MB in all processes together ({rss:,.0f} MB with shared pages counted in each)"
    )
    return turns / seconds


if __name__ == "__main__":
    main()
