from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memdash.store import Store
from tests.cli.conftest import Ended
from tests.store.bundles import everything, something_of_everything

Memdash = Callable[..., Ended]


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    """The ids of two stored comparisons, the newest first."""
    with Store.open(tmp_path / "test.duckdb") as store:
        for title in ("First \x1b[2J", "Second"):
            spec = something_of_everything(store, title)
            store.rename(spec.id, title)
        return [one.id for one in store.comparisons()]


def stored(path: Path) -> dict[str, object]:
    with Store.open(path) as store:
        return everything(store)


def test_a_library_goes_into_another_database_and_twice_changes_nothing(
    memdash: Memdash, two: list[str], tmp_path: Path
) -> None:
    exported = memdash("export", "all", "--to", "library.zip")
    assert (exported.code, exported.out, exported.complaint) == (0, "", "wrote library.zip")
    imported = memdash("import", "library.zip", "--db", "other.duckdb")
    assert imported.code == 0
    assert imported.out == f"imported: {two[0]}  Second\nimported: {two[1]}  First  [2J\n"
    assert imported.complaint == "2 comparisons in the bundle: 2 imported"
    before = stored(tmp_path / "other.duckdb")
    assert before == stored(tmp_path / "test.duckdb")
    again = memdash("import", "library.zip", "--db", "other.duckdb")
    assert again.out == f"here already: {two[0]}  Second\nhere already: {two[1]}  First  [2J\n"
    assert stored(tmp_path / "other.duckdb") == before


def test_one_comparison_goes_out_alone(memdash: Memdash, two: list[str], tmp_path: Path) -> None:
    assert memdash("export", "last", "--to", "one.ZIP").code == 0
    with zipfile.ZipFile(tmp_path / "one.ZIP") as archive:
        manifest = json.loads(archive.read("bundle.json"))
    assert [one["id"] for one in manifest["comparisons"]] == two[:1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("export", "all", "--to", "x.json"), "write to a file that ends in .zip"),
        (("export", "last", "--to", "x.zip", "--redact"), "a bundle holds everything"),
        (("export", "cmp_none", "--to", "x.zip"), "there is no comparison 'cmp_none'"),
        (("export", "last", "--to", "no/folder/x.zip"), "cannot be written"),
        (("import", "none.zip"), "does not exist"),
        (("import", "text.zip"), "text.zip: is no zip"),
        (("import", "."), "is a directory"),
    ],
)
def test_what_does_not_go_is_told_in_a_line(
    memdash: Memdash, two: list[str], tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    (tmp_path / "text.zip").write_text("hello")
    ended = memdash(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.complaint
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith((".x", "x"))] == []


def test_an_empty_database_has_nothing_to_export(memdash: Memdash, tmp_path: Path) -> None:
    Store.open(tmp_path / "test.duckdb").close()
    assert "no comparison to export yet" in memdash("export", "all", "--to", "x.zip").complaint
    assert not (tmp_path / "x.zip").exists()
