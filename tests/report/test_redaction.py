from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memdash import report
from memdash.metrics import schema
from memdash.report.preview import preview
from memdash.report.redaction import LEFT_OUT
from memdash.report.telling import tell
from memdash.spec import ComparisonSpec
from memdash.store import Store
from memdash.strategies import choose, parse, registry
from tests.report.told import MARK, a_comparison, a_script, a_sweep, readable, stored


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("redaction") / "lab.duckdb") as one:
        yield one


@pytest.fixture(scope="module")
def ordinary(store: Store) -> str:
    return stored(store, a_comparison(a_script(), a_script(f"{MARK}-other")))


@pytest.fixture(scope="module")
def sweep(store: Store) -> str:
    return stored(store, a_sweep())


def exported(store: Store, comparison: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report.made(store, comparison, ".json", redact=True))
    return found


@pytest.mark.parametrize("ending", report.ENDINGS)
@pytest.mark.parametrize("kind", ["ordinary", "sweep"])
def test_no_file_holds_a_text_of_the_conversations(
    store: Store, kind: str, ending: str, request: pytest.FixtureRequest
) -> None:
    comparison = request.getfixturevalue(kind)
    assert MARK in readable(report.made(store, comparison, ending), ending)
    told = readable(report.made(store, comparison, ending, redact=True), ending)
    assert MARK.lower() not in told.lower()


def test_numbers_are_the_same_with_and_without_text(store: Store, ordinary: str) -> None:
    whole = json.loads(report.made(store, ordinary, ".json"))
    told = exported(store, ordinary)
    for before, after in zip(whole["replays"], told["replays"], strict=True):
        same = before.keys() - {"script", "label", "params", "errors", "probes", "turns"}
        assert {name: before[name] for name in same} == {name: after[name] for name in same}
        assert [row["cost_usd"] for row in before["turns"]] == [row["cost_usd"] for row in after["turns"]]
    assert [one["cost_usd"] for one in whole["floor"]["scripts"]] == [
        one["cost_usd"] for one in told["floor"]["scripts"]
    ]
    assert whole["groups"][0]["kept"] == told["groups"][0]["kept"]


def test_a_redacted_comparison_still_keeps_the_contract(store: Store, ordinary: str, sweep: str) -> None:
    for comparison in (ordinary, sweep):
        jsonschema.validate(exported(store, comparison), schema())


def test_scripts_and_facts_are_numbered_as_the_comparison_has_them(store: Store, ordinary: str) -> None:
    told = exported(store, ordinary)
    assert told["settings"]["scripts"] == ["script 1", "script 2"]
    facts = {(one["script"], probe["fact"]) for one in told["replays"] for probe in one["probes"]}
    assert sorted(facts) == [
        ("script 1", "fact 1"),
        ("script 1", "fact 2"),
        ("script 2", "fact 3"),
        ("script 2", "fact 4"),
    ]


def test_the_title_says_that_text_was_left_out(store: Store, ordinary: str, sweep: str) -> None:
    assert exported(store, ordinary)["title"] == "3 strategies on 2 scripts (text left out)"
    assert exported(store, sweep)["title"] == "7 settings on 2 scripts (text left out)"
    rows = list(csv.DictReader(io.StringIO(report.made(store, ordinary, ".csv", redact=True).decode())))
    assert {row["title"] for row in rows} == {"3 strategies on 2 scripts (text left out)"}


def test_a_text_given_to_a_strategy_has_one_name_in_parameters_and_labels(store: Store, sweep: str) -> None:
    told = exported(store, sweep)
    named = {
        (one["params"]["instructions"], re.search(r"text \d", one["label"])[0])  # type: ignore[index]
        for one in told["replays"]
        if one["strategy"] == "compaction"
    }
    assert named == {("text 1", "text 1"), ("text 2", "text 2")}
    assert len({one["label"] for one in told["replays"]}) == len(told["replays"])
    assert told["settings"]["sweep"]["families"][1].endswith("instructions=text 1|text 2")


def test_words_of_the_strategys_own_stay(store: Store, ordinary: str) -> None:
    window = next(one for one in exported(store, ordinary)["replays"] if one["strategy"] == "window")
    assert window["params"]["thinking"] == "strip"


