"""What people add to a comparison after it ran: notes, and which one is the baseline that others are held against.

Both are rows of ``comparison_change``: a note of kind ``note`` (JSON), the baseline of kind ``baseline``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from memdash.errors import InputError
from memdash.store.rows import Row

MOST_CHARACTERS = 2_000
"""A note is a remark, not a document."""

_NOTE = "note"
_BASELINE = "baseline"
_PINNED = "pinned"
_UNPINNED = "unpinned"


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about a comparison: when it was written, what it says, and by whom (None where nobody is signed in)."""

    at: datetime
    text: str
    who: str | None

    @classmethod
    def of(cls, text: str, who: str | None) -> Note:
        """Return a note that is written now. Raises :class:`InputError` for an empty text and for one that is too long."""
        text = text.strip()
        if not text:
            raise InputError("a note needs a text")
        if len(text) > MOST_CHARACTERS:
            raise InputError(
                f"a note has at most {MOST_CHARACTERS:,} characters, and this one has {len(text):,}"
            )
        return cls(datetime.now(UTC), text, who)


def note_row(comparison_id: str, note: Note) -> Row:
    """Return the row of a note."""
    said = json.dumps({"who": note.who, "text": note.text})
    return comparison_id, note.at.astimezone(UTC).replace(tzinfo=None), _NOTE, said


def baseline_row(comparison_id: str, *, pinned: bool) -> Row:
    """Return the row that makes a comparison the baseline, or ends that."""
    now = datetime.now(UTC).replace(tzinfo=None)
    return comparison_id, now, _BASELINE, _PINNED if pinned else _UNPINNED


@dataclass(frozen=True, slots=True)
class Additions:
    """What people have added to one comparison: its notes, the oldest first, and whether it is the baseline."""

    notes: tuple[Note, ...] = ()
    baseline: bool = False


def read_additions(rows: Iterable[Row]) -> dict[str, Additions]:
    """Read rows of ``comparison_change``, in their order, by comparison; rows of other kinds are passed over.

    Raises ValueError, KeyError or TypeError for a note that :func:`note_row` did not write.
    """
    found: dict[str, Additions] = {}
    for comparison_id, changed_at, kind, value in rows:
        so_far = found.get(comparison_id, Additions())
        if kind == _NOTE:
            found[comparison_id] = Additions((*so_far.notes, _read_note(changed_at, value)), so_far.baseline)
        elif kind == _BASELINE:
            found[comparison_id] = Additions(so_far.notes, value == _PINNED)
    return found


def _read_note(changed_at: datetime, value: str) -> Note:
    said = json.loads(value)
    text, who = said["text"], said["who"]
    if not isinstance(text, str) or not isinstance(who, str | None):
        raise ValueError(f"a note without a text: {value[:60]}")
    return Note(changed_at.replace(tzinfo=UTC), text, who)
