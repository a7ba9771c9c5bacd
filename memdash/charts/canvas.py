"""What all charts share: a transparent sheet in the colours of the page, a title that wraps, a legend below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from memdash import numbers
from memdash.charts.beside_pandas import beside_pandas
from memdash.charts.series import Band, Floats, Measure, TurnSeries
from memdash.charts.text import NAME, escape, markup, shorten, wrap
from memdash.palette import Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 360
"""Height of a chart in pixels, with a legend of up to three rows."""

MAX_POINTS = 5_000
"""Points drawn in one chart; more are thinned out, and the chart says so."""

BAND_OPACITY = 0.16
"""Faint enough for a dozen bands over one another, and for the lines in them."""


@dataclass(frozen=True, slots=True)
class Ink:
    """The colours of everything that is not data."""

    text: str
    quiet: str
    grid: str
    paper: str


INKS: Mapping[Theme, Ink] = {
    "light": Ink(text="#1a2233", quiet="#56606f", grid="rgba(86,96,111,0.18)", paper="#ffffff"),
    "dark": Ink(text="#e7eaf1", quiet="#a7b0c0", grid="rgba(167,176,192,0.20)", paper="#1a202c"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line to draw: a series' values over its turns, with their range over the repeats where there are several."""

    series: TurnSeries
    values: Floats
    band: Band | None = None

    @classmethod
    def of(cls, series: TurnSeries, measure: Measure, scale: float = 1.0) -> Self:
        """Return the line of one measure, every value times ``scale``."""
        values: Floats = getattr(series, measure)
        band = series.bands.get(measure)
        return cls(series, values * scale, band and Band(band.low * scale, band.high * scale))


