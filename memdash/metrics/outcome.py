"""What one replay came to, without what happened in it: enough for sweeps of thousands of replays.

Everything about many replays at once (groups, intervals, the recommendation, costs by length) is computed from these, whether
they were condensed from whole results (:func:`outcome_of`) or read as columns from the store.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memdash.metrics.ledger import added
from memdash.metrics.marks import puts_a_summary_into_use
from memdash.metrics.result import Mark, ReplayResult
from memdash.records import Status, Survival


class ProbeOutcome(NamedTuple):
    """One recall question asked of the strategy's memory; see :class:`memdash.metrics.ProbeResult` for the fields."""

    fact: str
    asked_after: int
    passed: bool
    stale: bool
    visible: bool
    is_test: bool


class TurnColumns(NamedTuple):
    """The turns of a replay in order, one array element a turn; NaN is "not reported" or "not known".

    ``cost_usd`` is what the turn took, summaries made in it included, so that it adds up to the replay's cost.
    ``counted_tokens`` are the prompt tokens that a rate limit counts (uncached input and cache writes, not reads: Messages API,
    rate limits), summaries included. ``output_tokens`` are those of the turn's own requests.
    """

    turn: NDArray[np.int64]
    cost_usd: NDArray[np.float64]
    counted_tokens: NDArray[np.float64]
    output_tokens: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ReplayOutcome:
    """The totals of a replay, its facts, its probes and its turns; names and rules are those of :class:`ReplayResult`.

    ``survival`` is where each stated fact is in the last context, empty until that has been looked at. ``summary_turns`` are the
    turns in which a summary was put into use, once for each.
    """

    id: str
    script: str
    strategy: str
    params: Mapping[str, Any]
    label: str
    series: str
    model: str
    provider: str
    cache: str
    cache_marks: str
    repeat: int
    status: Status
    simulator_only: bool
    turns_planned: int
    turns_completed: int
    prompt_tokens: int | None
    input_tokens: int | None
    cache_creation_input_tokens: int | None
    cache_read_input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    recall_passed: int
    recall_total: int
    recall_simulated: bool
    kept: int | None
    facts_total: int
    wait_p50_ms: float | None
    wait_p95_ms: float | None
    wait_total_ms: float | None
    compactions: int
    marks: tuple[Mark, ...]
    survival: Mapping[str, Survival]
    probes: tuple[ProbeOutcome, ...]
    summary_turns: tuple[int, ...]
    turns: TurnColumns

    @property
    def done(self) -> bool:
        """Whether every planned turn was played; only then may the replay be ranked."""
        return self.status is Status.DONE


def outcome_of(result: ReplayResult) -> ReplayOutcome:
    """Condense what was measured of a replay."""
    waits = result.wait_ms
    return ReplayOutcome(
        id=result.id,
        script=result.script,
        strategy=result.strategy,
        params=result.params,
        label=result.label,
        series=result.series,
        model=result.model,
        provider=result.provider,
        cache=result.cache,
        cache_marks=result.cache_marks,
        repeat=result.repeat,
        status=result.status,
        simulator_only=result.simulator_only,
        turns_planned=result.turns_planned,
        turns_completed=result.turns_completed,
        prompt_tokens=result.prompt_tokens,
        input_tokens=result.input_tokens,
        cache_creation_input_tokens=result.cache_creation_input_tokens,
        cache_read_input_tokens=result.cache_read_input_tokens,
        output_tokens=result.output_tokens,
        cost_usd=result.cost_usd,
        recall_passed=result.recall_passed,
        recall_total=result.recall_total,
        recall_simulated=result.recall_simulated,
        kept=result.kept,
        facts_total=result.facts_total,
        wait_p50_ms=None if waits is None else waits.p50,
        wait_p95_ms=None if waits is None else waits.p95,
        wait_total_ms=None if waits is None else waits.total,
        compactions=result.compactions,
        marks=result.marks,
        survival=result.survival,
        probes=tuple(
            ProbeOutcome(one.fact, one.asked_after, one.passed, one.stale, one.visible, one.is_test)
            for one in result.probes
        ),
        summary_turns=tuple(
            row.turn
            for row in result.turns
            for event in row.events
            if puts_a_summary_into_use(event.kind, event.data)
        ),
        turns=TurnColumns(
            turn=np.array([row.turn for row in result.turns], dtype=np.int64),
            cost_usd=_column(added([row.cost_usd, row.summary_cost_usd]) for row in result.turns),
            counted_tokens=_column(row.counted_tokens for row in result.turns),
            output_tokens=_column(row.output_tokens for row in result.turns),
        ),
    )


def _column(values: Iterable[float | None]) -> NDArray[np.float64]:
    """An array of ``values``, NaN where one is None."""
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)
