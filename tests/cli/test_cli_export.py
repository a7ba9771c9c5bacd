"""Reports from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memdash.store import Store
from tests.cli.conftest import Ended
from tests.report.told import MARK, a_comparison, readable, stored

Memdash = Callable[..., Ended]


@pytest.fixture
def played(memdash: Memdash, tmp_path: Path) -> str:
    with Store.open(tmp_path / "test.duckdb") as store:
        return stored(store, a_comparison())


@pytest.mark.parametrize(("name", "start"), [("out.html", b"<!DOCTYPE html>"), ("out.md", b"## Quokka")])
def test_export_writes_a_report(
    memdash: Memdash, played: str, tmp_path: Path, name: str, start: bytes
) -> None:
    ended = memdash("export", "last", "--to", name)
    assert (ended.code, ended.out, ended.complaint) == (0, "", f"wrote {name}")
    assert (tmp_path / name).read_bytes().startswith(start)
    assert played in (tmp_path / name).read_text("utf-8")


@pytest.mark.parametrize("ending", [".html", ".md", ".json", ".csv", ".parquet"])
def test_export_leaves_the_text_out_where_that_is_asked_for(
    memdash: Memdash, played: str, tmp_path: Path, ending: str
) -> None:
    assert memdash("export", played, "--redact", "--to", f"out{ending}").code == 0
    assert MARK not in readable((tmp_path / f"out{ending}").read_bytes(), ending)
