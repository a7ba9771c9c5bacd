"""Fact survival: where each fact was in every turn's request, what changed that, and what was answered about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.charts import survival as chart
from memdash.errors import MemdashError
from memdash.inspection.survival import FactLine, cost_per_surviving_fact
from memdash.metrics import ProbeResult
from memdash.records import EventKind
from memdash.views.chart_card import chart_card
from memdash.views.components import problem, theme
from memdash.views.replay_data import fact_lines_of
from memdash.views.replay_panels import Opened
from memdash.views.replay_panels.picking import opens_turn_of_point, opens_turn_of_row

_ABOUT: Final = (
    "Each row starts at the turn that states the fact. A bar shows where its latest value was in the last request of each turn; "
    "we look for its text ourselves, in everything but thinking. A mark is a question, asked when the turn was over from the "
    "memory that was left then. Click a bar or a mark to open its turn."
)
_COST_HELP: Final = (
    "What the replay cost, divided by the facts whose latest value still stands in its last context. Cheap and forgetful is not "
    "cheap: this is what each remembered fact came to."
)


def facts_panel(opened: Opened, turn: int, open_turn: Callable[[int], None]) -> None:
    """Draw the facts of a replay; ``open_turn`` is called with the turn that is clicked."""
    try:
        lines = fact_lines_of(opened)
    except MemdashError as error:
        problem(error, "The facts cannot be followed")
        return
    _figures(opened, lines, turn)
    key = f"facts.{opened.log.spec.id}"
    chart_card(
        chart.fact_survival(lines, theme(), turn),
        chart.title(lines),
        chart.alt(lines),
        key=f"{key}.chart",
        about=_ABOUT,
        on_select=opens_turn_of_point(f"{key}.chart", open_turn),
    )
    if lines:
        _table(lines, f"{key}.table", open_turn)
    if any(one.event is EventKind.CLEAR for one in opened.log.events):
        st.caption(
            ":material/info: What the API cleared from its own reading of a request was sent, but no model saw it, so it is "
            "not counted as visible. The API says how many tool results it cleared; by its rule they are the oldest."
        )


def _figures(opened: Opened, lines: Sequence[FactLine], turn: int) -> None:
    """What is in sight now, what is left in the end, and what each fact that is left cost."""
    result = opened.result
    stated = [line for line in lines if line.at(turn) is not None]
    visible = [line for line in stated if (at := line.at(turn)) is not None and at.there]
    cost = cost_per_surviving_fact(result.cost_usd, result.kept)
    with st.container(horizontal=True, gap="small"):
        st.metric(f"Visible in turn {turn}", numbers.part(len(visible), len(stated)), border=True)
        early = result.status.over and not result.done
        st.metric(
            "Kept when it ended early" if early else "Kept in the end",
            numbers.part(result.kept, result.facts_total),
            border=True,
        )
        st.metric(
            "Cost per surviving fact, partial" if early else "Cost per surviving fact",
            numbers.usd(cost) if result.kept else numbers.NOTHING,
            border=True,
            help=_COST_HELP if result.kept != 0 else f"{_COST_HELP} No fact survived here.",
        )


def _table(lines: Sequence[FactLine], key: str, open_turn: Callable[[int], None]) -> None:
    column = st.column_config
    st.dataframe(
        {
            "Fact": [line.fact.id for line in lines],
            "Stated": [", ".join(map(str, line.stated)) for line in lines],
            "Lost": [None if line.lost is None else min(line.lost.turn, line.through) for line in lines],
            "What became of it": [chart.path_in_words(line) for line in lines],
            "Asked": [" · ".join(map(_asked, line.probes)) or numbers.NOTHING for line in lines],
        },
        column_config={
            "Fact": column.TextColumn("Fact", width=130, pinned=True),
            "Stated": column.TextColumn("Stated in turn", width=104),
            "Lost": column.NumberColumn(
                "Lost since",
                width=84,
                format="turn %d",
                help="The first turn whose request no longer holds its latest value.",
            ),
            "What became of it": column.TextColumn(width="large"),
            "Asked": column.TextColumn("Questions and answers", width="large"),
        },
        hide_index=True,
        placeholder=numbers.NOTHING,
        key=key,
        height="content" if len(lines) <= 12 else 460,
        on_select=opens_turn_of_row(
            key, [min(line.changes[-1].turn, line.through) for line in lines], open_turn
        ),
        selection_mode="single-row",
        alt="Each fact with the turn that stated it, what became of it, and the answers to its questions",
    )
    st.caption("Pick a row to open the turn of the fact's last change.")


def _asked(probe: ProbeResult) -> str:
    verdict = "right" if probe.passed else "outdated" if probe.stale else "wrong"
    if not probe.is_test:
        verdict = f"{verdict}, not a test"
    return f"after turn {probe.asked_after}, {verdict}: {probe.answer}"
