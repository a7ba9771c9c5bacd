"""What many replays say together, as ``--format json`` has it; ``contract.schema.json`` describes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep.frontier import FrontPoint
from memdash.metrics.sweep.groups import GROUPED, Group
from memdash.metrics.sweep.intervals import Estimate
from memdash.metrics.sweep.recommendation import Recommendation
from memdash.metrics.sweep.refinement import Proposal, why_stopped
from memdash.metrics.sweep.worth import Worth
from memdash.spec import ComparisonSpec


def recommendation_json(one: Recommendation) -> dict[str, Any]:
    """Return a recommendation; null is "not known", or an end of an interval that there is none of."""
    setting, loss = one.setting, one.setting.loss
    return {
        "label": setting.series,
        "strategy": setting.strategy,
        "params": dict(setting.params),
        "model": setting.model,
        "basis": str(one.basis),
        "cost_usd": _mean(setting.cost_usd),
        "recall": _mean(setting.recall),
        "recall_low": _low(setting.recall),
        "recall_high": _high(setting.recall),
        "kept": _mean(setting.kept),
        "kept_low": _low(setting.kept),
        "kept_high": _high(setting.kept),
        "loss_vs_full_history": None if loss is None else _clean(loss.mean),
        "loss_high": None if loss is None else _clean(loss.high),
        "facts_lost": None if loss is None else _clean(loss.facts),
        "saving_vs_full_history": _clean(one.saving),
        "saving_usd": _mean(one.saving_usd),
        "saving_low_usd": _low(one.saving_usd),
        "saving_high_usd": _high(one.saving_usd),
        "saving_per_month_usd": _clean(one.saving_per_month_usd),
        "wait_p95_ms": _mean(setting.wait_p95_ms),
        "wait_p95_ms_full_history": _mean(one.baseline.wait_p95_ms),
        "scripts": len(setting.scripts),
        "scripts_needed": None if loss is None else loss.scripts_needed,
        "ties": list(one.ties),
        "decisive": one.decisive,
        "sentence": one.sentence,
    }


def refinement_json(
    spec: ComparisonSpec, outcomes: Sequence[ReplayOutcome], rounds: Sequence[Proposal]
) -> dict[str, Any] | None:
    """Return what a sweep played after its coarse grid, round by round, and why it stopped (null while it has not).

    None where no refinement was asked for.
    """
    if spec.sweep is None or not spec.sweep.refine:
        return None
    return {
        "rounds": [
            [
                {"label": one.choice.label, "params": dict(one.choice.params), "reason": one.reason}
                for one in proposal.settings
            ]
            for proposal in rounds
        ],
        "stopped": why_stopped(spec, outcomes, rounds),
    }


def front_json(points: Iterable[FrontPoint]) -> list[dict[str, Any]]:
    """Return the points of cost against recall and what is kept."""
    return [
        {
            "label": point.setting.series,
            "strategy": point.setting.strategy,
            "params": dict(point.setting.params),
            "cost_usd": _mean(point.setting.cost_usd),
            "recall": _mean(point.setting.recall),
            "kept": _mean(point.setting.kept),
            "dominated": point.dominated,
        }
        for point in points
    ]


def worth_json(several: Iterable[Worth]) -> list[dict[str, Any]]:
    """Return what forgetting is worth in each setting that forgets."""
    return [
        {
            "label": one.series,
            "saving_usd": _mean(one.saving_usd),
            "facts_lost": _clean(one.facts_lost),
            "break_even_usd": None if one.break_even_usd is None else _clean(one.break_even_usd),
            "sentence": one.sentence,
        }
        for one in several
    ]


def groups_json(groups: Iterable[Group]) -> list[dict[str, Any]]:
    """Return the repeats of each setting on each script."""
    return [
        {
            "label": group.label,
            "strategy": group.strategy,
            "params": dict(group.params),
            "script": group.script,
            "n": group.n,
            "unfinished": group.unfinished,
            **{name: _estimate_json(getattr(group, name)) for name in GROUPED},
        }
        for group in groups
    ]


def _estimate_json(estimate: Estimate | None) -> dict[str, float | None]:
    return {
        "mean": _mean(estimate),
        "low": _low(estimate),
        "high": _high(estimate),
        "worst": None if estimate is None else _clean(estimate.worst),
    }


def _mean(estimate: Estimate | None) -> float | None:
    return None if estimate is None else _clean(estimate.mean)


def _low(estimate: Estimate | None) -> float | None:
    return None if estimate is None or estimate.low is None else _clean(estimate.low)


def _high(estimate: Estimate | None) -> float | None:
    return None if estimate is None or estimate.high is None else _clean(estimate.high)


def _clean(number: float) -> float:
    """To the twelfth decimal: digits beyond are noise of the addition."""
    return round(number, 12)
