"""``memdash run FILE.yaml --baseline …``, and the files it writes for CI."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

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
  - user: Thank you.
facts:
  - {id: name, turn: 1, question: What is my name?, answer: Sanna}
"""

RUN = """\
script: short.yaml
strategy:
  - full_history
  - window:keep=4,trim_at=4
token-counter: estimate
title: Tea
assert:
  - kept>=baseline
  - cost_usd<=1.05*baseline
  - cost_usd_mean<=baseline
"""


@pytest.fixture
def ci(tmp_path: Path) -> Path:
    """A folder with a script and a run, as a repository has them."""
    (tmp_path / "short.yaml").write_text(SHORT, "utf-8")
    (tmp_path / "memdash.yaml").write_text(RUN, "utf-8")
    return tmp_path


@pytest.fixture
def baseline(ci: Path, memdash: Memdash) -> Path:
    """What the run came to before anything was changed."""
    ended = memdash("run", "memdash.yaml", *HERE, "--quiet", "--baseline", "none", "--format", "json")
    assert ended.code == 0
    assert ended.complaint == "3 assertions about a baseline not checked: there is none"
    path = ci / "baseline.json"
    path.write_text(ended.out, "utf-8")
    return path


def against(memdash: Memdash, *arguments: str) -> Ended:
    return memdash("run", "memdash.yaml", *HERE, "--quiet", "--baseline", "baseline.json", *arguments)


def test_a_run_that_changed_nothing_passes_and_says_so(baseline: Path, memdash: Memdash) -> None:
    ended = against(memdash)
    assert (ended.code, ended.err) == (0, "")
    assert "Of 2 settings on both sides, nothing changed." in ended.out


def test_a_lost_fact_fails_the_run_and_every_file_tells_it(
    baseline: Path, memdash: Memdash, ci: Path
) -> None:
    (ci / "memdash.yaml").write_text(RUN.replace("keep=4,trim_at=4", "keep=1,trim_at=1"), "utf-8")
    ended = against(memdash, "--junit", "junit.xml", "--summary", "summary.md")
    assert ended.code == 1
    lost = "kept>=baseline: window of 1: kept is 0, and baseline is 1"
    assert f"assertion failed: {lost}" in ended.err.splitlines()
    assert "1 fact was lost (window of 1)" in ended.out
    assert "strategies: window of 4 → window of 1" in ended.out
    root = ET.parse(ci / "junit.xml").getroot()
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert len(cases) == 2 + 3 * 2  # replays, and assertions for each of them or its group
    failure = cases["kept>=baseline: window of 1"].find("failure")
    assert failure is not None
    assert failure.get("message") == f"assertion failed: {lost}"
    assert cases["kept>=baseline: full history"].find("failure") is None
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == (
        "8",
        str(len(list(root.iter("failure")))),
        "0",
    )
    summary = (ci / "summary.md").read_text("utf-8")
    assert summary.startswith("## Tea\n\n**Failed**: ")
    assert "| name (lost) | window of 1 (was window of 4) | turn 4 | yes → no |" in summary
    assert "### All replays" in summary


def test_a_price_that_changed_is_no_regression(
    baseline: Path, memdash: Memdash, ci: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ci / "prices.yaml").write_text(
        "models:\n  claude-opus-5-5: {input: 50, write_5m: 62.5, write_1h: 100, read: 5, output: 250}\n",
        "utf-8",
    )
    monkeypatch.setenv("MEMDASH_PRICES", str(ci / "prices.yaml"))
    ended = against(memdash)
    assert (ended.code, ended.err) == (0, "")
    assert "prices changed for claude-opus-5-5: both sides are counted at those of before" in ended.out
    assert "no fact was lost" in ended.out or "nothing changed" in ended.out
    dearer = memdash("run", "memdash.yaml", *HERE, "--quiet", "--baseline", "none", "--format", "json")
    then, now = json.loads(baseline.read_text("utf-8")), json.loads(dearer.out)
    assert now["replays"][0]["cost_usd"] > 5 * then["replays"][0]["cost_usd"]  # and it is charged


