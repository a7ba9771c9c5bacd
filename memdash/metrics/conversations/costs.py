"""What your conversations cost, by setting: the lengths you have, priced by the turns that were replayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memdash import numbers
from memdash.metrics.conversations.curves import Curve, Curves, LeftOut
from memdash.metrics.conversations.lengths import Lengths
from memdash.metrics.conversations.pairs import BreakEven, break_evens
from memdash.metrics.conversations.traffic import DAYS_A_MONTH, Traffic
from memdash.metrics.summary import BASELINE


@dataclass(frozen=True, slots=True)
class ConversationCosts:
    """What the conversations cost with one setting, in US dollars.

    The percentiles are those of the lengths: p95 is what the conversation costs that is longer than 95 % of them; how far
    scripts of one length differ is not in them. ``per_month_usd`` is for 30 days, None where the number of conversations is not
    given. ``peak_tokens_per_minute`` are the input tokens that count against a rate limit in a mean
    minute of the peak hour (conversations that begin in it, with all their turns); single minutes are above it.
    ``of_limit`` is their share of the limit. None is "not given" or "not reported".
    """

    series: str
    strategy: str
    simulator_only: bool
    mean_usd: float
    p50_usd: float
    p95_usd: float
    p99_usd: float
    per_thousand_usd: float
    per_month_usd: float | None
    counted_tokens: float | None
    peak_tokens_per_minute: float | None
    of_limit: float | None


class Support(NamedTuple):
    """How many of the scripts the turns from ``first`` to ``last`` rest on."""

    first: int
    last: int
    scripts: int


@dataclass(frozen=True, slots=True)
class Conversations:
    """Your conversations with every setting.

    ``longest_turns`` is the longest conversation that was replayed and ``share_longer`` the share of yours that are longer: they
    are counted as that long, so what they cost is told too low. ``left_out`` are settings that nothing can be said of.
    """

    traffic: Traffic
    costs: tuple[ConversationCosts, ...]
    break_even: tuple[BreakEven, ...]
    left_out: tuple[LeftOut, ...]
    support: tuple[Support, ...]
    longest_turns: int
    share_longer: float
    simulated: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers must know, a sentence each."""
        return tuple(_notes(self))

    @property
    def findings(self) -> tuple[str, ...]:
        """What the numbers say, a sentence each."""
        return tuple(_findings(self))


def conversation_costs(curves: Curves, traffic: Traffic) -> Conversations:
    """Return what the conversations of ``traffic`` cost with every setting that has a curve."""
    known = curves.curves
    longest = min((curve.longest for curve in known), default=0)
    return Conversations(
        traffic=traffic,
        costs=tuple(_costs(curve, traffic) for curve in known),
        break_even=break_evens(known),
        left_out=curves.left_out,
        support=_support(known),
        longest_turns=longest,
        share_longer=traffic.lengths.share_above(longest),
        simulated=any(curve.simulated for curve in known),
    )


def _costs(curve: Curve, traffic: Traffic) -> ConversationCosts:
    lengths = traffic.lengths
    mean = _mean(lengths, curve.cost_usd)
    counted = None if curve.counted_tokens is None else _mean(lengths, curve.counted_tokens)
    # Cost rises with the length, so the percentiles of the one are those of the other.
    p50, p95, p99 = (curve.cost_of(lengths.quantile(share)) for share in (0.50, 0.95, 0.99))
    begun = traffic.peak_per_minute
    peak = None if begun is None or counted is None else begun * counted
    limit = traffic.tokens_per_minute
    return ConversationCosts(
        series=curve.series,
        strategy=curve.strategy,
        simulator_only=curve.simulator_only,
        mean_usd=mean,
        p50_usd=p50,
        p95_usd=p95,
        p99_usd=p99,
        per_thousand_usd=1000 * mean,
        per_month_usd=None if traffic.per_month is None else traffic.per_month * mean,
        counted_tokens=counted,
        peak_tokens_per_minute=peak,
        of_limit=None if peak is None or limit is None else peak / limit,
    )


