from __future__ import annotations

import csv
import io
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import jsonschema
import pytest

from memdash.metrics import schema
from memdash.simulator.engine import SimulatorConfig
from memdash.simulator.server import running
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
def live(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that speaks ``/v1/messages`` on the loopback, set up as the live API."""
    with running(SimulatorConfig(seed=1, latency_factor=0.0)) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any-text")
        yield url


def in_json(ended: Ended) -> dict[str, Any]:
    """Standard output as the one object that it must be."""
    found: dict[str, Any] = json.loads(ended.out)
    return found


# -- what comes out ------------------------------------------------------------------------------------------------------


def test_with_no_arguments_trip_planning_runs_through_four_strategies(memdash: Memdash) -> None:
    comparison = in_json(memdash("run", "--format", "json"))
    assert [replay["label"] for replay in comparison["replays"]] == [
        "full history",
        "window of 4",
        "window of 4 (naive)",
        "compaction at 2000",
    ]
    assert {replay["script"] for replay in comparison["replays"]} == {"trip-planning"}
    assert {replay["status"] for replay in comparison["replays"]} == {"done"}
    assert {replay["turns_completed"] for replay in comparison["replays"]} == {30}
    recalled = {replay["label"]: replay["recall_passed"] for replay in comparison["replays"]}
    assert recalled["full history"] == recalled["compaction at 2000"] == 4
    assert recalled["window of 4"] == 0


def test_json_is_one_object_that_keeps_the_contract_and_nothing_else(memdash: Memdash, short: str) -> None:
    ended = memdash("run", *HERE, "--script", short, "--format", "json")
    assert ended.code == 0
    jsonschema.validate(in_json(ended), schema())
    assert "full history" in ended.err  # progress goes to standard error


def test_quiet_says_nothing_beside_the_result(memdash: Memdash, short: str) -> None:
    ended = memdash("run", *HERE, "--script", short, "--quiet")
    assert ended.err == ""
    assert "not yet compared with the live API" in ended.out
    assert "Tokens counted by" in ended.out


def test_the_table_shows_the_apis_message_under_a_rejected_row(memdash: Memdash) -> None:
    ended = memdash(
        "run",
        "--check",
        "--turns",
        "6",
        "--strategy",
        "window:2",
        "--strategy",
        "window:keep=2,thinking=keep",
    )
    assert ended.code == 0  # it is there to be rejected
    lines = ended.out.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("window of 2 (naive)"))
    assert lines[at].endswith("rejected at turn 3 of 6")  # turn 3 is the first that is trimmed
    assert "signature" in lines[at + 1]
    assert "thinking" in lines[at + 1]


def test_csv_has_one_row_a_turn(memdash: Memdash, short: str) -> None:
    ended = memdash(
        "run", "--script", short, "--strategy", "full_history", "--title", "Tea", "--format", "csv"
    )
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert [row["turn"] for row in rows] == ["1", "2", "3"]
    assert {(row["label"], row["title"]) for row in rows} == {("full history", "Tea")}


def test_markdown_is_a_table_with_the_sentence_about_simulation(memdash: Memdash, short: str) -> None:
    ended = memdash("run", *HERE, "--script", short, "--title", "Tea | biscuits", "--format", "markdown")
    assert "| strategy |" in ended.out
    assert "not yet compared with the live API" in ended.out


def test_repeated_options_are_combined(memdash: Memdash, short: str) -> None:
    comparison = in_json(
        memdash(
            "run", *HERE, "--script", short, "--script", "trip-planning", "--turns", "2", "--strategy", "full_history",
            "--strategy", "window:2", "--cache", "5m", "--cache", "off", "--repeats", "2", "--format", "json",
        )
    )  # fmt: skip
    labels = [replay["label"] for replay in comparison["replays"]]
    assert len(labels) == len(set(labels)) == 2 * 2 * 2 * 2


def test_turns_beyond_the_scripts_length_are_its_length(memdash: Memdash, short: str) -> None:
    comparison = in_json(memdash("run", *HERE, "--script", short, "--turns", "99", "--format", "json"))
    assert {replay["turns_planned"] for replay in comparison["replays"]} == {3}


def test_a_recorded_conversation_is_replayed_like_a_script(memdash: Memdash, tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello there."}]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": chat * 2}))
    comparison = in_json(
        memdash("run", *HERE, "--script", "chat.json", "--strategy", "full_history", "--format", "json")
    )
    assert (comparison["replays"][0]["script"], comparison["replays"][0]["turns_completed"]) == ("chat", 2)


def test_max_tokens_and_effort_override_the_script(memdash: Memdash, short: str) -> None:
    comparison = in_json(
        memdash("run", *HERE, "--script", short, "--max-tokens", "40", "--effort", "low", "--format", "json")
    )
    assert comparison["replays"][0]["effort"] == "low"
    assert max(turn["output_tokens"] for turn in comparison["replays"][0]["turns"]) <= 40


# -- assertions and exit codes -------------------------------------------------------------------------------------------


def test_an_assertion_that_holds_for_all_is_silent(memdash: Memdash, short: str) -> None:
    ended = memdash(
        "run", *HERE, "--script", short, "--quiet", "--assert", "status==done", "--assert", "recall>=1"
    )
    assert (ended.code, ended.err) == (0, "")


def test_each_failed_assertion_is_a_line_with_the_actual_value_and_the_exit_code_is_1(
    memdash: Memdash, short: str
) -> None:
    ended = memdash(
        "run", *HERE, "--script", short, "--quiet", "--strategy", "full_history", "--strategy", "window:1",
        "--assert", "recall>=1", "--assert", "full history: requests==99",
    )  # fmt: skip
    assert ended.code == 1
    assert ended.err.splitlines() == [
        "assertion failed: recall>=1: window of 1: recall is 0.0",
        "assertion failed: full history: requests==99: full history: requests is 3",
    ]


def test_an_assertion_over_repeats_reads_their_interval_and_one_replay_has_none(
    memdash: Memdash, short: str
) -> None:
    asked = (
        "run",
        *HERE,
        "--script",
        short,
        "--quiet",
        "--strategy",
        "full_history",
        "--strategy",
        "window:1",
    )
    ended = memdash(
        *asked, "--repeats", "2", "--assert", "full history: loss_high<=0.05", "--assert", "loss_high<=0.9"
    )
    (failure,) = ended.err.splitlines()
    assert (ended.code, failure.startswith("assertion failed: loss_high<=0.9: window of 1 on ")) == (1, True)
    assert failure.endswith(": loss_high is 1.0")
    alone = memdash(*asked, "--assert", "full history: loss_high<=0.05")
    assert alone.code == 1
    assert "one replay has no interval; play more of them with --repeats" in alone.complaint


def test_a_wrong_assertion_is_found_before_anything_runs(memdash: Memdash, tmp_path: Path) -> None:
    ended = memdash("run", "--assert", "recal>=1")
    assert ended.code == 2
    assert "recall" in ended.complaint
    ended = memdash("run", "--assert", "window of 5: recall>=1")
    assert ended.code == 2
    assert "window of 4" in ended.complaint
    assert not (tmp_path / "test.duckdb").exists()


def test_a_budget_that_is_reached_keeps_what_was_measured_and_ends_with_3(memdash: Memdash) -> None:
    ended = memdash(
        "run", "--strategy", "full_history", "--budget", "0.05", "--format", "json", "--assert", "recall>=1"
    )
    assert ended.code == 3
    (replay,) = in_json(ended)["replays"]
    assert replay["status"] == "stopped_by_budget"
    assert 0 < replay["turns_completed"] < 30
    assert 0 < replay["cost_usd"] <= 0.05


def test_ctrl_c_cancels_keeps_what_was_measured_and_ends_with_130(
    memdash_process: Callable[..., Popen[str]], memdash: Memdash
) -> None:
    process = memdash_process("run", "--strategy", "full_history", "--repeats", "300")
    assert process.stderr is not None
    assert "full history" in process.stderr.readline()  # the first replay has ended: it is under way
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "cancelled" in out
    stored = json.loads(memdash("show", "last", "--format", "json").out)
    assert {replay["status"] for replay in stored["replays"]} == {"done", "cancelled"}
    assert {replay["turns_completed"] for replay in stored["replays"] if replay["status"] == "done"} == {30}


def test_a_reader_that_goes_away_is_no_error(memdash_process: Callable[..., Popen[str]], short: str) -> None:
    process = memdash_process(
        "run", "--script", short, "--quiet", "--format", "json", "--assert", "recall>=2"
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    assert process.wait(timeout=60) == 1  # the assertions are still looked at
    assert "Traceback" not in err
    assert "Broken pipe" not in err


def test_a_stream_that_cannot_be_written_is_one_line(memdash_process: Callable[..., Popen[str]]) -> None:
    with Path("/dev/full").open("w") as full:
        process = memdash_process("prices", stdout=full)
        assert process.stderr is not None
        err = process.stderr.read()
    assert process.wait(timeout=60) == 1
    assert err.count("\n") == 1
    assert "No space left" in err


def test_a_terminal_without_unicode_gets_a_plain_table(memdash_process: Callable[..., Popen[str]]) -> None:
    process = memdash_process("prices", env={"PYTHONIOENCODING": "ascii"})
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "-----" in out
    assert "\\u" not in out


# -- live ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "arguments", "told"),
    [
        ("key", (), "--budget"),
        ("", ("--budget", "1"), "ANTHROPIC_API_KEY"),
        ("key", ("--budget", "0"), "budget"),
        ("key", ("--budget", "nan"), "number"),
        ("key", ("--budget", "1", "--model", "house-model"), "no price is known for house-model"),
    ],
)
def test_a_live_run_does_not_start_without_a_key_and_a_limit(
    memdash: Memdash,
    short: str,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    arguments: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")  # nothing answers there
    ended = memdash("run", "--script", short, "--provider", "anthropic", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.complaint


def test_a_live_run_prints_its_estimate_and_is_not_called_simulated(
    memdash: Memdash, short: str, live: str
) -> None:
    ended = memdash(
        "run", "--script", short, "--provider", "anthropic", "--budget", "1", "--strategy", "full_history"
    )
    assert ended.code == 0
    assert ended.err.startswith("estimate")
    assert "budget $1.00" in ended.err
    assert "simulated" not in ended.out
    assert "any-text" not in ended.out + ended.err


def test_live_any_model_name_is_allowed_without_a_limit(memdash: Memdash, short: str, live: str) -> None:
    ended = memdash(
        "run", "--script", short, "--provider", "anthropic", "--budget", "none", "--model", "house-model",
        "--strategy", "full_history",
    )  # fmt: skip
    assert ended.code == 0  # this server does not know it: a rejected replay is a result
    assert "rejected at turn 1 of 3" in ended.out
    assert "no estimate" in ended.err


# -- bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--script", "trip-planing"), "trip-planning"),
        (("--script", "missing.yaml"), "missing.yaml"),
        (("--script", "trip-planning", "--script", "trip-planning"), "twice"),
        (("--strategy", "windw:4"), "window"),
        (("--strategy", "window:-1"), "keep"),
        (("--strategy", "window:nan"), "keep"),
        (("--strategy", "window:"), "colon"),
        (("--strategy", "window:kep=4"), "keep"),
        (("--strategy", "window:4", "--strategy", "window:keep=4"), "twice"),
        (("--strategy", ""), "strategy"),
        (("--model", "claude-opus-55"), "claude-opus-5-5"),
        (("--strategy", "compaction:summary_model=gpt-4"), "gpt-4"),
        (("--provider", "openai"), "simulator"),
        (("--turns", "0"), "--turns"),
        (("--turns", "-3"), "--turns"),
        (("--turns", "many"), "--turns"),
        (("--repeats", "0"), "--repeats"),
        (("--pace", "-1"), "--pace"),
        (("--pace", "nan"), "--pace"),
        (("--pace", "inf"), "--pace"),
        (("--cache", "10m"), "5m"),
        (("--cache", "5m", "--cache", "5m"), "twice"),
        (("--cache-marks", "all"), "auto"),
        (("--budget", "lots"), "--budget"),
        (("--title", " "), "title"),
        (("--title", "a\nb"), "title"),
        (("--title", "x" * 201), "200"),
        (("--format", "yaml"), "table"),
        (("--token-counter", "abacus"), "ctok"),
        (("--db", "."), "folder"),
        (("--nonsense",), "--nonsense"),
        (("surplus",), "surplus"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(
    memdash: Memdash, arguments: tuple[str, ...], told: str
) -> None:
    ended = memdash("run", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.complaint


def test_a_file_that_is_no_database_is_told(memdash: Memdash, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(
        "not a database, but a text that is long enough to be taken for one" * 10
    )
    ended = memdash("run", "--turns", "1", "--db", "notes.txt")
    assert (ended.code, ended.out) == (2, "")
    assert "notes.txt" in ended.complaint


def test_the_command_line_starts_fast_enough_to_feel_immediate(
    memdash_process: Callable[..., Popen[str]],
) -> None:
    process = memdash_process("scripts", "list", env={"PYTHONPROFILEIMPORTTIME": "1"})
    _, err = process.communicate(timeout=60)
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in err.splitlines() if "|" in line}
    assert "memdash" in loaded
    assert not loaded & {
        "anthropic",
        "pandas",
        "plotly",
        "duckdb",
        "streamlit",
        "pyarrow",
        "pydantic",
        "numpy",
    }
