"""A chart as a report carries it: drawn once, with what is other in the dark, and with no more digits than anybody reads."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Any

from memdash.charts.beside_pandas import beside_pandas
from memdash.palette import Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

_DIGITS = 7
"""Significant digits of what is drawn; whole numbers keep all of theirs, since people read them one by one."""

_TOP = 14
"""Pixels above a chart that has no title of its own."""

Path = list[str | int]


@dataclass(frozen=True, slots=True)
class Sketch:
    """A chart of :mod:`memdash.charts` that is yet to be drawn: ``draw`` draws it for a theme.

    ``title`` and ``alt`` are plain text: what is seen, and the same for people who do not see it.
    """

    draw: Callable[[Theme], go.Figure]
    title: str
    alt: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart's figure as JSON values, and the note that belongs above it.

    ``dark`` holds what differs on a dark page, each as the way to it and its value there.
    """

    note: str
    height: int
    figure: Mapping[str, Any]
    dark: tuple[tuple[Path, Any], ...]


def drawn(sketch: Sketch) -> Drawn:
    """Draw a chart."""
    light, dark = sketch.draw("light"), sketch.draw("dark")
    note = light.layout.title.subtitle.text or ""
    height = int(light.layout.height)
    figures = [_compact(_without_title(one)) for one in (light, dark)]
    return Drawn(unescape(note.replace("<br>", " ")), height, figures[0], tuple(_differences(*figures)))


def template() -> dict[str, Any]:
    """Return what all figures have in common, which they do not carry themselves.

    It is Plotly's own by name: whatever else is imported (Streamlit) may have set another as the default.
    """
    import plotly.io as pio

    shared: dict[str, Any] = _compact(beside_pandas(lambda: pio.templates["plotly"].to_plotly_json()))
    return shared


def _without_title(figure: go.Figure) -> dict[str, Any]:
    """The figure alone: its title and note stand above it, where they wrap with the page, and its template is shared."""
    plain: dict[str, Any] = figure.to_plotly_json()
    layout = plain["layout"]
    layout["margin"] = {**layout.get("margin", {}), "t": _TOP}
    for shared in ("title", "template"):
        layout.pop(shared, None)
    return plain


def _compact(value: Any) -> Any:
    """Plain JSON values: arrays as lists, numbers that are not known as null, no more digits than are drawn."""
    if isinstance(value, Mapping):
        if "bdata" in value:
            return _compact(_unpacked(value))
        return {name: _compact(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_compact(one) for one in value]
    if isinstance(value, float):
        return _short(value)
    return value


def _unpacked(array: Mapping[str, Any]) -> Any:
    """An array as Plotly packs it: whole numbers and short ones take less room as text, once that is compressed."""
    import numpy as np

    values = np.frombuffer(base64.b64decode(array["bdata"]), dtype=array["dtype"])
    if "shape" in array:
        values = values.reshape([int(size) for size in str(array["shape"]).split(",")])
    return values.tolist()


def _short(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    if value == int(value):
        return int(value)
    return float(f"{value:.{_DIGITS}g}")


def _differences(one: Any, other: Any, way: Path | None = None) -> Iterator[tuple[Path, Any]]:
    """Where two values of the same shape differ, and what the second has there."""
    way = way or []
    pairs = _pairs(one, other)
    if pairs is not None:
        for name, (left, right) in pairs:
            yield from _differences(left, right, [*way, name])
    elif one != other:
        yield way, other


def _pairs(one: Any, other: Any) -> Iterable[tuple[str | int, tuple[Any, Any]]] | None:
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [(name, (value, other[name])) for name, value in one.items()]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return list(enumerate(zip(one, other, strict=True)))
    return None
