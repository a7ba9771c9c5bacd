"""Outcomes of replays with made-up numbers: only what a test is about spelled out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from memdash.metrics.outcome import ReplayOutcome, TurnColumns
from memdash.records import Status
from tests.builders import MODEL


def outcome(
    series: str = "full history",
    costs: Sequence[float] = (1.0, 1.0),
    *,
    strategy: str | None = None,
    counted: Sequence[float] | None = None,
    output: Sequence[float] | None = None,
    **changes: Any,
) -> ReplayOutcome:
    """A finished replay whose turns cost ``costs`` dollars; ``changes`` replace any other field."""
    turns = len(costs)
    plain = ReplayOutcome(
        id=f"cmp_1_{series}",
        script="trip",
        strategy=strategy or series.replace(" ", "_"),
        params={},
        label=series,
        series=series,
        model=MODEL,
        provider="simulator",
        cache="5m",
        cache_marks="auto",
        repeat=1,
        status=Status.DONE,
        simulator_only=False,
        turns_planned=turns,
        turns_completed=turns,
        prompt_tokens=None,
        input_tokens=None,
        cache_creation_input_tokens=None,
        cache_read_input_tokens=None,
        output_tokens=None,
        cost_usd=float(sum(costs)),
        recall_passed=0,
        recall_total=0,
        recall_simulated=True,
        kept=None,
        facts_total=0,
        wait_p50_ms=None,
        wait_p95_ms=None,
        wait_total_ms=None,
        compactions=0,
        marks=(),
        survival={},
        probes=(),
        summary_turns=(),
        turns=TurnColumns(
            turn=np.arange(1, turns + 1),
            cost_usd=np.array(costs, dtype=np.float64),
            counted_tokens=np.array(counted if counted is not None else [100.0] * turns, dtype=np.float64),
            output_tokens=np.array(output if output is not None else [0.0] * turns, dtype=np.float64),
        ),
    )
    return dataclasses.replace(plain, **changes)
