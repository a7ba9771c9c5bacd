"""What each replay would have cost: at other prices from its columns, with another cache from its requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memdash.metrics.columns import outcomes_of
from memdash.metrics.ledger import Ledger, added
from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.tokens import total
from memdash.metrics.what_if.terms import Terms
from memdash.prices import PriceTable
from memdash.records import Purpose, RequestRecord
from memdash.replay_columns import ReplayColumns
from memdash.spec import ReplaySpec


@dataclass(frozen=True, slots=True)
class Repriced:
    """A replay on other terms: its cost and how it would have used the cache; ``problem`` says why its cost is not known.

    Token counts are those of its turns, tool rounds and summaries, as in its result; probes are left out.
    """

    charged: ReplayOutcome
    cost_usd: float | None
    input_tokens: int | None
    cache_creation_input_tokens: int | None
    cache_read_input_tokens: int | None
    problem: str | None = None


def as_charged(
    columns: ReplayColumns, replays: Sequence[ReplaySpec], prices: PriceTable
) -> tuple[ReplayOutcome, ...]:
    """Return what every replay came to at the prices it ran with."""
    return outcomes_of(columns, replays, prices)


def at_prices(
    charged: Sequence[ReplayOutcome], columns: ReplayColumns, replays: Sequence[ReplaySpec], terms: Terms
) -> dict[str, Repriced]:
    """Return every replay at the prices of ``terms``, its tokens as they were, by its id."""
    priced = {one.id: one for one in outcomes_of(columns, replays, terms.prices)}
    over = _over_the_window(columns, replays, terms)
    repriced = {}
    for spec, before in zip(replays, charged, strict=True):
        problem = over.get(spec.id)
        if spec.model in terms.foreign:
            problem = f"{spec.model} counts tokens by another tokenizer than {terms.question.model}"
        cost = priced[spec.id].cost_usd if problem is None else None
        if cost is None and problem is None and before.cost_usd is not None:
            problem = "there was no price for a model that answered"
        repriced[spec.id] = Repriced(
            before,
            cost,
            before.input_tokens,
            before.cache_creation_input_tokens,
            before.cache_read_input_tokens,
            problem,
        )
    return repriced


def with_requests(repriced: Repriced, requests: Iterable[RequestRecord], terms: Terms) -> Repriced:
    """Return a replay with the cost and the buckets of ``requests``, which took the place of its own."""
    ledger = Ledger.of(requests, terms.prices)
    buckets = total(ledger.usages())
    purposes = (Purpose.TURN, Purpose.TOOL, Purpose.SUMMARY)
    return replace(
        repriced,
        cost_usd=added(ledger.spent(one) for one in purposes),
        input_tokens=buckets.input_tokens,
        cache_creation_input_tokens=buckets.cache_creation_input_tokens,
        cache_read_input_tokens=buckets.cache_read_input_tokens,
    )


def _over_the_window(columns: ReplayColumns, replays: Sequence[ReplaySpec], terms: Terms) -> dict[str, str]:
    """Say of each replay whether one of its prompts does not fit the window of the model that takes its own's place."""
    requests = columns.requests
    usages = requests.usages
    sizes = (
        usages.input_tokens.value
        + usages.cache_creation_input_tokens.value
        + usages.cache_read_input_tokens.value
    )
    places = {replay: place for place, replay in enumerate(columns.ids)}
    probe = np.array([one is Purpose.PROBE for one in Purpose])[requests.purpose]
    over = {}
    for spec in replays:
        other = terms.stand_ins.get(spec.model)
        if other is None or spec.id not in places:
            continue
        own = (requests.replay[usages.request] == places[spec.id]) & ~probe[usages.request]
        too_long = np.flatnonzero(own & (sizes > other.context_window))
        if too_long.size:
            first = int(too_long[0])
            turn = int(requests.turn[usages.request[first]])
            over[spec.id] = (
                f"the prompt of turn {turn} has {int(sizes[first]):,} tokens, and {other.id} takes {other.context_window:,}"
            )
    return over
