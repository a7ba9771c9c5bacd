"""Runs a command and measures its time and the peak resident memory of it and all its children together (Linux)."""

from __future__ import annotations

import subprocess
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PAGE_BYTES = 4096
_INTERVAL_S = 0.05


@dataclass(frozen=True, slots=True)
class Measured:
    """What a command took; ``peak_bytes`` is the largest sum over its process tree that a sample saw."""

    seconds: float
    peak_bytes: int
    output: str


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Measured:
    """Run ``command`` to its end; raises RuntimeError with its standard error where it fails."""
    errors = cwd / "stderr.txt"
    results = cwd / "stdout.txt"
    started = time.perf_counter()
    with errors.open("wb") as stderr, results.open("wb") as stdout:
        process = subprocess.Popen(command, cwd=cwd, env=dict(env), stdout=stdout, stderr=stderr)
        peak = 0
        while process.poll() is None:
            peak = max(peak, _resident(process.pid))
            time.sleep(_INTERVAL_S)
    seconds = time.perf_counter() - started
    if process.returncode != 0:
        raise RuntimeError(
            f"{' '.join(command)} ended with {process.returncode}:\n{errors.read_text()[-2000:]}"
        )
    return Measured(seconds, peak, results.read_text())


def _resident(root: int) -> int:
    """Resident bytes of a process and all its descendants, pages they share counted in each."""
    children: dict[int, list[int]] = defaultdict(list)
    resident: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        pid = int(stat.parent.name)
        children[int(fields[1])].append(pid)
        resident[pid] = int(fields[21]) * _PAGE_BYTES
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        total += resident.get(pid, 0)
        waiting += children[pid]
    return total
