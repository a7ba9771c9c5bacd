"""What is estimated of a setting, replay by replay."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep.intervals import Sample

Scripts = Mapping[str, Sequence[ReplayOutcome]]
"""The finished replays of a setting by script."""


class Measure(NamedTuple):
    """A number of a replay; ``value`` gives None where it is not known, ``applies`` is False where there is no such thing."""

    value: Callable[[ReplayOutcome], float | None]
    applies: Callable[[ReplayOutcome], bool] = lambda outcome: True
    most: float = math.inf
    larger_is_worse: bool = True


def _kept(outcome: ReplayOutcome) -> float | None:
    return None if outcome.kept is None else outcome.kept / outcome.facts_total


def _cache_share(outcome: ReplayOutcome) -> float | None:
    reads, prompt = outcome.cache_read_input_tokens, outcome.prompt_tokens
    return None if reads is None or not prompt else reads / prompt


def _share(
    value: Callable[[ReplayOutcome], float | None], applies: Callable[[ReplayOutcome], bool]
) -> Measure:
    return Measure(value, applies, most=1.0, larger_is_worse=False)


MEASURES: Mapping[str, Measure] = {
    "cost_usd": Measure(lambda one: one.cost_usd),
    "prompt_tokens": Measure(lambda one: one.prompt_tokens),
    "cache_share": _share(_cache_share, lambda one: True),
    "wait_p50_ms": Measure(lambda one: one.wait_p50_ms),
    "wait_p95_ms": Measure(lambda one: one.wait_p95_ms),
    "kept": _share(_kept, lambda one: one.facts_total > 0),
    "recall": _share(lambda one: one.recall_passed / one.recall_total, lambda one: one.recall_total > 0),
    "compactions": Measure(lambda one: one.compactions),
}
"""The numbers of settings and groups, by the name of their field."""


def sample(measure: Measure, scripts: Scripts) -> Sample | None:
    """Return the values of the replays that have any, None where one of them is not known or none has any."""
    values: list[list[float]] = []
    for replays in scripts.values():
        row = [measure.value(one) for one in replays if measure.applies(one)]
        known = [float(one) for one in row if one is not None]
        if len(known) < len(row):
            return None
        if known:
            values.append(known)
    if not values:
        return None
    worst: Callable[[Iterable[float]], float] = max if measure.larger_is_worse else min
    return Sample(values, worst(map(worst, values)), least=0.0, most=measure.most)


def by_script(outcomes: Iterable[ReplayOutcome]) -> dict[str, list[ReplayOutcome]]:
    """Return the finished replays of each script, in the order scripts first appear."""
    scripts: dict[str, list[ReplayOutcome]] = {}
    for outcome in outcomes:
        if outcome.done:
            scripts.setdefault(outcome.script, []).append(outcome)
    return scripts


def by_series(outcomes: Iterable[ReplayOutcome]) -> dict[str, list[ReplayOutcome]]:
    """Return the replays of each setting, in the order settings first appear."""
    series: dict[str, list[ReplayOutcome]] = {}
    for outcome in outcomes:
        series.setdefault(outcome.series, []).append(outcome)
    return series
