"""What the page *Side by side* shows of the chosen replays, read once for each state of the store and for all sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from memdash.choosing import comparison_of, read_choice
from memdash.metrics import ReplayResult
from memdash.metrics.side_by_side import Chosen, Delta, against_baseline, counterparts, letters, named
from memdash.metrics.unlike import Unlike, unlike
from memdash.palette import Style, assign_apart
from memdash.store import StoredComparison
from memdash.views.state import services

_KEPT_IN_MEMORY: Final = 16


@dataclass(frozen=True, slots=True)
class ChosenView:
    """The chosen replays under names that tell them apart.

    ``letters`` and ``comparisons`` are by the id of their comparisons, and of the baseline's where that is held against them;
    ``missing`` are the replays that are not here.
    """

    chosen: Sequence[Chosen]
    results: Sequence[ReplayResult]
    letters: Mapping[str, str]
    comparisons: Mapping[str, StoredComparison]
    styles: Mapping[str, Style]
    unlike: Sequence[Unlike]
    deltas: Sequence[Delta]
    missing: Sequence[str]

    @property
    def scripts(self) -> dict[str, str]:
        """The titles of their scripts, by id."""
        return {one.spec.script.id: one.spec.script.title for one in self.chosen}

    @property
    def over(self) -> bool:
        """Whether nothing more will come of its own accord."""
        return all(one.status.over for one in self.results)

    @property
    def changes(self) -> dict[str, float | None]:
        """The cost of each against the full history of its own comparison, by replay id."""
        return {one.spec.id: one.against_full for one in self.chosen}


def chosen_view(replay_ids: Sequence[str], baseline: str | None) -> ChosenView:
    """Return the chosen replays as they stand, held against those of the comparison ``baseline`` where there is one.

    Raises :class:`~memdash.errors.StoreError` where the store cannot be read.
    """
    store = services().store
    comparisons = dict.fromkeys(comparison_of(one) for one in replay_ids)
    versions = tuple((one, store.version(one)) for one in [*comparisons, *([baseline] if baseline else [])])
    return _view(str(store.path), tuple(replay_ids), baseline, versions)


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _view(
    path: str, replay_ids: tuple[str, ...], baseline: str | None, versions: tuple[tuple[str, int], ...]
) -> ChosenView:
    """``path`` and ``versions`` are what makes two readings different; neither is read here."""
    store = services().store
    chosen, missing = read_choice(store, replay_ids)
    base = store.comparison(baseline).replays if baseline else ()
    pairs = counterparts((one.spec for one in chosen), base)
    shown = {one.spec.id for one in chosen}
    others = [one for one in dict.fromkeys(pairs.values()) if one not in shown]
    known = [*chosen, *(read_choice(store, others).chosen if others else ())]
    names = named(known)
    return ChosenView(
        chosen=chosen,
        results=names[: len(chosen)],
        letters=letters(known),
        comparisons={one: store.comparison(one) for one in letters(known)},
        styles=assign_apart((one.series, one.strategy) for one in names),
        unlike=unlike(known, {one.id: one.label for one in names}),
        deltas=against_baseline(chosen, pairs, known, names) if baseline else (),
        missing=missing,
    )
