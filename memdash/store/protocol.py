"""What every store can do: the owner of the file, one that hands records to the owner, one that leaves them for the next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from memdash.records import Record, Status
from memdash.replay_columns import ReplayColumns
from memdash.replay_log import ReplayLog, ReplayOutline
from memdash.spec import ComparisonSpec
from memdash.spending import Entry
from memdash.store.bundle.arriving import Arrived
from memdash.store.reading import ComparisonSummary
from memdash.store.settings import StoredComparison

if TYPE_CHECKING:
    from memdash.metrics.sweep.refinement import Proposal


class AnyStore(Protocol):
    """Keeps comparisons and answers questions about them; see :class:`memdash.store.Store` for what each method promises."""

    def save_comparison(self, spec: ComparisonSpec) -> None:
        """Keep a comparison, its replays, their scripts and the prices of today."""

    def adopt(self, comparison: StoredComparison) -> None:
        """Keep a comparison as it was launched elsewhere."""

    def extend(self, comparison_id: str, proposal: Proposal) -> None:
        """Add the replays that a round of a sweep's refinement asks for."""

    def append(self, replay_id: str, records: Iterable[Record]) -> None:
        """Hand in records of a replay."""

    def append_lines(self, replay_id: str, lines: Iterable[bytes]) -> list[Record]:
        """Hand in records of a replay as lines of JSON; returns them."""

    def append_state(self, replay_id: str, status: Status, message: str | None = None) -> None:
        """Note a state that the replay itself did not yield."""

    def append_states(self, replay_ids: Sequence[str], status: Status, message: str | None = None) -> None:
        """Note a state of many replays in one go."""

    def note_entries(self, entries: Iterable[Entry]) -> None:
        """Hand in entries of the ledger of what live requests cost."""

    def flush(self) -> None:
        """Return once everything handed in so far is kept for good."""

    def rename(self, comparison_id: str, title: str) -> None:
        """Give a comparison another title."""

    def delete(self, comparison_id: str) -> None:
        """Hide a comparison from every query."""

    def purge(self) -> None:
        """Erase what was deleted, and its texts."""

    def back_up(self, target: Path) -> None:
        """Write the whole database, as it is at one moment, into a file of its own."""

    def import_bundle(self, file: BinaryIO, name: str) -> tuple[Arrived, ...]:
        """Take in a bundle; ``name`` is what messages call it."""

    def export_bundle(self, file: BinaryIO, comparison_ids: Sequence[str] | None = None) -> None:
        """Write comparisons, or all of them, to a file as a bundle."""

    def comparisons(self) -> list[ComparisonSummary]:
        """Return every comparison, the newest first."""

    def comparison(self, comparison_id: str) -> StoredComparison:
        """Return a comparison."""

    def replay_logs(self, comparison_id: str, only: Collection[str] | None = None) -> list[ReplayLog]:
        """Return what happened in a comparison's replays, or only in some, without the texts."""

    def replay_outlines(self, comparison_id: str, only: Collection[str] | None = None) -> list[ReplayOutline]:
        """Return what the results of a comparison's replays, or only of some, are made of."""

    def columns(self, comparison_id: str) -> ReplayColumns:
        """Return what the outcomes of a comparison's replays are made of, as columns."""

    def at_hand(self, comparison_id: str, *, texts: bool = False) -> AbstractContextManager[AnyStore]:
        """Give a store in which many questions about one comparison cost no more than in the file itself.

        Journals and blocks are among them only with ``texts``.
        """

    def journal(self, replay_id: str) -> list[Record]:
        """Return everything a replay yielded, in the order of its sequence."""

    def blocks(self, replay_id: str, ids: Sequence[str]) -> dict[str, str]:
        """Return the JSON of blocks of a replay by id."""

    def close(self) -> None:
        """Keep what is waiting and let go."""
