"""The benchmarks of many replays and large stores run, here in their smallest size; what they measure is not judged."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.benchmarks import many_sessions, page_during_sweep, replay_page, store_scale, sweep_size
from tests.benchmarks.dashboard import served, wait_until
from tests.benchmarks.tab import Tab

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


@pytest.mark.timeout(600)
def test_people_are_played_on_the_real_server(capsys: pytest.CaptureFixture[str]) -> None:
    many_sessions.main(["--sessions", "3", "--minutes", "0.1", "--think", "0.5", "--repeats", "1"])
    printed = capsys.readouterr().out
    assert re.search(r"all presses +[1-9]\d* +\d+ ms", printed)
    assert re.search(r"memory of the server, MB, .*: +[1-9]\d*", printed)
    assert "errors: 0 (bar: 0): kept" in printed


@pytest.mark.timeout(600)
def test_an_estimate_is_asked_for_until_it_comes_and_then_no_more(tmp_path: Path) -> None:
    async def looked(url: str) -> tuple[list[str], int]:
        async with Tab(url) as tab:
            await tab.open("thresholds")
            for _ in range(600):
                if not tab.polled and any("about" in text for text in tab.texts()):
                    break
                await asyncio.sleep(0.1)
            return tab.troubles, len(tab.polled)

    with served(tmp_path) as dashboard:
        wait_until(lambda: dashboard.running() == 0)
        assert asyncio.run(looked(dashboard.url)) == ([], 0)