class Sheet:
    """A chart in the making: traces and layout as plain mappings, checked by Plotly once when the figure is made."""

    def __init__(
        self,
        title: str,
        theme: Theme,
        *,
        notes: Sequence[str] = (),
        legend: Sequence[str] = (),
        height: int = HEIGHT,
    ) -> None:
        """Lay out an empty chart: its title, its notes below, and room for a legend of these names."""
        self.theme = theme
        self.ink = INKS[theme]
        self.traces: list[dict[str, Any]] = []
        self.annotations: list[dict[str, Any]] = []
        self.shapes: list[dict[str, Any]] = []
        title_lines = len(wrap(title))
        note = " · ".join(notes)
        note_lines = len(wrap(note))
        rows = _legend_rows(legend)
        heading: dict[str, Any] = {
            "text": markup(title),
            "font": {"size": 15, "color": self.ink.text},
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            # Plotly moves a title of several lines up by half a line, over the edge.
            "pad": {"t": 8 if title_lines < 2 else 19, "l": 8},
        }
        if note:
            heading["subtitle"] = {"text": markup(note), "font": {"size": 12, "color": self.ink.quiet}}
        self.margin = {
            "l": 68,
            "r": 16,
            "t": 18 + 20 * title_lines + (18 + 9 * note_lines if note else 0),
            "b": 44 + 20 * rows,
        }
        self.layout: dict[str, Any] = {
            "title": heading,
            "font": {"color": self.ink.text, "size": 12},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "height": height + 20 * max(rows - 3, 0),
            "margin": self.margin,
            "showlegend": bool(legend),
            "legend": {
                "orientation": "h",
                "x": 0,
                "xref": "container",
                "xanchor": "left",
                "y": 0,
                "yref": "container",
                "yanchor": "bottom",
                "font": {"size": 12, "color": self.ink.text},
                "itemsizing": "trace",
            },
            "hovermode": "x unified",
            "hoverlabel": {
                "bgcolor": self.ink.paper,
                "bordercolor": self.ink.grid,
                "font": {"color": self.ink.text, "size": 12},
            },
        }
        self.x = self._axis()
        self.y = self._axis()
        self._further_x: list[dict[str, Any]] = []

    def figure(self) -> go.Figure:
        """Return the chart as a Plotly figure."""
        import plotly.graph_objects as go

        layout = {
            **self.layout,
            "xaxis": self.x,
            **{f"xaxis{number}": axis for number, axis in enumerate(self._further_x, 2)},
            "yaxis": self.y,
            "annotations": self.annotations,
            "shapes": self.shapes,
        }
        return beside_pandas(lambda: go.Figure({"data": self.traces, "layout": layout}))

    def split(self, panels: int, gap: float = 0.06) -> list[dict[str, Any]]:
        """Divide the sheet into panels side by side that share the vertical axis; returns their horizontal axes.

        ``gap`` is the share of the width between two of them.
        """
        width = (1 - gap * (panels - 1)) / panels
        self._further_x = [self._axis() for _ in range(panels - 1)]
        axes = [self.x, *self._further_x]
        for place, axis in enumerate(axes):
            start = place * (width + gap)
            axis.update(domain=[start, min(start + width, 1.0)], anchor="y")
        return axes

    def panel(self, place: int) -> dict[str, str]:
        """Return what puts a trace into a panel of :meth:`split`."""
        return {"xaxis": f"x{place + 1}" if place else "x"}

    def line_across(
        self, height: float, text: str, colour: str, dash: str, *, at: float = 1.0, below: bool = False
    ) -> None:
        """Draw a line over the whole width, with its words above it (or below) at a place from 0 (left) to 1 (right)."""
        self.shapes.append(
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": height,
                "y1": height,
                "line": {"color": colour, "width": 1.6, "dash": dash},
            }
        )
        self.annotations.append(
            {
                "xref": "paper",
                "x": at,
                "xanchor": {0.0: "left", 1.0: "right"}.get(at, "center"),
                "y": height,
                "yanchor": "top" if below else "bottom",
                "text": escape(text),
                "showarrow": False,
                "font": {"size": 11, "color": colour},
            }
        )

    def mark_turn(self, turn: int) -> None:
        """Draw a line down through the whole chart at the turn that is open."""
        self.shapes.append(
            {
                "type": "line",
                "yref": "paper",
                "x0": turn,
                "x1": turn,
                "y0": 0,
                "y1": 1,
                "line": {"color": self.ink.text, "width": 1.5, "dash": "dot"},
            }
        )

    def area_across(self, low: float, high: float, colour: str) -> None:
        """Fill what lies between two heights over the whole width, as the band of a line across."""
        self.shapes.append(
            {
                "type": "rect",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": low,
                "y1": high,
                "fillcolor": translucent(colour, BAND_OPACITY),
                "line": {"width": 0},
                "layer": "below",
            }
        )

    def turn_axis(self, series: Sequence[TurnSeries]) -> None:
        """Label the horizontal axis with whole turns."""
        last = max((int(one.turns[-1]) for one in series if one.turns.size), default=1)
        self.label(self.x, "turn")
        self.x.update(tickformat="d", showgrid=False, zeroline=False, ticks="outside", ticklen=4)
        self.x["range"] = [0.5, last + 0.5] if last <= 12 else [1 - last * 0.02, last * 1.02]
        if last <= 12:
            self.x["dtick"] = 1

    def amount_axis(self, title: str, **options: Any) -> None:
        """Label the vertical axis; amounts start at zero."""
        self.label(self.y, title)
        self.y.update(rangemode="tozero", **options)

    def row_axis(self, names: Sequence[str], *, longest: int = NAME) -> None:
        """Label the rows of a horizontal chart with series names, the first on top; ``longest`` characters are shown of each."""
        shown = [shorten(name, longest) for name in names]
        self.y.update(
            tickvals=list(range(len(names))),
            ticktext=[escape(name) for name in shown],
            range=[len(names) - 0.4, -0.6],
            showgrid=False,
            zeroline=False,
        )
        self.y["tickfont"]["size"] = 12
        self.margin["l"] = 24 + round(6.6 * max((len(name) for name in shown), default=0))

    def label(self, axis: dict[str, Any], text: str) -> None:
        """Write what an axis measures, and in what unit."""
        axis["title"] = {"text": text, "font": {"color": self.ink.quiet, "size": 12}, "standoff": 8}

    def say_empty(self, text: str) -> None:
        """Write in the middle of an empty chart why it is empty."""
        self.annotations.append(
            {
                "text": escape(text),
                "x": 0.5,
                "y": 0.5,
                "xref": "paper",
                "yref": "paper",
                "showarrow": False,
                "font": {"size": 13, "color": self.ink.quiet},
            }
        )
        self.x["visible"] = self.y["visible"] = False
        self.layout["showlegend"] = False

    def draw_lines(self, lines: Sequence[Line], styles: Mapping[str, Style], *, hover: str) -> None:
        """Draw each line in its series' style; ``hover`` is Plotly's template for one value ``y``. Gaps stay gaps.

        Behind a line of several repeats stands a band from the lowest to the highest of them.
        """
        budget = points_each(lines)
        lowest, highest = (hover.replace("%{y", f"%{{customdata[{place}]") for place in (0, 1))
        for line in lines:
            style = styles[line.series.name]
            colour = style.colour(self.theme)
            shown = thin(line.values, budget)
            if line.band is not None:
                self.draw_band(line.series.turns, line.band, colour, budget)
            self.traces.append(
                {
                    "type": "scatter",
                    "x": line.series.turns[shown],
                    "y": line.values[shown],
                    "name": escape(shorten(line.series.name)),
                    "mode": "lines+markers",
                    "line": {"color": colour, "dash": style.dash, "width": 2 if shown.size <= 200 else 1.3},
                    "marker": {"symbol": style.marker, "size": 7, "color": colour, "maxdisplayed": 14},
                    "hovertemplate": hover if line.band is None else f"{hover} ({lowest} to {highest})",
                    "customdata": None if line.band is None else np.stack(line.band, axis=1)[shown],
                    "connectgaps": False,
                }
            )

    def draw_band(
        self, places: NDArray[Any], band: Band, colour: str, points: int, *, panel: int = 0
    ) -> None:
        """Fill what lies between the lowest and the highest, one area for each stretch without a gap.

        ``points`` is how many places of it are drawn at most.
        """
        xs: list[float | None] = []
        ys: list[float | None] = []
        for stretch in _stretches(band, points):
            xs += [*places[stretch].tolist(), *places[stretch][::-1].tolist(), None]
            ys += [*band.high[stretch].tolist(), *band.low[stretch][::-1].tolist(), None]
        self.traces.append(
            {
                "type": "scatter",
                "x": xs,
                "y": ys,
                "mode": "lines",
                "fill": "toself",
                "fillcolor": translucent(colour, BAND_OPACITY),
                "line": {"width": 0},
                "hoverinfo": "skip",
                "showlegend": False,
                **self.panel(panel),
            }
        )

    def _axis(self) -> dict[str, Any]:
        return {
            "gridcolor": self.ink.grid,
            "zerolinecolor": self.ink.grid,
            "linecolor": self.ink.grid,
            "tickfont": {"color": self.ink.quiet, "size": 11},
        }


