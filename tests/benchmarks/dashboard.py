"""The dashboard's real server as a process of its own, with a database of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A server that is up, or is just coming up."""

    url: str
    database: Path
    log: Path
    pid: int

    def running(self) -> int:
        """How many comparisons run; -1 while the server is not up."""
        try:
            with urllib.request.urlopen(f"{self.url}/api/health", timeout=5) as answer:
                return int(json.loads(answer.read()).get("running", -1))
        except (urllib.error.URLError, OSError, ValueError):
            return -1


@contextmanager
def served(
    folder: Path,
    *,
    script: Path = ROOT / "app.py",
    options: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Iterator[Dashboard]:
    """Start ``streamlit run`` with a new database in ``folder``, and stop it in the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    database, log = folder / "bench.duckdb", folder / "server.log"
    command = [
        sys.executable, "-m", "streamlit", "run", str(script),
        "--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true",
        "--browser.gatherUsageStats", "false", *options,
    ]  # fmt: skip
    variables = os.environ | {"MEMDASH_DB": str(database), "PYTHONPATH": str(ROOT), **(environment or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=output, stderr=output)
    try:
        yield Dashboard(f"http://127.0.0.1:{port}", database, log, process.pid)
    finally:
        process.terminate()
        process.wait(30)


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until something is so; raises TimeoutError where that takes too long."""
    until = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > until:
            raise TimeoutError("the server did not come so far")
        time.sleep(0.2)
