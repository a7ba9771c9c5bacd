"""Which setting to ship, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

from memdash.metrics.sweep.intervals import Estimate
from memdash.metrics.sweep.losses import Basis
from memdash.metrics.sweep.settings import Setting


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The setting to ship for one model, in numbers and words.

    ``baseline`` is the full history it is compared with: the cheapest one of the model. ``saving_usd`` is per conversation
    with its paired interval, ``saving`` the same as a share of the baseline's cost, ``saving_per_month_usd`` for the
    conversations a month that were given. Where ``decisive`` is False, ``caveats`` say why; ``ties`` are further settings that
    qualify and that cost the same as far as the replays can tell. ``headline`` is the answer in one sentence.
    """

    setting: Setting
    baseline: Setting
    saving_usd: Estimate
    saving: float
    saving_per_month_usd: float
    basis: Basis
    decisive: bool
    ties: tuple[str, ...]
    headline: str
    caveats: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The answer with everything that limits it."""
        return " ".join((self.headline, *self.caveats))
