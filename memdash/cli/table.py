"""A comparison as people read it in a terminal or in Markdown, from the object of the JSON contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memdash import numbers
from memdash.metrics.result import Mark
from memdash.report import LIVE_BASIS, SIMULATOR_RULES, to_csv, to_json
from memdash.tables.confirmation import confirmation_parts
from memdash.tables.conversations import conversation_parts
from memdash.tables.grid import Grid
from memdash.tables.lines import one_line

Replay = Mapping[str, Any]

COLUMNS = (
    "strategy", "prompt\ntokens", "cached", "cost", "vs full\nhistory", "kept", "recall", "wait\np50", "wait\np95", "compactions",
    "status",
)  # fmt: skip
_NUMERIC = frozenset(COLUMNS[1:-1])

FORMATS = ("table", "json", "markdown", "csv")
"""The values of ``--format``."""


def rendered(comparison: Mapping[str, Any], form: str) -> str:
    """Return the comparison in one of :data:`FORMATS`."""
    if form == "json":
        return to_json(comparison).decode()
    if form == "csv":
        return to_csv(comparison).decode()
    grid = _grid(comparison["replays"])
    markdown = form == "markdown"
    title, end = one_line(comparison["title"]), footer(comparison)
    parts = [
        f"## {title}" if markdown else title,
        grid.markdown() if markdown else grid.plain(),
        *conversation_parts(comparison, markdown=markdown),
        *confirmation_parts(comparison["confirmation"], markdown=markdown),
        *(end if markdown else ["\n".join(end)]),
    ]
    return "\n\n".join(parts)


def _grid(replays: Sequence[Replay]) -> Grid:
    simulated = any(replay["recall_simulated"] for replay in replays)
    columns = tuple("recall\n(simulated)" if name == "recall" and simulated else name for name in COLUMNS)
    return Grid(
        columns,
        [_row(replay, _reference(replay, replays)) for replay in replays],
        numeric=_NUMERIC | {"recall\n(simulated)"},
        notes={index: notes for index, replay in enumerate(replays) if (notes := _notes(replay))},
    )


def _row(replay: Replay, reference: Replay | None) -> tuple[str, ...]:
    waits = replay["wait_ms"] or {}
    return (
        replay["label"],
        numbers.tokens(replay["prompt_tokens"]),
        numbers.NOTHING if replay["prompt_tokens"] == 0 else numbers.percent(replay["cache_share"]),
        numbers.usd(replay["cost_usd"]),
        _against(replay, reference),
        numbers.part(replay["kept"], replay["facts_total"]),
        numbers.part(None if replay["recall"] is None else replay["recall_passed"], replay["recall_total"]),
        numbers.seconds(waits.get("p50")),
        numbers.seconds(waits.get("p95")),
        str(replay["compactions"]),
        _status(replay),
    )


def _reference(replay: Replay, replays: Sequence[Replay]) -> Replay | None:
    """The full history of the same script, model, cache and repeat, where it ran to its end."""
    alike = ("script", "model", "cache", "cache_marks", "repeat")
    for other in replays:
        same = all(other[name] == replay[name] for name in alike)
        if same and other["strategy"] == "full_history" and other["status"] == "done":
            return other
    return None


def _against(replay: Replay, reference: Replay | None) -> str:
    """What a finished replay costs against full history; a partial one is not compared."""
    alike = reference is not None and replay["simulator_only"] == reference["simulator_only"]
    if reference is None or not alike or replay["status"] != "done" or replay is reference:
        return numbers.NOTHING
    if replay["cost_usd"] is None or not reference["cost_usd"]:
        return numbers.NOT_AVAILABLE
    return numbers.change(replay["cost_usd"] / reference["cost_usd"] - 1)


def _status(replay: Replay) -> str:
    status: str = replay["status"].replace("_", " ")
    if replay["turns_completed"] < replay["turns_planned"]:
        status += f" at turn {min(replay['turns_completed'] + 1, replay['turns_planned'])} of {replay['turns_planned']}"
    return status + (" (simulator only)" if replay["simulator_only"] else "")


def _notes(replay: Replay) -> list[str]:
    """The lines under a row: what the API refused, and what is odd about the replay."""
    return [*replay["errors"], *(Mark(mark).words for mark in replay["marks"])]


def footer(comparison: Mapping[str, Any]) -> list[str]:
    """Say by which rules the numbers came about, and where the comparison is found again."""
    lines = []
    basis = comparison["versions"]["rules"]
    if SIMULATOR_RULES in basis.lower():
        lines.append(f"{basis}. Tokens counted by {comparison['token_counter']}.")
    elif basis != LIVE_BASIS:
        lines.append(f"{basis}.")
    shown = comparison["comparison"]
    lines.append(f"Comparison {shown}. Again: `memdash show {shown}`")
    lines.append(f"In the dashboard (`streamlit run app.py`): http://127.0.0.1:8501/?c={shown}")
    return lines