def test_json_stays_the_comparison_and_can_be_the_next_baseline(
    baseline: Path, memdash: Memdash, ci: Path
) -> None:
    ended = against(memdash, "--format", "json")
    (ci / "next.json").write_text(ended.out, "utf-8")
    assert memdash("run", "memdash.yaml", *HERE, "--quiet", "--baseline", "next.json").code == 0


def test_what_asserts_about_a_baseline_needs_one(ci: Path, memdash: Memdash) -> None:
    ended = memdash("run", "memdash.yaml")
    assert ended.code == 2
    assert "compares with a baseline, and there is none: give --baseline FILE.json" in ended.complaint
    swept = memdash("sweep", "--script", "short.yaml", "--assert", "cost_usd<=baseline")
    assert swept.code == 2
    assert "a sweep has none" in swept.complaint


def test_a_baseline_that_is_none_is_refused_before_anything_runs(
    baseline: Path, memdash: Memdash, ci: Path
) -> None:
    baseline.write_text('{"title": "something else"}', "utf-8")
    ended = against(memdash)
    assert ended.code == 2
    assert "baseline.json: comparison: is missing" in ended.complaint


@pytest.mark.parametrize(
    ("option", "told"),
    [("--junit", "there is no folder missing"), ("--summary", "there is no folder missing")],
)
def test_a_file_that_could_not_be_written_is_refused_before_anything_runs(
    ci: Path, memdash: Memdash, option: str, told: str
) -> None:
    ended = memdash("run", "--script", "short.yaml", option, "missing/file")
    assert ended.code == 2
    assert told in ended.complaint


