"""Rows of text as an aligned table for a terminal, or as a Markdown table."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from memdash.tables.lines import one_line
from memdash.tables.markdown import escaped


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text. A column's name may have several lines.

    ``numeric`` names the columns that are set flush right, ``notes`` the lines under a row, by its index.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    numeric: frozenset[str] = frozenset()
    notes: Mapping[int, Sequence[str]] = field(default_factory=dict)

    def plain(self) -> str:
        """Return it for a terminal: columns two spaces apart, a rule under the head."""
        shown = [[one_line(cell) for cell in row] for row in self.rows]
        heads = list(zip_longest(*(name.split("\n") for name in self.columns), fillvalue=""))
        widths = [max(map(_width, column)) for column in zip(*heads, *shown, strict=True)]
        lines = [self._aligned(head, widths) for head in heads]
        lines.append("  ".join("─" * width for width in widths))
        for index, row in enumerate(shown):
            lines.append(self._aligned(row, widths))
            lines += [f"  ↳ {one_line(note)}" for note in self.notes.get(index, ())]
        return "\n".join(lines)

    def markdown(self) -> str:
        """Return it as Markdown; the notes follow the table, each after its row's first cell."""
        lines = [
            _piped([one_line(name) for name in self.columns]),
            _piped(["---:" if name in self.numeric else "---" for name in self.columns]),
            *(_piped([escaped(cell) for cell in row]) for row in self.rows),
        ]
        for index, notes in self.notes.items():
            lines += ["", *(f"- **{escaped(self.rows[index][0])}**: {escaped(note)}" for note in notes)]
        return "\n".join(lines)

    def _aligned(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = [
            " " * (width - _width(cell)) + cell
            if name in self.numeric
            else cell + " " * (width - _width(cell))
            for name, cell, width in zip(self.columns, cells, widths, strict=True)
        ]
        return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """The number of terminal cells that ``text`` takes."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
