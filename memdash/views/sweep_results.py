"""A sweep on the page: the same skeleton while it runs and when it is done; the answer first, its reasons below."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import numbers
from memdash.collecting import uncollected
from memdash.errors import StoreError
from memdash.metrics.result import Mark
from memdash.records import Status
from memdash.views import address
from memdash.views.components import plain
from memdash.views.heading import head, state_line
from memdash.views.opening import cannot_show, problems_of_link
from memdash.views.sweep_advice import advice
from memdash.views.sweep_panels import choose_panel, show_panel
from memdash.views.sweep_view import Reading, SweepView, reading_of, sweep_view

_POLL_SECONDS: Final = 2.0


@uncollected()
def show(comparison_id: str) -> None:
    """Show a sweep; while it runs, look for news every two seconds, and only then."""
    try:
        running = _goes_on(reading_of(comparison_id))
    except StoreError as error:
        cannot_show(error, "sweep")
        return
    st.fragment(_body, run_every=_POLL_SECONDS if running else None, key="sweep")(comparison_id, running)


def _goes_on(reading: Reading) -> bool:
    return not reading.over or reading.progress.refining


@uncollected()
def _body(comparison_id: str, polling: bool) -> None:
    try:
        reading = reading_of(comparison_id)
    except StoreError as error:
        cannot_show(error, "sweep")
        return
    link = st.container()
    with st.container(gap="xsmall"):
        head(reading.stored, lambda: sweep_view(reading, _largest_loss(reading)).to_confirm)
        state_line(reading.stored, reading.progress, reading.resumable, reading.basis)
    shown = sweep_view(reading, _largest_loss(reading))
    advice(shown)
    _refusals(shown)
    show_panel(choose_panel(reading.id), shown)
    st.caption(plain(reading.basis) + ".")
    with link:
        problems_of_link()  # all of them are known by now
    if _goes_on(reading) != polling:
        st.rerun()  # draw the page once more, polling from now on or no longer; what was pressed meanwhile has been done


def _largest_loss(reading: Reading) -> float:
    """What a setting may lose: as the person wants it here, else as the link or the sweep itself says."""
    written = st.session_state.get(address.LOSS)
    return reading.sweep.max_loss if written is None else float(written)


def _refusals(shown: SweepView) -> None:
    """One line on what did not come to its end, so that nobody wonders why a setting is not ranked."""
    ended = {
        status: sum(one.status is status for one in shown.reading.outcomes)
        for status in (Status.REJECTED, Status.FAILED, Status.STOPPED_BY_BUDGET)
    }
    told = [f"{count:,} {str(status).replace('_', ' ')}" for status, count in ended.items() if count]
    if told:
        st.caption(
            f":material/flag: {plain(', '.join(told))} of {len(shown.reading.outcomes):,} replays; their settings are not "
            "ranked. Open one on the Replay page to read why."
        )
    idle = [
        one.series
        for one in shown.analysis.settings
        if set(one.marks.get(Mark.NEVER_FIRES, ())) >= set(one.scripts)
    ]
    if idle:
        threshold, costs = (
            (Mark.NEVER_FIRES.words, "it costs and keeps")
            if len(idle) == 1
            else ("their thresholds were never reached", "they cost and keep")
        )
        st.caption(
            f":material/flag: {plain(numbers.listing(idle, limit=6))}: {threshold}, so {costs} "
            "what full history does (a hollow point in the charts)"
        )
