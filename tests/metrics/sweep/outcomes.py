"""Outcomes of replays that say only what a test is about."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from memdash.metrics.outcome import ProbeOutcome, ReplayOutcome, TurnColumns
from memdash.records import Status, Survival
from tests.builders import MODEL

FACTS = ("budget", "city", "date", "diet")
NO_TURNS = TurnColumns(np.array([], dtype=np.int64), np.array([]), np.array([]), np.array([]))


def outcome(
    series: str = "full history",
    *,
    strategy: str | None = None,
    params: Mapping[str, Any] | None = None,
    script: str = "trip",
    repeat: int = 1,
    cost: float | None = 1.0,
    lost: Iterable[str] = (),
    facts: Iterable[str] = FACTS,
    **changes: Any,
) -> ReplayOutcome:
    """A finished simulated replay of four facts, of which those in ``lost`` are gone at its end."""
    survival = {fact: Survival.GONE if fact in set(lost) else Survival.VERBATIM for fact in facts}
    kept = sum(one is Survival.VERBATIM for one in survival.values())
    plain = ReplayOutcome(
        id=f"{series}/{script}/{repeat}",
        script=script,
        strategy=strategy or ("full_history" if series.startswith("full history") else "window"),
        params=dict(params or {}),
        label=f"{series} · {script} · repeat {repeat}",
        series=series,
        model=MODEL,
        provider="simulator",
        cache="5m",
        cache_marks="auto",
        repeat=repeat,
        status=Status.DONE,
        simulator_only=False,
        turns_planned=30,
        turns_completed=30,
        prompt_tokens=1000,
        input_tokens=100,
        cache_creation_input_tokens=400,
        cache_read_input_tokens=500,
        output_tokens=50,
        cost_usd=cost,
        recall_passed=kept,
        recall_total=len(survival),
        recall_simulated=True,
        kept=kept if survival else None,
        facts_total=len(survival),
        wait_p50_ms=2000.0,
        wait_p95_ms=9000.0,
        wait_total_ms=60_000.0,
        compactions=0,
        marks=(),
        survival=survival,
        probes=tuple(
            ProbeOutcome(fact, 30, one is Survival.VERBATIM, False, one is Survival.VERBATIM, True)
            for fact, one in survival.items()
        ),
        summary_turns=(),
        turns=NO_TURNS,
    )
    return dataclasses.replace(plain, **changes)


def live(*outcomes: ReplayOutcome) -> list[ReplayOutcome]:
    """The same replays, answered by a live model."""
    return [dataclasses.replace(one, provider="anthropic", recall_simulated=False) for one in outcomes]


def on_scripts(
    series: str, costs: Iterable[float], lost: Iterable[Iterable[str]] = (), **changes: Any
) -> list[ReplayOutcome]:
    """One replay on each of as many scripts as there are ``costs``; ``lost`` are the facts gone on each, none by default."""
    losses = [*lost]
    return [
        outcome(
            series,
            script=f"s{index}",
            cost=cost,
            lost=losses[index] if index < len(losses) else (),
            **changes,
        )
        for index, cost in enumerate(costs)
    ]
