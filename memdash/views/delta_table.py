"""How the chosen replays differ from the baseline, a row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.metrics.side_by_side import Delta
from memdash.palette import Style, Theme
from memdash.views.components import HELP, theme
from memdash.views.panels import tables
from memdash.views.panels.tables import Column

_AGAINST_HELP: Final = (
    "The baseline's replay of the same script, setting and repeat. Without one there is nothing to compare with; where only the "
    "model, the caching or the provider is another one, that is said."
)
_NOT_ALIKE_HELP: Final = " Only replays that came to their end, over as many turns, are compared."


class _Look:
    """How the rows are drawn: every name has the style of its series."""

    def __init__(self, styles: Mapping[str, Style], key: str) -> None:
        self.styles = styles
        self.theme: Theme = theme()
        self.key = key


def delta_table(deltas: Sequence[Delta], styles: Mapping[str, Style], key: str) -> None:
    """Draw the differences; ``styles`` are by series, ``key`` tells one choice of replays from another."""
    looks = {one.result.label: styles[one.result.series] for one in deltas}
    columns = [
        tables.text("Baseline's", [_against(one) for one in deltas], width=280, help=_AGAINST_HELP),
        _change("Cost", deltas, lambda one: one.cost, HELP["cost"], 78),
        _change("Prompt tokens", deltas, lambda one: one.prompt_tokens, HELP["prompt tokens"], 112),
        _points("Cached, points", deltas),
        _whole("Kept", deltas, lambda one: one.kept, HELP["kept"], 70),
        _whole("Recall", deltas, lambda one: one.recall, HELP["recall"], 76),
        _change("Wait p95", deltas, lambda one: one.wait_p95, HELP["wait"], 92),
    ]
    alt = f"{numbers.count(len(deltas), 'replay')}, each with its differences from the baseline"
    tables.series_table(
        _Look(looks, key), [one.result.label for one in deltas], columns, "beside.deltas", alt
    )


def _against(one: Delta) -> str:
    if one.counterpart is None:
        return "none with this setting"
    if one.counterpart.id == one.result.id:
        return "itself"
    told = [f"other {numbers.listing(one.unlike)}"] if one.unlike else []
    told += [one.reason] if one.reason else []
    return f"{one.counterpart.label} ({'; '.join(told)})" if told else one.counterpart.label


def _change(
    heading: str, deltas: Sequence[Delta], of: Callable[[Delta], float | None], help: str, width: int
) -> Column:
    return _signed(heading, [_hundredfold(of(one)) for one in deltas], "%+.1f %%", help, width)


def _points(heading: str, deltas: Sequence[Delta]) -> Column:
    values = [_hundredfold(one.cache_share) for one in deltas]
    return _signed(heading, values, "%+.1f", HELP["cached"], 116)


def _hundredfold(share: float | None) -> float | None:
    """Percent or points, rounded as they are shown, so that none of them reads as a negative zero."""
    return None if share is None else round(share * 100, 1) + 0.0


def _whole(
    heading: str, deltas: Sequence[Delta], of: Callable[[Delta], int | None], help: str, width: int
) -> Column:
    return _signed(heading, [of(one) for one in deltas], "%+d", help, width)


def _signed(heading: str, values: Sequence[float | None], format: str, help: str, width: int) -> Column:
    """A column of differences that sort; where there is none the cell is left to the table's dash."""
    told = help + _NOT_ALIKE_HELP
    kind = st.column_config.NumberColumn(heading, format=format, width=width, help=told)
    return Column(heading, values, kind, width, told)
