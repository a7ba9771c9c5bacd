"""``memdash check``: exit codes, both outputs, assertions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ended
from tests.integrity.logs import Chat, refusal, user, write


@pytest.fixture
def clean(tmp_path: Path) -> str:
    chat = Chat("ada", thinks=True)
    return str(write(tmp_path / "clean.jsonl", [chat.turn() for _ in range(3)]))


@pytest.fixture
def edited(tmp_path: Path) -> str:
    chat = Chat("ada", thinks=True, first="It is 10:04\x1b[2J")
    first = chat.turn()
    chat.history[0] = user("It is 10:05\x1b[2J")
    lines: list[Any] = [first, chat.turn(read=0), {**chat.turn(), "response": refusal("no\x1b]0;x\x07")}]
    return str(write(tmp_path / "edited.jsonl", lines))


def test_a_clean_log_passes(memdash: Callable[..., Ended], clean: str) -> None:
    ended = memdash(
        "check", clean, "--assert", "edits==0", "--assert", "tokens_lost==0", "--assert", "requests==3"
    )
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.endswith("3 requests, 1 conversation, 0 edited histories\n")


def test_an_edit_is_shown_with_place_text_and_cost(memdash: Callable[..., Ended], edited: str) -> None:
    ended = memdash("check", edited)
    assert ended.code == 0
    for told in (
        "line 2, after line 1: messages.0.content.0 changed",
        "before: It is 10:04\\u{1b}[2J",
        "after:  It is 10:05\\u{1b}[2J",
        "lost: 100 tokens of cache reads, $0.00048",
        "dead thinking: 1 signed thinking block, first messages.1.content.0",
        "line 3: the API refused: no",
    ):
        assert told in ended.out
    assert not {one for one in ended.out if ord(one) < 32 and one != "\n"}


def test_failed_assertions_are_one_line_each_and_exit_1(memdash: Callable[..., Ended], edited: str) -> None:
    ended = memdash(
        "check", edited, "--assert", "edits==0", "--assert", "errors<=1", "--assert", "thinking_lost<1"
    )
    assert ended.code == 1
    assert ended.err.splitlines() == [
        f"assertion failed: edits==0: {edited}: edits is 1",
        f"assertion failed: thinking_lost<1: {edited}: thinking_lost is 1",
    ]


def test_json_is_the_only_thing_on_standard_output(memdash: Callable[..., Ended], edited: str) -> None:
    ended = memdash("check", edited, "--format", "json", "--assert", "conversations==1")
    printed = json.loads(ended.out)
    assert (ended.code, printed["edits"], printed["by_conversation"][0]["edited"][0]["line"]) == (0, 1, 2)


def test_what_was_not_reported_fails_an_assertion(memdash: Callable[..., Ended], tmp_path: Path) -> None:
    chat = Chat("ada")
    lines = [chat.turn()]
    chat.history[0] = user("ada asked question 1")
    lines.append({**chat.turn(), "response": None})
    ended = memdash("check", str(write(tmp_path / "log.jsonl", lines)), "--assert", "tokens_lost<=10")
    assert ended.code == 1
    assert "tokens_lost is not reported or unknown" in ended.complaint


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--assert", "edit==0"), "there is no field 'edit'; did you mean 'edits'?"),
        (("--assert", "recall>=1"), "there is no field 'recall'"),
        (("--assert", "edits==none"), "edits is a number"),
        (("--assert", "window of 4: edits==0"), "a log has no labels; write 'edits==0'"),
        (("--format", "csv"), "'csv' is not one of"),
    ],
)
def test_wrong_usage_exits_2(
    memdash: Callable[..., Ended], clean: str, arguments: tuple[str, ...], complaint: str
) -> None:
    ended = memdash("check", clean, *arguments)
    assert ended.code == 2
    assert complaint in ended.complaint


def test_a_damaged_line_exits_2_and_is_named(memdash: Callable[..., Ended], tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", [Chat("ada").turn(), "{"])
    ended = memdash("check", str(path), "--assert", "edits==0")
    assert ended.code == 2
    assert f"{path}:2: is not JSON" in ended.complaint
    assert ended.out == ""


def test_a_missing_file_exits_2(memdash: Callable[..., Ended]) -> None:
    ended = memdash("check", "missing.jsonl")
    assert ended.code == 2
    assert "missing.jsonl: cannot be read" in ended.complaint
