from __future__ import annotations

import csv
import io
import json
import signal
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import jsonschema
import pytest

from memdash.cli.setup import DEFAULT_FAMILIES
from memdash.metrics import schema
from memdash.strategies import parse_family
from tests.cli.conftest import HERE, Ended

Memdash = Callable[..., Ended]

SHORT = """\
id: short
title: A short talk
system: Answer in at most 80 words.
turns:
  - user: Hello, I am Sanna and I come from Turku.
  - user: Which tea keeps me awake?
  - user: And which one lets me sleep?
facts:
  - {id: name, turn: 1, question: What is my name?, answer: Sanna}
"""


@pytest.fixture
def short(tmp_path: Path) -> str:
    """A script of three turns, as a file."""
    path = tmp_path / "short.yaml"
    path.write_text(SHORT)
    return str(path)


@pytest.fixture
def swept(memdash: Memdash, short: str) -> Callable[..., Ended]:
    """Sweep windows over the short script, in this process and without progress."""

    def call(*arguments: str, strategy: str = "window:1|3") -> Ended:
        return memdash("sweep", "--script", short, "--strategy", strategy, *HERE, "--quiet", *arguments)

    return call


def in_json(ended: Ended) -> dict[str, Any]:
    """Standard output as the one object that it must be."""
    found: dict[str, Any] = json.loads(ended.out)
    return found


# -- what comes out ------------------------------------------------------------------------------------------------------


def test_the_table_has_a_row_a_setting_and_the_answer(swept: Callable[..., Ended]) -> None:
    ended = swept()
    assert (ended.code, ended.err) == (0, "")
    title, table, answer, *rest = ended.out.split("\n\n")
    assert title == "A short talk: sweep of window"
    assert table.split()[:2] == ["setting", "cost"]
    rows = [line for line in table.splitlines() if line.startswith(("full history", "window of"))]
    assert {row.split("  ")[0] for row in rows} == {"full history", "window of 1", "window of 3"}
    costs = [float(part[1:]) for row in rows for part in row.split() if part.startswith("$")]
    assert costs == sorted(costs)
    (loser,) = (row for row in rows if row.startswith("window of 1"))
    assert "100 %" in loser  # it lost the one fact
    (idle,) = (row for row in rows if row.startswith("window of 3"))
    assert "never fires" in idle
    assert answer.startswith(("Keep full history", "Provisionally ship window of"))
    assert "Simulator rules of" in rest[-1]
    assert "memdash show cmp_" in rest[-1]


def test_the_table_says_which_setting_is_recommended_and_which_is_dominated(
    swept: Callable[..., Ended],
) -> None:
    found = in_json(swept("--format", "json"))
    table = swept().out
    (row,) = (line for line in table.splitlines() if "RECOMMENDED" in line)
    assert row.startswith(found["recommendation"]["label"])
    assert found["recommendation"]["sentence"] in table
    for point in found["pareto"]:
        (row,) = (line for line in table.splitlines() if line.startswith(f"{point['label']}  "))
        assert ("dominated" in row) is point["dominated"]
        assert ("on the front" in row) is not point["dominated"]


def test_repeats_give_an_interval_and_one_replay_gives_none(swept: Callable[..., Ended]) -> None:
    assert swept().out.split("\n\n")[1].split()[2] != "95"
    table = swept("--repeats", "3").out.split("\n\n")[1]
    assert table.split()[:4] == ["setting", "cost", "95", "%"]
    (row,) = (line for line in table.splitlines() if line.startswith("full history"))
    assert "–$" in row


def test_json_is_the_contract_with_the_settings_of_the_sweep(swept: Callable[..., Ended]) -> None:
    found = in_json(swept("--format", "json", "--max-loss", "0.1"))
    jsonschema.validate(found, schema())
    assert [one["label"] for one in found["replays"]] == ["full history", "window of 1", "window of 3"]
    assert {one["label"] for one in found["pareto"]} == {"full history", "window of 1", "window of 3"}
    assert found["recommendation"]["decisive"] in (True, False)


