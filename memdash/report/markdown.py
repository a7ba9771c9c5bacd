"""A report as Markdown, fit for a pull request: the findings and the table in sight, the rest folded away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memdash import numbers
from memdash.report.blocks import Block, Cards, Charts, Listed, Report, Section, Table, Told
from memdash.tables.grid import Grid
from memdash.tables.lines import one_line
from memdash.tables.markdown import escaped, paragraph

_MOST_ROWS = 40
"""Of a table; a comment on a pull request holds some 65,000 characters (GitHub)."""


def to_markdown(report: Report) -> bytes:
    """Return the report as Markdown in UTF-8. Charts are told by their titles, which say what is seen in them."""
    parts = [
        f"## {escaped(report.title)}",
        f"**{' · '.join(map(escaped, report.badges))}** · {' · '.join(map(escaped, report.about))}",
        paragraph(f"{report.basis}."),
    ]
    for section in report.sections:
        parts += _section(section)
    again = f"Comparison `{one_line(report.id)}`. Again: `memdash show {one_line(report.id)}`"
    return ("\n\n".join([*parts, again]) + "\n").encode()


def _section(section: Section) -> Iterator[str]:
    title = " · ".join(escaped(one) for one in (section.title, section.script or "") if one)
    if section.folded:
        yield f"<details><summary>{title}</summary>"
    elif title:
        yield f"### {title}"
    for block in section.blocks:
        yield from _block(block)
    if section.folded:
        yield "</details>"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Told(lines):
            yield from map(paragraph, lines)
        case Listed(entries):
            yield Grid(("", " "), entries).markdown()
        case Cards(headlines):
            rows = [(one.title, one.value, one.whose or numbers.NOTHING, one.note) for one in headlines]
            yield Grid(("number", "value", "whose", "note"), rows).markdown()
        case Table(grid):
            yield _shortened(grid)
        case Charts(sketches):
            yield "\n".join(f"- {escaped(one.title)}" for one in sketches)


def _shortened(grid: Grid) -> str:
    more = len(grid.rows) - _MOST_ROWS
    if more <= 0:
        return grid.markdown()
    notes = {place: told for place, told in grid.notes.items() if place < _MOST_ROWS}
    shown = replace(grid, rows=grid.rows[:_MOST_ROWS], notes=notes)
    return f"{shown.markdown()}\n\n{numbers.count(more, 'more row')} not shown; the HTML report has all."
