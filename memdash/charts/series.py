"""What the charts draw: one series over the turns of one script, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memdash.metrics.result import ReplayResult, TurnResult
from memdash.records import EventKind, Status

Floats = NDArray[np.float64]

Measure = Literal["prompt_tokens", "cache_share", "cost_usd", "wait_s"]
"""What is drawn turn by turn: the fields of :class:`TurnSeries` that hold a value for each turn."""


class Band(NamedTuple):
    """The lowest and the highest of several repeats, turn by turn."""

    low: Floats
    high: Floats


class MarkKind(StrEnum):
    """What is marked on a line."""

    SUMMARY = "summary put into use"
    CUT = "history cut"
    REFUSED = "refused by the API"


_MARKED = {
    EventKind.COMPACTION: MarkKind.SUMMARY,
    EventKind.SWAP: MarkKind.SUMMARY,
    EventKind.TRIM: MarkKind.CUT,
    EventKind.CLEAR: MarkKind.CUT,
    EventKind.REJECTED: MarkKind.REFUSED,
}


@dataclass(frozen=True, slots=True)
class TurnMark:
    """A mark on a line. ``through`` is the last turn of a run of turns that all have it; such a run is marked once."""

    kind: MarkKind
    turn: int
    through: int


@dataclass(frozen=True, slots=True)
class TurnSeries:
    """One series of one script, turn by turn; NaN is "not reported" or "not known".

    With several repeats each value is the mean over them, at the turns that every repeat has reached. ``prompt_tokens``,
    ``cache_share`` (0 to 1) and ``wait_s`` are of each turn, ``cost_usd`` is what the replay cost so far, summaries included.
    ``bands`` holds the range over the repeats of each of them, and nothing where there is one repeat.
    """

    name: str
    strategy: str
    turns: NDArray[np.int64]
    prompt_tokens: Floats
    cache_share: Floats
    cost_usd: Floats
    wait_s: Floats
    bands: Mapping[Measure, Band]
    marks: tuple[TurnMark, ...]
    results: tuple[ReplayResult, ...]

    @property
    def begun(self) -> int:
        """How many repeats have answered a turn: those that the lines are the mean of."""
        return sum(bool(result.turns) for result in self.results)

    @property
    def complete(self) -> bool:
        """Whether every repeat played all its turns."""
        return all(result.done for result in self.results)

    @property
    def refused(self) -> bool:
        """Whether the API refused a repeat."""
        return any(result.status is Status.REJECTED for result in self.results)


def turn_series(results: Iterable[ReplayResult]) -> tuple[TurnSeries, ...]:
    """Return the series of one script in the order they first appear.

    Raises ValueError where the results are of several scripts, whose turns have nothing in common.
    """
    groups: dict[str, list[ReplayResult]] = {}
    for result in results:
        groups.setdefault(result.series, []).append(result)
    scripts = {result.script for group in groups.values() for result in group}
    if len(scripts) > 1:
        raise ValueError(f"charts over turns show one script at a time, not {', '.join(sorted(scripts))}")
    return tuple(_series(name, group) for name, group in groups.items())


def _series(name: str, group: Sequence[ReplayResult]) -> TurnSeries:
    begun = [{row.turn: row for row in result.turns} for result in group if result.turns]
    shared = sorted(set.intersection(*(set(rows) for rows in begun))) if begun else []
    aligned = [[rows[turn] for turn in shared] for rows in begun]
    columns = {measure: _columns(aligned, value) for measure, value in _VALUES.items()}
    means = {
        measure: found[0] if len(found) == 1 else found.mean(axis=0) for measure, found in columns.items()
    }
    return TurnSeries(
        name=name,
        strategy=group[0].strategy,
        turns=np.array(shared, dtype=np.int64),
        **means,
        bands={
            measure: Band(found.min(axis=0), found.max(axis=0))
            for measure, found in columns.items()
            if len(found) > 1
        },
        marks=_marks(row for rows in aligned for row in rows),
        results=tuple(group),
    )


_VALUES: Mapping[Measure, Callable[[TurnResult], float | None]] = {
    "prompt_tokens": lambda row: row.prompt_tokens,
    "cache_share": lambda row: row.cache_share,
    "cost_usd": lambda row: row.cumulative_cost_usd,
    "wait_s": lambda row: None if row.wait_ms is None else row.wait_ms / 1000,
}


def _columns(
    aligned: Sequence[Sequence[TurnResult]], value: Callable[[TurnResult], float | None]
) -> NDArray[np.float64]:
    """One row a repeat, one column a turn; what is not known is NaN. Without a repeat that began, one empty row."""
    return np.array([[value(row) for row in rows] for rows in aligned] or [[]], dtype=np.float64)


def _marks(rows: Iterable[TurnResult]) -> tuple[TurnMark, ...]:
    turns: dict[MarkKind, set[int]] = {}
    for row in rows:
        for event in row.events:
            kind = _MARKED.get(event.kind)
            if kind and event.data.get("used", True) is not False:
                turns.setdefault(kind, set()).add(row.turn)
    return tuple(mark for kind in MarkKind for mark in _runs(kind, sorted(turns.get(kind, ()))))


def _runs(kind: MarkKind, turns: Sequence[int]) -> list[TurnMark]:
    """One mark for each run of consecutive turns, so that a sliding window is not a fence of marks."""
    marks: list[TurnMark] = []
    for turn in turns:
        if marks and marks[-1].through == turn - 1 and kind is MarkKind.CUT:
            marks[-1] = TurnMark(kind, marks[-1].turn, turn)
        else:
            marks.append(TurnMark(kind, turn, turn))
    return marks
