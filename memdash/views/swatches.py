"""The look of a series as a tiny picture, for the table: its colour, its dash and its marker, as the charts draw them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from urllib.parse import quote

from memdash.palette import Style, Theme

_DASH: Final = {
    "solid": "",
    "dash": "7 4",
    "dot": "2 3",
    "dashdot": "7 3 2 3",
    "longdash": "11 4",
    "longdashdot": "11 3 2 3",
}

_SHAPES: Final = {
    "circle": '<circle cx="24" cy="12" r="5.2" {}/>',
    "square": '<rect x="19" y="7" width="10" height="10" {}/>',
    "diamond": '<path d="M24 5.500 30.500 12 24 18.500 17.500 12Z" {}/>',
    "triangle-up": '<path d="M24 6 30.500 17H17.500Z" {}/>',
    "triangle-down": '<path d="M24 18 30.500 7H17.500Z" {}/>',
    "pentagon": '<path d="M24 5.500 30.200 10 27.800 17.500H20.200L17.800 10Z" {}/>',
    "hexagon": '<path d="M24 5.500 29.700 8.800V15.200L24 18.500 18.300 15.200V8.800Z" {}/>',
    "star": '<path d="M24 5 25.900 9.900 31 10.200 27 13.500 28.400 18.500 24 15.700 19.600 18.500 21 13.500 17 10.200 22.100 9.900Z" {}/>',
    "cross": '<path d="M22 6.500H26V10H29.500V14H26V17.500H22V14H18.500V10H22Z" {}/>',
    "x": '<path d="M19.500 9.500 21.500 7.500 24 10 26.500 7.500 28.500 9.500 26 12 28.500 14.500 26.500 16.500 24 14 21.500 16.500 19.500 14.500 22 12Z" {}/>',
    "hourglass": '<path d="M18.500 6.500H29.500L18.500 17.500H29.500Z" {}/>',
    "bowtie": '<path d="M18.500 6.500V17.500L29.500 6.500V17.500Z" {}/>',
}


@lru_cache(maxsize=256)
def swatch(style: Style, theme: Theme) -> str:
    """Return an SVG of a piece of the series' line with its marker, as a data address."""
    colour = style.colour(theme)
    hollow = style.marker.endswith("-open")
    shape = _SHAPES.get(style.marker.removesuffix("-open"), _SHAPES["circle"])
    ground = "#ffffff" if theme == "light" else "#10141d"
    paint = f'fill="{ground if hollow else colour}" stroke="{colour}" stroke-width="{2 if hollow else 0}"'
    line = f'<path d="M4 12H44" stroke="{colour}" stroke-width="2.600" stroke-dasharray="{_DASH.get(style.dash, "")}"/>'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 24">{line}{shape.format(paint)}</svg>'
    return "data:image/svg+xml," + quote(picture)
