"""The numbers of a replay that are held against another comparison's: where they stand, which way is better, how they read."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from memdash import numbers

Replay = Mapping[str, Any]
"""A replay of the JSON contract."""


class Number(StrEnum):
    """What is compared, by the name of the field that ``--assert`` reads it from."""

    COST = "cost_usd"
    PROMPT = "prompt_tokens"
    INPUT = "input_tokens"
    WRITES = "cache_creation_input_tokens"
    READS = "cache_read_input_tokens"
    OUTPUT = "output_tokens"
    CACHE_SHARE = "cache_share"
    KEPT = "kept"
    """Compared as a share of the facts."""
    RECALL = "recall"
    WAIT_P50 = "wait_ms.p50"
    WAIT_P95 = "wait_ms.p95"
    FIRST_TEXT_P50 = "ttft_ms.p50"
    FIRST_TEXT_P95 = "ttft_ms.p95"
    COMPACTIONS = "compactions"
    REQUESTS = "requests"

    @property
    def words(self) -> str:
        """What people call it."""
        return _WORDS[self]

    @property
    def better(self) -> int:
        """Which way is better: 1 up, -1 down, 0 neither by itself."""
        return _BETTER.get(self, 0)

    @property
    def is_share(self) -> bool:
        """Whether it is a share from 0 to 1."""
        return self in (Number.CACHE_SHARE, Number.KEPT, Number.RECALL)

    @property
    def depends_on_counter(self) -> bool:
        """Whether a simulated value is made of counted tokens; money and modelled times are, too."""
        return self not in (Number.KEPT, Number.RECALL, Number.COMPACTIONS, Number.REQUESTS)

    def of(self, replay: Replay) -> float | None:
        """Return its value in a replay; None where it was not reported, not asked or cannot be computed."""
        if self is Number.KEPT:
            kept, total = replay["kept"], replay["facts_total"]
            return None if kept is None or not total else kept / total
        field, _, part = self.value.partition(".")
        value = replay[field]
        if part:
            value = None if value is None else value[part]
        return None if value is None else float(value)

    def spelled(self, value: float | None) -> str:
        """Spell a value of it; None reads as what its absence means."""
        if self is Number.COST:
            return numbers.usd(value)
        if self in (Number.KEPT, Number.RECALL):
            return numbers.NOTHING if value is None else numbers.percent(value)
        if self is Number.CACHE_SHARE:
            return numbers.percent(value)
        if "_ms." in self.value:
            return numbers.seconds(value)
        if value is not None and value != round(value):  # a mean over repeats
            return f"{value:,.1f}"
        return numbers.tokens(value)

    def spelled_difference(self, value: float | None) -> str:
        """Spell a difference of two values of it, with its sign; shares differ by points."""
        if value is None:
            return numbers.NOTHING
        size = abs(value)
        spelled = _points(size * 100) if self.is_share else self.spelled(size)
        return spelled if not value else f"{'+' if value > 0 else '−'}{spelled}"


def _points(size: float) -> str:
    return f"{size:.1f} points" if size >= 1 else f"{size:.2g} points"


_WORDS: Mapping[Number, str] = {
    Number.COST: "cost",
    Number.PROMPT: "prompt tokens",
    Number.INPUT: "uncached input",
    Number.WRITES: "cache writes",
    Number.READS: "cache reads",
    Number.OUTPUT: "output",
    Number.CACHE_SHARE: "cache share",
    Number.KEPT: "kept",
    Number.RECALL: "recall",
    Number.WAIT_P50: "wait p50",
    Number.WAIT_P95: "wait p95",
    Number.FIRST_TEXT_P50: "time to first text p50",
    Number.FIRST_TEXT_P95: "time to first text p95",
    Number.COMPACTIONS: "compactions",
    Number.REQUESTS: "requests",
}

_BETTER: Mapping[Number, int] = {
    Number.COST: -1,
    Number.PROMPT: -1,
    Number.CACHE_SHARE: 1,
    Number.KEPT: 1,
    Number.RECALL: 1,
    Number.WAIT_P50: -1,
    Number.WAIT_P95: -1,
    Number.FIRST_TEXT_P50: -1,
    Number.FIRST_TEXT_P95: -1,
}
