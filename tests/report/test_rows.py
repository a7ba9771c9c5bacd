from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow.parquet as pq
import pytest

from memdash import report
from memdash.report import simulator_basis


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


def test_parquet_has_the_rows_of_csv_in_native_types() -> None:
    table = pq.read_table(io.BytesIO(report.to_parquet(a_comparison(label="=1+1"))))
    assert table.column_names == list(report.TURN_COLUMNS)
    rows = table.to_pylist()
    assert rows[0]["prompt_tokens"] == 1200
    assert rows[1]["prompt_tokens"] is None
    assert rows[1]["events"] == ["trim", "strip_thinking"]
    assert rows[0]["label"] == "=1+1"  # nothing to guard against: a typed text is a text
    about = json.loads(table.schema.metadata[b"memdash"])
    assert about["settings"] == {"turns": 2}
    assert about["versions"] == {"memdash": "0.1.0", "rules": simulator_basis()}


def test_parquet_keeps_its_types_where_every_value_is_missing() -> None:
    comparison = a_comparison()
    comparison["replays"][0]["turns"] = comparison["replays"][0]["turns"][1:]
    schema = pq.read_schema(io.BytesIO(report.to_parquet(comparison)))
    assert str(schema.field("prompt_tokens").type) == "int64"


def test_half_a_surrogate_pair_is_an_escape_where_utf_8_cannot_hold_it() -> None:
    broken = a_comparison(label="a\ud800", params={"instructions": "b\udfff"})
    broken["title"] = "c\ud83d"
    assert json.loads(report.to_json(broken))["title"] == "c\ud83d"
    assert rows_of(report.to_csv(broken))[0]["label"] == "a\\ud800"
    table = pq.read_table(io.BytesIO(report.to_parquet(broken)))
    assert table.column("label")[0].as_py() == "a\\ud800"
    assert json.loads(table.schema.metadata[b"memdash"])["title"] == "c\ud83d"