def _mean(lengths: Lengths, so_far: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The mean over the conversations of an amount that is known up to each turn."""
    return float(so_far[np.minimum(lengths.turns, so_far.size) - 1] @ lengths.shares)


def _support(curves: Sequence[Curve]) -> tuple[Support, ...]:
    """The stretches of turns that rest on equally many scripts, of the setting that rests on fewest."""
    if not curves:
        return ()
    scripts = min(curves, key=lambda curve: int(curve.scripts.sum())).scripts
    starts = [0, *(np.flatnonzero(np.diff(scripts)) + 1).tolist()]
    ends = [*starts[1:], scripts.size]
    return tuple(
        Support(start + 1, end, int(scripts[start])) for start, end in zip(starts, ends, strict=True)
    )


def _notes(of: Conversations) -> list[str]:
    notes = []
    if of.share_longer > 0 and of.longest_turns:
        turns = numbers.count(of.longest_turns, "turn")
        notes.append(
            f"{numbers.percent(of.share_longer)} of your conversations are longer than the longest script, {turns}: counted as "
            f"{of.longest_turns}, so they cost more than this says."
        )
    if len(of.support) > 1:
        most = of.support[0].scripts
        thin = [one for one in of.support[1:] if of.traffic.lengths.share_above(one.first - 1) > 0]
        notes += [
            f"Turns {one.first} to {one.last} rest on {one.scripts} of {numbers.count(most, 'script')}."
            for one in thin
        ]
    if of.traffic.per_day is not None:
        notes.append(f"A month is {DAYS_A_MONTH} days.")
    notes += [f"{one.series} is left out: {one.reason}." for one in of.left_out[:_MOST_TOLD]]
    if len(of.left_out) > _MOST_TOLD:
        notes.append(f"{len(of.left_out) - _MOST_TOLD} more settings are left out.")
    return notes


_MOST_TOLD = 4


def _findings(of: Conversations) -> list[str]:
    ranked = [one for one in of.costs if not one.simulator_only] or list(of.costs)
    if not ranked:
        return []
    cheapest = min(ranked, key=lambda one: one.mean_usd)
    baselines = [
        one for one in ranked if one.strategy == BASELINE
    ]  # one for each model: no one is the measure of all
    sentences = [_cheapest(cheapest, baselines[0] if len(baselines) == 1 else None)]
    limit = of.traffic.tokens_per_minute
    over = [one.series for one in of.costs if one.of_limit is not None and one.of_limit > 1]
    known = [one.of_limit for one in of.costs if one.of_limit is not None]
    if limit is not None and known:
        words = (
            f"{numbers.listing(over)} would be over the limit of {numbers.tokens(limit)} input tokens a minute in the peak hour"
            if over
            else f"Every setting stays under the limit of {numbers.tokens(limit)} input tokens a minute in the peak hour"
        )
        sentences.append(
            f"{words} (at most {numbers.percent(max(known))} of it, in a mean minute; cache reads do not count)."
        )
    return sentences


def _cheapest(cheapest: ConversationCosts, baseline: ConversationCosts | None) -> str:
    cost = numbers.usd(cheapest.mean_usd)
    words = f"For conversations of these lengths {cheapest.series} is the cheapest, at {cost} each"
    if baseline is None or baseline is cheapest:
        return f"{words}; what is forgotten is not in it."
    less = numbers.change(cheapest.mean_usd / baseline.mean_usd - 1) if baseline.mean_usd else numbers.NOTHING
    month = ""
    if cheapest.per_month_usd is not None and baseline.per_month_usd is not None:
        month = f", {numbers.usd(baseline.per_month_usd - cheapest.per_month_usd)} less a month"
    return f"{words} ({less} against full history{month}); what is forgotten is not in it."
