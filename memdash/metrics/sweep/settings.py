"""A setting: one strategy with its parameters over all its scripts and repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.metrics.result import Mark
from memdash.metrics.summary import BASELINE
from memdash.metrics.sweep.intervals import Estimate
from memdash.metrics.sweep.losses import Loss
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
