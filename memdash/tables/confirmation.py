"""The simulator's error as people read it in a terminal or in Markdown, from ``confirmation`` of the JSON contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memdash import numbers
from memdash.tables.grid import Grid

Entry = Mapping[str, Any]

_COLUMNS = ("number", "simulated", "live", "difference", "error", "largest error of a setting")


def confirmation_parts(confirmation: Entry | None, *, markdown: bool) -> list[str]:
    """Return the paragraphs about a confirmation, the worst error first; none where there is no confirmation."""
    if confirmation is None:
        return []
    found = [] if confirmation["sentence"] is None else [_head(confirmation), _table(confirmation, markdown)]
    lines = [
        *(f"Not counted: {one['label']}, {_why(one)}" for one in confirmation["left_out"]),
        *(f"Not alike: {note}" for note in confirmation["notes"]),
    ]
    lines.append(
        f"Live comparison {confirmation['live']} against simulated comparison {confirmation['simulated']}"
    )
    if not found:
        found = ["Nothing to compare with the live run: no replay finished on both sides."]
    separator = "\n\n" if markdown else "\n"
    return [*found, separator.join(lines)]


def _head(confirmation: Entry) -> str:
    sentence: str = confirmation["sentence"]
    return f"Simulator {sentence}"


def _table(confirmation: Entry, markdown: bool) -> str:
    columns = _COLUMNS if len(confirmation["settings"]) > 1 else _COLUMNS[:-1]
    rows = [
        (*_row(error), _worst(error["name"], confirmation["settings"]))[: len(columns)]
        for error in confirmation["numbers"]
    ]
    grid = Grid(columns, rows, numeric=frozenset(_COLUMNS[1:5]))
    return grid.markdown() if markdown else grid.plain()


def _row(error: Entry) -> tuple[str, ...]:
    from memdash.metrics.number_errors import Number

    number = Number(error["name"])
    return (
        number.words,
        number.spelled(error["simulated"]),
        number.spelled(error["live"]),
        number.spelled_difference(error["difference"]),
        _relative(error),
    )


def _relative(error: Entry) -> str:
    """The relative error; against a live value of 0 there is none."""
    if error["difference"] is None:
        return numbers.NOTHING
    return numbers.NOT_AVAILABLE if error["relative"] is None else numbers.change(error["relative"])


def _worst(name: str, settings: Sequence[Entry]) -> str:
    """The setting with the largest error of a number: errors of several settings may cancel in the sum."""
    known = [
        (setting["label"], error)
        for setting in settings
        for error in setting["numbers"]
        if error["name"] == name and error["relative"] is not None
    ]
    if not known:
        return numbers.NOTHING
    label, error = max(known, key=lambda one: abs(one[1]["relative"]))
    return f"{numbers.change(error['relative'])}, {label}" if error["relative"] else numbers.change(0.0)


def _why(left_out: Entry) -> str:
    from memdash.metrics.confirmation import LeftOut
    from memdash.records import Status

    simulated = left_out["simulated"]
    return LeftOut(
        left_out["label"],
        None if simulated is None else Status(simulated),
        Status(left_out["live"]),
        left_out["message"],
    ).words
