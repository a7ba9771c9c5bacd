"""Replays chosen from any comparisons, read with what their numbers need and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memdash import report
from memdash.errors import NotStored
from memdash.metrics import BASELINE, Controls, costs_against_full_history, measure
from memdash.metrics.side_by_side import Chosen, Origin
from memdash.spec import ReplaySpec
from memdash.store.protocol import AnyStore
from memdash.store.settings import StoredComparison


class Choice(NamedTuple):
    """The chosen replays, comparison by comparison, and the ids that are not in the store."""

    chosen: tuple[Chosen, ...]
    missing: tuple[str, ...]


def comparison_of(replay_id: str) -> str:
    """Return the id of the comparison that a replay belongs to: the replay's begins with it."""
    return replay_id.rpartition("_")[0]


def read_choice(store: AnyStore, replay_ids: Sequence[str]) -> Choice:
    """Read replays by id. Raises :class:`~memdash.errors.StoreError` where the store cannot be read."""
    wanted: dict[str, list[str]] = {}
    for one in dict.fromkeys(replay_ids):
        wanted.setdefault(comparison_of(one), []).append(one)
    chosen: list[Chosen] = []
    for comparison, ids in wanted.items():
        try:
            stored = store.comparison(comparison)
        except NotStored:
            continue
        chosen += _read(store, stored, ids)
    found = {one.spec.id for one in chosen}
    missing = tuple(one for ids in wanted.values() for one in ids if one not in found)
    return Choice(tuple(chosen), missing)


def _read(store: AnyStore, stored: StoredComparison, ids: Sequence[str]) -> list[Chosen]:
    specs = {one.id: one for one in stored.replays}
    mine = [specs[one] for one in ids if one in specs]
    cells = {_cell(one) for one in mine}
    beside = [
        one.id for one in stored.replays if (one.controls or one.strategy == BASELINE) and _cell(one) in cells
    ]
    outlines = {one.spec.id: one for one in store.replay_outlines(stored.id, [*ids, *beside])}
    controls = Controls(outlines.values())
    results = {one: measure(outline, stored.prices, controls) for one, outline in outlines.items()}
    against_full = costs_against_full_history(list(results.values()))
    origin = Origin(
        comparison=stored.id,
        title=stored.title or stored.id,
        created_at=stored.created_at,
        token_counter=report.token_counter(stored),
        versions=stored.versions,
        prices=stored.prices,
    )
    return [Chosen(origin, one, results[one.id], against_full[one.id]) for one in mine]


def _cell(spec: ReplaySpec) -> tuple[str, str, int]:
    """What a replay shares with those that ask its controls and with the full history that it is measured against."""
    return spec.script.id, spec.model, spec.repeat
