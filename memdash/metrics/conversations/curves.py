"""What a conversation of each length costs, by setting: the turns that were replayed, added up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memdash import numbers
from memdash.metrics.outcome import ReplayOutcome
from memdash.records import Status

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """What a conversation of n turns takes with one setting, at index n - 1.

    ``cost_usd`` is the sum of what turns 1 to n cost, each as the mean over the scripts that have it (of a script's repeats, the
    mean): adding means of single turns, and not comparing totals of different scripts, keeps the curve from ever falling where
    a script ends. ``counted_tokens`` are the prompt tokens that a rate limit counts, likewise; None where not reported.
    ``scripts`` is how many scripts have the n-th turn.
    """

    series: str
    strategy: str
    simulated: bool
    simulator_only: bool
    cost_usd: Floats
    counted_tokens: Floats | None
    scripts: NDArray[np.int64]

    @property
    def longest(self) -> int:
        """The longest conversation that was replayed, in turns."""
        return int(self.cost_usd.size)

    def cost_of(self, turns: int) -> float:
        """Return what a conversation of this length costs; one longer than any replayed counts as the longest."""
        return float(self.cost_usd[min(turns, self.longest) - 1])


class LeftOut(NamedTuple):
    """A setting without a curve, and why, in words that follow its name."""

    series: str
    reason: str


class Curves(NamedTuple):
    """The curve of every setting whose replays are all finished and priced, and the settings left out."""

    curves: tuple[Curve, ...]
    left_out: tuple[LeftOut, ...]


def cost_curves(outcomes: Iterable[ReplayOutcome]) -> Curves:
    """Return the curves of a comparison's settings, in the order they first appear.

    A setting has none unless each of its replays played all turns: of one that was cut short the cheap start would be all that
    is known.
    """
    groups: dict[str, list[ReplayOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.series, []).append(outcome)
    curves: list[Curve] = []
    left_out: list[LeftOut] = []
    for series, group in groups.items():
        reason = _reason(group)
        if reason:
            left_out.append(LeftOut(series, reason))
        else:
            curves.append(_curve(series, group))
    return Curves(tuple(curves), tuple(left_out))


def mean_turns(scripts: Iterable[Sequence[Floats]]) -> tuple[Floats, NDArray[np.int64]]:
    """Return the mean of each turn over the scripts that have it, and how many have it.

    Each script is given as the turns of its repeats, which count as one by their mean.
    """
    means = [
        np.mean(np.vstack([one[: min(map(len, repeats))] for one in repeats]), axis=0) for repeats in scripts
    ]
    longest = max((one.size for one in means), default=0)
    total, present = np.zeros(longest), np.zeros(longest, dtype=np.int64)
    for one in means:
        total[: one.size] += one
        present[: one.size] += 1
    return total / np.maximum(present, 1), present


def _reason(group: Sequence[ReplayOutcome]) -> str | None:
    unfinished = [one for one in group if not one.done]
    if unfinished:
        rejected = sum(one.status is Status.REJECTED for one in unfinished)
        what = "refused by the API" if rejected == len(unfinished) else "not finished"
        return f"{numbers.part(len(unfinished), len(group))} replays {what}"
    if any(not one.turns.turn.size for one in group):
        return "its turns are not known"
    if any(np.isnan(one.turns.cost_usd).any() for one in group):
        return "a price or a token count is not known"
    return None


def _curve(series: str, group: Sequence[ReplayOutcome]) -> Curve:
    scripts: dict[str, list[ReplayOutcome]] = {}
    for one in group:
        scripts.setdefault(one.script, []).append(one)
    cost, present = mean_turns([one.turns.cost_usd for one in repeats] for repeats in scripts.values())
    counted, _ = mean_turns([one.turns.counted_tokens for one in repeats] for repeats in scripts.values())
    first = group[0]
    return Curve(
        series=series,
        strategy=first.strategy,
        simulated=first.provider == "simulator",
        simulator_only=any(one.simulator_only for one in group),
        cost_usd=np.cumsum(cost),
        counted_tokens=None if np.isnan(counted).any() else np.cumsum(counted),
        scripts=present,
    )
