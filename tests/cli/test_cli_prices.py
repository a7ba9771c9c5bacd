"""``memdash prices``: the table, own prices, and what a stored comparison would have cost."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memdash.cli.rerun import rerun_command
from memdash.scripts import find_scripts
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Sweep
from memdash.strategies import parse, parse_family
from tests.cli.conftest import HERE, Ended

Memdash = Callable[..., Ended]


@pytest.fixture
def ran(memdash: Memdash) -> Memdash:
    """The command line with one comparison: full history, a window and compaction on nine turns."""
    strategies = ["--strategy", "full_history", "--strategy", "window:2", "--strategy", "compaction:900"]
    ended = memdash("run", "--quiet", "--turns", "9", "--token-counter", "estimate", *strategies, *HERE)
    assert ended.code == 0, ended.err
    return memdash


def test_the_table_shows_the_prices_of_a_day(memdash: Memdash) -> None:
    now = memdash("prices", "claude-sonnet-5-5")
    then = memdash("prices", "claude-sonnet-5-5", "--as-of", "2026-10-01")
    assert "0.10   10.00  2026-10-07" in now.out
    assert "0.20   10.00  2026-09-28" in then.out
    assert memdash("prices", "claude-sonnet-5-5", "--as-of", "2026-01-01").code == 2


def test_own_prices_are_shown_with_their_source(
    memdash: Memdash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("models: {claude-opus-5-5: {read: 0.44, source: our contract}}", "utf-8")
    monkeypatch.setenv("MEMDASH_PRICES", str(mine))
    ended = memdash("prices", "claude-opus-5-5")
    assert "0.44" in ended.out
    assert "own prices (mine.yaml): our contract; the rest: the vendor's model pages" in ended.out
    assert f"Own prices of 1 of 18 models come from {mine}." in ended.out


def test_own_prices_that_cannot_be_read_are_one_line(
    memdash: Memdash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("models: {claude-opus-5-5: {read: cheap}}", "utf-8")
    monkeypatch.setenv("MEMDASH_PRICES", str(mine))
    for command in (("prices",), ("run", "--quiet")):
        ended = memdash(*command)
        assert ended.code == 2
        assert ended.complaint == (
            f"memdash: {mine}: models.claude-opus-5-5.read: 'cheap' is not a price in dollars per million tokens"
        )


def test_a_run_is_charged_at_the_users_own_prices(
    memdash: Memdash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ("run", "--quiet", "--turns", "2", "--strategy", "full_history", "--format", "json", *HERE)
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "models: {claude-opus-5-5: {input: 8, write_5m: 10, write_1h: 16, read: 0.4, output: 40}}", "utf-8"
    )
    (ours,) = json.loads(memdash(*run).out)["replays"]
    monkeypatch.setenv("MEMDASH_PRICES", str(mine))
    (theirs,) = json.loads(memdash(*run).out)["replays"]
    assert theirs["cost_usd"] == pytest.approx(2 * ours["cost_usd"])


def test_a_what_if_shows_what_was_charged_beside_it(ran: Memdash) -> None:
    ended = ran("prices", "--what-if", "last", "--price", "claude-opus-5-5:read=8,write_5m=4")
    lines = ended.out.splitlines()
    assert ended.code == 0
    assert lines[0].endswith("what if it had run with claude-opus-5-5 at read $8, write_5m $4")
    assert lines[2].split() == [
        "strategy",
        "as",
        "charged",
        "what",
        "if",
        "change",
        "cached",
        "what",
        "if",
        "kept",
        "rank",
    ]
    assert lines[5].startswith("full history")
    assert "1 → 3" in lines[5]
    assert "At these prices window of 2" in ended.out
    assert (
        "Simulator rules of 2026-11-30, not yet compared with the live API. Tokens counted by estimate."
        in ended.out
    )


def test_json_holds_the_question_the_prices_and_every_row(ran: Memdash) -> None:
    told = json.loads(ran("prices", "--what-if", "last", "--batch", "--format", "json").out)
    assert told["what_if"] == {
        "model": None, "prices": {}, "cache": None, "batch": True, "as_of": None, "words": "at batch prices",
    }  # fmt: skip
    assert told["prices"]["claude-opus-5-5"] == [
        {"above": 0, "input": 2, "write_5m": 2.5, "write_1h": 4, "read": 0.1, "output": 10}
    ]
    charged = {
        one["label"]: one["cost_usd"]
        for one in json.loads(ran("show", "last", "--format", "json").out)["replays"]
    }
    assert len(told["rows"]) == 3
    for row in told["rows"]:
        assert row["charged_usd"] == pytest.approx(charged[row["label"]])
        assert row["what_if_usd"] == pytest.approx(charged[row["label"]] / 2)
        assert row["change"] == pytest.approx(-0.5)
        assert row["rank"] == row["what_if_rank"]
    assert told["rank_changes"] == []
    assert told["basis"].startswith("Simulator rules")


def test_csv_holds_one_row_a_setting(ran: Memdash) -> None:
    rows = list(
        csv.DictReader(
            io.StringIO(ran("prices", "--what-if", "last", "--cache", "off", "--format", "csv").out)
        )
    )
    assert [row["label"] for row in rows] == ["full history", "window of 2", "compaction at 900"]
    assert {row["terms"] for row in rows} == {"with no caching"}
    assert {float(row["what_if_cache_share"]) for row in rows} == {0.0}


def test_changes_are_combined(ran: Memdash) -> None:
    ended = ran(
        "prices",
        "--what-if",
        "last",
        "--model",
        "claude-sonnet-5-5",
        "--as-of",
        "2026-10-01",
        "--cache",
        "1h",
        "--batch",
    )
    assert ended.code == 0
    assert (
        "on claude-sonnet-5-5, with a one-hour cache, at the prices of 1 October 2026, at batch prices"
        in ended.out
    )


def test_a_model_of_another_tokenizer_names_the_command_that_runs_it(ran: Memdash) -> None:
    ended = ran("prices", "--what-if", "last", "--model", "claude-sonnet-4-6")
    assert ended.code == 2
    command = ended.complaint.partition("it has to run: ")[2]
    assert shlex.split(command) == [
        "memdash", "run", "--script", "trip-planning", "--strategy", "full_history", "--strategy", "window:2", "--strategy",
        "compaction:900", "--model", "claude-sonnet-4-6", "--turns", "9",
    ]  # fmt: skip
    assert ran(*shlex.split(command)[1:], "--quiet", *HERE).code == 0


def test_the_command_that_runs_a_comparison_again_holds_every_setting() -> None:
    spec = ComparisonSpec(
        tuple(find_scripts("trip-planning")),
        (parse("window:keep=2,trim_at=5"), parse("running_brief:9000")),
        repeats=3,
        check=True,
        caches=(CacheLifetime.ONE_HOUR, CacheLifetime.OFF),
        cache_marks=(CacheMarks.FIXED_AND_AUTO,),
        warm=True,
        pace=5.0,
        relax_limits=True,
        effort="low",
    )
    shared = (
        "--model claude-haiku-4-5 --pace 5 --effort low --repeats 3 --cache 1h --cache off --cache-marks fixed+auto --check "
        "--fixed-part=warm --relax-limits"
    )
    assert rerun_command(spec, "claude-haiku-4-5") == (
        "memdash run --script trip-planning --strategy window:keep=2,trim_at=5 --strategy running_brief:9000 "
        + shared
    )
    sweep = replace(spec, sweep=Sweep((parse_family("window:2|4|8"),)))
    assert rerun_command(sweep, "claude-haiku-4-5") == (
        "memdash sweep --script trip-planning --strategy 'window:2|4|8' " + shared
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--what-if", "last"), "say what would be different"),
        (("--cache", "1h"), "name the comparison to price"),
        (("claude-opus-5", "--what-if", "last", "--batch"), "is given as --model claude-opus-5"),
        (("--what-if", "cmp_no", "--batch"), "there is no comparison 'cmp_no'"),
        (("--what-if", "last", "--price", "claude-opus-5-5"), "write MODEL:input=4,read=0.4"),
        (
            ("--what-if", "last", "--price", "claude-opus-5-5:raed=1"),
            "'raed' is no price; did you mean read?",
        ),
        (("--what-if", "last", "--price", "claude-opus-5-5:read=-1"), "'-1' is not a price in dollars"),
        (("--what-if", "last", "--price", "claude-opus-5-5:read=nan"), "'nan' is not a price in dollars"),
        (("--what-if", "last", "--price", "claude-opus-5-5:read=1,read=2"), "read is given twice"),
        (
            ("--what-if", "last", "--price", "claude-opus-5:read=1"),
            "no request is priced for 'claude-opus-5'",
        ),
        (("--what-if", "last", "--model", "claude-opus-6"), "how claude-opus-6 counts tokens is not known"),
        (("--what-if", "last", "--as-of", "soon"), "'soon' is not a date such as 2026-10-07"),
        (("--what-if", "last", "--cache", "2h"), "'2h' is not one of '5m', '1h', 'off'"),
    ],
)
def test_what_cannot_be_answered_is_one_line(
    ran: Memdash, arguments: tuple[str, ...], complaint: str
) -> None:
    ended = ran("prices", *arguments)
    assert ended.code == 2
    assert complaint in ended.complaint
    assert ended.out == ""
