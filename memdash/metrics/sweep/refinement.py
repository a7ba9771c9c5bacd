"""Which settings to play next, after the coarse grid of a sweep.

A round looks between played settings: on either side of the best one, and where cost or what is kept changes most from one
value of a swept parameter to the next. It is over when the best setting stays the same and its neighbours are close.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memdash import numbers
from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep.analysis import SweepAnalysis, analyse
from memdash.metrics.sweep.losses import Basis
from memdash.metrics.sweep.neighbours import Gap, gaps, steps_aside
from memdash.metrics.sweep.settings import Setting
from memdash.records import Status
from memdash.spec import ComparisonSpec
from memdash.strategies import StrategyChoice

_ROUND = 6
"""New settings in one round: few enough that the next round can learn from them."""
_NOTABLE = 0.02
"""A change of cost (as a share of the dearest setting's) or of what is kept below this is not worth looking into."""


@dataclass(frozen=True, slots=True)
class ProposedSetting:
    """A setting to play, and in words why."""

    choice: StrategyChoice
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """One round of refinement: what to play next, and the best series of each model (empty for none) when it was proposed."""

    settings: tuple[ProposedSetting, ...]
    best: tuple[str, ...]

    @property
    def choices(self) -> tuple[StrategyChoice, ...]:
        """The settings to play, as a comparison takes them."""
        return tuple(one.choice for one in self.settings)


def propose(
    spec: ComparisonSpec, outcomes: Sequence[ReplayOutcome], rounds: Sequence[Proposal]
) -> Proposal | None:
    """Return the next settings to play; None where the answer has stopped moving or the limit of replays is reached.

    ``spec`` holds what was played so far, ``refined`` included; ``rounds`` are the proposals that led there, in order.
    """
    found = _next(spec, outcomes, rounds)
    return found if isinstance(found, Proposal) else None


def why_stopped(
    spec: ComparisonSpec, outcomes: Sequence[ReplayOutcome], rounds: Sequence[Proposal]
) -> str | None:
    """Say why nothing more is played, to follow "stopped:".

    None while :func:`propose` has more, and while replays have yet to end or were broken off: it goes on when they do.
    """
    ends = {one.status for one in outcomes}
    if Status.STOPPED_BY_BUDGET in ends:
        return "the budget is used up"
    if not ends <= {Status.DONE, Status.REJECTED, Status.FAILED}:
        return None
    found = _next(spec, outcomes, rounds)
    return found if isinstance(found, str) else None


class _Figures(NamedTuple):
    """What a setting came to: its cost as a share of the dearest one's, and the share of the facts it kept."""

    cost: float
    kept: float | None


def _next(
    spec: ComparisonSpec, outcomes: Sequence[ReplayOutcome], rounds: Sequence[Proposal]
) -> Proposal | str:
    if spec.sweep is None:
        return "it is no sweep"
    analysis = analyse(outcomes, max_loss=spec.sweep.max_loss)
    best = tuple(one.setting.series for one in analysis.recommendations)
    played = {one for choice in (*spec.strategies, *spec.refined) for one in _settings(choice, spec)}
    open_gaps = [gap for gap in gaps(spec) if played.isdisjoint(_settings(gap.between, spec))]
    proposed = {
        _key(one.choice): one
        for one in _around_best(spec, analysis, open_gaps)
        if played.isdisjoint(_settings(one.choice, spec))
    }
    settled = f"{numbers.listing(best) or 'nothing'} is the best, and its neighbours are close"
    if not proposed and rounds and rounds[-1].best == best:
        return settled
    for one in _steepest(open_gaps, _figures(analysis), analysis.basis):
        proposed.setdefault(_key(one.choice), one)
    if not proposed:
        return settled if rounds else "no neighbours differ enough to look between them"
    room = spec.sweep.limit - len(spec.replays())
    chosen: list[ProposedSetting] = []
    for one in list(proposed.values())[:_ROUND]:
        room -= _replays(spec, one.choice)
        if room < 0:
            break
        chosen.append(one)
    if not chosen:
        return f"the limit of {spec.sweep.limit:,} replays is reached"
    return Proposal(tuple(chosen), best)


def _replays(spec: ComparisonSpec, choice: StrategyChoice) -> int:
    """How many replays a setting takes."""
    models = len(_settings(choice, spec))
    return len(spec.scripts) * spec.repeats * models * len(spec.caches) * len(spec.cache_marks)


def _settings(choice: StrategyChoice, spec: ComparisonSpec) -> set[tuple[str, str]]:
    """A choice with each model that it is played with."""
    return {(_key(choice), model) for model in spec.models if choice.model in (None, model)}


def _around_best(
    spec: ComparisonSpec, analysis: SweepAnalysis, open_gaps: Sequence[Gap]
) -> Iterator[ProposedSetting]:
    """Yield the settings on either side of the best one of each model."""
    played = (*spec.strategies, *spec.refined)
    for model in spec.models:
        focus = _focus(analysis, model)
        if focus is None:
            continue
        setting, why = focus
        for best in played:
            if (best.name, best.params) != (setting.strategy, setting.params) or best.model not in (
                None,
                model,
            ):
                continue
            near = [gap.between for gap in open_gaps if best in (gap.low, gap.high)]
            for choice in (*near, *steps_aside(spec, best)):
                yield ProposedSetting(choice, why)


def _focus(analysis: SweepAnalysis, model: str) -> tuple[Setting, str] | None:
    """The setting of a model to look around, and why: the recommended one, or the one that comes nearest to being it."""
    advice = next((one for one in analysis.recommendations if one.setting.model == model), None)
    if advice is None:
        return None
    if not advice.setting.is_full_history:
        return advice.setting, f"next to {advice.setting.series}, the best so far"
    others = [
        (one, one.loss.mean, one.saving_usd.mean)
        for one in analysis.settings
        if one.model == model and one.ranked and not one.is_full_history and one.loss and one.saving_usd
    ]
    if cheaper := [(loss, -saving, one) for one, loss, saving in others if saving > 0]:
        setting = min(cheaper, key=lambda found: found[:2])[2]
        return setting, f"next to {setting.series}, which loses least among those cheaper than full history"
    if able := [(-saving, one) for one, loss, saving in others if loss <= analysis.max_loss]:
        setting = min(able, key=lambda found: found[0])[1]
        return setting, f"next to {setting.series}, the cheapest that loses little enough"
    return None


def _steepest(
    open_gaps: Iterable[Gap], figures: Mapping[str, _Figures], basis: Basis
) -> Iterator[ProposedSetting]:
    """Yield the settings in the gaps where cost or what is kept changes most, the steepest first."""
    found: list[tuple[float, ProposedSetting]] = []
    for gap in open_gaps:
        low, high = figures.get(_key(gap.low)), figures.get(_key(gap.high))
        if low is None or high is None:
            continue
        cost = abs(high.cost - low.cost)
        kept = abs(high.kept - low.kept) if high.kept is not None and low.kept is not None else 0.0
        if max(cost, kept) < _NOTABLE:
            continue
        where = f"between {gap.low.label} and {gap.high.label}"
        if kept >= cost:
            what = "what is kept" if basis is Basis.KEPT else "recall"
            reason = f"{what} changes by {kept * 100:.0f} points {where}"
        else:
            reason = f"the cost changes by {numbers.percent(cost)} of the dearest setting's {where}"
        found.append((max(cost, kept), ProposedSetting(gap.between, reason)))
    found.sort(key=lambda pair: -pair[0])
    return (one for _, one in found)


def _figures(analysis: SweepAnalysis) -> dict[str, _Figures]:
    """What each ranked setting came to, as a mean over the models and caches it was played with."""
    dearest: dict[str, float] = {}
    for one in analysis.settings:
        if one.ranked and one.cost_usd is not None:
            dearest[one.model] = max(dearest.get(one.model, 0.0), one.cost_usd.mean)
    parts: dict[str, list[_Figures]] = {}
    for one in analysis.settings:
        if one.ranked and one.cost_usd is not None and dearest[one.model] > 0:
            share = one.kept if analysis.basis is Basis.KEPT else one.recall
            parts.setdefault(_named(one.strategy, one.params), []).append(
                _Figures(one.cost_usd.mean / dearest[one.model], None if share is None else share.mean)
            )
    figures: dict[str, _Figures] = {}
    for key, several in parts.items():
        kept = [one.kept for one in several if one.kept is not None]
        figures[key] = _Figures(
            sum(one.cost for one in several) / len(several), sum(kept) / len(kept) if kept else None
        )
    return figures


def _key(choice: StrategyChoice) -> str:
    return _named(choice.name, choice.params)


def _named(strategy: str, params: Mapping[str, object]) -> str:
    """A strategy with its parameters, to tell settings apart by."""
    return f"{strategy} {json.dumps(dict(params), sort_keys=True, default=str)}"
