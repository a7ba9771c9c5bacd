"""How large a file of a comparison is, how long it takes to make, and to open: 6 strategies × 10 scripts × 60 turns.

    python -m tests.benchmarks.report_size [--rounds 3] [--browser chromium]

The comparison is played by the simulator from the command line. Each format is made whole and redacted; times are medians of the
rounds in one process, the first round apart, since it imports and compresses what later ones find. With a browser, the report is
opened from disk with the network off: the time until its first chart is drawn, and what was asked of the network.
The bar: less than 5 MB for 3,600 turns.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from memdash import report
from memdash.store import Store
from tests.benchmarks.conversations import script_yaml
from tests.benchmarks.throughput import SCRIPTS, STRATEGIES, TURNS

ROOT = Path(__file__).resolve().parents[2]
BAR = 5_000_000


def main() -> None:
    """Play, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--browser", default=shutil.which("chromium"), help="a browser to open the report in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = play(folder)
        with Store.open(database) as store:
            (one,) = store.comparisons()
            played = sum(one.turns_completed for one in report.measured(store, store.comparison(one.id)))
            print(f"{played:,} turns")
            for ending in report.ENDINGS:
                for redact in (False, True):
                    print(measure(store, one.id, ending, redact, options.rounds, folder), flush=True)
        if options.browser:
            print(opened(folder / "whole.html", options.browser))


def play(folder: Path) -> Path:
    """Play the comparison in a database of its own and return where that is."""
    database = folder / "report.duckdb"
    command = [sys.executable, "-m", "memdash", "run", "--quiet", "--db", str(database)]
    for number in range(1, SCRIPTS + 1):
        path = folder / f"script-{number}.yaml"
        path.write_text(script_yaml(number, TURNS), "utf-8")
        command += ["--script", str(path)]
    for strategy in STRATEGIES:
        command += ["--strategy", strategy]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return database


def measure(store: Store, comparison_id: str, ending: str, redact: bool, rounds: int, folder: Path) -> str:
    """Make a file several times and say how large it is and how long that took."""
    times = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        content = report.made(store, comparison_id, ending, redact=redact)
        times.append(time.perf_counter() - started)
    name = "redacted" if redact else "whole"
    (folder / f"{name}{ending}").write_bytes(content)
    told = f"{ending:>8} {name:>8}: {len(content):>9,} bytes in {statistics.median(times[1:]):.2f} s (first {times[0]:.2f} s)"
    if ending != ".html":
        return told
    return f"{told}, {len(content) / BAR:.0%} of the bar{'' if len(content) < BAR else ': MISSED'}"


def opened(path: Path, browser: str) -> str:
    """Open a report from disk with the network off and say how long that took and what was asked for."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
        asked: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        started = time.perf_counter()
        page.goto(path.as_uri())
        read = time.perf_counter() - started
        page.locator(".chart").first.scroll_into_view_if_needed()
        page.wait_for_selector(".js-plotly-plot .main-svg")
        drawn = time.perf_counter() - started
        elsewhere = [url for url in asked if url != path.as_uri() and not url.startswith("data:")]
        chromium.close()
    told = f"text after {read:.1f} s, first chart after {drawn:.1f} s"
    return f"opened offline: {told}; asked of the network: {elsewhere or 'nothing'}"


if __name__ == "__main__":
    main()
