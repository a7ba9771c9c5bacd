"""How sure a number is: means with 95 % intervals, from scipy.

Two things vary. Repeats of one script vary as a model varies: Student's t says how well their mean is known. Scripts vary as
users do, and the repeats and questions of one script are no news about other scripts: they are one cluster, so over several
scripts whole scripts are resampled (a cluster bootstrap). With few scripts such an interval is rather too narrow than too wide.
"""

from __future__ import annotations

from dataclasses import dataclass


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
