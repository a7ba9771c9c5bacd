"""A chart in its card: the title and the notes stand outside the figure, where they wrap with the card."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from html import unescape
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

import streamlit as st

from memdash.charts import CONFIG
from memdash.charts.beside_pandas import beside_pandas
from memdash.views.components import plain, theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

T = TypeVar("T")

_FONT: Final = '"Source Sans", "Source Sans 3", system-ui, sans-serif'


class Drawn(NamedTuple):
    """A figure of :mod:`memdash.charts` with its title and its text alternative."""

    figure: go.Figure
    title: str
    alt: str


class Keep(Protocol):
    """Keeps what is made under a name, for as long as what it is made of stands."""

    def __call__(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return what was kept, or make and keep it."""


def made_anew(name: Hashable, make: Callable[[], T]) -> T:
    """Keep nothing."""
    return make()


class _Ready(NamedTuple):
    figure: go.Figure
    note: str
    title: str
    alt: str


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
    _draw(_ready(Drawn(figure, title, alt)), key, about, on_select)


def kept_chart_card(
    keep: Keep, draw: Callable[[], Drawn], key: str, about: str | None = None, of: Hashable = ()
) -> None:
    """Draw a chart that others look at as well: it is drawn for the first of them, and kept.

    ``of`` is what was chosen to be drawn, beside what ``keep`` keeps apart and the theme, which always is.
    """
    _draw(keep(("chart", key, theme(), of), lambda: _ready(draw())), key, about)


def _ready(drawn: Drawn) -> _Ready:
    note = drawn.figure.layout.title.subtitle.text
    beside_pandas(lambda: drawn.figure.update_layout(font_family=_FONT, title=None, margin_t=14))
    return _Ready(drawn.figure, unescape(note.replace("<br>", " ")) if note else "", drawn.title, drawn.alt)


def _draw(ready: _Ready, key: str, about: str | None, on_select: Callable[[], None] | None = None) -> None:
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.markdown(f"**{plain(ready.title)}**", help=about)
        if ready.note:
            st.caption(plain(ready.note))
        st.space("stretch")
        beside_pandas(
            lambda: st.plotly_chart(
                ready.figure,
                theme=None,
                config=dict(CONFIG),
                key=key,
                alt=ready.alt,
                on_select=on_select or "ignore",
                selection_mode="points",
            )
        )
