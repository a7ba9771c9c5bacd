"""How sure a number is: means with 95 % intervals, from scipy.

Two things vary. Repeats of one script vary as a model varies: Student's t says how well their mean is known. Scripts vary as
users do, and the repeats and questions of one script are no news about other scripts: they are one cluster, so over several
scripts whole scripts are resampled (a cluster bootstrap). With few scripts such an interval is rather too narrow than too wide.

scipy takes half a second to import, so it is imported where it is needed: never for single replays.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

K = TypeVar("K")
Array = NDArray[np.float64]

CONFIDENCE = 0.95

_RESAMPLES = 999
"""Enough for a 95 % interval: its ends are the 25th value from either side."""
_ROWS = 200
"""Rows resampled in one go: all of their resamples are in memory at once."""
_SEED = 20261130
"""Fixed, so that the same replays give the same interval everywhere."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its two-sided 95 % interval.

    ``n`` is how many independent things it is over: scripts, or the repeats where there is one script only. ``low`` and
    ``high`` are None with one of them: a single value says nothing of how much the next one may differ. ``worst`` is the
    worst single replay (the dearest, the slowest, the one with the smallest share).
    """

    mean: float
    low: float | None
    high: float | None
    worst: float
    n: int


class Sample(NamedTuple):
    """What an estimate is made from: the values of the repeats of each script, no script without one.

    ``least`` and ``most`` are what the mean cannot go beyond, and so neither can its interval.
    """

    scripts: Sequence[Sequence[float]]
    worst: float
    least: float = -math.inf
    most: float = math.inf


class Interval(NamedTuple):
    """The ends of an interval, one element for each row of a matrix."""

    low: Array
    high: Array


def estimates(samples: Mapping[K, Sample]) -> dict[K, Estimate]:
    """Return the estimate of each sample; all are computed together, over several scripts from the same resamples."""
    repeats: dict[K, Sequence[float]] = {}
    scripts: dict[K, Sequence[float]] = {}
    for key, sample in samples.items():
        if len(sample.scripts) == 1:
            repeats[key] = sample.scripts[0]
        else:
            scripts[key] = [math.fsum(values) / len(values) for values in sample.scripts]
    return {**_estimates(samples, repeats, student_t), **_estimates(samples, scripts, bootstrap)}


def student_t(rows: Array) -> Interval:
    """Return the interval of each row's mean by Student's t, for values that scatter around it as repeats do."""
    from scipy.special import (
        stdtrit,
    )  # the quantile of Student's t; scipy.stats takes twice as long to import

    n = rows.shape[1]
    reach = stdtrit(n - 1, (1 + CONFIDENCE) / 2) * rows.std(axis=1, ddof=1) / math.sqrt(n)
    mean = rows.mean(axis=1)
    return Interval(mean - reach, mean + reach)


def bootstrap(rows: Array, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of each row's mean by the percentile bootstrap; every row sees the same resamples."""
    parts = [_bootstrap(rows[start : start + _ROWS], confidence) for start in range(0, len(rows), _ROWS)]
    return Interval(np.concatenate([one.low for one in parts]), np.concatenate([one.high for one in parts]))


def _bootstrap(rows: Array, confidence: float) -> Interval:
    from scipy import stats

    interval = stats.bootstrap(
        (rows,),
        np.mean,
        axis=1,
        vectorized=True,
        n_resamples=_RESAMPLES,
        confidence_level=confidence,
        method="percentile",
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return Interval(interval.low, interval.high)


def _estimates(
    samples: Mapping[K, Sample], values: Mapping[K, Sequence[float]], method: Callable[[Array], Interval]
) -> dict[K, Estimate]:
    """Return the estimates of the samples that ``values`` are of, rows of one length at a time."""
    found: dict[K, Estimate] = {}
    varied: dict[int, list[K]] = defaultdict(list)
    for key, row in values.items():
        sample, n = samples[key], len(row)
        if n == 1:
            found[key] = Estimate(row[0], None, None, sample.worst, n)
        elif min(row) == max(row):
            found[key] = Estimate(row[0], row[0], row[0], sample.worst, n)
        else:
            varied[n].append(key)
    for n, keys in varied.items():
        ends = method(np.array([values[key] for key in keys], dtype=np.float64))
        for key, low, high in zip(keys, ends.low.tolist(), ends.high.tolist(), strict=True):
            sample = samples[key]
            mean = math.fsum(values[key]) / n
            low, high = min(low, mean), max(high, mean)  # the noise of two ways to add must not part them
            found[key] = Estimate(mean, max(low, sample.least), min(high, sample.most), sample.worst, n)
    return found
