"""What the pages show of one comparison: its numbers, read once for each state of the store and shared by all sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st

from memdash import numbers, report
from memdash.metrics import (
    ReplayResult,
    SeriesSummary,
    comparison_json,
    cost_against_full_history,
    measure_all,
    settings_json,
    summarise,
)
from memdash.palette import Style, assign
from memdash.prices import PriceTable
from memdash.records import Status
from memdash.replay_log import ReplayLog
from memdash.scripts import Script
from memdash.spec import Provider
from memdash.store import StoredComparison
from memdash.views.state import services

_KEPT_IN_MEMORY: Final = 24


@dataclass(frozen=True, slots=True)
class View:
    """A comparison as it stands; ``changes`` is each replay's cost against full history, by replay id."""

    stored: StoredComparison
    logs: Sequence[ReplayLog]
    results: Sequence[ReplayResult]
    changes: Mapping[str, float | None]
    styles: Mapping[str, Style]

    @property
    def title(self) -> str:
        """Its title, or one made of what was compared."""
        return title_of(self.stored.title, [one.series for one in self.results], self.script_ids)

    @property
    def scripts(self) -> tuple[Script, ...]:
        """Its scripts."""
        return self.stored.spec.scripts

    @property
    def script_ids(self) -> tuple[str, ...]:
        """The ids of its scripts."""
        return tuple(one.id for one in self.scripts)

    @property
    def over(self) -> bool:
        """Whether nothing more will come of its own accord."""
        return all(one.status.over for one in self.results)

    @property
    def live(self) -> bool:
        """Whether a real server answered."""
        return self.stored.spec.provider is Provider.ANTHROPIC

    @property
    def token_counters(self) -> tuple[str, ...]:
        """What counted the tokens."""
        return tuple(dict.fromkeys(one.token_counter for one in self.stored.replays))

    @property
    def resumable(self) -> bool:
        """Whether some of it was interrupted."""
        return any(one.status is Status.INTERRUPTED for one in self.results)

    def of_script(self, script: str | None) -> list[ReplayResult]:
        """The replays of one script, or all."""
        return [one for one in self.results if script in (None, one.script)]

    def summaries(self, script: str | None) -> tuple[SeriesSummary, ...]:
        """The series over the replays of one script, or over all."""
        return summarise(self.of_script(script))


def view(comparison_id: str) -> View:
    """Return a comparison as it stands in the store. Raises :class:`StoreError` where it is not there."""
    store = services().store
    return _view(str(store.path), comparison_id, store.version(comparison_id))


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _view(path: str, comparison_id: str, version: int) -> View:
    """``path`` and ``version`` are what makes two readings different; neither is read here."""
    store = services().store
    stored = store.comparison(comparison_id)
    logs = store.replay_logs(comparison_id)
    results = measure_all(logs, PriceTable.load())
    return View(
        stored=stored,
        logs=logs,
        results=results,
        changes={one.id: cost_against_full_history(one, results) for one in results},
        styles=assign((one.series, one.strategy) for one in results),
    )


def title_of(title: str, series: Sequence[str], scripts: Sequence[str]) -> str:
    """Return ``title``, or where none was given what was compared, in words."""
    if title:
        return title
    what = numbers.listing(list(dict.fromkeys(series)), limit=5)
    return f"{what[:1].upper()}{what[1:]} on {numbers.listing(list(dict.fromkeys(scripts)), limit=3)}"


def file_of(comparison_id: str, ending: str) -> bytes:
    """Return a comparison as a file of this ending (``.json``, ``.csv`` or ``.parquet``)."""
    shown = view(comparison_id)
    make = report.format_of(Path(f"comparison{ending}"))
    return make(
        comparison_json(
            shown.results,
            comparison=comparison_id,
            title=shown.title,
            created_at=shown.stored.created_at,
            settings=settings_json(shown.stored.spec),
            token_counter=", ".join(shown.token_counters),
            versions=shown.stored.versions,
        )
    )
