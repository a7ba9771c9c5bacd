"""A stored comparison as the object of the JSON contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from memdash.report.basis import basis, token_counter

if TYPE_CHECKING:
    from memdash.evidence import Evidence
    from memdash.metrics import ReplayResult
    from memdash.metrics.conversations import Traffic
    from memdash.store import StoredComparison
    from memdash.store.protocol import AnyStore

_TOGETHER = 100
"""How many replays are read and measured in one go."""


def read(
    store: AnyStore, comparison_id: str, traffic: Traffic | None = None, *, redact: bool = False
) -> dict[str, Any]:
    """Return a stored comparison as the object of the JSON contract, its money at the prices of when it ran.

    ``traffic`` is what the user's own conversations are like, where that is to be priced as well; ``redact`` leaves out all
    conversation text (:mod:`memdash.report.redaction`). Raises :class:`~memdash.errors.StoreError` where it is not there or
    cannot be read.
    """
    from memdash.evidence import evidence_for
    from memdash.report.redaction import Redaction

    stored = store.comparison(comparison_id)
    evidence = evidence_for(store, stored)
    with store.at_hand(comparison_id) as near:
        results: Iterable[ReplayResult] = measured(near, stored)
        if redact:
            hide = Redaction(stored)
            stored, evidence = hide.comparison, hide.evidence(evidence)
            results = map(hide.result, results)
        return assemble(stored, results, evidence, traffic)


def measured(store: AnyStore, stored: StoredComparison) -> Iterator[ReplayResult]:
    """Yield the numbers of every replay in their order, a few replays held in memory at a time: a sweep has thousands."""
    from memdash.metrics import Controls, measure

    ids = [one.id for one in stored.replays]
    controls = Controls(store.replay_outlines(stored.id, [one.id for one in stored.replays if one.controls]))
    for start in range(0, len(ids), _TOGETHER):
        for outline in store.replay_outlines(stored.id, ids[start : start + _TOGETHER]):
            yield measure(outline, stored.prices, controls)


def assemble(
    stored: StoredComparison,
    results: Iterable[ReplayResult],
    evidence: Evidence | None = None,
    traffic: Traffic | None = None,
) -> dict[str, Any]:
    """Return the object of the JSON contract for a stored comparison from the numbers of its replays.

    ``evidence`` is what is known of the simulator's error in it.
    """
    from memdash.metrics import comparison_json, settings_json
    from memdash.metrics.confirmation import confirmation_json
    from memdash.metrics.contract import Refined

    return comparison_json(
        results,
        comparison=stored.id,
        title=stored.title,
        created_at=stored.created_at,
        settings=settings_json(stored.spec),
        token_counter=token_counter(stored),
        versions={**stored.versions, "rules": basis(stored, evidence)},
        specs=stored.replays,
        prices=stored.prices,
        sweep=stored.spec.sweep,
        refined=Refined(stored.spec, stored.refinements),
        traffic=traffic,
        confirmation=confirmation_json(evidence.confirmation) if evidence and evidence.own else None,
    )
