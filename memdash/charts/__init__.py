"""Plotly figures of a comparison: one function per chart, typed rows in, figure out. Knows no Streamlit.

    series = turn_series(results_of_one_script)
    styles = assign((result.series, result.strategy) for result in all_results)
    draw(Chart.COST, series, styles, "dark"), alt_text(Chart.COST, series)

Figures have a transparent background, their own colours and no font family, so that they sit on any page. Show them with the
mode bar off (:data:`CONFIG`): outside Streamlit Plotly's mode bar offers to upload the chart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from memdash.charts import background, cache, cost, prompt, recall, recall_curve, tokens, wait
from memdash.charts.background import background_work
from memdash.charts.cache import cache_share_per_turn
from memdash.charts.cost import cost_so_far
from memdash.charts.prompt import prompt_made_of
from memdash.charts.recall import recall_by_fact
from memdash.charts.recall_curve import recall_along_the_way
from memdash.charts.series import MarkKind, TurnMark, TurnSeries, turn_series
from memdash.charts.tokens import tokens_per_turn
from memdash.charts.wait import wait_per_turn
from memdash.palette import Style, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

CONFIG: Mapping[str, Any] = {"displayModeBar": False, "responsive": True}
"""Plotly's options for showing a figure."""


class Chart(StrEnum):
    """The charts of a comparison, in the order they are shown."""

    TOKENS = "tokens"
    COST = "cost"
    PROMPT = "prompt"
    CACHE = "cache"
    RECALL = "recall"
    WAIT = "wait"


class _Parts(NamedTuple):
    draw: Callable[[Sequence[TurnSeries], Mapping[str, Style], Theme], go.Figure]
    title: Callable[[Sequence[TurnSeries]], str]
    alt: Callable[[Sequence[TurnSeries]], str]


_CHARTS: Mapping[Chart, _Parts] = {
    Chart.TOKENS: _Parts(tokens_per_turn, tokens.title, tokens.alt),
    Chart.COST: _Parts(cost_so_far, cost.title, cost.alt),
    Chart.PROMPT: _Parts(prompt_made_of, prompt.title, prompt.alt),
    Chart.CACHE: _Parts(cache_share_per_turn, cache.title, cache.alt),
    Chart.RECALL: _Parts(recall_by_fact, recall.title, recall.alt),
    Chart.WAIT: _Parts(wait_per_turn, wait.title, wait.alt),
}


def draw(chart: Chart, series: Sequence[TurnSeries], styles: Mapping[str, Style], theme: Theme) -> go.Figure:
    """Draw a chart of the series of one script."""
    return _CHARTS[chart].draw(series, styles, theme)


def title_of(chart: Chart, series: Sequence[TurnSeries]) -> str:
    """Return the chart's title as plain text: what is seen, computed from the numbers."""
    return _CHARTS[chart].title(series)


def alt_text(chart: Chart, series: Sequence[TurnSeries]) -> str:
    """Return the chart as a sentence or two, for people who do not see it."""
    return _CHARTS[chart].alt(series)


__all__ = [
    "CONFIG",
    "Chart",
    "MarkKind",
    "TurnMark",
    "TurnSeries",
    "alt_text",
    "background",
    "background_work",
    "cache_share_per_turn",
    "cost_so_far",
    "draw",
    "prompt_made_of",
    "recall_along_the_way",
    "recall_by_fact",
    "recall_curve",
    "title_of",
    "tokens_per_turn",
    "turn_series",
    "wait_per_turn",
]
