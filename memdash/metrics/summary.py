"""A series over its repeats and scripts: one row of the side-by-side table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memdash.metrics.result import Mark, ReplayResult
from memdash.records import Status, Survival

BASELINE = "full_history"
"""The strategy that every saving is measured against."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean over replays with its range; ``of`` is how many replays it is over."""

    mean: float
    low: float
    high: float
    of: int


@dataclass(frozen=True, slots=True)
class SeriesSummary:
    """What a strategy with its settings came to, over all its replays of a comparison.

    Tokens, costs, waits and compactions are means for one replay, and the cache share is pooled, over the replays that are
    done: one that was cut short would make a conversation look cheaper than it is. Where none is done they are over those that
    have begun. Recall and kept are pooled over all. A value is None where a replay has none. ``ranked`` is whether it may be
    compared by rank: every replay done, all scripts and repeats played that the others have, and able to run live if any is.
    """

    series: str
    strategy: str
    results: tuple[ReplayResult, ...]
    ranked: bool
    status: Status
    prompt_tokens: Spread | None
    output_tokens: Spread | None
    cost_usd: Spread | None
    cost_against_full_history: float | None
    tokens_against_full_history: float | None
    cache_share: float | None
    recall_passed: int
    recall_total: int
    recall: float | None
    simulated: bool
    kept: int | None
    facts_total: int
    lost: tuple[str, ...]
    wait_p50_ms: Spread | None
    wait_p95_ms: Spread | None
    longest_wait_ms: float | None
    longest_wait_turn: int | None
    compactions: Spread
    marks: tuple[Mark, ...]
    errors: tuple[str, ...]

    @property
    def kept_all(self) -> bool:
        """Whether no fact was lost in any replay; False where there are no facts."""
        return self.facts_total > 0 and self.kept == self.facts_total


@dataclass(frozen=True, slots=True)
class DearerPair:
    """Two ranked series of which the one with fewer prompt tokens cost more; ratios are relative to ``other``."""

    series: str
    other: str
    tokens: float
    cost: float


class _Cell(NamedTuple):
    """What a replay shares with the full history it is measured against."""

    script: str
    repeat: int
    model: str
    provider: str
    cache: str
    cache_marks: str


def summarise(results: Sequence[ReplayResult]) -> tuple[SeriesSummary, ...]:
    """Return one summary for each series, in the order the series first appear."""
    groups: dict[str, list[ReplayResult]] = {}
    for result in results:
        groups.setdefault(result.series, []).append(result)
    played = {(result.script, result.repeat) for result in results}
    live_able = any(not result.simulator_only for result in results)
    baselines = {_cell(result): result for result in results if result.strategy == BASELINE and result.done}
    return tuple(_summary(series, group, played, live_able, baselines) for series, group in groups.items())


def counted(group: Sequence[ReplayResult]) -> Sequence[ReplayResult]:
    """Return those of a series' replays that a mean is over: those that are done, else those that have begun, else all."""
    done = [one for one in group if one.done]
    return done or [one for one in group if one.requests] or group


def dearer_with_fewer_tokens(summaries: Iterable[SeriesSummary]) -> tuple[DearerPair, ...]:
    """Return every pair of ranked series where the one that sent fewer prompt tokens cost more, the dearest first."""
    priced = [
        (one.series, one.prompt_tokens.mean, one.cost_usd.mean)
        for one in summaries
        if one.ranked and one.prompt_tokens and one.cost_usd and one.prompt_tokens.mean and one.cost_usd.mean
    ]
    pairs = [
        DearerPair(series, other, tokens / more_tokens - 1, cost / less_cost - 1)
        for series, tokens, cost in priced
        for other, more_tokens, less_cost in priced
        if tokens < more_tokens and cost > less_cost * (1 + 1e-9)
    ]
    return tuple(sorted(pairs, key=lambda pair: (-pair.cost, pair.series, pair.other)))


def costs_against_full_history(results: Sequence[ReplayResult]) -> dict[str, float | None]:
    """Return by id how much more (+) or less (-) each replay cost than the full history of the same script and settings.

    None for the full history itself, without one, for a replay that is not done and where a cost is not known.
    """
    baselines = {_cell(one): one for one in results if one.strategy == BASELINE and one.done}
    return {one.id: _against([one], baselines, lambda any_one: any_one.cost_usd) for one in results}


