"""The command line as a function: arguments in, exit code and both streams out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

HERE = ("--budget", "99")
"""Under a budget replays run in the process itself, which spares a test the start of others."""

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """Its standard error, which must be exactly one line."""
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err.strip()


@pytest.fixture
def memdash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Run a command in this process, in a folder and with a database of its own."""
    from memdash.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMDASH_DB", str(tmp_path / "test.duckdb"))

    def call(*arguments: str) -> Ended:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return call


@pytest.fixture
def memdash_process(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a command as a process of its own, in a folder and with a database of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(
        *arguments: str, env: Mapping[str, str] | None = None, stdout: IO[str] | int = subprocess.PIPE
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "memdash", *arguments],
            cwd=tmp_path,
            env=os.environ
            | {"PYTHONPATH": str(ROOT), "MEMDASH_DB": str(tmp_path / "test.duckdb"), **(env or {})},
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
