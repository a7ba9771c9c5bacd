"""Scripts are found by id, in further folders, and as files of any known form."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memdash.errors import InputError, ScriptError
from memdash.scripts import bundled_folder, find_scripts, import_file, list_scripts, script_folders

SIMPLE = "id: {id}\nturns: [hi]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script folder of the user's own."""
    monkeypatch.setenv("MEMDASH_SCRIPTS", str(tmp_path))
    return tmp_path


def test_the_bundled_scripts_are_listed() -> None:
    entries = {entry.id: entry for entry in list_scripts()}
    assert {"trip-planning", "trip-change", "support-tools"} <= set(entries)
    assert all(entry.bundled and entry.error is None for entry in entries.values())


def test_a_bundled_script_is_found_by_its_id() -> None:
    [script] = find_scripts("trip-planning")
    assert script.id == "trip-planning"


def test_further_folders_are_parted_as_in_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    monkeypatch.setenv("MEMDASH_SCRIPTS", os.pathsep.join([str(one), "", str(two), str(one)]))
    assert script_folders() == [bundled_folder(), one, two]
    assert list_scripts()  # folders that are not there have no scripts


def test_a_broken_script_is_listed_with_its_error_and_hides_no_other(folder: Path) -> None:
    (folder / "broken.yaml").write_text("id: broken\n")
    (folder / "good.yml").write_text(SIMPLE.format(id="good"))
    (folder / ".hidden.yaml").write_text("[")
    (folder / "notes.txt").write_text("no script")
    own = [entry for entry in list_scripts() if not entry.bundled]
    assert [(entry.id, entry.script is None) for entry in own] == [("broken", True), ("good", False)]
    assert str(own[0].error) == f"{folder / 'broken.yaml'}:1: 'turns' is missing"
    with pytest.raises(ScriptError, match="'turns' is missing"):
        find_scripts("broken")
    assert find_scripts("good")[0].id == "good"


def test_an_id_that_is_taken_is_an_error_of_the_later_file(folder: Path) -> None:
    (folder / "mine.yaml").write_text(SIMPLE.format(id="trip-planning"))
    [mine] = [entry for entry in list_scripts() if not entry.bundled]
    taken_by = bundled_folder() / "trip-planning.yaml"
    assert str(mine.error) == f"{folder / 'mine.yaml'}: id: the id 'trip-planning' is taken by {taken_by}"
    assert len(find_scripts("trip-planning")[0].turns) == 30


def test_an_unknown_id_offers_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        find_scripts("trip-planing")
    assert str(caught.value) == (
        "there is no script 'trip-planing'; did you mean trip-planning or trip-change? "
        "'memdash scripts list' shows all, and a file can be given by its path"
    )


@pytest.mark.parametrize("name", ["", "nothing-like-it", "a\0b", "\ud800"])
def test_an_unknown_name_is_one_message(name: str) -> None:
    with pytest.raises(InputError, match="there is no script"):
        find_scripts(name)


def test_a_yaml_file_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("turns: [hi]\n")
    assert [script.id for script in find_scripts(path)] == ["own"]
    with pytest.raises(ScriptError, match=r"other\.yaml: there is no such file"):
        find_scripts(tmp_path / "other.yaml")


def test_any_other_file_is_imported_and_numbered(tmp_path: Path) -> None:
    path = tmp_path / "my chats.json"
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    path.write_text(json.dumps([{"messages": chat}] * 2))
    assert [script.id for script in find_scripts(path)] == ["my-chats-1", "my-chats-2"]
    path.write_text(json.dumps(chat))
    assert [script.id for script in find_scripts(path)] == ["my-chats"]
    with pytest.raises(ScriptError, match=r"none\.json: there is no such file"):
        find_scripts(tmp_path / "none.json")
    with pytest.raises(ScriptError, match="this is not a file"):
        find_scripts(tmp_path)


def test_a_script_needs_no_import(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"own\.yaml: a YAML file is a script already; it needs no import$"):
        import_file(tmp_path / "own.yaml")
