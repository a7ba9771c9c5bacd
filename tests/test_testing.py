"""The test kit that users have for strategies of their own: it passes ours, and it finds what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memdash.strategies import registry, strategies
from memdash.strategies.full_history import FullHistory
from memdash.strategies.window import Window
from memdash.testing import check

LOW = {
    "window": "window:3",
    "truncate": "truncate:600",
    "compaction": "compaction:600",
    "running_brief": "running_brief:context_limit=1500,tail=4",
    "blocking_compaction": "blocking_compaction:1500",
    "instant_compaction": "instant_compaction:context_limit=1500,first_summary_at=900,update_every=200",
    "cap_results": "cap_results:200",
}
"""Thresholds that fire in the kit's short conversations; the server's own have floors far above them."""


@pytest.mark.parametrize("name", [cls.name for cls in strategies()])
def test_our_own_strategies_pass(name):
    check(LOW.get(name, name))


MINE = """
from memdash.strategies import Strategy
from memdash.strategies.full_history import FullHistory, FullHistoryParams


class Mine(FullHistory):
    name = "mine"
    title = "mine"
    description = "Everything, or all but the first message."
    Params = FullHistoryParams
"""


@pytest.mark.parametrize(
    ("body", "passed"), [("", True), ("    def context(self): return self._messages[2:]\n", False)]
)
def test_it_is_a_fixture_in_a_project_of_ones_own(tmp_path, body, passed):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["memdash.testing"]\n')
    (tmp_path / "mine.py").write_text(MINE + body)
    (tmp_path / "test_mine.py").write_text(
        "def test_mine(check_strategy):\n    check_strategy('./mine.py:Mine')\n"
    )
    root = Path(__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (run.returncode == 0) is passed, run.stdout
    assert ("1 passed" if passed else "breaks") in run.stdout


def broken(monkeypatch, **methods):
    """A full history with methods of its own, known for one test."""
    cls = type(
        "Broken", (FullHistory,), {"name": "broken", "title": "broken", "description": "Broken.", **methods}
    )
    monkeypatch.setitem(registry._registry, "broken", cls)
    return "broken"


def failure(strategy):
    with pytest.raises(AssertionError) as error:
        check(strategy)
    return str(error.value)


def test_an_undeclared_edit_is_found(monkeypatch):
    name = broken(monkeypatch, context=lambda self: self._messages[2:])
    assert "declared" in failure(name) or "the replay ended as rejected" in failure(name)


def test_a_split_tool_pair_is_found(monkeypatch):
    name = broken(monkeypatch, context=lambda self: self._messages[-3:])
    assert "the replay ended as rejected" in failure(name)


def test_kept_thinking_under_an_edited_history_is_found(monkeypatch):
    assert "Invalid `signature` in `thinking` block" in failure("window:keep=3,thinking=keep")


def test_an_error_is_told_with_the_strategys_own_line(monkeypatch):
    def close(self, exchange, usage, workspace):
        raise KeyError("lost")

    message = failure(broken(monkeypatch, close=close))
    assert "test_testing.py" in message
    assert "KeyError" in message


def test_state_outside_the_instance_is_found(monkeypatch):
    shared = []

    class Sharing(Window):
        def close(self, exchange, usage, workspace):
            shared.append(exchange)
            self._exchanges.append(exchange)

        def open(self, message, workspace):
            if len(shared) > 20:
                super().open(message, workspace)

    monkeypatch.setitem(registry._registry, "window", Sharing)
    assert "a second replay went otherwise" in failure("window:2")


def test_a_context_that_is_not_pure_is_found(monkeypatch):
    def context(self):
        sent = list(self._messages)
        del self._messages[:2]
        return sent

    name = broken(monkeypatch, context=context)
    assert failure(name)
