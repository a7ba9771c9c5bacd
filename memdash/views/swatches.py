"""The look of a series as a picture that a table of Streamlit shows."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

from memdash.charts.swatch import swatch_svg
from memdash.palette import Style, Theme


@lru_cache(maxsize=256)
def swatch(style: Style, theme: Theme) -> str:
    """Return :func:`~memdash.charts.swatch.swatch_svg` as a data address."""
    return "data:image/svg+xml," + quote(swatch_svg(style, theme))
