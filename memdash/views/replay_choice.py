"""Which replay is looked at: a comparison, and one of its replays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash.errors import StoreError
from memdash.metrics import ReplayResult
from memdash.records import Status
from memdash.spec import ReplaySpec
from memdash.store import ComparisonSummary, StoredComparison
from memdash.views import replay_address
from memdash.views.comparison import view
from memdash.views.components import clip, moment
from memdash.views.state import services

_OFFERED: Final = 100
"""Comparisons offered, the newest; the Library lists all."""


def first_choice() -> str | None:
    """Return the replay to show where none is asked for: of the comparison that was looked at last, else of the newest."""
    wanted = st.session_state.get("comparison")
    known = services().store.comparisons()
    found = next((one for one in known if one.id == wanted), None) or next(
        (one for one in known if not one.sweep), known[0] if known else None
    )
    return None if found is None else telling_replay(found)


def telling_replay(one: ComparisonSummary) -> str | None:
    """Return the replay of a comparison with most to see, the first one of a sweep; None where it is gone."""
    try:
        if one.sweep:  # too many to read them all for this
            return services().store.comparison(one.id).replays[0].id
        results = view(one.id).results
    except StoreError:
        return None
    return most_telling(results).id


def most_telling(results: Sequence[ReplayResult]) -> ReplayResult:
    """Return the one of some replays with most to see: the finished one that kept fewest facts, else the first."""
    over = [result for result in results if result.status is Status.DONE and result.facts_total]
    return min(over, key=_kept_share) if over else results[0]


def look_inside(one: ComparisonSummary) -> None:
    """Go to the replay of a comparison with most to see."""
    if (replay := telling_replay(one)) is not None:
        st.switch_page(replay_address.PAGE, query_params=replay_address.query(replay))


def choose_replay(stored: StoredComparison, spec: ReplaySpec) -> None:
    """Let the person choose another comparison, or another replay of this one."""
    left, right = st.columns(2, gap="small")
    with left:
        _choose_comparison(stored)
    with right:
        _choose_replay(stored.replays, spec)


def name_of(spec: ReplaySpec, among: Sequence[ReplaySpec]) -> str:
    """Return what tells a replay from the others of its comparison."""
    parts = [spec.series]
    if len({one.script.id for one in among}) > 1:
        parts.append(clip(spec.script.title, 60))
    if max(one.repeat for one in among) > 1:
        parts.append(f"repeat {spec.repeat}")
    return " · ".join(parts)


def _kept_share(result: ReplayResult) -> float:
    return (result.kept or 0) / result.facts_total


def _choose_comparison(stored: StoredComparison) -> None:
    offered = {one.id: one for one in services().store.comparisons()[:_OFFERED]}
    ids = list(offered) if stored.id in offered else [stored.id, *offered]

    def words(comparison_id: str) -> str:
        one = offered.get(comparison_id, stored)
        return f"{clip(one.title or one.id, 80)} · {moment(one.created_at)}"

    def chosen() -> None:
        one = offered.get(st.session_state[key])
        replay = telling_replay(one) if one is not None else None
        if replay is not None:
            replay_address.go(replay=replay)

    key = f"replay.comparison.{stored.id}"
    st.selectbox("Comparison", ids, index=ids.index(stored.id), format_func=words, key=key, on_change=chosen)


def _choose_replay(replays: Sequence[ReplaySpec], spec: ReplaySpec) -> None:
    names = {one.id: name_of(one, replays) for one in replays}

    def chosen() -> None:
        replay_address.go(replay=st.session_state[key])

    key = f"replay.replay.{spec.id}"
    ids = list(names)
    st.selectbox(
        "Replay", ids, index=ids.index(spec.id), format_func=names.__getitem__, key=key, on_change=chosen
    )