def _legend_rows(names: Sequence[str]) -> int:
    """Rows of a legend on a narrow card; Plotly gives every entry the width of the widest, and no column beyond the axes."""
    if not names:
        return 0
    widest = 48 + 6.6 * max(len(shorten(name)) for name in names)
    return math.ceil(len(names) / max(int(430 // widest), 1))


def points_each(lines: Sequence[Line]) -> int:
    """How many points each line may have; a band takes two for each of them and one for each gap."""
    parts = sum(1 if line.band is None else 4 for line in lines)
    return max(MAX_POINTS // max(parts, 1), 4)


def _stretches(band: Band, points: int) -> list[NDArray[np.int64]]:
    """Which places of a band to draw, at most ``points``, as runs without a gap in them."""
    gaps = np.isnan(band.low)
    shown = np.union1d(thin(band.low, points // 2), thin(band.high, points // 2))
    shown = shown[~gaps[shown]]
    runs = np.split(shown, np.flatnonzero(np.diff(np.cumsum(gaps)[shown])) + 1)
    return [run for run in runs if run.size]


def translucent(colour: str, opacity: float) -> str:
    """Return ``#rrggbb`` with an opacity, for areas that other lines must be seen through."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def thin(values: Floats, points: int) -> NDArray[np.int64]:
    """Return which of ``values`` to draw: all, or the lowest and the highest of each stretch, with both ends."""
    if values.size <= points:
        return np.arange(values.size)
    width = -(-values.size // max((points - 2) // 2, 1))
    starts = np.arange(0, values.size, width)
    stretches = np.full((starts.size, width), np.nan)
    stretches.flat[: values.size] = values
    low = starts + np.where(np.isnan(stretches), np.inf, stretches).argmin(axis=1)
    high = starts + np.where(np.isnan(stretches), -np.inf, stretches).argmax(axis=1)
    return np.unique(np.concatenate([[0, values.size - 1], low, high])).astype(np.int64)


def common_notes(lines: Sequence[Line], *, of: str) -> list[str]:
    """Say what a reader must know: thinned lines, means over repeats, values that are missing."""
    notes = []
    budget = points_each(lines)
    if any(line.values.size > budget for line in lines):
        longest = max(line.values.size for line in lines)
        notes.append(f"{longest:,} turns, thinned to lows and highs")
    repeats = max((line.series.begun for line in lines), default=1)
    if repeats > 1:
        notes.append(f"mean of {repeats} repeats; the band goes from the lowest to the highest")
    missing = [line.series.name for line in lines if line.values.size and np.isnan(line.values).all()]
    if missing:
        notes.append(f"{of}: {numbers.listing([shorten(name) for name in missing], limit=2)}")
    return notes


def row_height(rows: int) -> int:
    """Height of a chart with this many rows, so that each can be told from the next."""
    return max(HEIGHT, 150 + 24 * rows)


def called(series: TurnSeries) -> str:
    """The name of a series in a sentence."""
    return shorten(series.name, NAME)
