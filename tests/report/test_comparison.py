"""What the report of an ordinary comparison says, from replays whose numbers are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from memdash.metrics import measure_all
from memdash.records import Status
from memdash.report.blocks import Cards, Charts, Listed, Report, Section, Table, Told
from memdash.report.comparison import comparison_sections
from memdash.report.markdown import to_markdown
from memdash.report.telling import tell
from memdash.store import Store
from tests.report.told import MARK, a_comparison, a_script, stored


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("comparison") / "lab.duckdb") as one:
        yield one


@pytest.fixture(scope="module")
def told(store: Store) -> Report:
    return tell(store, stored(store, a_comparison(a_script("trip"), title="A trip")))


@pytest.fixture(scope="module")
def repeated(store: Store) -> Report:
    return tell(store, stored(store, a_comparison(a_script("trip"), title="Repeats", repeats=2)))


def section(report: Report, title: str) -> Section:
    (found,) = [one for one in report.sections if one.title == title]
    return found


def table(report: Report, title: str) -> list[dict[str, str]]:
    (found,) = [one.grid for one in section(report, title).blocks if isinstance(one, Table)]
    columns = [name.replace("\n", " ") for name in found.columns]
    return [dict(zip(columns, row, strict=True)) for row in found.rows]


def entries(report: Report, title: str) -> dict[str, str]:
    (found,) = section(report, title).blocks
    assert isinstance(found, Listed)
    return dict(found.entries)


def sentences(blocks: Sequence[object]) -> list[str]:
    return [line for one in blocks if isinstance(one, Told) for line in one.lines]


def test_the_head_says_what_it_is_and_what_it_rests_on(told: Report) -> None:
    assert told.title == "A trip"
    assert told.badges == ["simulated"]
    assert told.basis == "Simulator rules of 2026-11-30, not yet compared with the live API"
    assert told.about[:3] == ["claude-opus-5-5", "1 script", "tokens counted by estimate"]


def test_the_table_has_every_number_of_a_strategy(told: Report) -> None:
    full, window, compaction = table(told, "Side by side")
    # 500 + 1,500 written + 3 + 300 written + 1,500 read; $4, $5 and $0.20 a million in, 200 tokens out at $20
    assert full == {
        "strategy": "full history",
        "prompt tokens": "3,803",
        "cached": "39 %",
        "cost": "$0.0153",
        "vs full history": "–",
        "kept": "2 of 2",
        "recall (simulated)": "2 of 2",
        "wait p50": "1.0 s",
        "wait p95": "1.0 s",
        "compactions": "0",
        "status": "done",
    }
    assert window["status"] == "rejected at turn 2 of 2"
    assert (compaction["vs full history"], compaction["compactions"]) == ("±0 %", "1")


def test_what_was_refused_stands_under_the_table(told: Report) -> None:
    (found,) = [one for one in section(told, "Side by side").blocks if isinstance(one, Table)]
    assert found.grid.notes[1] == [f"messages.0: {MARK} text"]
    assert len(found.looks) == 3


def test_the_same_refusal_on_another_script_is_not_told_again(store: Store) -> None:
    report = tell(store, stored(store, a_comparison(a_script("one"), a_script("two"))))
    (found,) = [one for one in section(report, "Side by side").blocks if isinstance(one, Table)]
    assert list(found.grid.notes) == [1]


def test_several_repeats_are_one_row_with_their_range(repeated: Report) -> None:
    full, window, _ = table(repeated, "Side by side")
    assert (full["cost"], full["kept"]) == ("$0.0153", "4 of 4")
    assert window["status"] == "rejected; 0 of 2 done"
    assert "2 repeats" in repeated.about


def test_the_findings_come_first_then_the_table_then_the_charts(told: Report) -> None:
    assert [one.title for one in told.sections] == [
        "",
        "Side by side",
        "Charts",
        "What was forgotten",
        "What is simulated",
        "Settings",
        "Prices",
        "Versions",
    ]
    cards, said = told.sections[0].blocks
    assert isinstance(cards, Cards)
    assert cards.headlines[0].title == "Cheapest that kept every fact"
    assert sentences([said])
    (charts,) = section(told, "Charts").blocks
    assert isinstance(charts, Charts)
    assert [one.title.split(":")[0] for one in charts.sketches] == [
        "Prompt per turn",
        "Cost so far",
        "What was sent",
        "Cache share",
        "Simulated recall",
        "Wait per turn",
    ]


def test_what_was_forgotten_is_told_with_question_and_answer(told: Report) -> None:
    first, second = table(told, "What was forgotten")
    assert first["question"] == f"{MARK} question?"
    assert first["answer"] == f"{MARK} answer 0"
    assert (first["answered"], first["its text was"]) == ("wrong", "not in the context")
    assert (first["fact"], second["fact"]) == (f"{MARK} fact 1", f"{MARK} fact 2")


def test_without_text_it_is_told_without_question_and_answer(store: Store) -> None:
    report = tell(store, stored(store, a_comparison(a_script("trip"))), redact=True)
    assert report.badges == ["simulated", "text left out"]
    assert list(table(report, "What was forgotten")[0]) == [
        "replay", "fact", "asked after turn", "answered", "its text was",
    ]  # fmt: skip


def test_where_no_question_is_a_test_nothing_is_said_of_answers(store: Store) -> None:
    comparison = store.comparison(stored(store, a_comparison(a_script("trip"))))
    results = [
        replace(one, probes=tuple(replace(probe, is_test=False) for probe in one.probes))
        for one in measure_all(store.replay_outlines(comparison.id), comparison.prices)
    ]
    sections = comparison_sections(comparison, results, with_text=True)
    (found,) = [one for one in sections if one.title == "What was forgotten"]
    assert sentences(found.blocks) == [
        "No question tests anything: none is answered right with the whole history and wrong without."
    ]


def test_of_replays_that_were_stopped_nothing_was_answered_wrong(store: Store) -> None:
    comparison = store.comparison(stored(store, a_comparison(a_script("trip"))))
    results = [
        replace(one, status=Status.STOPPED_BY_BUDGET, recall=None, recall_passed=0)
        for one in measure_all(store.replay_outlines(comparison.id), comparison.prices)
    ]
    sections = comparison_sections(comparison, results, with_text=True)
    assert "No strategy has finished." in sentences(sections[0].blocks)
    (found,) = [block for one in sections for block in one.blocks if isinstance(block, Table)]
    recall = next(place for place, name in enumerate(found.grid.columns) if name.startswith("recall"))
    assert {row[recall] for row in found.grid.rows} == {"–"}


def test_settings_prices_and_versions_are_those_it_ran_with(told: Report) -> None:
    settings = entries(told, "Settings")
    assert settings["scripts"] == f"{MARK} title (trip)"
    assert (settings["history check"], settings["think time between turns"]) == ("on", "30 s")
    (price,) = table(told, "Prices")
    assert (price["model"], price["input"], price["read"], price["output"]) == (
        "claude-opus-5-5", "$4", "$0.2", "$20",
    )  # fmt: skip
    assert entries(told, "Versions")["rules"] == told.basis
    assert sentences(section(told, "What is simulated").blocks)[0] == f"{told.basis}."


def test_markdown_has_the_table_in_sight_and_the_settings_folded_away(told: Report) -> None:
    text = to_markdown(told).decode()
    assert text.startswith("## A trip\n\n**simulated** · claude-opus-5-5 · 1 script")
    assert "| full history | 3,803 | 39 % | $0.0153 |" in text
    assert "- Cost so far: " in text
    folded = text.split("<details>")
    assert [one.split("</summary>")[0].removeprefix("<summary>") for one in folded[1:]] == [
        "What was forgotten", "What is simulated", "Settings", "Prices", "Versions",
    ]  # fmt: skip
    assert text.count("<details>") == text.count("</details>") == 5
    assert text.endswith(f"Again: `memdash show {told.id}`\n")


def test_markdown_keeps_every_text_a_text(store: Store) -> None:
    hostile = "<script>alert(1)</script> **b** @team #1 | $x$ \u202e"
    report = tell(store, stored(store, a_comparison(a_script("trip", mark=hostile), title=hostile), hostile))
    text = to_markdown(report).decode()
    ours = (
        text.replace("<details>", "")
        .replace("</details>", "")
        .replace("<summary>", "")
        .replace("</summary>", "")
    )
    assert "<" not in ours.replace(r"\<", "")
    assert "@team" not in text
    assert "#1" not in text
    assert "\u202e" not in text
    assert text.splitlines()[0] == (r"## \<script\>alert(1)\</script\> \*\*b\*\* @⁠team #⁠1 \| \$x\$ ")


def test_a_long_table_says_how_much_is_left_out(store: Store) -> None:
    scripts = [a_script(f"script-{n}", facts=1) for n in range(15)]
    text = to_markdown(tell(store, stored(store, a_comparison(*scripts)))).decode()
    assert "5 more rows not shown; the HTML report has all." in text
