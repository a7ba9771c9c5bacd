"""Everything that many replays say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep.candidates import Wanted
from memdash.metrics.sweep.frontier import FrontPoint, frontier
from memdash.metrics.sweep.groups import Group, groups_of
from memdash.metrics.sweep.losses import Basis, basis_of, cell_losses
from memdash.metrics.sweep.measures import by_series
from memdash.metrics.sweep.pairs import Pair, pairs_of
from memdash.metrics.sweep.recommendation import Recommendation, recommend
from memdash.metrics.sweep.settings import Setting, settings_of
from memdash.metrics.sweep.worth import Worth, worth_of

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
    basis = basis_of(outcomes)
    wanted = Wanted(basis, max_loss, conversations_per_month)
    replays = by_series(outcomes)
    lost = cell_losses(outcomes, basis)
    settings = settings_of(outcomes, lost, max_loss)
    advice = [
        recommend([one for one in settings if one.model == model], replays, wanted)
        for model in dict.fromkeys(one.model for one in settings)
    ]
    recommendations = tuple(one for one in advice if isinstance(one, Recommendation))
    reasons = [one for one in advice if isinstance(one, str)] or ["No recommendation: nothing was played."]
    anchors = {one.series for one in settings if one.is_full_history}
    anchors.update(one.setting.series for one in recommendations)
    return SweepAnalysis(
        settings=settings,
        groups=groups_of(outcomes, lost),
        recommendations=recommendations,
        unrecommended=None if recommendations else reasons[0],
        frontier=frontier(settings, basis),
        pairs=pairs_of(settings, replays, anchors),
        worth=worth_of(settings, basis),
        basis=basis,
        max_loss=max_loss,
        conversations_per_month=conversations_per_month,
    )
