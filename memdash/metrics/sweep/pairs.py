"""Settings compared two by two on the same scripts and repeats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep.differences import cost_differences
from memdash.metrics.sweep.intervals import Estimate, Sample, estimates
from memdash.metrics.sweep.settings import Setting

_ALL_PAIRS_UP_TO = 12
"""Settings of a model whose pairs are all compared: 66 pairs can still be looked at."""


class Verdict(StrEnum):
    """What a paired comparison of costs says of the first of the two."""

    CHEAPER = "cheaper"
    DEARER = "dearer"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ranked settings of one model: how much more (+) or less (-) a conversation costs with ``series`` than with ``other``.

    The interval is of the differences, script by script and repeat by repeat. It is a tie where that interval includes 0;
    without an interval (one replay each) the difference itself decides, and nothing says how much chance is in it.
    """

    series: str
    other: str
    difference_usd: Estimate
    verdict: Verdict


def pairs_of(
    settings: Sequence[Setting], replays: Mapping[str, Sequence[ReplayOutcome]], anchors: Iterable[str]
) -> tuple[Pair, ...]:
    """Return the ranked settings of each model in pairs, the first to appear first.

    Where they are too many, only pairs with one of ``anchors`` (series). ``replays`` are those of each series. A pair without a
    cost on both sides is left out.
    """
    wanted = set(anchors)
    chosen: list[tuple[str, str]] = []
    for model in dict.fromkeys(one.model for one in settings):
        names = [one.series for one in settings if one.model == model and one.ranked]
        few = len(names) <= _ALL_PAIRS_UP_TO
        chosen += [pair for pair in combinations(names, 2) if few or not wanted.isdisjoint(pair)]
    return compare(chosen, replays)


def compare(
    chosen: Iterable[tuple[str, str]], replays: Mapping[str, Sequence[ReplayOutcome]]
) -> tuple[Pair, ...]:
    """Return these pairs of series with the paired difference of their costs."""
    samples: dict[tuple[str, str], Sample] = {}
    for series, other in chosen:
        if found := cost_differences(replays[series], replays[other]):
            samples[series, other] = found
    return tuple(
        Pair(series, other, difference, verdict(difference))
        for (series, other), difference in estimates(samples).items()
    )


def verdict(difference: Estimate) -> Verdict:
    """Return what a difference in cost says; see :class:`Pair`."""
    low = difference.mean if difference.low is None else difference.low
    high = difference.mean if difference.high is None else difference.high
    if low > 0:
        return Verdict.DEARER
    return Verdict.CHEAPER if high < 0 else Verdict.TIE
