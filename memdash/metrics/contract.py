"""The JSON contract of ``--format json`` (architecture.md), which ``contract.schema.json`` beside this file describes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memdash.metrics.outcome import ReplayOutcome, outcome_of
from memdash.metrics.pricing import Prices
from memdash.metrics.result import Percentiles, ReplayResult, TurnResult, Waits
from memdash.metrics.sweep.analysis import CONVERSATIONS_PER_MONTH, analyse
from memdash.metrics.sweep.contract import (
    front_json,
    groups_json,
    recommendation_json,
    refinement_json,
    worth_json,
)
from memdash.metrics.sweep.groups import groups_of
from memdash.metrics.sweep.losses import basis_of, cell_losses
from memdash.metrics.sweep.refinement import Proposal
from memdash.spec import ComparisonSpec, ReplaySpec, Sweep

if TYPE_CHECKING:
    from memdash.metrics.conversations import Traffic

SCHEMA_PATH = Path(__file__).with_name("contract.schema.json")


class Refined(NamedTuple):
    """A comparison with all that was added to it, and the rounds of refinement that added it."""

    spec: ComparisonSpec
    rounds: Sequence[Proposal]


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the object that :func:`comparison_json` makes."""
    loaded: dict[str, Any] = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    return loaded


def comparison_json(
    results: Iterable[ReplayResult],
    *,
    comparison: str,
    title: str,
    created_at: datetime,
    settings: Mapping[str, Any],
    token_counter: str,
    versions: Mapping[str, str],
    specs: Sequence[ReplaySpec],
    prices: Prices,
    sweep: Sweep | None = None,
    refined: Refined | None = None,
    traffic: Traffic | None = None,
    confirmation: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Put a comparison together as the one object a program reads.

    ``settings`` is what :func:`settings_json` makes of a specification; ``token_counter`` is ``estimate`` or ``ctok`` with its
    version. A time without a zone is taken as UTC. Only a ``sweep`` has a recommendation and a front; with several models
    ``recommendation`` is that of the first; ``refined`` is how it went on after its coarse grid. ``specs`` are those of the
    replays, ``traffic`` is what is known of the user's own conversations.
    """
    from memdash.metrics.conversations import conversation_keys  # it counts tokens as a replay does

    replays: list[dict[str, Any]] = []
    outcomes: list[ReplayOutcome] = []
    per_month = None if traffic is None else traffic.per_month
    for result in results:
        replays.append(replay_json(result))
        outcomes.append(outcome_of(result))
    moment = created_at if created_at.tzinfo else created_at.replace(tzinfo=UTC)
    return {
        "comparison": comparison,
        "title": title,
        "created_at": moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "settings": dict(settings),
        "token_counter": token_counter,
        "versions": dict(versions),
        "replays": replays,
        **_together(outcomes, sweep, per_month or CONVERSATIONS_PER_MONTH),
        "refinement": None if refined is None else refinement_json(refined.spec, outcomes, refined.rounds),
        **conversation_keys(outcomes, specs, prices, traffic),
        "prices": prices_json(specs, prices),
        "confirmation": None if confirmation is None else dict(confirmation),
    }


def _together(
    outcomes: Sequence[ReplayOutcome], sweep: Sweep | None, conversations_per_month: float
) -> dict[str, Any]:
    """What the replays say together: the groups of any comparison, the rest for a sweep."""
    if sweep is None:
        groups = groups_of(outcomes, cell_losses(outcomes, basis_of(outcomes)))
        nothing = ("recommendation", "recommendations", "unrecommended", "pareto", "worth")
        return {"groups": groups_json(groups), **dict.fromkeys(nothing)}
    analysis = analyse(outcomes, max_loss=sweep.max_loss, conversations_per_month=conversations_per_month)
    recommendations = [recommendation_json(one) for one in analysis.recommendations]
    return {
        "groups": groups_json(analysis.groups),
        "recommendation": recommendations[0] if recommendations else None,
        "recommendations": recommendations,
        "unrecommended": analysis.unrecommended,
        "pareto": front_json(analysis.frontier),
        "worth": worth_json(analysis.worth),
    }


def replay_json(result: ReplayResult) -> dict[str, Any]:
    """Return one replay as the contract has it; null is "not reported", "no probes" or "unknown price"."""
    costs = result.cost_by_purpose_usd
    return {
        "id": result.id,
        "script": result.script,
        "strategy": result.strategy,
        "params": dict(result.params),
        "label": result.label,
        "model": result.model,
        "effort": result.effort,
        "provider": result.provider,
        "cache": result.cache,
        "cache_marks": result.cache_marks,
        "repeat": result.repeat,
        "status": str(result.status),
        "simulator_only": result.simulator_only,
        "turns_planned": result.turns_planned,
        "turns_completed": result.turns_completed,
        "requests": result.requests,
        "prompt_tokens": result.prompt_tokens,
        "input_tokens": result.input_tokens,
        "cache_creation_input_tokens": result.cache_creation_input_tokens,
        "cache_read_input_tokens": result.cache_read_input_tokens,
        "output_tokens": result.output_tokens,
        "cache_share": result.cache_share,
        "cost_usd": _usd(result.cost_usd),
        "cost_by_purpose_usd": {
            "turn": _usd(costs.turn),
            "tool": _usd(costs.tool),
            "summary": _usd(costs.summary),
        },
        "probe_requests": result.probe_requests,
        "probe_cost_usd": _usd(result.probe_cost_usd),
        "recall": result.recall,
        "recall_passed": result.recall_passed,
        "recall_total": result.recall_total,
        "recall_simulated": result.recall_simulated,
        "kept": result.kept,
        "facts_total": result.facts_total,
        "wait_ms": _waits_json(result.wait_ms),
        "ttft_ms": _percentiles_json(result.ttft_ms),
        "compactions": result.compactions,
        "marks": [str(mark) for mark in result.marks],
        "errors": list(result.errors),
        "turns": [_turn_json(row) for row in result.turns],
        "probes": [
            {
                "fact": probe.fact,
                "asked_after": probe.asked_after,
                "question": probe.question,
                "answer": probe.answer,
                "passed": probe.passed,
                "stale": probe.stale,
                "visible": probe.visible,
                "is_test": probe.is_test,
            }
            for probe in result.probes
        ],
    }


def settings_json(spec: ComparisonSpec) -> dict[str, Any]:
    """Return the settings that the replays of a comparison share, scripts and strategies by name."""
    settings: dict[str, Any] = {}
    for field in dataclasses.fields(spec):
        value = getattr(spec, field.name)
        if field.name == "scripts":
            value = [script.id for script in value]
        elif field.name in ("strategies", "refined"):
            value = [
                {"name": choice.name, "params": dict(choice.params), "label": choice.label}
                for choice in value
            ]
        elif field.name == "sweep" and value is not None:
            value = {**dataclasses.asdict(value), "families": [str(family) for family in value.families]}
        elif isinstance(value, tuple):
            value = [str(one) for one in value]
        if field.name not in ("id", "title"):
            settings[field.name] = value
    return settings


def prices_json(specs: Iterable[ReplaySpec], prices: Prices) -> list[dict[str, Any]]:
    """Return the prices that the money is counted at, in dollars per million tokens, of the models that replays use.

    A model whose price is not known is left out.
    """
    models = [model for spec in specs for model in (spec.model, spec.params.get("summary_model")) if model]
    known = [price for model in dict.fromkeys(models) if (price := prices.price(model))]
    return [
        {
            "model": price.model,
            "since": None if price.since is None else price.since.isoformat(),
            "source": price.source,
            "tiers": [dataclasses.asdict(tier) for tier in price.tiers],
        }
        for price in known
    ]


def _waits_json(waits: Waits | None) -> dict[str, float | None]:
    if waits is None:
        return {"p50": None, "p95": None, "max": None, "total": None}
    return {"p50": _ms(waits.p50), "p95": _ms(waits.p95), "max": _ms(waits.max), "total": _ms(waits.total)}


def _percentiles_json(times: Percentiles | None) -> dict[str, float | None]:
    if times is None:
        return {"p50": None, "p95": None}
    return {"p50": _ms(times.p50), "p95": _ms(times.p95)}


def _ms(milliseconds: float | None) -> float | None:
    """To the microsecond: digits beyond are noise of the addition."""
    return None if milliseconds is None else round(milliseconds, 3)


def _usd(dollars: float | None) -> float | None:
    """To 10⁻¹² dollars, the unit that prices are computed in; digits beyond are noise of the addition."""
    return None if dollars is None else round(dollars, 12)


def _turn_json(row: TurnResult) -> dict[str, Any]:
    return {
        "turn": row.turn,
        "prompt_tokens": row.prompt_tokens,
        "cache_read_input_tokens": row.cache_read_input_tokens,
        "cache_creation_input_tokens": row.cache_creation_input_tokens,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cost_usd": _usd(row.cost_usd),
        "wait_ms": _ms(row.wait_ms),
        "cache_miss_reason": None if row.cache_miss_reason is None else str(row.cache_miss_reason),
        "events": [
            {"kind": str(event.kind), **{k: v for k, v in event.data.items() if k != "kind"}}
            for event in row.events
        ],
    }
