"""What is made of a comparison as it stands is made once for all who look, and let go when the comparison changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memdash.scripts import stamp_of_scripts
from memdash.views.shelf import Shelf
from memdash.views.state import broken_scripts, scripts_on_disk


def counted(made: list[str], what: str) -> Callable[[], str]:
    return lambda: (made.append(what), what)[1]


def test_a_thing_is_made_once_for_each_version() -> None:
    shelf, made = Shelf(), list[str]()
    for version in (1, 1, 2, 2):
        assert shelf.take(version, "chart", counted(made, f"of {version}")) == f"of {version}"
    assert made == ["of 1", "of 2"]


def test_what_nobody_made_is_kept_as_well() -> None:
    shelf, made = Shelf(), list[None]()
    assert [shelf.take(1, "nothing", lambda: made.append(None)) for _ in range(3)] == [None] * 3
    assert made == [None]


def test_a_reading_that_is_older_gets_its_own_and_spoils_nothing() -> None:
    shelf = Shelf()
    shelf.take(2, "chart", lambda: "of 2")
    assert shelf.take(1, "chart", lambda: "of 1") == "of 1"
    assert shelf.take(2, "chart", lambda: "never made") == "of 2"


def test_one_thing_may_be_made_of_another_even_where_a_newer_version_is_seen_meanwhile() -> None:
    shelf = Shelf()

    def chart() -> str:
        return "chart of " + shelf.take(1, "view", lambda: "1")

    assert shelf.take(1, "chart", chart) == "chart of 1"
    assert shelf.take(1, "view", lambda: "never made") == "1"
    overtaken = shelf.take(1, "slow", lambda: (shelf.take(2, "view", lambda: "2"), "of 1")[1])
    assert overtaken == "of 1"
    assert shelf.take(2, "slow", lambda: "of 2") == "of 2"


def test_the_things_looked_at_last_are_kept_and_not_all_of_them() -> None:
    shelf = Shelf()
    shelf.take(1, "looked at", lambda: "first")
    for number in range(200):
        shelf.take(1, number, lambda: "other")
        assert shelf.take(1, "looked at", lambda: "never made") == "first"
    assert shelf.take(1, 0, lambda: "made again") == "made again"


def test_scripts_are_read_again_only_where_a_file_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMDASH_SCRIPTS", str(tmp_path))
    monkeypatch.setattr("memdash.views.state._stamp", stamp_of_scripts)  # looked at every few seconds
    first = scripts_on_disk()
    assert all(one is first[name] for name, one in scripts_on_disk().items())
    (tmp_path / "broken.yaml").write_text("id: broken")
    assert len(broken_scripts()) == 1
