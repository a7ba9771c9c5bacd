"""Runs a command and measures its time and the peak resident memory of it and all its children together (Linux)."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_INTERVAL_S = 0.1


@dataclass(frozen=True, slots=True)
class Measured:
    """What a command took; ``cpu_seconds`` is processor time of all its processes together.

    ``peak_bytes`` is the most memory that its process tree held together at one of the samples, a page that several share counted
    once (proportional set size); ``peak_rss_bytes`` the same with shared pages counted in each.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    peak_rss_bytes: int
    output: str


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Measured:
    """Run ``command`` to its end; raises RuntimeError with its standard error where it fails."""
    errors = cwd / "stderr.txt"
    results = cwd / "stdout.txt"
    started, used = time.perf_counter(), _processor_time()
    with errors.open("wb") as stderr, results.open("wb") as stdout:
        process = subprocess.Popen(command, cwd=cwd, env=dict(env), stdout=stdout, stderr=stderr)
        peak = peak_rss = 0
        while process.poll() is None:
            held, resident = memory_of(process.pid)
            peak, peak_rss = max(peak, held), max(peak_rss, resident)
            time.sleep(_INTERVAL_S)
    seconds = time.perf_counter() - started
    if process.returncode != 0:
        raise RuntimeError(
            f"{' '.join(command)} ended with {process.returncode}:\n{errors.read_text()[-2000:]}"
        )
    return Measured(seconds, _processor_time() - used, peak, peak_rss, results.read_text())


def _processor_time() -> float:
    """Processor seconds of every process that this one has waited for, and those they waited for."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def resident_of(pid: int) -> int:
    """Bytes that a process alone holds resident."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def processor_seconds_of(pid: int) -> float:
    """Processor seconds that a process alone has used so far."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def memory_of(root: int) -> tuple[int, int]:
    """Bytes that a process and all its descendants hold: proportional and resident."""
    children: dict[int, list[int]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            parent = stat.read_text().rpartition(")")[2].split()[1]
            children[int(parent)].append(int(stat.parent.name))
    proportional = resident = 0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        waiting += children[pid]
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                name, _, value = line.partition(":")
                if name == "Pss":
                    proportional += int(value.split()[0]) * 1024
                elif name == "Rss":
                    resident += int(value.split()[0]) * 1024
    return proportional, resident