def test_what_others_wrote_to_githubs_summary_stays(
    ci: Path, memdash: Memdash, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ci / "step.md"
    path.write_text("earlier\n", "utf-8")
    run = ("run", *HERE, "--quiet", "--script", "short.yaml", "--strategy", "full_history", "--summary")
    assert memdash(*run, str(path)).code == 0
    assert path.read_text("utf-8").startswith("## ")
    path.write_text("earlier\n", "utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    assert memdash(*run, str(path)).code == 0
    assert path.read_text("utf-8").startswith("earlier\n## ")


# -- the file ----------------------------------------------------------------------------------------------------------------


def test_options_go_before_the_file_and_assertions_are_added(ci: Path, memdash: Memdash) -> None:
    (ci / "run.yaml").write_text(
        "script: short.yaml\nturns: 3\nrepeats: 1\ncache: [5m]\ncheck: true\nbudget: 5\nstrategy: full_history\n"
        "assert: turns_completed==3\n",
        "utf-8",
    )
    ended = memdash(
        "run", "run.yaml", "--turns", "2", "--cache", "off", "--quiet", "--format", "json", "--assert", "cost_usd>5"
    )  # fmt: skip
    assert ended.code == 1
    assert [line.split(": ")[1] for line in ended.err.splitlines()] == ["turns_completed==3", "cost_usd>5"]
    comparison = json.loads(ended.out)
    settings = comparison["settings"]
    assert (settings["turns"], settings["caches"], settings["check"], settings["budget"]) == (
        2,
        ["off"],
        True,
        5,
    )
    assert [one["label"] for one in comparison["replays"]] == ["full history"]


def test_files_are_looked_for_beside_the_file(ci: Path, memdash: Memdash) -> None:
    folder = ci / "ci"
    folder.mkdir()
    (ci / "short.yaml").rename(folder / "short.yaml")
    (folder / "run.yaml").write_text("script: [short.yaml]\nstrategy: [full_history]\n", "utf-8")
    ended = memdash("run", "ci/run.yaml", *HERE, "--quiet", "--format", "json")
    assert json.loads(ended.out)["replays"][0]["script"] == "short"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("script: short.yaml\nturn: 3\n", "run.yaml:2: turn: unknown key; did you mean 'turns'?"),
        ("baseline: b.json\n", "run.yaml:1: baseline: unknown key"),
        ("script: trip-plannin\n", "run.yaml:1: script: there is no script 'trip-plannin'"),
        ("strategy:\n  - full_history\n  - windw:3\n", "run.yaml:3: strategy[1]: there is no strategy 'windw'"),
        ("strategy: window:2|3\n", "run.yaml:1: strategy: 'window:2|3': keep is a range"),
        ("model: claude-opus-9\n", "run.yaml:1: model: the simulator knows no model 'claude-opus-9'"),
        ("repeats: 0\n", "run.yaml:1: repeats: 0 is not in the range"),
        ("turns: 2.5\n", "run.yaml:1: turns: '2.5' is not a valid integer"),
        ("check: yes\n", "run.yaml:1: check: must be true or false, not the text 'yes'"),
        ("pace: .inf\n", "run.yaml:1: pace: '.inf' is not a number"),
        ("cache: [5m, 6m]\n", "run.yaml:1: cache[1]: '6m' is not one of"),
        ("turns: [1, 2]\n", "run.yaml:1: turns: must be text, not a list"),
        ("title:\n", "run.yaml:1: title: is empty"),
        ("assert:\n  - recall>=1\n  - recal>=1\n", "run.yaml:3: assert[1]: there is no field 'recal'"),
        ("assert: 'window of 9: recall>=1'\n", "run.yaml:1: assert: there is no replay 'window of 9'"),
        ("- a\n", "run.yaml:1: a run is a mapping"),
        ("a: &x 1\n", "run.yaml:1: anchors and aliases are not used here"),
        ("a: !!python/name:os.system x\n", "run.yaml:1: tags are not used here"),
        ("turns: 1\nturns: 2\n", "run.yaml:2: the key 'turns' stands twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_told_with_its_line(
    ci: Path, memdash: Memdash, text: str, told: str
) -> None:
    (ci / "run.yaml").write_text(text, "utf-8")
    ended = memdash("run", "run.yaml")
    assert ended.code == 2
    assert told in ended.complaint


def test_a_value_that_an_option_replaces_is_not_looked_at(ci: Path, memdash: Memdash) -> None:
    (ci / "run.yaml").write_text("script: no-such-script\nturns: 1\nstrategy: full_history\n", "utf-8")
    assert memdash("run", "run.yaml", *HERE, "--quiet", "--script", "short.yaml").code == 0


def test_a_script_in_place_of_a_file_is_told_where_it_belongs(ci: Path, memdash: Memdash) -> None:
    ended = memdash("run", "trip-planning")
    assert ended.code == 2
    assert "there is no such file; a script is given with --script" in ended.complaint


def test_a_file_that_is_too_large_is_not_read(ci: Path, memdash: Memdash) -> None:
    (ci / "run.yaml").write_text("#" * 1_100_000, "utf-8")
    assert "at most 1 MB are read" in memdash("run", "run.yaml").complaint


# -- live ------------------------------------------------------------------------------------------------------------------


def test_live_repeats_are_held_by_their_intervals(
    ci: Path, memdash: Memdash, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ci / "run.yaml").write_text(
        "script: short.yaml\nstrategy: [full_history]\nprovider: anthropic\nrepeats: 2\nbudget: none\nturns: 2\n"
        "assert: [cost_usd<=baseline, kept>=baseline, cost_usd_mean<=baseline]\n",
        "utf-8",
    )
    with running(SimulatorConfig(seed=1, latency_factor=0.0)) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any-text")
        made = memdash("run", "run.yaml", "--quiet", "--baseline", "none", "--format", "json")
        (ci / "live.json").write_text(made.out, "utf-8")
        again = memdash("run", "run.yaml", "--quiet", "--baseline", "live.json")
        assert (again.code, again.err) == (0, "")
        assert "1 setting on both sides" in again.out
        once = memdash("run", "run.yaml", "--quiet", "--baseline", "live.json", "--repeats", "1")
        assert once.code == 2
        assert "this run has one repeat" in once.complaint
        simulated = memdash("run", "run.yaml", "--baseline", "live.json", "--provider", "simulator")
        assert simulated.code == 2
        assert "is live, and this run is simulated" in simulated.complaint
