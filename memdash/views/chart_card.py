"""A chart in its card: the title and the notes stand outside the figure, where they wrap with the card."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import TYPE_CHECKING, Final

import streamlit as st

from memdash.charts import CONFIG
from memdash.views.components import plain

if TYPE_CHECKING:
    import plotly.graph_objects as go

_FONT: Final = '"Source Sans", "Source Sans 3", system-ui, sans-serif'


def chart_card(
    figure: go.Figure,
    title: str,
    alt: str,
    key: str,
    about: str | None = None,
    on_select: Callable[[], None] | None = None,
) -> None:
    """Draw a figure of :mod:`memdash.charts` in a bordered card; ``about`` is what its help mark says.

    ``on_select`` is called when something in it has been clicked, before the page is drawn again.
    """
    note = figure.layout.title.subtitle.text
    figure.update_layout(font_family=_FONT, title=None, margin_t=14)
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.markdown(f"**{plain(title)}**", help=about)
        if note:
            st.caption(plain(unescape(note.replace("<br>", " "))))
        st.space("stretch")
        st.plotly_chart(
            figure,
            theme=None,
            config=dict(CONFIG),
            key=key,
            alt=alt,
            on_select=on_select or "ignore",
            selection_mode="points",
        )
