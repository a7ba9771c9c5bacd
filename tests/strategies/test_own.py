from __future__ import annotations

import importlib.metadata

import pytest

from memdash.errors import InputError
from memdash.strategies import choose, own, parse, registry, strategies, strategy, strategy_problems

MINE = """
from dataclasses import dataclass

from memdash.strategies import Strategy
from memdash.strategies.messages import flatten
from memdash.strategies.parameters import param


@dataclass(frozen=True)
class MineParams:
    last: int = param(3, "Exchanges sent", minimum=1)


class Mine(Strategy):
    name = "mine"
    title = "mine"
    description = "The last few exchanges."
    Params = MineParams

    def __init__(self, params):
        super().__init__(params)
        self.exchanges = []

    def context(self):
        return flatten(self.exchanges[-self.params.last:])

    def close(self, exchange, usage, workspace):
        self.exchanges.append(exchange)
"""


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    """Nothing that a test loads is known after it."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    monkeypatch.setattr(registry, "_files", {})
    own.load_file.cache_clear()
    own.discover.cache_clear()
    yield
    own.load_file.cache_clear()
    own.discover.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_strategy_in_a_file_is_written_by_path_and_class_and_works_like_a_built_in_one(folder):
    (folder / "mine.py").write_text(MINE)
    choice = parse("./mine.py:Mine:last=2")
    assert (choice.name, dict(choice.params), choice.label) == ("mine", {"last": 2}, "mine, last 2")
    assert choice.file == str(folder / "mine.py")
    assert choice.build().context() == []
    assert strategy("mine") in strategies()
    assert parse("mine:5").params == {"last": 5}


@pytest.mark.parametrize("written", ["mine.py", "mine.py:Mine", "mine.py:Mine:3", "mine.py:Mine:last=3"])
def test_the_class_may_be_left_out_where_there_is_one(folder, written):
    (folder / "mine.py").write_text(MINE)
    assert parse(written).label == "mine"


def test_another_process_finds_it_by_its_file(folder):
    (folder / "mine.py").write_text(MINE)
    choice = parse("mine.py")
    registry._registry.pop("mine")
    assert registry.StrategyChoice(choice.name, choice.params, choice.file).build().params.last == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n1 / 0\n", "mine.py:2: ZeroDivisionError: division by zero"),
        ("def broken(:\n", "mine.py:1: SyntaxError"),
        ("x = 1\n", "it defines no strategy; write a class that derives from memdash.strategies.Strategy"),
        (
            "from memdash.strategies import Strategy\nclass Half(Strategy):\n    def context(self): return []\n",
            "(Half lacks close)",
        ),
        (MINE.replace('title = "mine"', 'title = ""'), "Mine.title must be a text"),
        (MINE.replace('name = "mine"', 'name = "my own"'), "Mine.name is 'my own'; use letters, digits"),
        (MINE.replace("Params = MineParams", "Params = int"), "Mine.Params must be a frozen dataclass"),
        (
            MINE.replace('name = "mine"', 'name = "window"'),
            "the strategy name 'window' is taken by memdash.strategies",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_own_line(folder, text, message):
    (folder / "mine.py").write_text(text)
    with pytest.raises(InputError) as error:
        parse("mine.py")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_and_a_missing_class_are_named(folder):
    with pytest.raises(InputError, match=r"nowhere\.py: there is no such file"):
        parse("nowhere.py:Mine")
    (folder / "mine.py").write_text(MINE)
    with pytest.raises(InputError, match="it defines no strategy 'Other', but Mine"):
        parse("mine.py:Other")


def test_several_strategies_in_a_file_are_told_apart_by_class(folder):
    (folder / "two.py").write_text(MINE + "\n\nclass Other(Mine):\n    name = 'other'\n    title = 'other'\n")
    with pytest.raises(InputError, match="which strategy\\? Add one of :Mine, :Other"):
        parse("two.py")
    assert parse("two.py:Other:2").label == "other, last 2"


def test_a_folder_in_the_environment_is_known_everywhere_and_a_bad_file_in_it_is_a_problem(
    folder, monkeypatch
):
    (folder / "mine.py").write_text(MINE)
    (folder / "bad.py").write_text("1 / 0\n")
    (folder / "_helper.py").write_text("raise SystemExit\n")
    monkeypatch.setenv("MEMDASH_STRATEGIES", str(folder))
    assert "mine" in {cls.name for cls in strategies()}
    assert choose("mine").file == str(folder / "mine.py")
    (problem,) = strategy_problems()
    assert problem.where == str(folder / "bad.py")
    assert "bad.py:1: ZeroDivisionError" in problem.message


def test_an_installed_entry_point_is_known_and_a_broken_one_is_a_problem(folder, monkeypatch):
    (folder / "installed_mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(folder)
    points = [
        importlib.metadata.EntryPoint("mine", "installed_mine:Mine", own.ENTRY_POINTS),
        importlib.metadata.EntryPoint("gone", "no_such_module_anywhere:X", own.ENTRY_POINTS),
        importlib.metadata.EntryPoint("odd", "installed_mine:param", own.ENTRY_POINTS),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
    assert choose("mine").file is None
    assert [problem.where for problem in strategy_problems()] == ["entry point gone", "entry point odd"]
