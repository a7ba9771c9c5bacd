"""Recall along the way: how many questions were answered right, by the turn after which they were asked."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memdash.metrics.result import ProbeResult, ReplayResult

MOST_POINTS = 12
"""A script that asks after more turns than these is told in bands of turns: single questions make no curve."""
_BANDS = 8


class RecallPoint(NamedTuple):
    """The questions asked after the turns from ``since`` to ``asked_after``, over all replays of a series.

    ``passed`` of ``total`` were answered right; ``visible`` of them had the fact's latest text in the context. ``low`` and
    ``high`` are the shares answered right in the worst and in the best repeat.
    """

    since: int
    asked_after: int
    passed: int
    total: int
    visible: int
    low: float
    high: float

    @property
    def recall(self) -> float:
        """The share answered right."""
        return self.passed / self.total


@dataclass(frozen=True, slots=True)
class RecallCurve:
    """One series' points, by turn; ``simulated`` says that the pretend model answered."""

    series: str
    points: tuple[RecallPoint, ...]
    simulated: bool


def recall_curves(results: Iterable[ReplayResult]) -> tuple[RecallCurve, ...]:
    """Return one curve for each series that was asked after more than one turn, in the order the series first appear.

    Only questions that are tests count (their controls held). The results must be of one script: turns of different ones have
    nothing in common. Where they are asked after many turns, a point stands for a band of turns, the same for every series.
    """
    groups: dict[str, list[ReplayResult]] = {}
    for result in results:
        groups.setdefault(result.series, []).append(result)
    asked = {
        probe.asked_after
        for group in groups.values()
        for result in group
        for probe in result.probes
        if probe.is_test
    }
    width = _band(asked)
    curves = (_curve(series, group, width) for series, group in groups.items())
    return tuple(curve for curve in curves if len(curve.points) > 1)


def _band(asked: set[int]) -> int:
    """How many turns one point stands for: one, or a round number that leaves a handful of points."""
    if len(asked) <= MOST_POINTS:
        return 1
    return math.ceil(max(asked) / _BANDS / 5) * 5


def _curve(series: str, results: Iterable[ReplayResult], width: int) -> RecallCurve:
    asked: dict[int, dict[int, list[ProbeResult]]] = defaultdict(lambda: defaultdict(list))
    simulated = False
    for result in results:
        simulated = simulated or result.recall_simulated
        for probe in result.probes:
            if probe.is_test:
                asked[(probe.asked_after - 1) // width][result.repeat].append(probe)
    return RecallCurve(
        series, tuple(_point(repeats.values()) for _, repeats in sorted(asked.items())), simulated
    )


def _point(repeats: Collection[Sequence[ProbeResult]]) -> RecallPoint:
    probes = [probe for repeat in repeats for probe in repeat]
    rates = [sum(one.passed for one in repeat) / len(repeat) for repeat in repeats]
    return RecallPoint(
        since=min(one.asked_after for one in probes),
        asked_after=max(one.asked_after for one in probes),
        passed=sum(one.passed for one in probes),
        total=len(probes),
        visible=sum(one.visible for one in probes),
        low=min(rates),
        high=max(rates),
    )
