from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memdash.scripts import load_script
from tests.cli.conftest import Ended

Memdash = Callable[..., Ended]

SCRIPT = """\
id: tea
title: Tea
turns:
  - user: Hello, I am Sanna.
  - user: Which tea keeps me awake?
facts:
  - {id: name, turn: 1, question: What is my name?, answer: Sanna}
"""

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hello to you."},
    {"role": "user", "content": "Bye"},
    {"role": "assistant", "content": "Goodbye."},
]


def test_list_shows_the_bundled_scripts_and_those_of_the_users_folders(
    memdash: Memdash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "tea.yaml").write_text(SCRIPT)
    (tmp_path / "mine" / "broken.yaml").write_text("turns: none")
    monkeypatch.setenv("MEMDASH_SCRIPTS", str(tmp_path / "mine"))
    ended = memdash("scripts", "list")
    assert ended.code == 0
    ids = [line.split()[0] for line in ended.out.splitlines()[2:]]
    assert {"trip-planning", "trip-change", "support-tools", "tea"} <= set(ids)
    assert "broken" not in ids
    assert "broken.yaml" in ended.err


def test_show_prints_a_script_that_can_be_loaded_again(memdash: Memdash, tmp_path: Path) -> None:
    path = tmp_path / "tea.yaml"
    path.write_text(SCRIPT)
    ended = memdash("scripts", "show", str(path))
    assert ended.code == 0
    copy = tmp_path / "copy.yaml"
    copy.write_text(ended.out)
    assert load_script(copy) == load_script(path)


def test_show_of_an_unknown_script_names_what_comes_near(memdash: Memdash) -> None:
    ended = memdash("scripts", "show", "trip-planing")
    assert ended.code == 2
    assert "trip-planning" in ended.complaint


def test_validate_says_what_is_valid_and_each_problem_with_file_line_and_field(
    memdash: Memdash, tmp_path: Path
) -> None:
    (tmp_path / "good.yaml").write_text(SCRIPT)
    (tmp_path / "bad.yaml").write_text(SCRIPT.replace("title", "titel").replace("turn: 1", "turn: 7"))
    ended = memdash("scripts", "validate", "good.yaml", "bad.yaml", "missing.yaml")
    assert ended.code == 2
    assert ended.out == "good.yaml: valid: tea, 2 turns, 1 fact\n"
    assert "bad.yaml:2: titel" in ended.err
    assert "missing.yaml" in ended.err
    assert "Traceback" not in ended.err


def test_validate_takes_what_run_takes(memdash: Memdash, tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(CHAT))
    half = json.dumps([{"role": "user", "content": "\ud800"}, {"role": "assistant", "content": "Yes."}])
    (tmp_path / "half.json").write_text(half)
    (tmp_path / "none.json").write_text('{"turns": [{"user": "Hello"}]}')
    ended = memdash("scripts", "validate", "chat.json", "half.json", "none.json")
    assert ended.code == 2
    assert ended.out == "chat.json: valid: chat, 2 turns, 0 facts\nhalf.json: valid: half, 1 turn, 0 facts\n"
    assert "none.json" in ended.complaint


def test_import_makes_a_script_with_the_recorded_replies(memdash: Memdash, tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(CHAT))
    ended = memdash("scripts", "import", "chat.json", "--out", "chat.yaml")
    assert ended.code == 0
    script = load_script(tmp_path / "chat.yaml")
    assert script.id == "chat"
    assert [turn.reply for turn in script.turns] == ["Hello to you.", "Goodbye."]
    assert "Be brief." in script.system


def test_import_of_several_conversations_needs_a_place_and_numbers_the_files(
    memdash: Memdash, tmp_path: Path
) -> None:
    (tmp_path / "chats.json").write_text(json.dumps([{"messages": CHAT}, {"messages": CHAT}]))
    ended = memdash("scripts", "import", "chats.json")
    assert (ended.code, ended.out) == (2, "")
    assert "--out" in ended.complaint
    assert memdash("scripts", "import", "chats.json", "--out", "c.yaml").code == 0
    assert {path.name for path in tmp_path.glob("c*.yaml")} == {"c-1.yaml", "c-2.yaml"}


def test_import_overwrites_nothing(memdash: Memdash, tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(CHAT))
    (tmp_path / "chat.yaml").write_text("precious")
    ended = memdash("scripts", "import", "chat.json", "--out", "chat.yaml")
    assert ended.code == 2
    assert "exists already" in ended.complaint
    assert (tmp_path / "chat.yaml").read_text() == "precious"


@pytest.mark.parametrize(
    "arguments",
    [
        ("import", "missing.json"),
        ("import", "chat.json", "--from", "carrier-pigeon"),
        ("import", "empty.json"),
        ("import", "chat.json", "--out", "no/such/folder/chat.yaml"),
        ("show", "no/such/file.yaml"),
        ("validate",),
        ("show",),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    memdash: Memdash, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(CHAT))
    (tmp_path / "empty.json").write_text("")
    ended = memdash("scripts", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.complaint


def test_a_title_cannot_move_the_terminals_cursor(
    memdash: Memdash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tea.yaml").write_text(SCRIPT.replace("title: Tea", 'title: "a\\e[2Jb"'))
    monkeypatch.setenv("MEMDASH_SCRIPTS", str(tmp_path))
    ended = memdash("scripts", "list")
    assert "\x1b" not in ended.out + ended.err
