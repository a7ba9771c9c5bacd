from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from memdash.store import Store
from tests.cli.conftest import HERE, Ended

Memdash = Callable[..., Ended]


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with two comparisons, made once."""
    from memdash.cli import main

    path = tmp_path_factory.mktemp("prepared") / "two.duckdb"
    for title in ("First", "Second"):
        code = main(
            [
                "run",
                *HERE,
                "--turns",
                "2",
                "--strategy",
                "window:2",
                "--title",
                title,
                "--quiet",
                "--db",
                str(path),
            ]
        )
        assert code == 0
    return path


@pytest.fixture
def two(prepared: Path, memdash: Memdash, tmp_path: Path) -> tuple[str, str]:
    """The ids of two stored comparisons, the older first, in a database of the test's own."""
    shutil.copy(prepared, tmp_path / "test.duckdb")
    with Store.open(tmp_path / "test.duckdb") as store:
        second, first = (one.id for one in store.comparisons())
    return first, second


def test_show_prints_what_run_printed(memdash: Memdash) -> None:
    ran = memdash("run", *HERE, "--turns", "2", "--quiet")
    assert memdash("show", "last").out == ran.out


def test_show_takes_an_id_the_beginning_of_one_or_last(memdash: Memdash, two: tuple[str, str]) -> None:
    first, second = two
    for name, wanted in ((first, first), (first[:-1], first), ("last", second)):
        assert json.loads(memdash("show", name, "--format", "json").out)["comparison"] == wanted


def test_notes_stand_below_what_people_read(memdash: Memdash, two: tuple[str, str], tmp_path: Path) -> None:
    first, second = two
    with Store.open(tmp_path / "test.duckdb") as store:
        store.add_note(first, "the old\x1b[31m prompt\n| and <b>more</b>", "ann@team.example")
        store.add_note(first, "checked", None)
    said = memdash("show", first).out.rstrip().splitlines()[-3:]
    assert said[0] == "Notes"
    assert said[1].endswith(", ann@team.example: the old [31m prompt | and <b>more</b>")
    assert said[2].endswith(": checked")
    markdown = memdash("show", first, "--format", "markdown").out
    assert "**Notes**" in markdown
    assert "prompt \\| and \\<b\\>more\\</b\\>" in markdown
    assert "Notes" not in memdash("show", second).out


def test_the_beginning_of_several_ids_is_not_enough(memdash: Memdash, two: tuple[str, str]) -> None:
    ended = memdash("show", "cmp_")
    assert (ended.code, ended.out) == (2, "")
    for one in two:
        assert one in ended.complaint


@pytest.mark.parametrize("name", ["cmp_nothing", "", "'; drop table comparison; --"])
def test_an_unknown_comparison_is_told(memdash: Memdash, two: tuple[str, str], name: str) -> None:
    ended = memdash("show", name)
    assert (ended.code, ended.out) == (2, "")
    assert "there is no comparison" in ended.complaint


@pytest.mark.parametrize(
    "command", [("show", "last"), ("export", "last", "--to", "x.json"), ("purge", "--yes")]
)
def test_a_database_that_is_not_there_is_told_and_not_made(
    memdash: Memdash, tmp_path: Path, command: tuple[str, ...]
) -> None:
    ended = memdash(*command, "--db", "none.duckdb")
    assert (ended.code, ended.out) == (2, "")
    assert "none.duckdb" in ended.complaint
    assert not (tmp_path / "none.duckdb").exists()


def test_an_empty_database_says_what_to_do(memdash: Memdash, tmp_path: Path) -> None:
    Store.open(tmp_path / "test.duckdb").close()
    assert "memdash run" in memdash("show", "last").complaint


def test_export_writes_all_three_formats(memdash: Memdash, two: tuple[str, str], tmp_path: Path) -> None:
    for name in ("out.json", "out.csv", "out.parquet", "OUT.JSON"):
        ended = memdash("export", "last", "--to", name)
        assert (ended.code, ended.out) == (0, "")
    assert json.loads((tmp_path / "out.json").read_text())["comparison"] == two[1]
    assert (tmp_path / "out.csv").read_text().count("window of 2") == 2
    assert pq.read_table(tmp_path / "out.parquet").column("turn").to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("to", "told"),
    [("out.xlsx", ".parquet"), ("out", ".parquet"), ("no/folder/out.json", "cannot be written")],
)
def test_export_to_a_place_that_does_not_go_is_told(
    memdash: Memdash, two: tuple[str, str], to: str, told: str
) -> None:
    ended = memdash("export", "last", "--to", to)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.complaint


def test_purge_erases_the_texts_of_what_was_deleted(
    memdash: Memdash, two: tuple[str, str], tmp_path: Path
) -> None:
    with Store.open(tmp_path / "test.duckdb") as store:
        store.delete(two[0])
    assert b"First" in (tmp_path / "test.duckdb").read_bytes()
    assert memdash("purge", "--yes").code == 0
    assert b"First" not in (tmp_path / "test.duckdb").read_bytes()
    assert json.loads(memdash("show", "last", "--format", "json").out)["comparison"] == two[1]


def test_purge_asks_and_does_nothing_where_nobody_can_answer(
    memdash: Memdash, two: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    ended = memdash("purge")
    assert (ended.code, ended.out) == (2, "")
    assert "--yes" in ended.complaint
