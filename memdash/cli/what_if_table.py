"""The answer to a what-if as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from memdash import numbers
from memdash.report import LIVE_BASIS, safe_cell, token_counter
from memdash.tables.grid import Grid
from memdash.tables.lines import one_line

if TYPE_CHECKING:
    from memdash.metrics.what_if import Answer, Row
    from memdash.store import StoredComparison

_COLUMNS = ("strategy", "as charged", "what if", "change", "cached", "what if\ncached", "kept", "rank")
_FIELDS = (
    "comparison", "basis", "terms", "label", "strategy", "script", "replays", "finished", "charged_usd", "what_if_usd", "change",
    "rank", "what_if_rank", "cache_share", "what_if_cache_share", "kept", "facts_total", "problem",
)  # fmt: skip


def rendered(stored: StoredComparison, answer: Answer, basis: str, form: str) -> str:
    """Return the answer as ``table``, ``json`` or ``csv``; ``basis`` is what the comparison's numbers rest on."""
    if form == "json":
        return json.dumps(_json(stored, answer, basis), ensure_ascii=False, indent=2, allow_nan=False)
    if form == "csv":
        return _csv(stored, answer, basis)
    return _table(stored, answer, basis)


def _table(stored: StoredComparison, answer: Answer, basis: str) -> str:
    grid = Grid(
        _COLUMNS,
        [_cells(row) for row in answer.rows],
        numeric=frozenset(_COLUMNS[1:]),
        notes={
            index: [note]
            for index, row in enumerate(answer.rows)
            if (note := row.problem or _unfinished(row))
        },
    )
    counted = "" if basis == LIVE_BASIS else f" Tokens counted by {token_counter(stored)}."
    return "\n\n".join(
        part
        for part in (
            f"{one_line(stored.title or stored.id)}: what if it had run {one_line(answer.terms.question.words)}",
            grid.plain(),
            "\n".join(map(one_line, answer.sentences)),
            "\n".join([*map(one_line, answer.notes), f"{basis}.{counted}", _repeats_note(answer)]).rstrip(),
        )
        if part
    )


def _repeats_note(answer: Answer) -> str:
    repeats = max((row.replays for row in answer.rows), default=1)
    return f"Costs are means of up to {repeats} repeats." if repeats > 1 else ""


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.label,
        numbers.usd(row.charged_usd),
        numbers.usd(row.what_if_usd),
        numbers.change(row.change),
        numbers.percent(row.cache_share),
        numbers.NOT_AVAILABLE if row.what_if_usd is None else numbers.percent(row.what_if_cache_share),
        numbers.part(row.kept, row.facts_total),
        numbers.NOTHING if row.rank is None else f"{row.rank} → {row.what_if_rank}",
    )


def _unfinished(row: Row) -> str | None:
    return None if row.finished else "not every turn was played, so it has no rank"


def _json(stored: StoredComparison, answer: Answer, basis: str) -> dict[str, Any]:
    question = answer.terms.question
    return {
        "comparison": stored.id,
        "title": stored.title,
        "created_at": stored.created_at.isoformat(),
        "basis": basis,
        "token_counter": token_counter(stored),
        "what_if": {
            "model": question.model,
            "prices": {model: dict(given) for model, given in question.prices.items()},
            "cache": None if question.cache is None else question.cache.value,
            "batch": question.batch,
            "as_of": None if question.as_of is None else question.as_of.isoformat(),
            "words": question.words,
        },
        "prices": {
            model: [
                {
                    "above": tier.above, "input": tier.input, "write_5m": tier.write_5m, "write_1h": tier.write_1h,
                    "read": tier.read, "output": tier.output,
                }
                for tier in price.tiers
            ]
            for model, price in answer.terms.prices.models.items()
        },
        "rows": [_values(row) for row in answer.rows],
        "rank_changes": [
            {"script": script, "cheaper": pair.cheaper.name, "than": pair.dearer.name}
            for script, pairs in answer.overtakings.items()
            for pair in pairs
        ],
        "sentences": list(answer.sentences),
        "notes": list(answer.notes),
    }  # fmt: skip


def _values(row: Row) -> dict[str, Any]:
    names = (
        "label", "strategy", "script", "replays", "finished", "charged_usd", "what_if_usd", "change", "rank", "what_if_rank",
        "cache_share", "what_if_cache_share", "kept", "facts_total", "problem",
    )  # fmt: skip
    return {name: getattr(row, name) for name in names}


def _csv(stored: StoredComparison, answer: Answer, basis: str) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _FIELDS, lineterminator="\r\n")
    writer.writeheader()
    about = {"comparison": stored.id, "basis": basis, "terms": answer.terms.question.words}
    for row in answer.rows:
        writer.writerow({name: safe_cell(value) for name, value in (about | _values(row)).items()})
    return text.getvalue()
