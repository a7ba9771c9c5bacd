"""Which settings to play next, after the coarse grid of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memdash.metrics.outcome import ReplayOutcome
from memdash.spec import ComparisonSpec
from memdash.strategies import StrategyChoice


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
    raise NotImplementedError


def why_stopped(spec: ComparisonSpec, outcomes: Sequence[ReplayOutcome], rounds: Sequence[Proposal]) -> str:
    """Say in a sentence why :func:`propose` has nothing more to play."""
    raise NotImplementedError
