"""A setting: one strategy with its parameters over all its scripts and repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.result import Mark
from memdash.metrics.summary import BASELINE, common_status
from memdash.metrics.sweep.differences import cost_differences
from memdash.metrics.sweep.intervals import Estimate, Sample, estimates
from memdash.metrics.sweep.losses import CellLoss, Loss, losses
from memdash.metrics.sweep.measures import MEASURES, by_script, by_series, sample
from memdash.records import Status


@dataclass(frozen=True, slots=True)
class Setting:
    """One series of a comparison in numbers; every estimate is for one conversation, and every script counts the same.

    ``ranked`` is whether it may be compared by rank: every replay done, all scripts and repeats played that the others have, and
    able to run live if any of them is. ``marks`` names the scripts each mark is true of. ``replays`` are all of its replays,
    ``finished`` those that are done; estimates are over the finished ones, and None where a value is not known for one of them.
    ``cache_share``, ``kept`` and ``recall`` are shares from 0 to 1. ``simulated`` says that recall is the pretend model's.
    ``baseline`` is the series of the full history on the same model, cache and marks, None where there is none; ``loss``,
    ``saving_usd`` (positive where this setting is cheaper, with a paired interval) and ``saving`` (as a share of the full
    history's cost) are against it.
    """

    series: str
    strategy: str
    params: Mapping[str, Any]
    model: str
    provider: str
    cache: str
    cache_marks: str
    status: Status
    ranked: bool
    simulator_only: bool
    simulated: bool
    marks: Mapping[Mark, tuple[str, ...]]
    scripts: tuple[str, ...]
    replays: int
    finished: int
    cost_usd: Estimate | None
    prompt_tokens: Estimate | None
    cache_share: Estimate | None
    wait_p50_ms: Estimate | None
    wait_p95_ms: Estimate | None
    kept: Estimate | None
    recall: Estimate | None
    compactions: Estimate | None
    baseline: str | None
    loss: Loss | None
    saving_usd: Estimate | None
    saving: float | None

    @property
    def is_full_history(self) -> bool:
        """Whether it is what every saving and loss is measured against."""
        return self.strategy == BASELINE


def settings_of(
    outcomes: Sequence[ReplayOutcome], lost: Mapping[str, CellLoss], max_loss: float
) -> tuple[Setting, ...]:
    """Return the settings of a comparison, in the order they first appear; ``lost`` is what each replay lost, by id."""
    series = by_series(outcomes)
    played = {(one.script, one.repeat) for one in outcomes}
    live_able = any(not one.simulator_only for one in outcomes)
    whole = {_surroundings(group[0]): name for name, group in series.items() if group[0].strategy == BASELINE}
    baselines = {name: whole.get(_surroundings(group[0])) for name, group in series.items()}
    loss_of = losses(_cells(series, lost), max_loss)
    for (
        name
    ) in whole.values():  # against itself: nothing by definition, which no number of scripts makes surer
        if name in loss_of:
            loss_of[name] = replace(loss_of[name], high=0.0, scripts_needed=0)
    samples: dict[tuple[str, str], Sample] = {}
    for name, group in series.items():
        scripts = by_script(group)
        for field, measure in MEASURES.items():
            if found := sample(measure, scripts):
                samples[name, field] = found
        baseline = baselines[name]
        if baseline is not None and (found := cost_differences(series[baseline], group)):
            samples[name, "saving_usd"] = found
    known = estimates(samples)
    return tuple(
        _setting(
            name,
            group,
            ranked=all(one.done for one in group)
            and {(one.script, one.repeat) for one in group} == played
            and not (live_able and any(one.simulator_only for one in group)),
            baseline=baselines[name],
            loss=loss_of.get(name),
            known={field: known.get((name, field)) for field in (*MEASURES, "saving_usd")},
        )
        for name, group in series.items()
    )


def _setting(
    series: str,
    group: Sequence[ReplayOutcome],
    *,
    ranked: bool,
    baseline: str | None,
    loss: Loss | None,
    known: Mapping[str, Estimate | None],
) -> Setting:
    first = group[0]
    cost, saving = known["cost_usd"], known["saving_usd"]
    return Setting(
        series=series,
        strategy=first.strategy,
        params=first.params,
        model=first.model,
        provider=first.provider,
        cache=first.cache,
        cache_marks=first.cache_marks,
        status=common_status([one.status for one in group]),
        ranked=ranked,
        simulator_only=any(one.simulator_only for one in group),
        simulated=any(one.recall_simulated for one in group),
        marks={
            mark: tuple(dict.fromkeys(one.script for one in group if mark in one.marks))
            for mark in dict.fromkeys(mark for one in group for mark in one.marks)
        },
        scripts=tuple(dict.fromkeys(one.script for one in group)),
        replays=len(group),
        finished=sum(one.done for one in group),
        cost_usd=cost,
        prompt_tokens=known["prompt_tokens"],
        cache_share=known["cache_share"],
        wait_p50_ms=known["wait_p50_ms"],
        wait_p95_ms=known["wait_p95_ms"],
        kept=known["kept"],
        recall=known["recall"],
        compactions=known["compactions"],
        baseline=baseline,
        loss=loss,
        saving_usd=saving,
        saving=saving.mean / (cost.mean + saving.mean)
        if cost and saving and cost.mean + saving.mean
        else None,
    )


def _surroundings(outcome: ReplayOutcome) -> tuple[str, str, str, str]:
    """What a setting must have in common with the full history it is measured against."""
    return outcome.model, outcome.provider, outcome.cache, outcome.cache_marks


def _cells(
    series: Mapping[str, Sequence[ReplayOutcome]], lost: Mapping[str, CellLoss]
) -> dict[str, list[list[CellLoss]]]:
    """The losses of the settings whose finished replays all have one, by script."""
    cells: dict[str, list[list[CellLoss]]] = {}
    for name, group in series.items():
        scripts = by_script(group).values()
        if scripts and all(one.id in lost for script in scripts for one in script):
            cells[name] = [[lost[one.id] for one in script] for script in scripts]
    return cells
