"""Settings of a sweep with made-up numbers, so that charts are tested with values known beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memdash.metrics.result import Mark
from memdash.metrics.sweep import Estimate, FrontPoint, Loss, Setting
from memdash.records import Status
from memdash.strategies import StrategyChoice, choose

SCRIPTS = ("trip", "outage")


def estimate(mean: float, spread: float = 0.0, *, n: int = 2) -> Estimate:
    """A mean with an interval of ``spread`` to either side, none where it is 0."""
    if not spread:
        return Estimate(mean, None, None, mean, n)
    return Estimate(mean, mean - spread, mean + spread, mean + 2 * spread, n)


def setting(
    choice: StrategyChoice,
    cost: float | None = 0.2,
    kept: float | None = 1.0,
    *,
    spread: float = 0.0,
    marks: Mapping[Mark, tuple[str, ...]] | None = None,
    **changes: Any,
) -> Setting:
    """A finished setting; ``changes`` replace any other field."""
    whole = choice.name == "full_history"
    fields: dict[str, Any] = {
        "series": choice.label,
        "strategy": choice.name,
        "params": choice.params,
        "model": "claude-opus-5-5",
        "provider": "simulator",
        "cache": "5m",
        "cache_marks": "auto",
        "status": Status.DONE,
        "ranked": True,
        "simulator_only": False,
        "simulated": True,
        "marks": marks or {},
        "scripts": SCRIPTS,
        "replays": 2,
        "finished": 2,
        "cost_usd": None if cost is None else estimate(cost, spread * cost),
        "prompt_tokens": estimate(50_000),
        "cache_share": estimate(0.9 if whole else 0.4, spread * 0.4),
        "wait_p50_ms": estimate(4_000),
        "wait_p95_ms": estimate(5_000 if whole else 12_000, spread * 1_000),
        "kept": None if kept is None else estimate(kept),
        "recall": None if kept is None else estimate(kept * 0.9),
        "compactions": estimate(2),
        "baseline": None if whole else "full history",
        "loss": None
        if kept is None
        else Loss(1 - kept, 0.0, 1 - kept + 0.5, 1 - kept, 4 * (1 - kept), 2, 59),
        "saving_usd": None,
        "saving": None,
    }
    return Setting(**{**fields, **changes})


def full_history(cost: float = 0.25, **changes: Any) -> Setting:
    return setting(choose("full_history"), cost, 1.0, **changes)


def compaction(trigger: int, cost: float, kept: float = 1.0, **changes: Any) -> Setting:
    given = {"trigger": trigger} | {name: changes.pop(name) for name in ("words",) if name in changes}
    return setting(choose("compaction", given), cost, kept, **changes)


def window(keep: int, cost: float, kept: float = 0.0, **changes: Any) -> Setting:
    return setting(choose("window", {"keep": keep}), cost, kept, **changes)


def stepped(trim_at: int, cost: float, kept: float = 0.0, **changes: Any) -> Setting:
    return setting(choose("window", {"keep": 4, "trim_at": trim_at}), cost, kept, **changes)


def front(*settings: Setting, dominated: tuple[str, ...] = ()) -> tuple[FrontPoint, ...]:
    """Front points, of which the named series are dominated."""
    return tuple(
        FrontPoint(one, one.series in dominated, one.series in dominated, one.series in dominated)
        for one in settings
    )
