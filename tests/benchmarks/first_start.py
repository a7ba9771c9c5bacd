"""First start to first chart, against a bare Streamlit page with one Plotly chart.

    python -m tests.benchmarks.first_start [--rounds 3]

From the start of the server process to the first chart that a browser shows; the database is new, so that the demo comparison is
made, stored and drawn on the way. The browser is open already, with an empty cache each time. The bar: at most 1.5 times.
Needs chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
_CHART = ".js-plotly-plot .main-svg"
_PATIENCE_S = 120.0
_POLL_S = 0.02
_BARE_PAGE = """
import plotly.graph_objects as go
import streamlit as st

st.title("One chart")
st.plotly_chart(go.Figure(go.Scatter(x=list(range(30)), y=[one * one for one in range(30)])))
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    ours, bare = measure(parser.parse_args().rounds)
    print(f"memdash: {ours:.2f} s from its first start to its first chart; a bare page: {bare:.2f} s")
    print(f"ratio: {ours / bare:.2f} (bar: 1.5)")


def measure(rounds: int) -> tuple[float, float]:
    """Return seconds to the first chart of memdash and of a bare page (medians), one after the other in each round."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    ours, bare = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(rounds):
            with TemporaryDirectory() as name:
                folder = Path(name)
                (folder / "bare.py").write_text(_BARE_PAGE, "utf-8")
                bare.append(_to_first_chart(browser, folder / "bare.py", folder))
                ours.append(_to_first_chart(browser, ROOT / "app.py", folder))
        browser.close()
    return statistics.median(ours), statistics.median(bare)


def _to_first_chart(browser: Browser, page: Path, folder: Path) -> float:
    port = _free_port()
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANTHROPIC_", "MEMDASH_", "STREAMLIT_"))
    }
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(page),
        "--server.port",
        str(port),
        "--server.headless",
        "true",
    ]
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment | {"MEMDASH_DB": str(folder / "bench.duckdb")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        tab.goto(f"http://127.0.0.1:{port}")
        tab.locator(_CHART).first.wait_for(state="visible", timeout=1000 * _PATIENCE_S)
        return time.perf_counter() - began
    finally:
        context.close()
        process.send_signal(signal.SIGINT)
        process.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait_for(port: int) -> None:
    """Wait until the server accepts connections; a browser that came too early would have to be sent again."""
    until = time.perf_counter() + _PATIENCE_S
    while time.perf_counter() < until:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(_POLL_S)
    raise TimeoutError(f"nothing listens on port {port}")


if __name__ == "__main__":
    main()
