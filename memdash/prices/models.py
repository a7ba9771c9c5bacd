"""What one model costs: five prices, by the size of a request's prompt, since a day, from a source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date

FIELDS = ("input", "write_5m", "write_1h", "read", "output")
"""The five prices of a tier, never derived from each other: what a read costs against an input token differs by model."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Five prices in dollars per million tokens, for requests whose prompt is longer than ``above`` tokens."""

    above: int
    input: float
    write_5m: float
    write_1h: float
    read: float
    output: float


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What one model costs: its tiers from the shortest prompts on, since when, and where that was read.

    ``own`` says that at least one of the prices is the user's own.
    """

    model: str
    tiers: tuple[Tier, ...]
    source: str
    since: date | None = None
    own: bool = False

    def tier(self, prompt_tokens: int) -> Tier:
        """Return the tier that prices every token of a request with a prompt of this size."""
        for tier in reversed(self.tiers):
            if prompt_tokens > tier.above:
                return tier
        return self.tiers[0]

    def changed(self, prices: Mapping[str, float]) -> ModelPrice:
        """Return it with some of its five prices replaced, whatever the size of the prompt."""
        return self._with(lambda name, price: prices.get(name, price))

    def times(self, factor: float) -> ModelPrice:
        """Return it with every price multiplied."""
        return self._with(lambda _name, price: price * factor)

    def _with(self, change: Callable[[str, float], float]) -> ModelPrice:
        tiers = (
            Tier(tier.above, *(change(name, getattr(tier, name)) for name in FIELDS)) for tier in self.tiers
        )
        return replace(self, tiers=tuple(tiers))
