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
    separator = "\n\n" if markdown else "\n"
    lines = separator.join(confirmation_lines(confirmation))
    if confirmation["sentence"] is None:
        return [confirmation_sentence(confirmation), lines]
    grid = confirmation_grid(confirmation)
    return [confirmation_sentence(confirmation), grid.markdown() if markdown else grid.plain(), lines]


def confirmation_sentence(confirmation: Entry) -> str:
    """Say with what result the simulator was compared."""
    if confirmation["sentence"] is None:
        return "Nothing to compare with the live run: no replay finished on both sides."
    return f"Simulator {confirmation['sentence']}"


def confirmation_lines(confirmation: Entry) -> list[str]:
    """Say what the comparison leaves out or had not in common, and which two were compared."""
    return [
        *(f"Not counted: {one['label']}, {_why(one)}" for one in confirmation["left_out"]),
        *(f"Not alike: {note}" for note in confirmation["notes"]),
        f"Live comparison {confirmation['live']} against simulated comparison {confirmation['simulated']}",
    ]


def confirmation_grid(confirmation: Entry) -> Grid:
    """Return the table of the errors, a row a number."""
    columns = _COLUMNS if len(confirmation["settings"]) > 1 else _COLUMNS[:-1]
    rows = [
        (*_row(error), _worst(error["name"], confirmation["settings"]))[: len(columns)]
        for error in confirmation["numbers"]
    ]
    return Grid(columns, rows, numeric=frozenset(_COLUMNS[1:5]))


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
