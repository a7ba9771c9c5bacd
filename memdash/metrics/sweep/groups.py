"""The repeats of one setting on one script: the rows that ``--assert`` reads intervals from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep.intervals import Estimate, Sample, estimates
from memdash.metrics.sweep.losses import CellLoss
from memdash.metrics.sweep.measures import MEASURES, by_script, by_series, sample

GROUPED = ("cost_usd", "prompt_tokens", "cache_share", "wait_p95_ms", "kept", "recall", "loss")
"""The fields of a :class:`Group` that hold an estimate."""


@dataclass(frozen=True, slots=True)
class Group:
    """One setting on one script; ``label`` is the series.

    ``n`` are its finished replays, which the estimates are over (one with ``n`` 1 has no interval); ``unfinished`` are the
    others. An interval speaks of further repeats of this script, not of other scripts. ``kept``, ``recall`` and
    ``cache_share`` are shares; ``loss`` is the share of the facts kept by full history (or, live, of the questions it
    answered) that this setting lost.
    """

    label: str
    strategy: str
    params: Mapping[str, Any]
    script: str
    n: int
    unfinished: int
    cost_usd: Estimate | None
    prompt_tokens: Estimate | None
    cache_share: Estimate | None
    wait_p95_ms: Estimate | None
    kept: Estimate | None
    recall: Estimate | None
    loss: Estimate | None


def groups_of(outcomes: Sequence[ReplayOutcome], lost: Mapping[str, CellLoss]) -> tuple[Group, ...]:
    """Return one group for each setting and script, in the order they first appear; ``lost`` is what each replay lost, by id."""
    replays = {
        (name, script): [one for one in group if one.script == script]
        for name, group in by_series(outcomes).items()
        for script in dict.fromkeys(one.script for one in group)
    }
    samples: dict[tuple[str, str, str], Sample] = {}
    for (name, script), group in replays.items():
        finished = by_script(group)
        for field in GROUPED:
            found = (
                _losses(finished.get(script, ()), lost)
                if field == "loss"
                else sample(MEASURES[field], finished)
            )
            if found:
                samples[name, script, field] = found
    known = estimates(samples)
    return tuple(
        Group(
            label=name,
            strategy=group[0].strategy,
            params=group[0].params,
            script=script,
            n=sum(one.done for one in group),
            unfinished=sum(not one.done for one in group),
            **{field: known.get((name, script, field)) for field in GROUPED},
        )
        for (name, script), group in replays.items()
    )


def _losses(replays: Sequence[ReplayOutcome], lost: Mapping[str, CellLoss]) -> Sample | None:
    cells = [lost.get(one.id) for one in replays]
    shares = [cell.lost / cell.of for cell in cells if cell and cell.of]
    if not shares or None in cells:
        return None
    return Sample([shares], max(shares), least=0.0, most=1.0)
