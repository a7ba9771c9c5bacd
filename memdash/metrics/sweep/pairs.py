"""Settings compared two by two on the same scripts and repeats."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memdash.metrics.sweep.intervals import Estimate


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
