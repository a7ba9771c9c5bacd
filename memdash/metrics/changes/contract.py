"""What changed, as the one object that ``memdash show A --against B --format json`` prints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from memdash.metrics.changes.model import Changes, Difference, FactChange, GroupChange, NumberChange, Value
from memdash.metrics.changes.sentences import headline


def changes_json(changes: Changes) -> dict[str, Any]:
    """Return what changed; null is "not known", and ``prices`` is null where a side does not say them."""
    return {
        "sentence": headline(changes),
        "before": asdict(changes.before),
        "after": asdict(changes.after),
        "groups": [_group(one) for one in changes.groups],
        "missing": [one._asdict() for one in changes.missing],
        "new": [one._asdict() for one in changes.new],
        "settings": _differences(changes.settings),
        "versions": _differences(changes.versions),
        "prices": None if changes.prices is None else [one._asdict() for one in changes.prices],
        "repriced": changes.repriced,
        "recommendation": changes.recommendation and changes.recommendation._asdict(),
        "notes": list(changes.notes),
    }


def _group(group: GroupChange) -> dict[str, Any]:
    return {
        "label": group.label,
        "label_before": group.label_before,
        "strategy": group.strategy,
        "script": group.script,
        "live": group.live,
        "recall_simulated": group.recall_simulated,
        "replays_before": group.replays_before,
        "replays_after": group.replays_after,
        "not_alike": group.not_alike,
        "outcome": group.outcome and group.outcome._asdict(),
        "errors": list(group.errors),
        "numbers": [_number(one) for one in group.numbers],
        "facts": [_fact(one) for one in group.facts],
    }


def _number(change: NumberChange) -> dict[str, Any]:
    return {
        "name": change.number.value,
        "before": _value(change.before),
        "after": _value(change.after),
        "difference": _clean(change.difference),
        "relative": _clean(change.relative),
        "verdict": change.verdict.value,
    }


def _fact(change: FactChange) -> dict[str, Any]:
    return {
        "fact": change.fact,
        "asked_after": change.asked_after,
        "question": change.question,
        "lost": change.lost,
        **{
            name: {"before": before._asdict(), "after": after._asdict(), "verdict": verdict.value}
            for name, before, after, verdict in (
                ("kept", change.kept_before, change.kept_after, change.kept),
                ("right", change.right_before, change.right_after, change.right),
            )
        },
        "answer": change.answer,
    }


def _value(value: Value) -> dict[str, float | None]:
    return {"mean": _clean(value.mean), "low": _clean(value.low), "high": _clean(value.high)}


def _differences(several: Iterable[Difference]) -> list[dict[str, str]]:
    return [one._asdict() for one in several]


def _clean(number: float | None) -> float | None:
    """To the twelfth decimal: digits beyond are noise of the addition."""
    return None if number is None else round(number, 12)
