"""Waiting: percentiles of the wait and of the time to the first text, over all turns of a series."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memdash.replay_log import ReplayLog


class Ranks(NamedTuple):
    """Percentiles in milliseconds by nearest rank, and how many turns they are of."""

    p50: float
    p90: float
    p95: float
    max: float
    turns: int


@dataclass(frozen=True, slots=True)
class WaitSummary:
    """What the user waited for in the finished turns of a series, and until its first text; None where it is not known.

    ``total_ms`` is all the waiting of one replay, as a mean over the series' replays.
    """

    series: str
    wait: Ranks | None
    first_text: Ranks | None
    total_ms: float | None


def wait_summaries(logs: Iterable[ReplayLog]) -> tuple[WaitSummary, ...]:
    """Return one row for each series, in the order the series first appear.

    Turns of all replays of a series count together, each once.
    """
    groups: dict[str, list[ReplayLog]] = {}
    for log in logs:
        groups.setdefault(log.spec.series, []).append(log)
    return tuple(_summary(series, group) for series, group in groups.items())


def _summary(series: str, logs: Sequence[ReplayLog]) -> WaitSummary:
    turns = [turn for log in logs for turn in log.turns]
    waits = [turn.wait_ms for turn in turns]
    begun = sum(bool(log.turns) for log in logs)
    return WaitSummary(
        series=series,
        wait=_ranks(waits),
        first_text=_ranks([turn.first_text_ms for turn in turns if turn.first_text_ms is not None]),
        total_ms=math.fsum(waits) / begun if begun else None,
    )


def _ranks(values: Iterable[float]) -> Ranks | None:
    ordered = sorted(values)
    if not ordered:
        return None
    p50, p90, p95 = (nearest_rank(ordered, share) for share in (0.50, 0.90, 0.95))
    return Ranks(p50, p90, p95, ordered[-1], len(ordered))


def nearest_rank(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value of ``ordered`` (ascending, not empty) that at least ``share`` of all do not exceed."""
    return ordered[max(math.ceil(share * len(ordered) - 1e-9), 1) - 1]