def test_csv_has_a_row_a_turn(swept: Callable[..., Ended]) -> None:
    rows = list(csv.DictReader(io.StringIO(swept("--format", "csv").out)))
    assert len(rows) == 3 * 3


def test_markdown_is_a_table(swept: Callable[..., Ended]) -> None:
    out = swept("--format", "markdown").out
    assert out.startswith("## A short talk: sweep of window\n\n| setting | cost |")
    assert "| full history | $" in out


def test_show_gives_the_same_again(swept: Callable[..., Ended], memdash: Memdash) -> None:
    first = swept()
    assert memdash("show", "last").out == first.out
    whole = in_json(memdash("show", "last", "--format", "json"))
    assert whole["pareto"] is not None


def test_equal_settings_are_played_once_and_refused_combinations_are_told(
    memdash: Memdash, short: str
) -> None:
    ended = memdash(
        "sweep", "--script", short, *HERE, "--format", "json",
        "--strategy", "window:2", "--strategy", "window:keep=2|3,trim_at=2|3",
    )  # fmt: skip
    assert [one["label"] for one in in_json(ended)["replays"]] == [
        "full history",
        "window of 2",
        "window of 2, trimmed at 3",
        "window of 3",
    ]
    assert ended.err.startswith("Left out: window:keep=3, trim_at=2: trim_at: 2 is below keep (3)")
    table = memdash("show", "last").out
    assert "Left out: window:keep=3, trim_at=2" in table


def test_settings_that_exist_in_the_simulator_only_are_said_to_and_not_recommended(
    swept: Callable[..., Ended],
) -> None:
    out = swept("--relax-limits", strategy="server_compaction:1000|2000").out
    assert "these settings exist in the simulator only" in out.split("\n\n")[1]
    assert "No recommendation: limits of the API were relaxed" in out
    assert "RECOMMENDED" not in out


def test_refining_plays_more_settings_and_tells_which_and_why(memdash: Memdash, short: str) -> None:
    ended = memdash(
        "sweep", "--script", short, *HERE, "--quiet", "--refine", "--limit", "4", "--strategy", "compaction:100|2000",
    )  # fmt: skip
    assert ended.code == 0
    assert "Refined in 1 round, 1 more setting:\nRound 1: compaction at " in ended.out
    assert "Refinement stopped: the limit of 4 replays is reached." in ended.out
    found = in_json(memdash("show", "last", "--format", "json"))
    assert len(found["replays"]) == 4
    jsonschema.validate(found, schema())
    ((added,),) = found["refinement"]["rounds"]
    assert added["label"] == found["replays"][3]["label"]
    assert added["params"] == found["replays"][3]["params"]
    assert f"Round 1: {added['label']}, {added['reason']}" in ended.out
    assert found["refinement"]["stopped"] == "the limit of 4 replays is reached"
    assert memdash("show", "last").out == ended.out


def test_what_is_asserted_decides_the_exit_code(swept: Callable[..., Ended]) -> None:
    assert swept("--assert", "status==done", "--assert", "window of 1: kept<=0").code == 0
    failed = swept("--assert", "window of 1: kept>=1", "--format", "json")
    assert failed.code == 1
    assert "assertion failed: window of 1: kept>=1" in failed.err
    assert in_json(failed)["comparison"]


def test_a_budget_that_is_reached_ends_with_3_and_ranks_nothing(memdash: Memdash, short: str) -> None:
    ended = memdash("sweep", "--script", short, "--strategy", "window:1|3", "--budget", "0.03", "--quiet")
    assert ended.code == 3
    assert ended.out.count("0 of 1 done (stopped by budget)") == 3
    assert "not reported" not in ended.out
    assert "No recommendation: no setting has finished" in ended.out


