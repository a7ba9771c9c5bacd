"""What the Replay page shows of one replay: read and computed once for each state of the store, and shared by all sessions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import streamlit as st

from memdash.collecting import uncollected
from memdash.errors import NotStored
from memdash.inspection.losses import Loss, losses, lost_facts, texts_of_losses
from memdash.inspection.survival import Blocks, FactLine, fact_lines, texts_needed
from memdash.inspection.timeline import Timeline, timeline
from memdash.metrics import Controls, measure
from memdash.spec import ReplaySpec, comparison_of
from memdash.views.comparison import logs_of, view
from memdash.views.replay_panels import Opened
from memdash.views.state import services

_KEPT_IN_MEMORY: Final = 12


def opened(replay_id: str) -> Opened:
    """Return a replay as it stands. Raises :class:`~memdash.errors.NotStored` where it is not there."""
    return _opened(*_state(replay_id))


def timeline_of(one: Opened) -> Timeline:
    """Return the timeline of a replay."""
    return _timeline(*_state(one.log.spec.id))


def fact_lines_of(one: Opened) -> tuple[FactLine, ...]:
    """Return what became of each fact of a replay. Raises :class:`~memdash.errors.MemdashError` where its records have gaps."""
    return _fact_lines(*_state(one.log.spec.id))


def losses_of_replay(one: Opened) -> tuple[Loss, ...]:
    """Return what one replay lost, the worst first."""
    return _losses_of_replay(*_state(one.log.spec.id))


def losses_of_comparison(comparison_id: str) -> tuple[Loss, ...]:
    """Return what the replays of a comparison lost, the worst first."""
    store = services().store
    return _losses(str(store.path), comparison_id, store.version(comparison_id))


def _state(replay_id: str) -> tuple[str, str, int]:
    """What makes two readings of a replay different: the database, the replay, and how often its comparison has changed."""
    store = services().store
    return str(store.path), replay_id, store.version(comparison_of(replay_id))


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
@uncollected()
def _opened(path: str, replay_id: str, version: int) -> Opened:
    """Reads this replay alone, and the one that asked the controls of its probes: a sweep has a thousand others."""
    store = services().store
    stored = store.comparison(comparison_of(replay_id))
    spec = next((one for one in stored.replays if one.id == replay_id), None)
    if spec is None:
        raise NotStored(f"there is no replay {replay_id!r}", path)
    log = store.replay_logs(stored.id, [replay_id])[0]
    asking = [one.id for one in stored.replays if _asks_for(one, spec)]
    controls = Controls([log, *(store.replay_outlines(stored.id, asking) if asking else ())])
    return Opened(stored, log, measure(log, stored.prices, controls))


def _asks_for(one: ReplaySpec, spec: ReplaySpec) -> bool:
    """Whether a replay asked the controls that hold for another."""
    same = (one.script.id, one.model, one.repeat) == (spec.script.id, spec.model, spec.repeat)
    return one.controls and same and one.id != spec.id


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _timeline(path: str, replay_id: str, version: int) -> Timeline:
    one = _opened(path, replay_id, version)
    return timeline(one.log, one.result)


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
@uncollected()
def _fact_lines(path: str, replay_id: str, version: int) -> tuple[FactLine, ...]:
    one = _opened(path, replay_id, version)
    return fact_lines(one.log, one.result.probes, _blocks(replay_id, texts_needed(one.log)))


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
@uncollected()
def _losses_of_replay(path: str, replay_id: str, version: int) -> tuple[Loss, ...]:
    one = _opened(path, replay_id, version)
    pairs = [(one.log, one.result)]
    return losses(pairs, _blocks(replay_id, texts_of_losses(pairs)))


@uncollected()
def losses_of_some(comparison_id: str, replays: Collection[str]) -> tuple[Loss, ...]:
    """Return what these replays of a comparison lost, the worst first, reading no others; nothing is kept here.

    Raises :class:`~memdash.errors.MemdashError` where the comparison is not there or records have gaps.
    """
    store = services().store
    stored = store.comparison(comparison_id)
    logs = store.replay_logs(comparison_id, replays)
    asking = [
        one.id
        for one in stored.replays
        if one.id not in replays and any(_asks_for(one, log.spec) for log in logs)
    ]
    controls = Controls([*logs, *(store.replay_outlines(comparison_id, asking) if asking else ())])
    pairs = [(log, measure(log, stored.prices, controls)) for log in logs]
    return losses(pairs, _blocks(logs[0].spec.id, texts_of_losses(pairs))) if logs else ()


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
@uncollected()
def _losses(path: str, comparison_id: str, version: int) -> tuple[Loss, ...]:
    shown = view(comparison_id)
    logs = logs_of(shown) if any(map(lost_facts, shown.results)) else []
    pairs = list(zip(logs, shown.results, strict=False))
    return losses(pairs, _blocks(shown.results[0].id, texts_of_losses(pairs)))


def _blocks(replay_id: str, ids: Sequence[str]) -> Blocks:
    """Blocks with their texts; those of a comparison are shared by its replays, so any one of them will do to ask for them."""
    return Blocks(services().store.blocks(replay_id, ids) if ids else {})
