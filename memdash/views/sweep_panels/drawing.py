"""What the panels of a sweep share: a table whose rows are settings, each with the look of its curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.charts.sweep import style_of
from memdash.views.components import theme
from memdash.views.panels.tables import Column
from memdash.views.swatches import swatch
from memdash.views.sweep_view import SweepView

_ROW_HEIGHT: Final = 36
_MANY_ROWS: Final = 16
"""A longer table scrolls within itself."""


def settings_table(
    shown: SweepView, series: Sequence[str], columns: Sequence[Column], key: str, alt: str
) -> None:
    """Draw a table with one row for each of ``series``, its look and name first."""
    look = theme()
    longest = max((len(one) for one in series), default=0)
    st.dataframe(
        {
            "": [swatch(style_of(one, shown.drawn, shown.styles), look) for one in series],
            "Setting": list(series),
            **{one.heading: list(one.values) for one in columns},
        },
        column_config={
            "": st.column_config.ImageColumn("", width=46, pinned=True),
            "Setting": st.column_config.TextColumn(
                "Setting", width=min(280, max(150, round(7.2 * longest) + 18)), pinned=True
            ),
            **{one.heading: one.kind for one in columns},
        },
        hide_index=True,
        row_height=_ROW_HEIGHT,
        height="content" if len(series) <= _MANY_ROWS else _ROW_HEIGHT * (_MANY_ROWS + 1),
        placeholder=numbers.NOTHING,
        key=f"sweep.{key}.{shown.reading.id}",
        alt=alt,
    )
