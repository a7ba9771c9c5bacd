"""``memdash show A --against B``: what changed between two comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from memdash import report
from memdash.cli.database import LAST, find_comparison
from memdash.errors import InputError

if TYPE_CHECKING:
    from memdash.store.protocol import AnyStore

PINNED = "baseline"
"""The name of the comparison that is pinned as baseline in the library."""
FORMATS = ("table", "json", "markdown")
"""The formats that changes are told in."""


def shown_changes(store: AnyStore, comparison_id: str, other: str, form: str) -> str:
    """Return what changed from ``other`` to a stored comparison.

    ``other`` is an id, the beginning of one, ``last``, ``baseline`` for the pinned one, or a file.

    Raises :class:`InputError` for a format without changes and where ``other`` is nothing to compare with.
    """
    if form not in FORMATS:
        raise InputError(f"--against has no --format {form}: changes are told as {', '.join(FORMATS)}")
    before = _other(store, other, comparison_id)
    from memdash.against import held_against
    from memdash.metrics.changes import changes_json

    changes = held_against(store, report.read(store, comparison_id), before).changes
    if form == "json":
        return report.to_json(changes_json(changes)).decode()
    from memdash.tables.changes import changes_parts

    return "\n\n".join(changes_parts(changes, markdown=form == "markdown"))


def _other(store: AnyStore, name: str, comparison_id: str) -> dict[str, Any]:
    path = Path(name)
    if name not in (LAST, PINNED) and "\0" not in name and (path.suffix.lower() == ".json" or path.is_file()):
        from memdash.baseline import read_baseline

        return read_baseline(path)
    found = _pinned(store) if name == PINNED else find_comparison(store, name)
    if found == comparison_id:
        raise InputError(
            f"--against {name}: is the same comparison, {comparison_id}; name another, or a file"
        )
    return report.read(store, found)


def _pinned(store: AnyStore) -> str:
    found = next((one.id for one in store.comparisons() if one.baseline), None)
    if found is None:
        raise InputError(f"--against {PINNED}: no comparison is pinned as baseline; pin one in the library")
    return found
