"""Your conversations, break-even lengths, the floor and the breakdown, as ``contract.schema.json`` describes them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from memdash.metrics.breakdown import breakdown_json, breakdowns
from memdash.metrics.conversations.costs import ConversationCosts, Conversations, conversation_costs
from memdash.metrics.conversations.curves import cost_curves
from memdash.metrics.conversations.floor import Floor, floors, multiples
from memdash.metrics.conversations.pairs import BreakEven, break_evens
from memdash.metrics.conversations.traffic import DAYS_A_MONTH, Traffic
from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.pricing import Prices
from memdash.spec import ReplaySpec
from memdash.tokens import at_hand, counter


def conversation_keys(
    outcomes: Sequence[ReplayOutcome], specs: Sequence[ReplaySpec], prices: Prices, traffic: Traffic | None
) -> dict[str, Any]:
    """Return the keys of the contract that this package answers for.

    ``conversations`` is null where nothing is said of them, ``floor`` where there is none.
    """
    curves = cost_curves(outcomes)
    under = floors(specs, outcomes, prices)
    scripts = {spec.script.id: spec.script for spec in specs}
    return {
        "conversations": None if traffic is None else conversations_json(conversation_costs(curves, traffic)),
        "break_even": break_even_json(break_evens(curves.curves)),
        "floor": floor_json(outcomes, under, _counted_by(specs)) if under else None,
        "breakdown": breakdown_json(breakdowns(outcomes, scripts.values())),
    }


def conversations_json(found: Conversations) -> dict[str, Any]:
    """Return what the conversations cost; null is "not given" or "not reported"."""
    traffic = found.traffic
    lengths = traffic.lengths
    return {
        "lengths": {
            "source": lengths.source,
            "mean_turns": round(lengths.mean, 6),
            **{f"p{level}_turns": lengths.quantile(level / 100) for level in (50, 90, 95, 99)},
            "longest_turns": lengths.longest,
        },
        "conversations_per_day": traffic.per_day,
        "peak_hour_share": traffic.peak_hour_share,
        "tokens_per_minute_limit": traffic.tokens_per_minute,
        "days_a_month": DAYS_A_MONTH,
        "longest_replayed_turns": found.longest_turns,
        "share_longer": round(found.share_longer, 9),
        "simulated": found.simulated,
        "support": [
            {"first_turn": one.first, "last_turn": one.last, "scripts": one.scripts} for one in found.support
        ],
        "settings": [_setting_json(one) for one in found.costs],
        "left_out": [{"label": one.series, "reason": one.reason} for one in found.left_out],
        "findings": list(found.findings),
        "notes": list(found.notes),
    }


def break_even_json(pairs: Iterable[BreakEven]) -> list[dict[str, Any]]:
    """Return every pair of settings whose order of cost changes with the length of the conversation."""
    return [
        {
            "cheaper_when_short": one.short,
            "other": one.other,
            "turns": one.turns,
            "changes": list(one.changes),
            "cheaper_when_long": one.long,
        }
        for one in pairs
    ]


def floor_json(
    outcomes: Sequence[ReplayOutcome], under: Iterable[Floor], token_counter: str
) -> dict[str, Any]:
    """Return the floor by script and conditions, as the mean over its repeats, and every setting as a multiple of it.

    ``token_counter`` is what counted it, which need not be what counted the replays.
    """
    known = tuple(under)
    groups: dict[tuple[str, str, str, str], list[Floor]] = defaultdict(list)
    for one in known:
        groups[one.conditions[:4]].append(one)
    return {
        "token_counter": token_counter,
        "scripts": [
            {
                "script": script,
                "model": model,
                "cache": cache,
                "cache_marks": marks,
                "cost_usd": _usd(math.fsum(one.cost_usd for one in group) / len(group)),
                "full_history_usd": _usd(math.fsum(one.full_history_usd for one in group) / len(group)),
            }
            for (script, model, cache, marks), group in groups.items()
        ],
        "settings": [
            {"label": series, "multiple": None if ratio is None else round(ratio, 9)}
            for series, ratio in multiples(outcomes, known).items()
        ],
    }


def _counted_by(specs: Sequence[ReplaySpec]) -> str:
    """The counter at hand: the replays of a comparison share theirs."""
    return counter(at_hand(specs[0].token_counter)).name


def _setting_json(one: ConversationCosts) -> dict[str, Any]:
    return {
        "label": one.series,
        "strategy": one.strategy,
        "simulator_only": one.simulator_only,
        "mean_usd": _usd(one.mean_usd),
        "p50_usd": _usd(one.p50_usd),
        "p95_usd": _usd(one.p95_usd),
        "p99_usd": _usd(one.p99_usd),
        "per_1000_usd": _usd(one.per_thousand_usd),
        "per_month_usd": _usd(one.per_month_usd),
        "peak_tokens_per_minute": None
        if one.peak_tokens_per_minute is None
        else round(one.peak_tokens_per_minute, 3),
        "of_limit": None if one.of_limit is None else round(one.of_limit, 9),
    }


def _usd(dollars: float | None) -> float | None:
    """To 10⁻¹² dollars, as everywhere in the contract."""
    return None if dollars is None else round(dollars, 12)
