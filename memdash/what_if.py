"""What a stored comparison would have cost on other terms: the store is asked here, the figures are those of the metrics.

Prices are applied to columns of numbers; only where another cache is asked for are requests read again, one replay at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memdash import numbers
from memdash.metrics.what_if import (
    Answer,
    Repriced,
    Terms,
    WhatIf,
    answer_to,
    as_charged,
    at_prices,
    terms_for,
    with_requests,
)
from memdash.prices import PriceTable
from memdash.spec import CacheLifetime, ComparisonSpec, Provider, ReplaySpec, Replies, new_id
from memdash.strategies.families import swept

if TYPE_CHECKING:
    from memdash.store import StoredComparison
    from memdash.store.protocol import AnyStore

_TOGETHER = 100
"""Replays whose requests are in memory at the same time where their blocks are not needed."""


def ask(
    store: AnyStore,
    stored: StoredComparison,
    question: WhatIf,
    ours: PriceTable,
    on_replay: Callable[[float], None] = lambda done: None,
) -> Answer:
    """Return what a comparison would have cost; ``on_replay`` is told the share that is done, from 0 to 1.

    Raises :class:`~memdash.errors.InputError` for what cannot be asked of it
    (:class:`~memdash.metrics.what_if.OtherTokenizer` where it has to be run again instead).
    """
    terms = terms_for(question, stored.prices, stored.replays, ours)
    recached = any(terms.changes_cache(spec) for spec in stored.replays)
    with store.at_hand(stored.id, texts=recached) as near:
        columns = near.columns(stored.id)
        charged = as_charged(columns, stored.replays, stored.prices)
        repriced = at_prices(charged, columns, stored.replays, terms)
        changed = [
            spec for spec in stored.replays if terms.changes_cache(spec) and repriced[spec.id].problem is None
        ]
        if not changed:
            return answer_to(terms, repriced.values())
        found = _Recached()
        for done, one in enumerate(found.each(near, stored, changed, repriced, terms), start=1):
            repriced[one.charged.id] = one
            on_replay(done / len(changed))
    return answer_to(terms, repriced.values(), found.notes())


class _Recached:
    """Replays with another cache, and what is to be said about how far that can be known."""

    def __init__(self) -> None:
        self._requests = 0
        self._resized = 0
        self._charged: list[float] = []
        self._modelled: list[float] = []

    def each(
        self,
        store: AnyStore,
        stored: StoredComparison,
        changed: Sequence[ReplaySpec],
        repriced: dict[str, Repriced],
        terms: Terms,
    ) -> Iterator[Repriced]:
        """Yield each of the ``changed`` replays with what its requests would have read and written."""
        from memdash.replay.recaching import uncached

        uncached_ids = [one.id for one in changed if terms.lifetime(one) is CacheLifetime.OFF]
        for start in range(0, len(uncached_ids), _TOGETHER):
            for log in store.replay_logs(stored.id, uncached_ids[start : start + _TOGETHER]):
                plain = uncached(log.requests)
                yield with_requests(repriced[log.spec.id], plain.requests, terms)
        for spec in changed:
            if terms.lifetime(spec) is not CacheLifetime.OFF:
                yield self._one(store, stored, spec, repriced[spec.id], terms)

    def _one(
        self, store: AnyStore, stored: StoredComparison, spec: ReplaySpec, before: Repriced, terms: Terms
    ) -> Repriced:
        from memdash.replay.recaching import CannotRecache, recache

        journal = store.journal(spec.id)
        try:
            found = recache(spec, journal, terms.lifetime(spec), terms.smallest_prefix)
            as_run = recache(spec, journal, spec.cache) if _is_live(spec) else None
        except CannotRecache as error:
            return Repriced(before.charged, None, None, None, None, str(error))
        self._requests += len(found.requests)
        self._resized += found.resized
        if as_run is not None:
            modelled = sum(stored.prices.request_cost(one) or 0.0 for one in as_run.requests)
            self._modelled.append(modelled)
            self._charged.append(before.charged.cost_usd or 0.0)
        return with_requests(before, found.requests, terms)

    def notes(self) -> list[str]:
        """Say what the other cache rests on."""
        notes = ["Contexts and times are those recorded; the cache follows the rules of the simulator."]
        if self._resized:
            notes.append(
                f"{self._resized:,} of {numbers.count(self._requests, 'request')} are not as long by the token counter at hand "
                "as was charged for: their buckets are in the proportions of our count."
            )
        if self._charged and (charged := math.fsum(self._charged)):
            modelled = math.fsum(self._modelled)
            notes.append(
                f"By the same rules the live replays would have come to {numbers.usd(modelled)} as they ran; the server charged "
                f"for {numbers.usd(charged)} ({numbers.change(modelled / charged - 1)}). A server's own cache promises no hit."
            )
        return notes


def _is_live(spec: ReplaySpec) -> bool:
    return spec.provider is Provider.ANTHROPIC and spec.replies is Replies.FRESH


def run_instead(stored: StoredComparison, model: str) -> ComparisonSpec:
    """Return the comparison that plays the same settings on another model, for one that cannot be priced from what was recorded.

    A sweep's ranges are taken anew, since a share of a context window is another number of tokens there. Raises
    :class:`~memdash.errors.InputError` where it cannot be played.
    """
    spec = stored.spec
    strategies = spec.strategies if spec.sweep is None else swept(spec.sweep.families, (model,)).choices
    return replace(
        spec,
        id=new_id("cmp"),
        title=f"{stored.title or stored.id}, on {model}",
        models=(model,),
        strategies=strategies,
        refined=(),
        confirms=None,
    )
