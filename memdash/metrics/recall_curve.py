"""Recall along the way: how many questions were answered right, by the turn after which they were asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from memdash.metrics.result import ReplayResult


class RecallPoint(NamedTuple):
    """The questions asked after one turn, over all replays of a series: how many were answered right, out of how many.

    ``visible`` of them had the fact's latest text in the context.
    """

    asked_after: int
    passed: int
    total: int
    visible: int

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
    nothing in common.
    """
    groups: dict[str, list[ReplayResult]] = {}
    for result in results:
        groups.setdefault(result.series, []).append(result)
    curves = (_curve(series, group) for series, group in groups.items())
    return tuple(curve for curve in curves if len(curve.points) > 1)


def _curve(series: str, results: Iterable[ReplayResult]) -> RecallCurve:
    asked = defaultdict(list)
    simulated = False
    for result in results:
        simulated = simulated or result.recall_simulated
        for probe in result.probes:
            if probe.is_test:
                asked[probe.asked_after].append(probe)
    points = (
        RecallPoint(after, sum(one.passed for one in probes), len(probes), sum(one.visible for one in probes))
        for after, probes in sorted(asked.items())
    )
    return RecallCurve(series, tuple(points), simulated)
