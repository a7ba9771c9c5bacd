"""The settings that a recommendation chooses from, each against full history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep.differences import cost_differences
from memdash.metrics.sweep.intervals import Estimate, Sample, estimates
from memdash.metrics.sweep.losses import Basis, Loss
from memdash.metrics.sweep.settings import Setting

Replays = Mapping[str, Sequence[ReplayOutcome]]
"""The replays of each series."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a recommendation is asked for."""

    basis: Basis
    max_loss: float
    conversations_per_month: float


class Candidate(NamedTuple):
    """A setting that may be recommended; ``saving`` is paired with the full history it is to replace."""

    setting: Setting
    cost: float
    loss: Loss
    saving: Estimate

    @property
    def cheaper(self) -> bool:
        """Whether it costs less than full history, if only by chance."""
        return self.saving.mean > 0

    @property
    def surely_cheaper(self) -> bool:
        """Whether it costs less than full history by more than chance."""
        return self.saving.low is not None and self.saving.low > 0

    @property
    def surely_no_cheaper(self) -> bool:
        """Whether it costs no less than full history, beyond chance."""
        return self.saving.high is not None and self.saving.high <= 0


@dataclass(frozen=True, slots=True)
class Contest:
    """The cheapest full history of a model, and the settings that may replace it."""

    baseline: Candidate
    others: tuple[Candidate, ...]

    @property
    def runner_up(self) -> Candidate | None:
        """What comes nearest to replacing full history: of the cheaper settings that which loses least, else the cheapest."""
        cheaper = [one for one in self.others if one.cheaper]
        if cheaper:
            return min(cheaper, key=lambda one: one.loss.mean)
        return min(self.others, key=lambda one: one.cost, default=None)


def contest_of(settings: Sequence[Setting], replays: Replays, basis: Basis) -> Contest | str:
    """Return the candidates among the settings of one model, else why there can be no recommendation.

    Only ranked settings that can run live, with a cost and a loss, are candidates.
    """
    able = [one for one in settings if one.ranked and not one.simulator_only]
    if not able:
        if any(one.ranked for one in settings):
            return "No recommendation: limits of the API were relaxed, so these settings exist in the simulator only."
        return "No recommendation: no setting has finished every script and repeat."
    whole = [one for one in able if one.is_full_history]
    if not whole:
        played = any(one.is_full_history for one in settings)
        why = "did not finish everywhere" if played else "was not played"
        return f"No recommendation: full history {why}, and losses are measured against it."
    costs = {one.series: one.cost_usd.mean for one in able if one.cost_usd is not None}
    if any(one.series not in costs for one in whole):
        return "No recommendation: what full history costs is not known."
    baseline = min(whole, key=lambda one: costs[one.series])
    if baseline.loss is None:
        return (
            f"No recommendation: there is no {basis.noun} to lose in these scripts, or it was not looked at."
        )
    samples: dict[str, Sample] = {}
    for one in able:
        found = cost_differences(replays[baseline.series], replays[one.series])
        if found is not None and one.series in costs:
            samples[one.series] = found
    savings = estimates(samples)
    candidates = [
        Candidate(one, costs[one.series], one.loss, savings[one.series])
        for one in able
        if one.loss is not None and one.series in savings
    ]
    return Contest(
        baseline=next(one for one in candidates if one.setting is baseline),
        others=tuple(one for one in candidates if not one.setting.is_full_history),
    )
