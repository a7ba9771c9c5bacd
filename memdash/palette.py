"""One look for every series: a colour for light and one for dark pages, a dash and a marker.

A strategy has the same hue everywhere; settings of one strategy that stand side by side are shades of it with dashes and
filled or hollow markers of their own, so that charts read without colour. The twelve hues were searched for: at least 3:1 on
the backgrounds of either theme, and apart from one another for readers with any of the three kinds of colour-blindness.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

Theme = Literal["light", "dark"]


class Hue(NamedTuple):
    """One colour in two variants, and the marker that goes with it."""

    light: str
    dark: str
    marker: str


INK = Hue("#212730", "#e0e8f6", "circle")
BLUE = Hue("#0127aa", "#1772ff", "square")
VERMILION = Hue("#e0565b", "#c25117", "diamond")
GREEN = Hue("#15904f", "#7ed9ac", "triangle-up")
PURPLE = Hue("#4e285e", "#d6b7f8", "pentagon")
AMBER = Hue("#915207", "#e7b11a", "hexagon")
TEAL = Hue("#189ba0", "#3bb2a9", "cross")
VIOLET = Hue("#9d6ee8", "#a294f5", "star")
ROSE = Hue("#892d54", "#9c5872", "triangle-down")
LIME = Hue("#244405", "#93ff23", "hourglass")
AZURE = Hue("#2a6bab", "#496ab3", "bowtie")
ORANGE = Hue("#b46502", "#c38d59", "x")

HUES: tuple[Hue, ...] = (INK, BLUE, VERMILION, GREEN, PURPLE, AMBER, TEAL, VIOLET, ROSE, LIME, AZURE, ORANGE)

FAMILIES: Mapping[str, Hue] = {
    "full_history": INK,
    "window": VERMILION,
    "truncate": ORANGE,
    "compaction": BLUE,
    "running_brief": GREEN,
    "blocking_compaction": AZURE,
    "instant_compaction": VIOLET,
    "server_compaction": TEAL,
    "compact_on_demand": PURPLE,
    "context_editing": ROSE,
    "cap_results": AMBER,
}
"""The hue of each built-in strategy, by its name."""

DASHES: tuple[str, ...] = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

BACKGROUNDS: Mapping[Theme, tuple[str, ...]] = {
    "light": ("#ffffff", "#f4f6fa"),
    "dark": ("#10141d", "#1a202c"),
}
"""What charts stand on: page and card of each theme (``.streamlit/config.toml``)."""


@dataclass(frozen=True, slots=True)
class Style:
    """How one series looks; ``dash`` and ``marker`` are Plotly's names."""

    light: str
    dark: str
    dash: str
    marker: str

    def colour(self, theme: Theme) -> str:
        """Return the colour for a theme, as ``#rrggbb``."""
        return self.light if theme == "light" else self.dark


def assign(series: Iterable[tuple[str, str]]) -> dict[str, Style]:
    """Give each series of a comparison its style; ``series`` holds pairs of series name and strategy name.

    The outcome depends on the names and their order alone. No two series get the same dash and marker together, up to six
    settings of one strategy beside eleven other strategies.
    """
    families: dict[str, list[str]] = {}
    for name, strategy in series:
        members = families.setdefault(strategy, [])
        if name not in members:
            members.append(name)
    hues = _hues(families)
    return {
        name: _variant(hues[strategy], place, len(members))
        for strategy, members in families.items()
        for place, name in enumerate(members)
    }


def assign_apart(series: Iterable[tuple[str, str]]) -> dict[str, Style]:
    """Give lines that were chosen from several comparisons styles that stay distinct, pairs as in :func:`assign`.

    Up to three lines of one strategy are shades of its hue, so that it is seen which belong together. Further ones would be
    shades that nobody tells apart: they get hues that no strategy here has, as long as there are any.
    """
    families: dict[str, list[str]] = {}
    for name, strategy in series:
        members = families.setdefault(strategy, [])
        if name not in members:
            members.append(name)
    near = [(name, strategy) for strategy, members in families.items() for name in members[:_SHADES]]
    far = [(name, strategy) for strategy, members in families.items() for name in members[_SHADES:]]
    taken = set(_hues(families).values())
    free = [hue for hue in HUES if hue not in taken]
    alone = dict(zip((name for name, _ in far), free, strict=False))
    styles = assign([*near, *(one for one in far if one[0] not in alone)])
    return styles | {name: _variant(hue, 0, 1) for name, hue in alone.items()}


_SHADES = 3
"""Shades of one hue that are told apart with ease."""


def _hues(strategies: Iterable[str]) -> dict[str, Hue]:
    """Built-in strategies have their own hue; others the one their name hashes to, or the next that nobody here has."""
    names = sorted(set(strategies))
    hues = {name: FAMILIES[name] for name in names if name in FAMILIES}
    reserved = [hue for hue in HUES if hue is not INK]  # ink is the baseline's, everywhere
    for name in names:
        if name in hues:
            continue
        start = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big") % len(reserved)
        order = reserved[start:] + reserved[:start]
        taken = set(hues.values())
        hues[name] = next((hue for hue in order if hue not in taken), order[0])
    return hues


def _variant(hue: Hue, place: int, of: int) -> Style:
    """The ``place``-th setting of a strategy: the first has its plain hue, the others shades towards and past it."""
    family_dash = HUES.index(hue) % len(DASHES) if hue is not INK else 0
    dash = DASHES[(family_dash + place) % len(DASHES)]
    marker = hue.marker if place % 2 == 0 else f"{hue.marker}-open"
    if place == 0:
        return Style(hue.light, hue.dark, dash, marker)
    depth = place / max(of - 1, 1)
    return Style(_shade(hue.light, "light", depth), _shade(hue.dark, "dark", depth), dash, marker)


def _shade(colour: str, theme: Theme, depth: float) -> str:
    """Mix ``colour`` with black or white, whichever leaves more room at 3.1:1 against the theme's backgrounds."""
    away, towards = ("#000000", "#ffffff") if theme == "light" else ("#ffffff", "#000000")
    needed = 3.1
    room = max(
        (step / 20 for step in range(1, 15) if readable(_mix(colour, towards, step / 20), theme) >= needed),
        default=0.0,
    )
    if room >= 0.35:
        return _mix(colour, towards, room * depth)
    return _mix(colour, away, 0.62 * depth)


def readable(colour: str, theme: Theme) -> float:
    """Return the smallest contrast ratio of ``colour`` against the backgrounds of a theme (WCAG 2)."""
    return min(contrast(colour, background) for background in BACKGROUNDS[theme])


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21 (WCAG 2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mix(one: str, other: str, share: float) -> str:
    mixed = (round(a + (b - a) * share) for a, b in zip(_channels(one), _channels(other), strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
