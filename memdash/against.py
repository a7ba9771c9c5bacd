"""A stored comparison held against another one, its money at the other's prices where they have changed since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from memdash import report

if TYPE_CHECKING:
    from memdash.metrics.changes import Changes
    from memdash.prices import ModelPrice
    from memdash.store.protocol import AnyStore

Comparison = Mapping[str, Any]
"""The object of the JSON contract."""


class Against(NamedTuple):
    """A comparison as it is held against an earlier one, and what changed.

    ``after`` counts its money at the prices of ``before``, ``charged`` at its own; they are one object where no price changed.
    """

    before: Comparison
    after: Comparison
    charged: Comparison
    changes: Changes


def held_against(store: AnyStore, charged: Comparison, before: Comparison) -> Against:
    """Hold a stored comparison (``charged``, as :func:`memdash.report.read` gives it) against ``before``.

    A price that changed is not what a strategy did, so the later side is priced anew from its token counts. Raises
    :class:`~memdash.errors.StoreError` where it cannot be read.
    """
    from memdash.metrics.changes import changes_between
    from memdash.metrics.changes.prices import price_changes

    changed = {one.model for one in price_changes(before, charged) or ()}
    if not changed:
        return Against(before, charged, charged, changes_between(before, charged))
    from memdash.baseline import baseline_prices

    prices = {model: price for model, price in baseline_prices(before).items() if model in changed}
    after = read_at(store, charged["comparison"], prices)
    return Against(before, after, charged, changes_between(before, after, charged=charged))


def read_at(store: AnyStore, comparison_id: str, prices: Mapping[str, ModelPrice]) -> dict[str, Any]:
    """Return a stored comparison as the object of the JSON contract, its money at other prices for some models.

    Raises :class:`~memdash.errors.StoreError` where it is not there or cannot be read.
    """
    from memdash.evidence import evidence_for

    stored = store.comparison(comparison_id)
    evidence = evidence_for(store, stored)
    stored = replace(stored, prices=stored.prices.with_prices(prices))
    with store.at_hand(comparison_id) as near:
        return report.assemble(stored, report.measured(near, stored), evidence)
