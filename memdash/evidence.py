"""How far the simulator's numbers can be trusted: the live comparisons in a database that checked simulated ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memdash.answerer import Answerer, recorded_answerer
from memdash.errors import StoreError
from memdash.metrics.confirmation import Confirmation, confirm, wanted
from memdash.records import Status
from memdash.spec import Provider

if TYPE_CHECKING:
    from memdash.store import ComparisonSummary, StoredComparison
    from memdash.store.protocol import AnyStore


class Evidence(NamedTuple):
    """A confirmation, and whether it is of the very comparison whose numbers are shown."""

    confirmation: Confirmation
    own: bool


def evidence_for(store: AnyStore, stored: StoredComparison) -> Evidence | None:
    """Return what is known of the simulator's error in the numbers of a comparison; None where nothing is.

    Its own confirmation counts first: that one is of these scripts, settings and numbers. Without it, the latest of
    another comparison does, but only where that ran under the same version of memdash and the same token counter: an error
    of other rules or of another counter says nothing about these. A live comparison has the confirmation that it is.
    """
    if stored.spec.provider is not Provider.SIMULATOR:
        own = _read(store, stored) if stored.spec.confirms else None
        return Evidence(own, own=True) if own else None
    live = [one for one in store.comparisons() if one.confirms is not None]
    own = _best(store, [one for one in live if one.confirms == stored.id])
    if own is not None:
        return Evidence(own, own=True)
    others = [one for one in live if one.confirms != stored.id and Status.DONE in one.statuses]
    found = _best(store, others, like=stored)
    return Evidence(found, own=False) if found is not None and found.pairs else None


def latest_evidence(store: AnyStore) -> Evidence | None:
    """Return the latest confirmation in the database, for what is said of the simulator as such."""
    live = [one for one in store.comparisons() if one.confirms is not None and Status.DONE in one.statuses]
    found = _best(store, live)
    return Evidence(found, own=False) if found is not None and found.pairs else None


def _best(
    store: AnyStore, candidates: Sequence[ComparisonSummary], like: StoredComparison | None = None
) -> Confirmation | None:
    """The newest confirmation by the live API, else by another server; one with a finished replay before one without."""
    found: Confirmation | None = None
    finished = [one for one in candidates if Status.DONE in one.statuses]
    for candidate in finished or candidates:
        live = store.comparison(candidate.id)
        by_api = recorded_answerer(live.versions) is Answerer.LIVE_API
        if (found is not None and not by_api) or (like is not None and not _alike(store, live, like)):
            continue
        confirmation = _read(store, live)
        if confirmation is not None and by_api:
            return confirmation
        found = found or confirmation
    return found


def _alike(store: AnyStore, live: StoredComparison, like: StoredComparison) -> bool:
    """Whether what ``live`` checked ran under the same rules and with the same token counter as ``like``."""
    try:
        checked = store.comparison(live.spec.confirms or "")
    except StoreError:  # deleted meanwhile: there is nothing to compare with any more
        return False
    return _rules(checked) == _rules(like)


def _rules(stored: StoredComparison) -> tuple[str | None, str | None]:
    estimated = stored.spec.token_counter == "estimate"
    return stored.versions.get("memdash"), None if estimated else stored.versions.get("ctok")


def _read(store: AnyStore, live: StoredComparison) -> Confirmation | None:
    """Hold a live comparison against what it checks; None where that has been deleted."""
    assert live.spec.confirms is not None
    try:
        simulated = store.comparison(live.spec.confirms)
        ids = wanted(simulated.replays, live.replays)
        logs = store.replay_logs(simulated.id, ids)
    except StoreError:
        return None
    found = confirm(
        logs,
        store.replay_logs(live.id),
        live.prices,
        at=live.created_at,
        answered_by=recorded_answerer(live.versions),
    )
    models = {spec.model for spec in live.replays}
    if all(simulated.prices.price(model) == live.prices.price(model) for model in models):
        return found
    note = (
        "prices: they have changed since the simulation, and both sides are counted at those of the live comparison, so what was "
        "simulated costs otherwise on its own page"
    )
    return replace(found, notes=(*found.notes, note))
