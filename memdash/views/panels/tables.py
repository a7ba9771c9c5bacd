"""What the panels' tables share: columns that hold numbers where all are known, and words that say why where one is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol

import streamlit as st

from memdash import numbers
from memdash.palette import Style, Theme
from memdash.views.swatches import swatch

_ROW_HEIGHT: Final = 36
_MANY_ROWS: Final = 14
"""A longer table scrolls within itself."""


class Look(Protocol):
    """How the rows of a table are drawn; ``key`` tells the tables of one comparison from another's."""

    @property
    def styles(self) -> Mapping[str, Style]:
        """The style of each series."""
        ...

    @property
    def theme(self) -> Theme:
        """Which theme the person looks at."""
        ...

    @property
    def key(self) -> str:
        """The comparison's id."""
        ...


class Column(NamedTuple):
    """One column: its heading, its values, how they are shown, and two sentences about it."""

    heading: str
    values: Sequence[Any]
    kind: Any
    width: int
    help: str | None = None


def text(heading: str, values: Sequence[str], *, width: int, help: str | None = None) -> Column:
    """A column of words."""
    return Column(heading, values, st.column_config.TextColumn(heading, width=width, help=help), width, help)


def amount(
    heading: str,
    values: Sequence[float | None],
    format: str,
    spell: Callable[[Any], str],
    *,
    width: int,
    help: str | None = None,
) -> Column:
    """A column of numbers that sort; where one is not known, of words that say so."""
    if any(value is None for value in values):
        config = st.column_config.TextColumn(heading, width=width, help=help, alignment="right")
        return Column(heading, [spell(value) for value in values], config, width, help)
    config = st.column_config.NumberColumn(heading, width=width, help=help, format=format)
    return Column(heading, values, config, width, help)


def tokens(heading: str, values: Sequence[int | None], *, width: int = 96, help: str | None = None) -> Column:
    """A column of token counts."""
    return amount(heading, values, "localized", numbers.tokens, width=width, help=help)


def counts(heading: str, values: Sequence[int], *, width: int = 84, help: str | None = None) -> Column:
    """A column of whole numbers."""
    return amount(heading, values, "localized", str, width=width, help=help)


def dollars(
    heading: str, values: Sequence[float | None], *, width: int = 92, help: str | None = None
) -> Column:
    """A column of US dollars, four decimals throughout so that its figures line up."""
    return amount(heading, values, "$%.4f", numbers.usd, width=width, help=help)


def signed_dollars(
    heading: str, values: Sequence[float | None], *, width: int = 92, help: str | None = None
) -> Column:
    """A column of US dollars that may be below zero; the unit stands in the heading, so that the sign comes first."""
    return amount(f"{heading}, $", values, "%+.4f", numbers.usd, width=width, help=help)


def seconds(
    heading: str, values: Sequence[float | None], *, width: int = 80, help: str | None = None
) -> Column:
    """A column of times given in milliseconds."""
    scaled = [None if value is None else value / 1000 for value in values]
    return amount(
        heading,
        scaled,
        "%.1f s",
        lambda value: numbers.seconds(None if value is None else value * 1000),
        width=width,
        help=help,
    )


def percent(
    heading: str, values: Sequence[float | None], *, width: int = 76, help: str | None = None
) -> Column:
    """A column of shares between 0 and 1."""
    scaled = [None if value is None else value * 100 for value in values]
    return amount(
        heading,
        scaled,
        "%.0f %%",
        lambda value: numbers.percent(None if value is None else value / 100),
        width=width,
        help=help,
    )


def series_table(look: Look, series: Sequence[str], columns: Sequence[Column], key: str, alt: str) -> None:
    """Draw a table whose rows belong to series: each starts with the series' look and name."""
    _draw(look, series, columns, key, alt)


def picked_of_series_table(
    look: Look, series: Sequence[str], columns: Sequence[Column], key: str, alt: str
) -> int | None:
    """Draw such a table, one row of which can be picked; returns its place."""
    rows = _draw(look, series, columns, key, alt, on_select="rerun")["selection"]["rows"]
    return rows[0] if rows and 0 <= rows[0] < len(series) else None


def _draw(
    look: Look,
    series: Sequence[str],
    columns: Sequence[Column],
    key: str,
    alt: str,
    on_select: Literal["ignore", "rerun"] = "ignore",
) -> Any:
    longest = max((len(name) for name in series), default=0)
    pictures = [swatch(look.styles[name], look.theme) for name in series]
    strategy = st.column_config.TextColumn(
        "Strategy", width=min(190, max(140, round(7.2 * longest) + 18)), pinned=True
    )
    return st.dataframe(
        {"": pictures, "Strategy": list(series), **{one.heading: list(one.values) for one in columns}},
        column_config={
            "": st.column_config.ImageColumn("", width=46, pinned=True),
            "Strategy": strategy,
            **{one.heading: one.kind for one in columns},
        },
        hide_index=True,
        row_height=_ROW_HEIGHT,
        height="content" if len(series) <= _MANY_ROWS else _ROW_HEIGHT * (_MANY_ROWS + 1),
        placeholder=numbers.NOTHING,
        key=f"{key}.{look.key}",
        alt=alt,
        on_select=on_select,
        selection_mode="single-row",
    )
