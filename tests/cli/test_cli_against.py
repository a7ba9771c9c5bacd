"""``memdash show A --against B``."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memdash.store import Store
from tests.cli.conftest import HERE, Ended

Memdash = Callable[..., Ended]

RUN = ("run", *HERE, "--quiet", "--turns", "4", "--token-counter", "estimate", "--format", "json")


def played(memdash: Memdash, *strategies: str) -> dict[str, Any]:
    options = [word for one in strategies for word in ("--strategy", one)]
    found: dict[str, Any] = json.loads(memdash(*RUN, *options).out)
    return found


@pytest.fixture
def two(memdash: Memdash, tmp_path: Path) -> tuple[str, str]:
    """Two comparisons, of which the second forgets; the first lies in ``old.json`` as well."""
    first = played(memdash, "full_history", "window:4")
    (tmp_path / "old.json").write_text(json.dumps(first), "utf-8")
    return first["comparison"], played(memdash, "full_history", "window:1")["comparison"]


def test_what_changed_is_told_of_an_id_the_last_one_or_a_file(memdash: Memdash, two: tuple[str, str]) -> None:
    old, new = two
    told = [memdash("show", new, "--against", old), memdash("show", "last", "--against", "old.json")]
    assert [one.code for one in told] == [0, 0]
    assert told[0].out == told[1].out
    assert "window of 1 (was window of 4)" in told[0].out
    assert "strategies: window of 4 → window of 1" in told[0].out
    back = memdash("show", old, "--against", "last")
    assert "strategies: window of 1 → window of 4" in back.out


def test_the_pinned_baseline_has_a_name(memdash: Memdash, two: tuple[str, str], tmp_path: Path) -> None:
    with closing(Store.open(tmp_path / "test.duckdb")) as store:
        store.pin_baseline(two[0])
    told = memdash("show", "last", "--against", "baseline")
    assert told.out == memdash("show", "last", "--against", two[0]).out


def test_what_changed_is_json_or_markdown_and_no_csv(memdash: Memdash, two: tuple[str, str]) -> None:
    old, new = two
    found = json.loads(memdash("show", new, "--against", old, "--format", "json").out)
    assert (found["before"]["comparison"], found["after"]["comparison"]) == (old, new)
    window = next(one for one in found["groups"] if one["strategy"] == "window")
    assert (window["label_before"], window["label"]) == ("window of 4", "window of 1")
    markdown = memdash("show", new, "--against", old, "--format", "markdown").out
    assert markdown.startswith("### What changed since ")
    assert "| window of 1 (was window of 4) | prompt tokens |" in markdown
    csv = memdash("show", new, "--against", old, "--format", "csv")
    assert csv.code == 2
    assert "--against has no --format csv" in csv.complaint


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("last", "is the same comparison"),
        ("baseline", "no comparison is pinned as baseline"),
        ("none.json", "none.json: there is no such file"),
        ("cmp_nothing", "there is no comparison 'cmp_nothing'"),
    ],
)
def test_what_is_nothing_to_compare_with_is_refused(
    memdash: Memdash, two: tuple[str, str], other: str, told: str
) -> None:
    ended = memdash("show", two[1], "--against", other)
    assert ended.code == 2
    assert told in ended.complaint


def test_what_changed_is_not_what_conversations_cost(memdash: Memdash, two: tuple[str, str]) -> None:
    ended = memdash("show", two[1], "--against", two[0], "--lengths", "p50=2,p100=9")
    assert ended.code == 2
    assert "give one of the two" in ended.complaint
