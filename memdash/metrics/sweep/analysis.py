"""Everything that many replays say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep.frontier import FrontPoint
from memdash.metrics.sweep.groups import Group
from memdash.metrics.sweep.losses import Basis
from memdash.metrics.sweep.pairs import Pair
from memdash.metrics.sweep.recommendation import Recommendation
from memdash.metrics.sweep.settings import Setting
from memdash.metrics.sweep.worth import Worth

CONVERSATIONS_PER_MONTH = 30_000
"""What a saving a month is told for unless the user says otherwise: 1,000 a day."""

MAX_LOSS = 0.05
"""The largest loss that a recommended setting may have unless the user says otherwise: 5 points."""


@dataclass(frozen=True, slots=True)
class SweepAnalysis:
    """What a sweep found. Settings are in the order they first appear, groups too (scripts within settings).

    ``recommendations`` has one for each model that one can be made for: models are not ranked against each other, since what
    is kept says nothing of how well a model answers. ``unrecommended`` says why there is none, None where there is one.
    ``pairs`` are all pairs of ranked settings of a model; where there are more than a few settings, only those with the full
    history or the recommended setting.
    """

    settings: tuple[Setting, ...]
    groups: tuple[Group, ...]
    recommendations: tuple[Recommendation, ...]
    unrecommended: str | None
    frontier: tuple[FrontPoint, ...]
    pairs: tuple[Pair, ...]
    worth: tuple[Worth, ...]
    basis: Basis
    max_loss: float
    conversations_per_month: float

    @property
    def recommendation(self) -> Recommendation | None:
        """The recommendation for the first model."""
        return self.recommendations[0] if self.recommendations else None


def analyse(
    outcomes: Sequence[ReplayOutcome],
    *,
    max_loss: float = MAX_LOSS,
    conversations_per_month: float = CONVERSATIONS_PER_MONTH,
) -> SweepAnalysis:
    """Return what the replays of one comparison say together.

    ``max_loss`` is the largest share of what full history keeps that a recommended setting may lose, from 0 to 1.
    """
    raise NotImplementedError
