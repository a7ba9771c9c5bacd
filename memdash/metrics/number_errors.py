"""Numbers of replays side by side, simulated and live, with the simulator's error in each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from memdash import numbers
from memdash.metrics.result import ReplayResult
from memdash.metrics.waits import nearest_rank
from memdash.replay_log import ReplayLog


class Number(StrEnum):
    """What is held side by side; token fields have the API's own names."""

    COST = "cost_usd"
    PROMPT = "prompt_tokens"
    INPUT = "input_tokens"
    WRITE_5M = "ephemeral_5m_input_tokens"
    WRITE_1H = "ephemeral_1h_input_tokens"
    READ = "cache_read_input_tokens"
    OUTPUT = "output_tokens"
    KEPT = "kept"
    """The share of the facts whose latest value is in the last context."""
    RECALL = "recall"
    """The share of the probes that were answered right."""
    WAIT_P50 = "wait_p50_ms"
    WAIT_P95 = "wait_p95_ms"
    FIRST_TEXT_P50 = "first_text_p50_ms"
    FIRST_TEXT_P95 = "first_text_p95_ms"

    @property
    def words(self) -> str:
        """What people call it."""
        return _WORDS[self]

    def spelled(self, value: float | None) -> str:
        """Spell a value of it."""
        if self is Number.COST:
            return numbers.usd(value)
        if self in (Number.KEPT, Number.RECALL):
            return numbers.NOTHING if value is None else numbers.percent(value)
        return numbers.seconds(value) if self.value.endswith("_ms") else numbers.tokens(value)

    def spelled_difference(self, value: float | None) -> str:
        """Spell a difference of two values of it, with its sign."""
        if value is None:
            return numbers.NOTHING
        size = abs(value)
        share = self in (Number.KEPT, Number.RECALL)
        spelled = f"{size * 100:.0f} points" if share else self.spelled(size)
        return spelled if not value else f"{'+' if value > 0 else '−'}{spelled}"


_WORDS: Mapping[Number, str] = {
    Number.COST: "cost",
    Number.PROMPT: "prompt tokens",
    Number.INPUT: "uncached input",
    Number.WRITE_5M: "cache writes, 5 minutes",
    Number.WRITE_1H: "cache writes, 1 hour",
    Number.READ: "cache reads",
    Number.OUTPUT: "output",
    Number.KEPT: "kept",
    Number.RECALL: "recall",
    Number.WAIT_P50: "wait p50",
    Number.WAIT_P95: "wait p95",
    Number.FIRST_TEXT_P50: "time to first text p50",
    Number.FIRST_TEXT_P95: "time to first text p95",
}


@dataclass(frozen=True, slots=True)
class NumberError:
    """One number, simulated and live. A side is None where a server did not report it or it cannot be computed."""

    number: Number
    simulated: float | None
    live: float | None

    @property
    def difference(self) -> float | None:
        """How much more the simulator said; None where a side is not known."""
        if self.simulated is None or self.live is None:
            return None
        return self.simulated - self.live

    @property
    def relative(self) -> float | None:
        """The difference as a share of the live value; None where a side is not known, or where only the live value is 0."""
        difference = self.difference
        if difference is None or self.live is None:
            return None
        if difference == 0:
            return 0.0
        return difference / self.live if self.live else None

    @property
    def rank(self) -> tuple[int, float]:
        """What sorts the worst error first: an error without end, then the largest, then what is not known."""
        if self.difference is None:
            return 2, 0.0
        return (0, 0.0) if self.relative is None else (1, -abs(self.relative))


Errors = tuple[NumberError, ...]
"""One error for each number, the worst first."""


class Side(NamedTuple):
    """What was measured of one replay."""

    result: ReplayResult
    log: ReplayLog


Measured = tuple[Side, Side]
"""A simulated replay and the live one that checks it, both finished."""


def errors_of(pairs: Sequence[Measured]) -> Errors:
    """Return the errors over several pairs, the worst first: tokens and money summed, facts, probes and turns pooled."""
    sums: Mapping[Number, Callable[[ReplayResult], float | None]] = {
        Number.COST: lambda one: one.cost_usd,
        Number.PROMPT: lambda one: one.prompt_tokens,
        Number.INPUT: lambda one: one.input_tokens,
        Number.WRITE_5M: lambda one: one.buckets.ephemeral_5m_input_tokens,
        Number.WRITE_1H: lambda one: one.buckets.ephemeral_1h_input_tokens,
        Number.READ: lambda one: one.cache_read_input_tokens,
        Number.OUTPUT: lambda one: one.output_tokens,
    }
    shares: Mapping[Number, Callable[[ReplayResult], tuple[int | None, int]]] = {
        Number.KEPT: lambda one: (one.kept, one.facts_total),
        Number.RECALL: lambda one: (one.recall_passed, one.recall_total),
    }
    simulated = [pair[0].result for pair in pairs]
    live = [pair[1].result for pair in pairs]
    errors = [
        NumberError(number, _sum(map(of, simulated)), _sum(map(of, live))) for number, of in sums.items()
    ]
    errors += [
        NumberError(number, _share(map(of, simulated)), _share(map(of, live)))
        for number, of in shares.items()
    ]
    waits, first_texts = _times(pairs)
    for (p50, p95), times in (
        ((Number.WAIT_P50, Number.WAIT_P95), waits),
        ((Number.FIRST_TEXT_P50, Number.FIRST_TEXT_P95), first_texts),
    ):
        for number, rank in ((p50, 0.50), (p95, 0.95)):
            errors.append(NumberError(number, *(_rank(side, rank) for side in times)))
    return tuple(sorted(errors, key=lambda error: error.rank))


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum; None where a part is not known, since a sum that leaves something out is no total."""
    known = list(values)
    return None if None in known else math.fsum(value for value in known if value is not None)


def _share(parts: Iterable[tuple[int | None, int]]) -> float | None:
    """Parts over wholes, pooled; None where nothing was counted or a part is not known."""
    counted = [(part, whole) for part, whole in parts if whole]
    part = _sum(part for part, _whole in counted)
    return None if part is None or not counted else part / sum(whole for _part, whole in counted)


_Times = tuple[list[float], list[float]]
"""Simulated and live times in milliseconds."""


def _times(pairs: Iterable[Measured]) -> tuple[_Times, _Times]:
    """The waits and the times to the first text of the turns that both sides have: the same turns on both.

    Where one side knows no time to the first text at all, the other's stand alone.
    """
    waits: _Times = ([], [])
    both: _Times = ([], [])
    each: _Times = ([], [])
    for simulated, live in pairs:
        partners = {turn.turn: turn for turn in simulated.log.turns}
        for turn in live.log.turns:
            partner = partners.get(turn.turn)
            if partner is None:
                continue
            sides = ((partner, 0), (turn, 1))
            known = [(one.first_text_ms, side) for one, side in sides if one.first_text_ms is not None]
            for one, side in sides:
                waits[side].append(one.wait_ms)
            for first_text, side in known:
                each[side].append(first_text)
                if len(known) == 2:
                    both[side].append(first_text)
    return waits, both if both[0] else each


def _rank(times: Sequence[float], share: float) -> float | None:
    return nearest_rank(sorted(times), share) if times else None
