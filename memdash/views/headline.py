"""The headline cards: four numbers, each with the strategy it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.metrics import Headline, SeriesSummary, headlines
from memdash.views.components import HELP, plain

_HELP: Final = {
    "cheapest": HELP["cost"],
    "fewest_tokens": HELP["prompt tokens"],
    "best_cache_share": HELP["cached"],
    "longest_wait": HELP["wait"],
}


_NOTE_HEIGHT: Final = 46
"""Two lines, so that a card is as high before there is a result as after."""


def cards(summaries: Sequence[SeriesSummary]) -> None:
    """Draw the four cards in a row that wraps; before the first result they stand there empty, so that nothing moves."""
    found = headlines(summaries)
    with st.grid(4, min_column_width=172, gap="small"):
        for name, help_text in _HELP.items():
            card(getattr(found, name), help_text)


def card(headline: Headline, help_text: str) -> None:
    """Draw one number. The figure comes first, so that the figures of a row stand level where one title needs two lines."""
    with st.container(border=True, gap="xxsmall", height="stretch"):
        st.metric(plain(headline.title), headline.value, label_visibility="collapsed")
        st.caption(plain(headline.title), help=help_text)
        st.markdown(f"**{plain(headline.whose or numbers.NOTHING)}**")
        with st.container(height=_NOTE_HEIGHT, border=False):
            st.caption(plain(headline.note[:1].upper() + headline.note[1:]))
