from __future__ import annotations

from collections.abc import Iterator

import pytest

from memdash.report.blocks import Cards, Charts, Report, Table, Told
from memdash.report.telling import tell
from memdash.store import Store
from tests.report.told import a_sweep, stored


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Report]:
    with Store.open(tmp_path_factory.mktemp("sweep") / "lab.duckdb") as store:
        yield tell(store, stored(store, a_sweep()))


def test_the_answer_comes_first_with_its_limits(told: Report) -> None:
    answer = told.sections[0]
    assert answer.title == "What to ship"
    sentence, cards, limits = answer.blocks
    assert isinstance(sentence, Told)
    assert isinstance(cards, Cards)
    assert isinstance(limits, Told)
    assert sentence.lines[0].startswith(("Decisive: ", "Not decisive: "))
    assert limits.quiet
    assert cards.headlines[0].title == "A conversation costs"


def test_every_setting_has_a_row_and_the_look_of_its_curve(told: Report) -> None:
    (table,) = told.sections[1].blocks
    assert isinstance(table, Table)
    assert len(table.grid.rows) == len(table.looks) == 7
    assert table.grid.columns[:2] == ("setting", "cost")


def test_the_front_comes_before_the_thresholds_and_the_grid(told: Report) -> None:
    (charts,) = told.sections[2].blocks
    assert isinstance(charts, Charts)
    assert [one.title.split(":")[0] for one in charts.sketches] == [
        "Cost against facts kept",
        "Cost",
        "Kept",
        "Cache share",
        "Wait p95",
        "Simulated recall",
        "Cost of compaction",
        "Kept of compaction",
    ]


def test_the_ranges_stand_among_the_settings(told: Report) -> None:
    (settings,) = [one for one in told.sections if one.title == "Settings"]
    told_settings = dict(settings.blocks[0].entries)  # type: ignore[union-attr]
    assert told_settings["ranges"].startswith("window:2|4, compaction:trigger=1000|2000")
    assert told_settings["largest loss allowed"] == "5 %"
