"""What a person says of their own conversations: how long, how many, how bunched, and what they may send."""

from __future__ import annotations

import math
from dataclasses import dataclass

from memdash.errors import InputError
from memdash.metrics.conversations.lengths import Lengths

DAYS_A_MONTH = 30
"""What a month is taken as, wherever money is told by the month."""
MAX_PER_DAY = 1e9
MAX_TOKENS_PER_MINUTE = 1e12


@dataclass(frozen=True, slots=True)
class Traffic:
    """The conversations of a product.

    ``per_day`` is how many begin in a day, ``peak_hour_share`` which share of them (0 to 1) falls into the busiest hour, and
    ``tokens_per_minute`` the limit on input tokens: uncached input and cache writes count against it, cache reads do not
    (Messages API, rate limits, of current models). What is None is not computed.
    """

    lengths: Lengths
    per_day: float | None = None
    peak_hour_share: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        """Raise :class:`InputError` where a number is out of range, or lacks another that it needs."""
        for name, value, low, high, what in (
            ("conversations a day", self.per_day, 0.0, MAX_PER_DAY, "a number above 0, at most 1,000,000,000"),
            ("share in the peak hour", self.peak_hour_share, 0.0, 1.0, "a share above 0, at most 1 (10 % is 0.1)"),
            (
                "input tokens per minute", self.tokens_per_minute, 0.0, MAX_TOKENS_PER_MINUTE,
                "a number above 0, at most 1,000,000,000,000",
            ),
        ):  # fmt: skip
            if value is not None and not (math.isfinite(value) and low < value <= high):
                raise InputError(f"{name}: {value:g} is not {what}")
        if self.peak_hour_share is not None and self.peak_hour_share < 1 / 24:
            raise InputError(
                f"share in the peak hour: {self.peak_hour_share:g} is less than 1/24 of the day; the busiest hour has at least "
                "that"
            )
        if self.peak_hour_share is not None and self.per_day is None:
            raise InputError("share in the peak hour: say how many conversations a day there are as well")
        if self.tokens_per_minute is not None and self.peak_hour_share is None:
            raise InputError(
                "input tokens per minute: say how many conversations a day there are and which share of them falls into the "
                "peak hour as well"
            )

    @property
    def per_month(self) -> float | None:
        """Conversations in a month of :data:`DAYS_A_MONTH` days; None where those of a day are not known."""
        return None if self.per_day is None else self.per_day * DAYS_A_MONTH

    @property
    def peak_per_minute(self) -> float | None:
        """Conversations that begin in a minute of the peak hour; None where that is not known."""
        if self.per_day is None or self.peak_hour_share is None:
            return None
        return self.per_day * self.peak_hour_share / 60
