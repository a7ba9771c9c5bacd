"""Background work: when each job was started, ready and put into use, and the wait it avoided."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import charts, numbers
from memdash.charts import background
from memdash.metrics import background_summaries
from memdash.views.chart_card import Drawn, kept_chart_card
from memdash.views.panels import tables
from memdash.views.panels.selection import Selection

_ABOUT: Final = (
    "A thick line is a job at work, a dotted one its memory waiting to be used, and the symbol at the end says what "
    "became of it. Turns are all equally wide, so a job looks shorter in a turn that was followed by a long pause."
)
_AVOIDED_HELP: Final = (
    "What the user would have waited had the memory been made while they wait: how long the job took, less what a turn "
    "was held up for it. Jobs whose memory was never used avoided nothing."
)
_STALE_HELP: Final = (
    "How many turns had ended between the conversation that the job read and the use of its memory. Those turns were "
    "kept beside it as they were."
)


def show(selection: Selection) -> None:
    """Draw the timeline and a row for each strategy."""
    jobs = selection.jobs
    if not jobs:
        with st.container(border=True):
            st.markdown("**Nothing was done in the background**")
            st.caption(
                "Running brief, instant compaction and compaction on demand can work beside the conversation; none of "
                "the picked replays did."
            )
        return
    kept_chart_card(
        selection.keep,
        lambda: Drawn(
            charts.background_work(jobs, selection.styles, selection.theme),
            background.title(jobs),
            background.alt(jobs),
        ),
        key="panel.chart.background",
        about=_ABOUT,
    )
    rows = background_summaries(jobs)
    stalest = [one.stalest_turns for one in rows]
    unused = [one.unused for one in rows]
    columns = [
        tables.counts("Jobs", [one.jobs for one in rows], width=58),
        tables.counts("Used", [one.used for one in rows], width=58),
        tables.counts(
            "Discarded", [one.discarded for one in rows], width=84, help="Failed, empty or cut off."
        ),
        tables.counts("Unused", unused, width=72, help="Replaced by a newer one, or not needed by the end."),
        tables.amount("Stalest, turns", stalest, "%d", _turns, width=104, help=_STALE_HELP),
        tables.seconds("Longest", [one.longest_ms for one in rows], width=76),
        tables.counts("Turns held up", [one.held_up for one in rows], width=102),
        tables.seconds("Held up for", [one.held_up_ms for one in rows], width=90),
        tables.seconds("Wait avoided", [one.avoided_ms for one in rows], width=98, help=_AVOIDED_HELP),
    ]
    alt = f"{numbers.count(len(rows), 'strategy', 'strategies')}: background jobs, what became of them and the wait they avoided"
    with st.container(border=True):
        tables.series_table(selection, [one.series for one in rows], columns, "panel.jobs", alt)


def _turns(count: int | None) -> str:
    return numbers.NOTHING if count is None else str(count)
