"""What a setting loses that full history keeps, and how large that loss may be after so few scripts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.recall import still_there
from memdash.metrics.summary import BASELINE
from memdash.metrics.sweep.intervals import CONFIDENCE, Array, Interval, bootstrap

_BEYOND = round(1 - CONFIDENCE, 12)
"""The chance of being wrong on one side: 0.05 as it is written, so that a bound of exactly 5 % is told as just that."""
_MOST_SCRIPTS = 1_000_000
"""More scripts than anybody plays: beyond, a loss counts as too large to be shown small enough."""


class Basis(StrEnum):
    """What a loss is counted in."""

    KEPT = "kept"
    """Facts whose text is still in the last context: exact, and all that a simulated replay can show."""
    RECALL = "recall"
    """Recall questions that a live model answered right."""

    @property
    def noun(self) -> str:
        """What one of the things lost is called."""
        return "fact" if self is Basis.KEPT else "right answer"


@dataclass(frozen=True, slots=True)
class Loss:
    """The paired loss against full history: the share of what full history keeps and this setting does not.

    Compared on the same script, repeat, model, cache and marks; ``mean`` is over scripts, each counting the same. ``low`` and
    ``high`` are one-sided 95 % bounds. ``worst`` is the loss of the worst replay. ``facts`` is how many facts (or right
    answers) that is a conversation. ``scripts`` is how many it was seen on, ``scripts_needed`` how many in all would bring
    ``high`` under the largest loss allowed if the loss stayed as it is; None where it is too large for that. Full history
    itself loses nothing by definition, however few the scripts.
    """

    mean: float
    low: float
    high: float
    worst: float
    facts: float
    scripts: int
    scripts_needed: int | None


class Cell(NamedTuple):
    """What a replay shares with the full history it is compared with."""

    script: str
    repeat: int
    model: str
    provider: str
    cache: str
    cache_marks: str


class CellLoss(NamedTuple):
    """What one replay lost ``of`` the things that full history kept in the same cell; ``of`` is 0 where there was nothing."""

    lost: int
    of: int


def cell_of(outcome: ReplayOutcome) -> Cell:
    """Return the cell of a replay."""
    return Cell(
        outcome.script, outcome.repeat, outcome.model, outcome.provider, outcome.cache, outcome.cache_marks
    )


def basis_of(outcomes: Iterable[ReplayOutcome]) -> Basis:
    """Return what the losses of a comparison are counted in: recall where all of it was asked of a live model.

    A simulated replay's recall is the pretend model's and no evidence about a real one.
    """
    live = [outcome for outcome in outcomes if outcome.recall_total]
    return Basis.RECALL if live and not any(one.recall_simulated for one in live) else Basis.KEPT


def cell_losses(outcomes: Iterable[ReplayOutcome], basis: Basis) -> dict[str, CellLoss]:
    """Return what each finished replay lost, by its id.

    It is missing where there is no finished full history in its cell, and where something is not known.
    """
    done = [outcome for outcome in outcomes if outcome.done]
    held = {outcome.id: _held(outcome, basis) for outcome in done}
    whole = {cell_of(one): held[one.id] for one in done if one.strategy == BASELINE}
    losses: dict[str, CellLoss] = {}
    for outcome in done:
        theirs, ours = whole.get(cell_of(outcome)), held[outcome.id]
        if theirs is None or ours is None:
            continue
        kept = [what for what, there in theirs.items() if there]
        if all(what in ours for what in kept):
            losses[outcome.id] = CellLoss(sum(not ours[what] for what in kept), len(kept))
    return losses


def _held(outcome: ReplayOutcome, basis: Basis) -> Mapping[object, bool] | None:
    """What there is to keep, and whether this replay kept it; None where that has not been looked at."""
    if basis is Basis.KEPT:
        held: Mapping[object, bool] = {fact: still_there(one) for fact, one in outcome.survival.items()}
        return held if held or not outcome.facts_total else None
    return {(one.fact, one.asked_after): one.passed for one in outcome.probes if one.is_test}


def losses(settings: Mapping[str, Sequence[Sequence[CellLoss]]], max_loss: float) -> dict[str, Loss]:
    """Return the loss of each setting from the cells of each of its scripts.

    A script where there was nothing to lose says nothing of the share lost; without any other a setting has no loss. Shares are
    added as fractions: one fact of 20 lost on each of three scripts is 5 %, and not a hair above what may be lost.
    """
    rows: dict[str, list[Fraction]] = {}
    for series, scripts in settings.items():
        shares = [[Fraction(one.lost, one.of) for one in script if one.of] for script in scripts]
        row = [sum(script, Fraction()) / len(script) for script in shares if script]
        if row:
            rows[series] = row
    means = {series: float(sum(row, Fraction()) / len(row)) for series, row in rows.items()}
    needed = dict(zip(means, scripts_needed(list(means.values()), max_loss), strict=True))
    found: dict[str, Loss] = {}
    for n in sorted({len(row) for row in rows.values()}):
        names = [series for series, row in rows.items() if len(row) == n]
        ends = bounds(np.array([rows[series] for series in names], dtype=np.float64))
        for series, low, high in zip(names, ends.low.tolist(), ends.high.tolist(), strict=True):
            scripts = settings[series]
            found[series] = Loss(
                mean=means[series],
                low=low,
                high=high,
                worst=max(one.lost / one.of for script in scripts for one in script if one.of),
                facts=math.fsum(sum(one.lost for one in script) / len(script) for script in scripts)
                / len(scripts),
                scripts=n,
                scripts_needed=needed[series],
            )
    return found


def bounds(rows: Array) -> Interval:
    """Return one-sided 95 % bounds of the mean loss of each row, whose elements are the losses of the scripts.

    They are those of the bootstrap over scripts, but never inside what so few scripts can show at best. Resampling three
    scripts without a loss can only ever give three scripts without a loss; yet if every other conversation lost everything,
    three in a row without a loss would still come one time in eight. So the exact binomial bounds (Clopper-Pearson) hold as
    well: each script counts as one trial, and its loss as that much of a failure. A share between 0 and 1 varies at most as much
    as a yes or no of the same mean, so this errs on the safe side. For no loss on ``n`` scripts the upper bound is
    1 - 0.05^(1/n): 63 % for 3 scripts, 5 % for 59. It holds for a setting chosen beforehand; the best of many looks a little
    better than it is.
    """
    n = rows.shape[1]
    exact = exact_bounds(rows.mean(axis=1), np.full(len(rows), float(n)))
    varied = rows.min(axis=1) < rows.max(axis=1)
    if not varied.any():
        return exact
    drawn = bootstrap(
        rows[varied], confidence=2 * CONFIDENCE - 1
    )  # its two ends are 95 % bounds, each on its side
    exact.low[varied] = np.minimum(exact.low[varied], drawn.low)
    exact.high[varied] = np.maximum(exact.high[varied], drawn.high)
    return exact


def exact_bounds(mean: Array, n: Array) -> Interval:
    """Return the one-sided 95 % Clopper-Pearson bounds for ``n`` trials of which a share ``mean`` failed."""
    from scipy.special import betaincinv  # the quantile of the beta distribution

    failed = np.clip(mean, 0.0, 1.0) * n
    with np.errstate(invalid="ignore"):
        low = np.where(failed > 0, betaincinv(failed, n - failed + 1, _BEYOND), 0.0)
        high = np.where(failed < n, betaincinv(failed + 1, n - failed, CONFIDENCE), 1.0)
    return Interval(low, high)


def scripts_needed(means: Sequence[float], max_loss: float) -> list[int | None]:
    """Return for each mean loss on how many scripts its upper bound is at most ``max_loss``; None where that is out of reach.

    More questions in the same scripts would not do: they belong to the same few conversations.
    """
    mean = np.array(means, dtype=np.float64)
    below, enough = np.zeros(len(mean)), np.full(len(mean), float(_MOST_SCRIPTS))
    reachable = exact_bounds(mean, enough).high <= max_loss
    while (enough - below > 1).any():  # the bound falls with every script
        middle = np.ceil((below + enough) / 2)  # up: a mean whose number is found keeps it while others look
        clears = exact_bounds(mean, middle).high <= max_loss
        enough, below = np.where(clears, middle, enough), np.where(clears, below, middle)
    return [
        int(number) if ok else None for number, ok in zip(enough.tolist(), reachable.tolist(), strict=True)
    ]
