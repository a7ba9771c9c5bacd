"""What the pages show of one comparison: its numbers, read once for each state of the store and shared by all sessions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import streamlit as st

from memdash import report
from memdash.following import Follower
from memdash.metrics import ReplayResult, SeriesSummary, costs_against_full_history, summarise
from memdash.palette import Style, assign
from memdash.progress import RunProgress
from memdash.replay_log import ReplayLog, ReplayOutline
from memdash.scripts import Script
from memdash.spec import Provider
from memdash.store import StoredComparison
from memdash.views.evidence import basis_of
from memdash.views.shelf import shelf_of
from memdash.views.state import services
from memdash.worker import RESUMABLE

T = TypeVar("T")

_KEPT_IN_MEMORY: Final = 24


@dataclass(frozen=True, slots=True)
class View:
    """A comparison as it stands at a version of the store; ``changes`` is each replay's cost against full history, by its id."""

    stored: StoredComparison
    outlines: Sequence[ReplayOutline]
    results: Sequence[ReplayResult]
    changes: Mapping[str, float | None]
    styles: Mapping[str, Style]
    version: int

    @property
    def title(self) -> str:
        """Its title."""
        return self.stored.title or self.stored.id

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
    def token_counter(self) -> str:
        """What counted the tokens, where the simulator did."""
        return report.token_counter(self.stored)

    @property
    def basis(self) -> str:
        """What its numbers rest on; stands wherever they are shown."""
        return basis_of(self.stored)

    @property
    def resumable(self) -> list[ReplayResult]:
        """The replays that can go on from where they stopped."""
        return [one for one in self.results if one.status in RESUMABLE]

    @property
    def progress(self) -> RunProgress:
        """Where its replays stand together."""
        tokens = [one.prompt_tokens or 0 for one in self.results]
        spent = [one.cost_usd for one in self.results if one.cost_usd is not None]
        return RunProgress(
            replays=len(self.results),
            over=sum(one.status.over for one in self.results),
            turn=sum(one.turns_completed for one in self.results),
            turns=sum(one.turns_planned for one in self.results),
            prompt_tokens=sum(tokens),
            cost_usd=sum(spent),
        )

    def keep(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return what was made of this under ``name``, made first where nobody has asked for it yet."""
        return shelf_of(self.stored.id).take(self.version, name, make)

    def of_script(self, script: str | None) -> list[ReplayResult]:
        """The replays of one script, or all."""
        return [one for one in self.results if script in (None, one.script)]

    def summaries(self, script: str | None) -> tuple[SeriesSummary, ...]:
        """The series over the replays of one script, or over all."""
        return summarise(self.of_script(script))


def view(comparison_id: str) -> View:
    """Return a comparison as it stands in the store. Raises :class:`StoreError` where it is not there."""
    store = services().store
    version = store.version(comparison_id)
    return shelf_of(comparison_id).take(version, "view", lambda: _view(comparison_id, version))


def _view(comparison_id: str, version: int) -> View:
    stored, outlines, results = _follower(str(services().store.path), comparison_id).read()
    return View(
        stored=stored,
        outlines=outlines,
        results=results,
        changes=costs_against_full_history(results),
        styles=assign((one.series, one.strategy) for one in results),
        version=version,
    )


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _follower(path: str, comparison_id: str) -> Follower:
    """``path`` tells the comparisons of two databases apart."""
    return Follower(services().store, comparison_id)


def logs_of(shown: View) -> list[ReplayLog]:
    """Return everything that has happened in the replays of a comparison; reading it takes longer than its numbers."""
    return _follower(str(services().store.path), shown.stored.id).logs(shown.stored.replays)


def file_of(comparison_id: str, ending: str, *, redact: bool = False) -> bytes:
    """Return a comparison as a file of this ending; ``redact`` leaves out all conversation text."""
    return report.made(services().store, comparison_id, ending, redact=redact)
