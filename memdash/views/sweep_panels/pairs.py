"""Settings two by two: which of them differ in cost, and which are a tie as far as the replays can tell."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import numbers
from memdash.metrics.sweep import Estimate, Pair, Verdict
from memdash.views.components import plain
from memdash.views.panels import tables
from memdash.views.sweep_panels.drawing import settings_table
from memdash.views.sweep_view import SweepView

_HELP: Final = (
    "Two settings are compared on the same script and the same repeat, so that what both have in common falls out. "
    "Where the interval of the differences includes 0, the replays cannot tell them apart in cost: a tie."
)
_WORDS: Final = {Verdict.CHEAPER: "cheaper", Verdict.DEARER: "dearer", Verdict.TIE: "tie"}


def show(shown: SweepView) -> None:
    """Draw the table of pairs, ties first."""
    pairs = sorted(
        shown.analysis.pairs, key=lambda one: (one.verdict is not Verdict.TIE, one.other, one.series)
    )
    with st.container(border=True, gap="small"):
        st.markdown("**Pairs and ties**", help=_HELP)
        if not pairs:
            st.caption("Pairs stand here once two settings have been played on every script and repeat.")
            return
        st.caption(plain(_summed_up(pairs)))
        settings_table(
            shown,
            [one.series for one in pairs],
            [
                tables.text("against", [one.other for one in pairs], width=190),
                tables.text("is", [_WORDS[one.verdict] for one in pairs], width=76),
                tables.signed_dollars("Difference", [one.difference_usd.mean for one in pairs], width=110),
                tables.text("95 % interval", [_interval(one.difference_usd) for one in pairs], width=190),
            ],
            key="pairs",
            alt=_summed_up(pairs),
        )


def _summed_up(pairs: list[Pair]) -> str:
    ties = sum(one.verdict is Verdict.TIE for one in pairs)
    alone = any(one.difference_usd.low is None for one in pairs)
    note = " One replay each has no interval: the difference itself decides." if alone else ""
    verb = "is a tie" if ties == 1 else "are ties"
    return f"{numbers.part(ties, len(pairs)) if ties else f'none of {len(pairs)}'} pairs {verb}.{note}"


def _interval(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return numbers.NOTHING
    return numbers.span(found.low, found.high, numbers.usd)
