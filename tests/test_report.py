from __future__ import annotations

import csv
import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from memdash import report
from memdash.answerer import VERSION_KEY, Answerer
from memdash.errors import InputError
from memdash.report import simulator_basis
from memdash.scripts.model import Script, Turn
from memdash.spec import ComparisonSpec
from memdash.store import StoredComparison
from memdash.store.store import as_launched_now
from memdash.strategies import choose


def a_comparison(**replay: Any) -> dict[str, Any]:
    """A comparison of one replay of two turns, as the JSON contract has it, without what files of rows leave out."""
    turns = [
        {
            "turn": 1, "prompt_tokens": 1200, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 1150,
            "input_tokens": 50, "output_tokens": 90, "cost_usd": 0.00775, "wait_ms": 3100.5,
            "cache_miss_reason": "first_request", "events": [],
        },
        {
            "turn": 2, "prompt_tokens": None, "cache_read_input_tokens": None, "cache_creation_input_tokens": None,
            "input_tokens": None, "output_tokens": 80, "cost_usd": None, "wait_ms": None,
            "cache_miss_reason": "not_reported", "events": [{"kind": "trim", "dropped": 2}, {"kind": "strip_thinking"}],
        },
    ]  # fmt: skip
    return {
        "comparison": "cmp_1",
        "title": "Trip – 東京",
        "created_at": "2026-11-30T12:00:00Z",
        "settings": {"turns": 2},
        "token_counter": "estimate",
        "versions": {"memdash": "0.1.0", "rules": simulator_basis()},
        "replays": [
            {
                "script": "trip", "strategy": "window", "params": {"keep": 4}, "label": "window of 4", "model": "claude-opus-5-5",
                "provider": "simulator", "cache": "5m", "cache_marks": "auto", "repeat": 1, "status": "done", "turns": turns,
            }
            | replay
        ],
        "recommendation": None,
        "pareto": None,
    }  # fmt: skip


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_json_is_the_contracts_object_itself() -> None:
    assert json.loads(report.to_json(a_comparison())) == a_comparison()


def test_csv_has_one_row_a_turn_with_label_and_title() -> None:
    rows = rows_of(report.to_csv(a_comparison()))
    assert [row["turn"] for row in rows] == ["1", "2"]
    assert {row["label"] for row in rows} == {"window of 4"}
    assert {row["title"] for row in rows} == {"Trip – 東京"}
    assert rows[0]["prompt_tokens"] == "1200"
    assert rows[0]["cost_usd"] == "0.00775"


def test_what_is_not_known_is_an_empty_cell_and_never_a_zero() -> None:
    first, second = rows_of(report.to_csv(a_comparison()))
    assert (first["cache_read_input_tokens"], second["cache_read_input_tokens"]) == ("0", "")
    assert second["cost_usd"] == second["wait_ms"] == ""


def test_events_are_named_in_their_turns_row() -> None:
    assert [row["events"] for row in rows_of(report.to_csv(a_comparison()))] == ["", "trim strip_thinking"]


def test_simulated_rows_say_so_and_by_which_rules() -> None:
    assert "not yet compared with the live API" in rows_of(report.to_csv(a_comparison()))[0]["basis"]


def launched(spec: ComparisonSpec, answered_by: Answerer | None = None) -> StoredComparison:
    """A comparison as the store keeps it, answered live by a server of this kind."""
    made = as_launched_now(dataclasses.replace(spec, provider="simulator"))
    versions = {} if answered_by is None else {VERSION_KEY: answered_by.value}
    return dataclasses.replace(made, spec=spec, versions=versions)


def test_what_the_numbers_rest_on_is_said_of_every_way_to_run() -> None:
    script = Script("s", "S", (Turn(1, ({"type": "text", "text": "Hi"},), reply="Hello."),))
    simulated = ComparisonSpec((script,), (choose("full_history"),))
    live = dataclasses.replace(simulated, provider="anthropic")
    recorded = dataclasses.replace(live, replies="recorded")
    assert (
        report.basis(launched(simulated))
        == "Simulator rules of 2026-11-30, not yet compared with the live API"
    )
    assert report.basis(launched(live, Answerer.LIVE_API)) == "Live API"
    assert report.basis(launched(live, Answerer.COMPATIBLE)) == "Answered by a compatible server"
    assert report.basis(launched(live)) == "Answered by a server that was not recorded"
    told = report.basis(launched(recorded, Answerer.COMPATIBLE))
    assert told.startswith(
        "Recorded replies: tokens, cache and waits of the turns are modelled by simulator rules"
    )
    assert told.endswith("summaries and recall are those of a compatible server")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_a_text_cannot_become_a_formula_in_a_spreadsheet(text: str) -> None:
    row = rows_of(report.to_csv(a_comparison(script=text, label=text)))[0]
    assert row["script"].startswith("'")
    assert row["label"].startswith("'")


def test_a_negative_number_stays_a_number() -> None:
    comparison = a_comparison()
    comparison["replays"][0]["turns"][0]["wait_ms"] = -1.5
    assert rows_of(report.to_csv(comparison))[0]["wait_ms"] == "-1.5"


def test_quotes_commas_and_line_breaks_survive_csv() -> None:
    text = 'a "quoted", cell\nof two lines'
    assert rows_of(report.to_csv(a_comparison(label=text)))[0]["label"] == text


def test_parquet_has_the_rows_of_csv_in_native_types(tmp_path: Path) -> None:
    report.write(a_comparison(label="=1+1"), tmp_path / "run.parquet")
    table = pq.read_table(tmp_path / "run.parquet")
    assert table.column_names == list(report.TURN_COLUMNS)
    rows = table.to_pylist()
    assert rows[0]["prompt_tokens"] == 1200
    assert rows[1]["prompt_tokens"] is None
    assert rows[1]["events"] == ["trim", "strip_thinking"]
    assert rows[0]["label"] == "=1+1"  # nothing to guard against: a typed text is a text
    about = json.loads(table.schema.metadata[b"memdash"])
    assert about["settings"] == {"turns": 2}
    assert about["versions"] == {"memdash": "0.1.0", "rules": simulator_basis()}


def test_parquet_keeps_its_types_where_every_value_is_missing(tmp_path: Path) -> None:
    comparison = a_comparison()
    comparison["replays"][0]["turns"] = comparison["replays"][0]["turns"][1:]
    report.write(comparison, tmp_path / "run.parquet")
    assert str(pq.read_schema(tmp_path / "run.parquet").field("prompt_tokens").type) == "int64"


@pytest.mark.parametrize("name", ["run.xlsx", "run", "run.html"])
def test_an_unknown_ending_is_refused_with_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"\.json, \.csv, \.parquet"):
        report.write(a_comparison(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_whole_and_leaves_no_draft_behind(tmp_path: Path) -> None:
    target = tmp_path / "run.json"
    target.write_text("older")
    report.write(a_comparison(), target)
    assert json.loads(target.read_text()) == a_comparison()
    assert list(tmp_path.iterdir()) == [target]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        report.write(a_comparison(), tmp_path / "missing" / "run.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        report.write(a_comparison(), tmp_path / "folder.json")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.json"]
