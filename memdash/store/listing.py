"""The list of comparisons, kept in memory: of thousands only those that have changed are read again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from threading import Lock

from memdash.store.reading import ComparisonSummary

Read = Callable[[Collection[str] | None], Iterable[ComparisonSummary]]
"""Reads every comparison, or those of some ids that are there."""


class Listing:
    """Every comparison as it stood when it was last asked for; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[str, ComparisonSummary] | None = None
        self._upto = 0

    def bring(self, versions: Mapping[str, int], upto: int, read: Read) -> list[ComparisonSummary]:
        """Return every comparison, the newest first.

        ``versions`` holds at which change each comparison changed last, ``upto`` which change was the last of all.
        """
        with self._lock:
            changed = {one for one, version in versions.items() if version > self._upto}
            if self._known is None or changed:
                found = read(None if self._known is None else changed)
                known = {one: kept for one, kept in (self._known or {}).items() if one not in changed}
                known |= {one.id: one for one in found}
                self._known = dict(sorted(known.items(), key=_newest_first))
            self._upto = max(self._upto, upto)
            return list(self._known.values())


def _newest_first(item: tuple[str, ComparisonSummary]) -> tuple[float, str]:
    comparison_id, one = item
    return -one.created_at.timestamp(), comparison_id
