"""A whole sweep from the command line: how long it takes, how much memory, and how large its database is.

    python -m tests.benchmarks.sweep_size [--thresholds 100] [--repeats 5]

100 settings (full history and compaction at 99 triggers) × 3 bundled scripts of up to 30 turns × 5 repeats: 1,500 replays, with
everything they say stored and the answer printed as JSON. The bars: less than 1 GB for all processes together, less than 2 kB of
database a request.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.processes import run
from tests.benchmarks.sweeps import SCRIPTS, TURNS, triggers

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--thresholds", type=int, default=100, help="settings in all, full history among them"
    )
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        database = Path(name) / "bench.duckdb"
        command = [
            sys.executable,
            "-m",
            "memdash",
            "sweep",
            "--db",
            str(database),
            "--format",
            "json",
            "--quiet",
        ]
        for script in SCRIPTS:
            command += ["--script", script]
        command += [
            "--strategy",
            f"compaction:trigger={'|'.join(map(str, triggers(options.thresholds)))}",
            "--relax-limits",
        ]
        command += ["--turns", str(TURNS), "--repeats", str(options.repeats)]
        measured = run(command, cwd=Path(name), env=os.environ | {"PYTHONPATH": str(ROOT)})
        replays = json.loads(measured.output)["replays"]
        size = database.stat().st_size
    requests = sum(one["requests"] + one["probe_requests"] for one in replays)
    assert len(replays) == options.thresholds * len(SCRIPTS) * options.repeats, f"only {len(replays)} replays"
    assert {one["status"] for one in replays} == {"done"}
    print(
        f"{len(replays):,} replays, {requests:,} requests in {measured.seconds:.1f} s "
        f"({measured.cpu_seconds:.1f} s of processor time)"
    )
    print(
        f"memory of all processes: {measured.peak_bytes / 1e6:.0f} MB (bar: 1,000), "
        f"shared pages counted in each {measured.peak_rss_bytes / 1e6:.0f} MB"
    )
    print(
        f"database: {size / 1e6:.1f} MB, {size / requests:.0f} bytes a request (bar: 2,000); "
        f"answer: {len(measured.output) / 1e6:.1f} MB of JSON"
    )


if __name__ == "__main__":
    main()