def test_events_keep_their_numbers_and_our_own_words(store: Store, ordinary: str) -> None:
    compaction = next(one for one in exported(store, ordinary)["replays"] if one["strategy"] == "compaction")
    first, second = compaction["turns"][0]["events"]
    assert first == {"kind": "compaction", "used": True, "before_tokens": 9, "by": "server"}
    assert second == {"kind": "unscripted_tool_call"}


def test_a_refusal_is_told_by_what_it_means(store: Store, ordinary: str) -> None:
    window = next(one for one in exported(store, ordinary)["replays"] if one["strategy"] == "window")
    assert window["status"] == "rejected"
    assert window["errors"] == ["The API refused the request; its own message says what it found wrong."]


def test_what_was_asked_and_answered_is_left_out_and_says_so(store: Store, ordinary: str) -> None:
    probes = [probe for one in exported(store, ordinary)["replays"] for probe in one["probes"]]
    assert {(one["question"], one["answer"]) for one in probes} == {(LEFT_OUT, LEFT_OUT)}
    assert {one["passed"] for one in probes} == {True, False}


def test_the_preview_shows_every_kind_of_text_word_for_word(store: Store, ordinary: str) -> None:
    shown = {one.what: one.text for one in preview(store, ordinary, redact=False)}
    assert shown == {
        "Title": f"{MARK} comparison",
        "Scripts": f"{MARK} title and {MARK} title",
        "Facts": f"{MARK} fact 1 and {MARK} fact 2",
        "Texts given to strategies": f"{MARK} instructions",
        "Questions": f"{MARK} question?",
        "Answers": f"{MARK} answer 0",
        "Messages of the API": f"messages.0: {MARK} text",
        "What events quote": f"{MARK} note",
    }


def test_the_preview_of_a_redacted_comparison_shows_the_names(store: Store, ordinary: str) -> None:
    shown = preview(store, ordinary, redact=True)
    assert MARK not in str(shown)
    told = {one.what: one.text for one in shown}
    assert told["Scripts"] == "Script 1 and Script 2"
    assert told["Answers"] == told["What events quote"] == LEFT_OUT


PERSONAL = f"""
from dataclasses import dataclass

from memdash.strategies import FullHistory
from memdash.strategies.parameters import param


@dataclass(frozen=True)
class PersonalParams:
    persona: str = param("nobody", "Who speaks")


class Personal(FullHistory):
    name = "personal"
    title = "personal"
    description = "Somebody speaks."
    Params = PersonalParams

    @classmethod
    def label(cls, params):
        return "as " + {{"nobody": "nobody", "{MARK}": "the {MARK}"}}[params.persona]
"""


def test_a_strategy_of_ones_own_that_takes_no_other_text_gets_a_name_for_its_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    monkeypatch.setattr(registry, "_files", {})
    (tmp_path / "own.py").write_text(PERSONAL)
    own = parse(f"{tmp_path / 'own.py'}:persona={MARK}")
    spec = dataclasses.replace(a_comparison(a_script("trip")), strategies=(choose("full_history"), own))
    with Store.open(tmp_path / "lab.duckdb") as one:
        comparison = stored(one, spec)
        told = exported(one, comparison)
        assert [replay["label"] for replay in told["replays"]] == ["full history", "personal · setting 1"]
        assert told["replays"][1]["params"] == {"persona": "text 1"}
        for ending in report.ENDINGS:
            content = readable(report.made(one, comparison, ending, redact=True), ending)
            assert MARK not in content
            assert str(tmp_path) not in content


def test_a_confirmation_is_told_without_its_texts(store: Store, tmp_path: Path) -> None:
    simulated = a_comparison(title="checked")
    live = ComparisonSpec(
        simulated.scripts,
        simulated.strategies,
        provider="anthropic",
        budget=1.0,
        confirms=simulated.id,
        title=f"{MARK} live",
    )
    with Store.open(tmp_path / "lab.duckdb") as one:
        stored(one, simulated)
        stored(one, live)
        told = exported(one, simulated.id)
        assert "Against the live API" in [section.title for section in tell(one, simulated.id).sections]
        assert told["confirmation"]["pairs"][0]["script"] == "script 1"
        assert told["confirmation"]["left_out"][0]["message"] == LEFT_OUT
        for ending in report.ENDINGS:
            assert MARK not in readable(report.made(one, simulated.id, ending, redact=True), ending)
