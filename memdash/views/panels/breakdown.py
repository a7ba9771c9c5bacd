"""What is forgotten: by kind of fact, by how long ago it was said, by compactions survived; and what was seen and answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from memdash.charts import breakdown as chart
from memdash.charts import sight
from memdash.charts.breakdown import Outcome
from memdash.metrics.breakdown import CUTS, Breakdown, Cut, breakdowns
from memdash.metrics.outcome import outcome_of
from memdash.views import address
from memdash.views.chart_card import Drawn, Keep, kept_chart_card
from memdash.views.components import HELP, theme
from memdash.views.panels.picking import pick_series
from memdash.views.panels.selection import Selection

_FIRST_CUT: Final[Cut] = "type"
_ABOUT: Final[Mapping[Cut, str]] = {
    "type": "The script says what kind of thing each fact is, or else how its answer is graded.",
    "age": "Turns since the latest value was said, when the question was asked or the conversation ended.",
    "compactions": (
        "Summaries put into use since the latest value was said, one of the same turn included. None means that no summary "
        "stood between the statement and the question."
    ),
}
_SIGHT_HELP: Final = (
    "Visible is whether the fact's latest text was in the context the question was asked of; we look for it ourselves. "
    "Right without it is a guess, or was told by words the fact's pattern does not know; wrong in sight of it was not used."
)
_ANSWERS_HELP: Final = (
    "A stale answer holds a value that a later turn has replaced. Nobody notices that it is old."
)


def show(selection: Selection) -> None:
    """Draw the breakdown of the picked replays of a comparison."""
    scripts = {log.spec.script.id: log.spec.script for log in selection.logs}
    found = selection.keep(
        "breakdowns", lambda: breakdowns([outcome_of(one) for one in selection.results], scripts.values())
    )
    show_breakdown(found, selection.keep, selection.key)


def show_breakdown(found: Sequence[Breakdown], keep: Keep, key: str, preferred: Sequence[str] = ()) -> None:
    """Draw what is forgotten; ``preferred`` are the series to show first where there are many."""
    if not any(one.total.facts or one.total.asked for one in found):
        with st.container(border=True):
            st.markdown("**There is nothing to break down**")
            st.caption("No replay is finished yet, or the script plants no facts.")
        return
    names = [one.series for one in found]
    picked = pick_series([*(name for name in preferred if name in names), *names], f"breakdown.{key}")
    shown = tuple(one for one in found if one.series in picked)
    of = tuple(one.series for one in shown)
    cut = st.segmented_control(
        "Break down by",
        list(CUTS),
        default=address.wanted(address.CUT, CUTS, _FIRST_CUT),
        required=True,
        format_func=lambda one: CUTS[one][0].upper() + CUTS[one][1:],
        key=f"breakdown.cut.{key}",
    )
    address.keep(address.CUT, cut, _FIRST_CUT)
    with st.grid(2, min_column_width=430, gap="small"):
        for outcome, about in ((Outcome.KEPT, HELP["kept"]), (Outcome.RECALL, HELP["recall"])):
            kept_chart_card(
                keep,
                partial(_shares, shown, cut, outcome),
                key=f"panel.chart.breakdown.{outcome.name}.{key}",
                about=f"{about} {_ABOUT[cut]}",
                of=(of, cut),
            )
        kept_chart_card(
            keep, partial(_sight, shown), key=f"panel.chart.sight.{key}", about=_SIGHT_HELP, of=of
        )
        kept_chart_card(
            keep, partial(_answers, shown), key=f"panel.chart.answers.{key}", about=_ANSWERS_HELP, of=of
        )


def _shares(found: Sequence[Breakdown], cut: Cut, outcome: Outcome) -> Drawn:
    return Drawn(
        chart.shares_by_bin(found, cut, outcome, theme()),
        chart.title(found, cut, outcome),
        chart.alt(found, cut, outcome),
    )


def _sight(found: Sequence[Breakdown]) -> Drawn:
    return Drawn(sight.seen_and_right(found, theme()), sight.sight_title(found), sight.sight_alt(found))


def _answers(found: Sequence[Breakdown]) -> Drawn:
    return Drawn(sight.answers(found, theme()), sight.answers_title(found), sight.answers_alt(found))
