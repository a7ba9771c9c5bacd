"""The benchmarks of many replays and large stores run, here in their smallest size; what they measure is not judged."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks import page_during_sweep, replay_page, store_scale, sweep_size

pytestmark = pytest.mark.long


def test_stores_of_any_size_are_made_and_measured(capsys: pytest.CaptureFixture[str]) -> None:
    shape = store_scale.Shape(long_turns=10, swept=3, repeats=1)
    store_scale.main(["--sizes", "500,2500", "--rounds", "1"], shape)
    lines = capsys.readouterr().out.splitlines()
    small, large = (int(line.split()[0].replace(",", "")) for line in lines[1:3])
    assert small < 1_000 < 2_200 < large <= 2_500
    assert lines[1].count("–") == 1  # no room for the sweep yet
    assert re.search(r"\d+ ms \(\d+\) +\d+ ms \(\d+\) +\d+ ms \(\d+\)", lines[2])


@pytest.mark.timeout(600)
def test_a_sweep_is_played_from_the_command_line_and_measured(capsys: pytest.CaptureFixture[str]) -> None:
    sweep_size.main(["--thresholds", "2", "--repeats", "1"])
    printed = capsys.readouterr().out
    assert printed.startswith("6 replays, ")
    assert re.search(r"memory of all processes: [1-9]\d* MB", printed)


@pytest.mark.timeout(600)
def test_pages_are_asked_with_and_without_a_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    page_during_sweep.main(["--rounds", "1", "--answers", "1", "--thresholds", "3", "--repeats", "2"])
    printed = capsys.readouterr().out
    assert re.search(r"Compare: +\d+ ms idle, +\d+ ms during a sweep", printed)
    assert re.search(r"Library: +\d+ ms idle, +\d+ ms during a sweep", printed)


def test_the_page_of_one_replay_is_opened_at_each_section(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMDASH_DB", "")  # what the benchmark sets is taken back
    replay_page.main(["--turns", "12", "--facts", "3", "--rounds", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("12 turns, 3 facts")
    assert len(re.findall(r"facts \d+\.\d\d and \d+\.\d\d", "\n".join(lines))) == 3
