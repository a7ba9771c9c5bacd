"""What a report is made of, whatever it is written as: sections of text, tables, numbers and charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memdash.metrics.findings import Headline
from memdash.palette import Style
from memdash.tables.grid import Grid

if TYPE_CHECKING:
    from memdash.report.figures import Sketch


@dataclass(frozen=True, slots=True)
class Told:
    """Sentences, a paragraph each; ``quiet`` ones limit or explain what stands above them."""

    lines: Sequence[str]
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """Names with their values."""

    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Cards:
    """Headline numbers."""

    headlines: Sequence[Headline]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; ``looks`` are how the series of its rows are drawn in the charts, none where they are not."""

    grid: Grid
    looks: Sequence[Style] = ()


@dataclass(frozen=True, slots=True)
class Charts:
    """Charts side by side."""

    sketches: Sequence[Sketch]


Block = Told | Listed | Cards | Table | Charts


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report under a title ("" for none). ``folded`` ones are opened by whoever wants to know.

    ``script`` is the title of the script it is about, None where it is about all of them: a reader looks at one at a time.
    """

    title: str
    blocks: Sequence[Block]
    script: str | None = None
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison to be read by people. ``basis`` is what its numbers rest on, ``badges`` say so in a word or two."""

    id: str
    title: str
    about: Sequence[str]
    badges: Sequence[str]
    basis: str
    sections: Sequence[Section]

    @property
    def scripts(self) -> tuple[str, ...]:
        """The titles of the scripts that sections are about."""
        return tuple(dict.fromkeys(one.script for one in self.sections if one.script is not None))

    @property
    def charts(self) -> list[Sketch]:
        """Every chart, in order."""
        return [
            chart
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Charts)
            for chart in block.sketches
        ]