def _summary(
    series: str,
    group: Sequence[ReplayResult],
    played: set[tuple[str, int]],
    live_able: bool,
    baselines: dict[_Cell, ReplayResult],
) -> SeriesSummary:
    everywhere = {(result.script, result.repeat) for result in group} == played
    runs_live = not any(result.simulator_only for result in group)
    passed, asked = sum(one.recall_passed for one in group), sum(one.recall_total for one in group)
    recalled = all(one.recall is not None or not one.recall_total for one in group)
    wait, turn = _longest_wait(group)
    means_of = counted(group)
    return SeriesSummary(
        series=series,
        strategy=group[0].strategy,
        results=tuple(group),
        ranked=all(result.done for result in group) and everywhere and (runs_live or not live_able),
        status=common_status([result.status for result in group]),
        prompt_tokens=_spread([one.prompt_tokens for one in means_of]),
        output_tokens=_spread([one.output_tokens for one in means_of]),
        cost_usd=_spread([one.cost_usd for one in means_of]),
        cost_against_full_history=_against(group, baselines, lambda one: one.cost_usd),
        tokens_against_full_history=_against(group, baselines, lambda one: one.prompt_tokens),
        cache_share=_pooled_share(means_of),
        recall_passed=passed,
        recall_total=asked,
        recall=passed / asked if asked and recalled else None,
        simulated=any(one.recall_simulated for one in group),
        kept=_all_added([one.kept for one in group if one.facts_total]),
        facts_total=sum(one.facts_total for one in group),
        lost=_lost(group),
        wait_p50_ms=_spread([one.wait_ms.p50 if one.wait_ms else None for one in means_of]),
        wait_p95_ms=_spread([one.wait_ms.p95 if one.wait_ms else None for one in means_of]),
        longest_wait_ms=wait,
        longest_wait_turn=turn,
        compactions=_spread([one.compactions for one in means_of]) or Spread(0, 0, 0, 0),
        marks=tuple(dict.fromkeys(mark for one in group for mark in one.marks)),
        errors=tuple(dict.fromkeys(error for one in group for error in one.errors)),
    )


def _cell(result: ReplayResult) -> _Cell:
    return _Cell(
        result.script, result.repeat, result.model, result.provider, result.cache, result.cache_marks
    )


def _against(
    group: Sequence[ReplayResult],
    baselines: dict[_Cell, ReplayResult],
    measure: Callable[[ReplayResult], float | None],
) -> float | None:
    """The relative difference of the sums over all replays of the group, each against its own baseline."""
    ours, theirs = [], []
    for result in group:
        baseline = baselines.get(_cell(result))
        if baseline is None or result.strategy == BASELINE or not result.done:
            return None
        mine, full = measure(result), measure(baseline)
        if mine is None or full is None:
            return None
        ours.append(mine)
        theirs.append(full)
    base = math.fsum(theirs)
    return math.fsum(ours) / base - 1 if base else None


def _spread(values: Sequence[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return Spread(math.fsum(known) / len(known), min(known), max(known), len(known))


def _pooled_share(group: Sequence[ReplayResult]) -> float | None:
    reads = _all_added([one.cache_read_input_tokens for one in group])
    prompt = _all_added([one.prompt_tokens for one in group])
    return None if reads is None or not prompt else reads / prompt


def _all_added(values: Sequence[int | None]) -> int | None:
    """The sum; None where there is nothing or a part is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _lost(group: Sequence[ReplayResult]) -> tuple[str, ...]:
    """The facts whose latest value is not in the last context of some replay."""
    return tuple(
        dict.fromkeys(
            fact
            for result in group
            for fact in result.facts
            if result.survival.get(fact) in (Survival.GONE, Survival.STALE)
        )
    )


def _longest_wait(group: Sequence[ReplayResult]) -> tuple[float | None, int | None]:
    waits = [(row.wait_ms, -row.turn) for one in group for row in one.turns if row.wait_ms is not None]
    if not waits:
        return None, None
    wait, turn = max(waits)
    return wait, -turn


_TELLING = (
    Status.REJECTED,
    Status.FAILED,
    Status.STOPPED_BY_BUDGET,
    Status.INTERRUPTED,
    Status.CANCELLED,
    Status.RUNNING,
    Status.QUEUED,
    Status.DONE,
)
"""The states in the order in which one of them speaks for a whole series."""


def common_status(statuses: Iterable[Status]) -> Status:
    """Return the state that speaks for all replays of a series."""
    states = set(statuses)
    if Status.QUEUED in states and Status.DONE in states:
        states.add(Status.RUNNING)
    return next(state for state in _TELLING if state in states)
