"""What people wrote about a comparison, for a terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memdash.tables.lines import one_line
from memdash.tables.markdown import escaped

if TYPE_CHECKING:
    from memdash.store import Note


def note_parts(notes: Sequence[Note], *, markdown: bool) -> list[str]:
    """Return a paragraph with a line for each note, the oldest first; nothing where there are none. Times are UTC."""
    if not notes:
        return []
    lines = [f"- {escaped(_told(one))}" if markdown else f"  {one_line(_told(one))}" for one in notes]
    return ["\n".join(["**Notes**\n" if markdown else "Notes", *lines])]


def _told(note: Note) -> str:
    who = f", {note.who}" if note.who else ""
    return f"{note.at:%Y-%m-%d %H:%M}{who}: {note.text}"
