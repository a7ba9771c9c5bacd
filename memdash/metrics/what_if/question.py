"""What is asked: everything that is not named stays as it was charged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from memdash.spec import CacheLifetime

_CACHES = {
    CacheLifetime.FIVE_MINUTES: "a five-minute cache",
    CacheLifetime.ONE_HOUR: "a one-hour cache",
    CacheLifetime.OFF: "no caching",
}


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The changes to price a comparison with.

    ``model`` takes the place of the models that answered the turns. ``prices`` replace some of the five prices of models, in
    dollars per million tokens. ``cache`` is how long a cache entry lives, ``batch`` the discount of the Batch API, ``as_of`` the
    day whose prices are taken.
    """

    model: str | None = None
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    cache: CacheLifetime | None = None
    batch: bool = False
    as_of: date | None = None

    @property
    def changes_something(self) -> bool:
        """Whether anything is asked at all."""
        return self != WhatIf()

    @property
    def words(self) -> str:
        """The changes in words: ``on claude-opus-5, with a one-hour cache, at batch prices``."""
        parts = [f"on {self.model}"] if self.model else []
        if self.cache is not None:
            parts.append(f"with {_CACHES[self.cache]}")
        if self.as_of is not None:
            parts.append(f"at the prices of {self.as_of.day} {self.as_of:%B %Y}")
        parts += [
            f"with {model} at {', '.join(f'{name} ${price:g}' for name, price in given.items())}"
            for model, given in self.prices.items()
        ]
        if self.batch:
            parts.append("at batch prices")
        return ", ".join(parts)

    @property
    def lead(self) -> str:
        """What a sentence about the answer begins with: ``At these prices``, ``With a one-hour cache``."""
        priced = self.prices or self.batch or self.as_of is not None
        if [self.model is not None, self.cache is not None, bool(priced)].count(True) != 1:
            return "On these terms"
        if self.cache is not None:
            return f"With {_CACHES[self.cache]}"
        return f"On {self.model}" if self.model else "At these prices"
