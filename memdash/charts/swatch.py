"""The look of a series as a tiny picture, for tables: its colour, its dash and its marker, as the charts draw them."""

from __future__ import annotations

from typing import Final

from memdash.palette import BACKGROUNDS, Style, Theme

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
    "diamond": '<path d="M24 5.5 30.5 12 24 18.5 17.5 12Z" {}/>',
    "triangle-up": '<path d="M24 6 30.5 17H17.5Z" {}/>',
    "triangle-down": '<path d="M24 18 30.5 7H17.5Z" {}/>',
    "pentagon": '<path d="M24 5.5 30.2 10 27.8 17.5H20.2L17.8 10Z" {}/>',
    "hexagon": '<path d="M24 5.5 29.7 8.8V15.2L24 18.5 18.3 15.2V8.8Z" {}/>',
    "star": '<path d="M24 5 25.9 9.9 31 10.2 27 13.5 28.4 18.5 24 15.7 19.6 18.5 21 13.5 17 10.2 22.1 9.9Z" {}/>',
    "cross": '<path d="M22 6.5H26V10H29.5V14H26V17.5H22V14H18.5V10H22Z" {}/>',
    "x": '<path d="M19.5 9.5 21.5 7.5 24 10 26.5 7.5 28.5 9.5 26 12 28.5 14.5 26.5 16.5 24 14 21.5 16.5 19.5 14.5 22 12Z" {}/>',
    "hourglass": '<path d="M18.5 6.5H29.5L18.5 17.5H29.5Z" {}/>',
    "bowtie": '<path d="M18.5 6.5V17.5L29.5 6.5V17.5Z" {}/>',
}


def swatch_svg(style: Style, theme: Theme) -> str:
    """Return an SVG of a piece of the series' line with its marker."""
    colour = style.colour(theme)
    hollow = style.marker.endswith("-open")
    shape = _SHAPES.get(style.marker.removesuffix("-open"), _SHAPES["circle"])
    ground = BACKGROUNDS[theme][0]
    paint = f'fill="{ground if hollow else colour}" stroke="{colour}" stroke-width="{2 if hollow else 0}"'
    line = f'<path d="M4 12H44" stroke="{colour}" stroke-width="2.6" stroke-dasharray="{_DASH.get(style.dash, "")}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 24">{line}{shape.format(paint)}</svg>'
