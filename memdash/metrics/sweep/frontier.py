"""The Pareto front: settings that no other setting beats both in cost and in what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memdash.metrics.sweep.differences import SAME
from memdash.metrics.sweep.losses import Basis
from memdash.metrics.sweep.settings import Setting


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A ranked setting against all others of its model, whose cost is known.

    ``dominated`` says that another one costs no more and keeps no less, and is better in one of the two; settings that are the
    same in both leave each other on the front. It is told of what the comparison is ranked on (False where that is not known);
    ``dominated_on_kept`` and ``dominated_on_recall`` tell it of each measure, None where that is not known.
    """

    setting: Setting
    dominated: bool
    dominated_on_kept: bool | None
    dominated_on_recall: bool | None


def frontier(settings: Sequence[Setting], basis: Basis) -> tuple[FrontPoint, ...]:
    """Return the points of the ranked settings whose cost is known, in the order given."""
    ranked = [one for one in settings if one.ranked and one.cost_usd is not None]
    on_kept = _dominated(ranked, {one.series: one.kept.mean for one in ranked if one.kept})
    on_recall = _dominated(ranked, {one.series: one.recall.mean for one in ranked if one.recall})
    ruling = on_kept if basis is Basis.KEPT else on_recall
    return tuple(
        FrontPoint(
            setting=one,
            dominated=ruling.get(one.series, False),
            dominated_on_kept=on_kept.get(one.series),
            dominated_on_recall=on_recall.get(one.series),
        )
        for one in ranked
    )


def _dominated(settings: Sequence[Setting], worth: dict[str, float]) -> dict[str, bool]:
    """Whether each setting that has a ``worth`` is beaten by another one of its model."""
    found: dict[str, bool] = {}
    for model in dict.fromkeys(one.model for one in settings):
        here = [one for one in settings if one.model == model and one.series in worth]
        cost = np.array([one.cost_usd.mean for one in here if one.cost_usd])
        kept = np.array([worth[one.series] for one in here])
        near = SAME * np.maximum(cost, cost[:, None])
        # Row: a setting; column: the one that may beat it.
        no_dearer, cheaper = cost <= cost[:, None] + near, cost < cost[:, None] - near
        no_worse, better = kept >= kept[:, None] - SAME, kept > kept[:, None] + SAME
        beaten = (no_dearer & no_worse & (cheaper | better)).any(axis=1)
        found.update(zip((one.series for one in here), beaten.tolist(), strict=True))
    return found