def test_a_refinement_that_the_budget_ends_says_so(memdash: Memdash, short: str) -> None:
    ended = memdash(
        "sweep", "--script", short, "--strategy", "window:1|3", "--budget", "0.03", "--quiet", "--refine",
        "--format", "json",
    )  # fmt: skip
    assert ended.code == 3
    assert in_json(ended)["refinement"] == {"rounds": [], "stopped": "the budget is used up"}
    assert "Refinement stopped: the budget is used up." in memdash("show", "last").out


def test_a_share_of_the_window_is_one_of_the_models_own(memdash: Memdash, short: str) -> None:
    ended = memdash(
        "sweep", "--script", short, *HERE, "--quiet", "--format", "json", "--strategy", "compaction:0.1%|1%",
        "--model", "claude-opus-5-5", "--model", "claude-haiku-4-5",
    )  # fmt: skip
    assert [(one["model"], one["params"].get("trigger")) for one in in_json(ended)["replays"]] == [
        ("claude-opus-5-5", None),
        ("claude-opus-5-5", 1000),
        ("claude-opus-5-5", 10_000),
        ("claude-haiku-4-5", None),
        ("claude-haiku-4-5", 200),
        ("claude-haiku-4-5", 2_000),
    ]


def test_what_is_swept_by_default_can_be_run() -> None:
    choices = [
        choice for one in DEFAULT_FAMILIES for choice in parse_family(one).choices(["claude-opus-5-5"])
    ]
    assert len(choices) == 18


# -- bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--strategy", "window:2..24"), "Add /STEP or *FACTOR"),
        (("--strategy", "window:24..2/1"), "it is empty"),
        (("--strategy", "compaction:1%..20%*2", "--model", "claude-opus-9"), "knows no model 'claude-opus-9'"),
        (("--strategy", "window:keep=8|9,trim_at=4|5"), "no combination can be run"),
        (("--strategy", "window:1..9000/1", "--repeats", "3"), "27,003 replays are more than 20,000"),
        (("--max-loss", "5"), "above the largest value, 1"),
        (("--max-loss", "nan"), "is not a number"),
        (("--limit", "0"), "0 is not in the range"),
        (("--assert", "recal>=1"), "there is no field 'recal'"),
        (("--provider", "anthropic"), "--budget"),
        (("--format", "xml"), "'xml' is not one of"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_code_2(memdash: Memdash, arguments: tuple[str, ...], problem: str) -> None:
    ended = memdash("sweep", *arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert problem in ended.complaint


def test_a_range_is_for_sweeps(memdash: Memdash) -> None:
    ended = memdash("run", "--strategy", "window:2|4")
    assert ended.code == 2
    assert "ranges are for memdash sweep" in ended.complaint


def test_run_takes_a_share_of_the_window(memdash: Memdash, short: str) -> None:
    ended = memdash(
        "run", "--script", short, *HERE, "--quiet", "--format", "json", "--strategy", "compaction:0.2%"
    )
    assert [one["params"]["trigger"] for one in in_json(ended)["replays"]] == [2_000]


# -- while it runs -------------------------------------------------------------------------------------------------------


def test_progress_counts_replays_and_names_none(memdash: Memdash, short: str) -> None:
    ended = memdash("sweep", "--script", short, *HERE, "--strategy", "window:1..20/1")
    assert ended.code == 0
    assert ended.err.splitlines()[-1].startswith("100 % · 21 of 21 replays · turn 63 of 63 · ")
    assert "window" not in ended.err


def test_an_interrupt_keeps_what_was_measured(
    memdash_process: Callable[..., Popen[str]], memdash: Memdash
) -> None:
    process = memdash_process("sweep", "--strategy", "window:1..600/1", "--refine", "--format", "table")
    assert process.stderr is not None
    seen = process.stderr.readline()  # the first line comes after some seconds, with replays under way
    assert "601 replays" in seen
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "cancelled" in out
    stored = json.loads(memdash("show", "last", "--format", "json").out)
    statuses = {replay["status"] for replay in stored["replays"]}
    assert "cancelled" in statuses
    assert statuses <= {"done", "cancelled"}
