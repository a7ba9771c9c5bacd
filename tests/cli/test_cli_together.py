"""Commands that meet other processes at the same database."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from memdash import store
from tests.cli.conftest import HERE, ROOT, Ended

pytestmark = pytest.mark.long

Memdash = Callable[..., Ended]

HOLDER = """
import sys
from memdash.store import Ownership, Store
with Store.open(sys.argv[1]) as store:
    if sys.argv[2] == "listening":
        with Ownership(store):
            print("open", flush=True)
            sys.stdin.read()
    else:
        print("open", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Callable[[str], Popen[str]]]:
    """Have another process keep the database open, ``listening`` like the app or ``silent`` like a command."""
    holders: list[Popen[str]] = []

    def hold(how: str) -> Popen[str]:
        command = [sys.executable, "-c", HOLDER, str(tmp_path / "test.duckdb"), how]
        holder = Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True)
        holders.append(holder)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        return holder

    yield hold
    for holder in holders:
        holder.communicate()


def titles(path: Path) -> set[str]:
    """The titles that a database holds, once its next owner has it."""
    with store.open_for_command(path) as opened:
        return {one.title for one in opened.comparisons()}


def test_two_runs_at_once_are_both_stored(memdash_process: Callable[..., Popen[str]], tmp_path: Path) -> None:
    runs = [
        memdash_process("run", *HERE, "--turns", "2", "--strategy", "window:2", "--title", title, "--quiet")
        for title in ("one", "two")
    ]
    for run in runs:
        _, err = run.communicate(timeout=120)
        assert run.returncode == 0, err
    assert titles(tmp_path / "test.duckdb") == {"one", "two"}


def test_beside_the_open_app_commands_work_through_it(
    memdash: Memdash, held: Callable[[str], Popen[str]], tmp_path: Path
) -> None:
    held("listening")
    assert memdash("run", *HERE, "--turns", "2", "--title", "beside", "--quiet").code == 0
    shown = memdash("show", "last", "--format", "json")
    assert json.loads(shown.out)["title"] == "beside"
    assert memdash("export", "last", "--to", "beside.parquet").code == 0
    assert memdash("purge", "--yes").code == 0
    assert not (tmp_path / "test.duckdb.inbox").exists()


def test_a_run_that_waited_in_vain_leaves_its_result_in_the_inbox(
    memdash: Memdash, held: Callable[[str], Popen[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "open_for_command", partial(store.open_for_command, wait=0.0))
    holder = held("silent")
    ended = memdash(
        "run", *HERE, "--turns", "2", "--title", "left", "--quiet", "--assert", "turns_completed==3"
    )
    assert ended.code == 1  # as if stored
    assert "full history" in ended.out
    assert "test.duckdb.inbox/" in ended.err
    assert "keeps this database open" in memdash("show", "last").complaint
    holder.communicate()
    assert titles(tmp_path / "test.duckdb") == {"left"}
    assert json.loads(memdash("show", "last", "--format", "json").out)["title"] == "left"


@pytest.mark.parametrize("how", ["listening", "silent"])
def test_a_sweep_is_refined_whoever_has_the_database(
    memdash: Memdash,
    held: Callable[[str], Popen[str]],
    tmp_path: Path,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memdash.cli.database._open", partial(store.open_for_command, wait=0.2))
    holder = held(how)
    ended = memdash(
        "sweep",
        *HERE,
        "--turns",
        "3",
        "--strategy",
        "compaction:100|2000",
        "--refine",
        "--limit",
        "4",
        "--quiet",
    )
    assert ended.code == 0
    assert "Refined in 1 round, 1 more setting:" in ended.out
    holder.communicate()
    with store.open_for_command(tmp_path / "test.duckdb") as opened:
        (only,) = opened.comparisons()
        assert len(only.statuses) == 4
        assert {str(status) for status in only.statuses} == {"done"}
        (added,) = opened.comparison(only.id).refinements[0].choices
        assert opened.replay_logs(only.id)[3].spec.params == added.params
