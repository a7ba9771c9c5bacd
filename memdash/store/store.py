"""The store: what was compared and what happened, kept in one file by one process."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, Self

import memdash
from memdash import answerer, codec, numbers
from memdash.errors import InputError, StoreError
from memdash.prices import PriceTable
from memdash.records import Record, RequestRecord, Status, from_line
from memdash.replay_columns import ReplayColumns
from memdash.replay_log import ReplayLog, ReplayOutline
from memdash.spec import ComparisonSpec, Provider, ReplaySpec
from memdash.spending import DaySums, Entry, Expense, Started
from memdash.store import queries
from memdash.store.backup import back_up
from memdash.store.bundle import (
    Arrival,
    Arrived,
    Bundle,
    Part,
    Told,
    all_shapes,
    take_in,
    untold,
    write_bundle,
)
from memdash.store.columns import read_columns
from memdash.store.database import Database
from memdash.store.ledger import LEDGER, entry_row, read_entries, read_expenses, read_started
from memdash.store.listing import Listing
from memdash.store.notes import Additions, Note, baseline_row, note_row
from memdash.store.purge import erase_leftovers, purge
from memdash.store.reading import BY_WORKER, ComparisonSummary, Reader, ReplayKey
from memdash.store.rows import Row, Rows, add_record
from memdash.store.settings import StoredComparison, comparison_rows, refinement_row, replay_row, timestamp
from memdash.store.writer import UNFIT, Unit, Writer

if TYPE_CHECKING:
    from memdash.metrics.sweep.refinement import Proposal

MEMORY = ":memory:"
"""The path of a store that ends with its process."""


GONE = "the program that ran it ended"
"""What the state of a replay says whose process went away."""


def database_path() -> Path:
    """Return the database to use where none is named: ``MEMDASH_DB``, else ``data/memdash.duckdb`` in the working folder."""
    return Path(os.environ.get("MEMDASH_DB") or "data/memdash.duckdb")


class Store:
    """A store that this process owns; safe to use from several threads.

    What is handed in is written by one thread in batches; :meth:`flush` waits until it is in the file. Everything raises
    :class:`StoreError` where the database cannot be read or written. Use :meth:`open`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._saving = Lock()
        self._keys: dict[str, ReplayKey] = {}
        self._blocks: dict[str, set[str]] = {}
        self._versions: dict[str, int] = {}
        self._changes = 0
        self._listing = Listing()
        with database.cursor() as cursor:
            (self._last_replay,) = cursor.execute(queries.LAST_REPLAY).fetchall()[0]
            self._has_ledger = bool(cursor.execute(queries.HAS_LEDGER).fetchall())
            midnight = timestamp(datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0))
            self._day_sums = DaySums(
                read_entries(cursor.execute(queries.LEDGER_SINCE, [midnight]).fetchall())
            )
        self._writer = Writer(database, self._note_changes)

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open the database at ``path``, and make it where there is none; ``":memory:"`` keeps it in memory.

        This process owns it from then on: replays that still ran when their process went away are marked as interrupted.
        Raises :class:`StoreError` (:class:`StoreLocked` where another process has it open).
        """
        store = cls(Database(None if str(path) == MEMORY else Path(path)))
        try:
            store.mark_interrupted()
        except BaseException:
            store.close()
            raise
        return store

    @property
    def path(self) -> Path | None:
        """The database's file; None in memory."""
        return self._database.path

    @property
    def problem(self) -> StoreError | None:
        """Why what was handed in cannot be written at the moment, for a banner; None while all is well."""
        return self._writer.problem

    # -- writing ---------------------------------------------------------------------------------------------------------

    def save_comparison(self, spec: ComparisonSpec) -> None:
        """Keep a comparison, its replays, their scripts and the prices of today; returns once it is in the file.

        Raises :class:`StoreError` where the id is taken.
        """
        self.adopt(as_launched_now(spec))

    def adopt(self, comparison: StoredComparison) -> None:
        """Keep a comparison as it was launched elsewhere; returns once it is in the file.

        Raises :class:`StoreError` where the id is taken.
        """
        spec = comparison.spec
        scripts = {script.id: codec.dump_script(script) for script in spec.scripts}
        hashes = sorted({stored.hash for stored in scripts.values()})
        with self._saving:
            with self._reader() as reader:
                if reader.fetch(queries.TAKEN, spec.id):
                    raise StoreError(f"there is already a comparison {spec.id!r}")
                known = {one for (one,) in reader.fetch(queries.KNOWN_SCRIPTS, hashes)}
            numbered = self._numbered(comparison.replays)
            with self._lock:
                self._blocks[spec.id] = set()
            rows = comparison_rows(comparison, scripts)
            rows["replay"] = [
                replay_row(number, one, scripts[one.script.id].hash) for number, one in numbered
            ]
            rows["script"] = [row for row in rows["script"] if row[0] not in known]
            self._writer.put(Unit(spec.id, rows))
            self._writer.flush()

    def extend(self, comparison_id: str, proposal: Proposal) -> None:
        """Add the replays that a round of a sweep's refinement asks for; returns once they are in the file.

        Nothing happens where it is the comparison's latest round already. Raises :class:`StoreError` for an id that is not known.
        """
        with self._saving:
            self._writer.flush()
            with self._reader() as reader:
                known = reader.comparison(comparison_id)
            if known.refinements[-1:] == (proposal,):
                return
            added = known.extended(proposal).replays[len(known.replays) :]
            hashes = {script.id: codec.dump_script(script).hash for script in known.spec.scripts}
            numbered = self._numbered(added)
            rows: Rows = {
                "replay": [replay_row(number, one, hashes[one.script.id]) for number, one in numbered],
                "comparison_change": [refinement_row(comparison_id, proposal)],
            }
            self._writer.put(Unit(comparison_id, rows))
            self._writer.flush()

    def append(self, replay_id: str, records: Iterable[Record]) -> None:
        """Hand in records of a replay, to be written soon; all of them are stored together or none."""
        key = self._key(replay_id)
        rows: Rows = {}
        for record in records:
            add_record(rows, key.number, record)
            if isinstance(record, RequestRecord) and record.blocks:
                self._add_texts(rows, key.comparison, record.blocks)
        if rows:
            self._writer.put(Unit(key.comparison, rows))

    def append_lines(self, replay_id: str, lines: Iterable[bytes]) -> list[Record]:
        """Hand in records of a replay as :func:`memdash.records.to_line` wrote them; returns them.

        Raises :class:`StoreError` where a line is no record.
        """
        try:
            records = [from_line(line) for line in lines]
        except ValueError as error:
            raise StoreError(f"{replay_id}: got a line that is no record: {error}") from error
        self.append(replay_id, records)
        return records

    def append_state(self, replay_id: str, status: Status, message: str | None = None) -> None:
        """Note a state that the replay itself did not yield, for instance that it was cancelled.

        It takes no place in the replay's sequence (its ``seq`` is -1).
        """
        self.append_states([replay_id], status, message)

    def append_states(self, replay_ids: Sequence[str], status: Status, message: str | None = None) -> None:
        """Note a state of many replays in one go: each time costs a pass over the file, however many there are."""
        for replay_id in replay_ids:
            self._key(replay_id)
        self._append_states(self._places(queries.PLACES, list(replay_ids)), status, message)

    def note_entries(self, entries: Iterable[Entry]) -> None:
        """Hand in entries of the ledger, to be written soon; :meth:`spent_on` knows them at once. Twice does no harm."""
        entries = list(entries)
        if entries:
            self._writer.put(Unit(LEDGER, {"ledger": [entry_row(entry) for entry in entries]}))
        self._day_sums.add(entries)
        self._has_ledger = self._has_ledger or bool(entries)

    def flush(self) -> None:
        """Return once everything handed in so far is in the file."""
        self._writer.flush()

    def mark_interrupted(self, comparison_id: str | None = None) -> None:
        """Mark every replay without an end, or those of one comparison, as interrupted: whoever ran them is gone."""
        unfinished = self._places(queries.UNFINISHED, comparison_id, comparison_id)
        self._append_states(unfinished, Status.INTERRUPTED, GONE)

    def rename(self, comparison_id: str, title: str) -> None:
        """Give a comparison another title."""
        self._require(comparison_id)
        row = (comparison_id, timestamp(datetime.now(UTC)), "title", title)
        self._writer.put(Unit(comparison_id, {"comparison_change": [row]}))
        self._writer.flush()

    def add_note(self, comparison_id: str, text: str, who: str | None) -> None:
        """Add a note to a comparison; ``who`` wrote it, None where nobody is signed in.

        Raises :class:`InputError` for a text that is empty or too long.
        """
        note = Note.of(text, who)
        self._require(comparison_id)
        self._writer.put(Unit(comparison_id, {"comparison_change": [note_row(comparison_id, note)]}))
        self._writer.flush()

    def pin_baseline(self, comparison_id: str | None) -> None:
        """Make a comparison the one that others are held against, or with None have none; there is one at most."""
        with self._saving:
            if comparison_id is not None:
                self._require(comparison_id)
            for one in self.comparisons():
                if one.baseline is not (one.id == comparison_id):
                    row = baseline_row(one.id, pinned=one.id == comparison_id)
                    self._writer.put(Unit(one.id, {"comparison_change": [row]}))
            self._writer.flush()

    def delete(self, comparison_id: str) -> None:
        """Hide a comparison from every query; :meth:`purge` erases it from the file."""
        self._require(comparison_id)
        row = (comparison_id, timestamp(datetime.now(UTC)))
        self._writer.put(Unit(comparison_id, {"tombstone": [row]}))
        self._writer.retire(comparison_id, StoreError(f"there is no comparison {comparison_id!r}"))
        self._writer.flush()
        with self._lock:
            self._blocks.pop(comparison_id, None)
            self._keys = {
                replay: key for replay, key in self._keys.items() if key.comparison != comparison_id
            }

    def purge(self) -> None:
        """Erase what was deleted, and its texts, by writing the file anew without it.

        What runs goes on, and is written once the new file is in place.
        """
        with self._saving:
            self._writer.flush()
            with self._reader() as reader:
                deleted = {one for (one,) in reader.fetch(queries.DELETED)}
            purge(self._database)
        if self.path is not None:
            erase_leftovers(self.path, deleted)

    def deleted(self) -> int:
        """Return how many comparisons were deleted and are still in the file."""
        with self._reader() as reader:
            return len(reader.fetch(queries.DELETED))

    def back_up(self, target: Path) -> None:
        """Write everything handed in so far into a file of its own at ``target``, while reading and writing go on.

        An older file there is replaced once the new one is whole.
        """
        self._writer.flush()
        back_up(self._database, target)

    def import_bundle(self, file: BinaryIO, name: str, told: Told = untold) -> tuple[Arrived, ...]:
        """Take in a bundle: each of its comparisons whole or not at all, and what is here already only once.

        ``name`` is what messages call the file, and ``told`` hears how far it is. What had not ended when it was exported
        counts as interrupted here. Raises :class:`~memdash.errors.InputError` where the bundle is damaged, hostile or newer
        (then nothing was added), and where one of its comparisons cannot be stored or is here with other content (then those
        before it were).
        """
        bundle = Bundle(file, name)
        arrived: list[Arrived] = []
        told(0, len(bundle.manifest.parts))
        for part in bundle.manifest.parts:
            try:
                arrived.append(self._take_in(bundle, part))
            except InputError as error:
                others = sum(one.arrival is not Arrival.KNOWN for one in arrived)
                kept = f" ({numbers.count(others, 'comparison')} before it imported)" if others else ""
                raise InputError(f"{error}{kept}") from error
            told(len(arrived), len(bundle.manifest.parts))
        return tuple(arrived)

    def export_bundle(
        self, file: BinaryIO, comparison_ids: Sequence[str] | None = None, told: Told = untold
    ) -> None:
        """Write comparisons, or with None all of them, to ``file`` as a bundle; ``told`` hears how far it is.

        Raises :class:`~memdash.errors.NotStored` for an id that is not known, and :class:`~memdash.errors.InputError` where there
        is nothing to write.
        """
        known = [one.id for one in self.comparisons()]
        ids = known if comparison_ids is None else list(dict.fromkeys(comparison_ids))
        if not ids:
            raise InputError("there is no comparison to export yet; run one first")
        self._writer.flush()
        with self._database.snapshot() as cursor:
            reader = Reader(cursor, self._database.name)
            for one in ids:
                reader.require(one)
            write_bundle(cursor, ids, file, told)

    def close(self) -> None:
        """Write what is waiting and let go of the file."""
        try:
            self._writer.close()
        finally:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- reading ---------------------------------------------------------------------------------------------------------

    def comparisons(self) -> list[ComparisonSummary]:
        """Return every comparison, the newest first.

        What has not changed since it was last asked for is not read again: pages list thousands of them every second.
        """
        with self._lock:
            versions, upto = dict(self._versions), self._changes
        return self._listing.bring(versions, upto, self._summaries)

    def additions(self, comparison_id: str) -> Additions:
        """Return the notes on a comparison and whether it is the baseline; quicker than reading the comparison."""
        with self._reader() as reader:
            return reader.additions([comparison_id]).get(comparison_id, Additions())

    def baseline(self) -> str | None:
        """Return the comparison that others are held against, None where none is pinned."""
        return next((one.id for one in self.comparisons() if one.baseline), None)

    def comparison(self, comparison_id: str) -> StoredComparison:
        """Return a comparison; raises :class:`StoreError` for an id that is not known, with those that come near."""
        with self._reader() as reader:
            return reader.comparison(comparison_id)

    def replay_logs(self, comparison_id: str, only: Collection[str] | None = None) -> list[ReplayLog]:
        """Return what happened in a comparison's replays, in their order; requests come without block texts.

        ``only`` are the ids of the replays that are wanted; None is all of them.
        """
        with self._reader() as reader:
            return reader.replay_logs(comparison_id, only)

    def replay_outlines(self, comparison_id: str, only: Collection[str] | None = None) -> list[ReplayOutline]:
        """Return what the results of a comparison's replays are made of, in their order; quicker to read than their logs."""
        with self._reader() as reader:
            return reader.replay_outlines(comparison_id, only)

    def columns(self, comparison_id: str) -> ReplayColumns:
        """Return what the outcomes of a comparison's replays are made of, as columns: the fast road to thousands of replays."""
        with self._database.snapshot() as cursor:
            numbers = Reader(cursor, self._database.name).replay_numbers(comparison_id)
            return read_columns(cursor, numbers)

    @contextmanager
    def at_hand(self, comparison_id: str, *, texts: bool = False) -> Iterator[Self]:
        """Give a store in which many questions about one comparison are cheap: this one; its file is here."""
        yield self

    def journal(self, replay_id: str) -> list[Record]:
        """Return everything a replay yielded, in the order of its sequence, block texts included.

        It is what ``replay(resume_from=…)`` goes on from; states that the worker noted are not in it.
        """
        with self._reader() as reader:
            return reader.journal(replay_id)

    def blocks(self, replay_id: str, ids: Sequence[str]) -> dict[str, str]:
        """Return the JSON of blocks of a replay by id; raises :class:`StoreError` for one that it does not have."""
        with self._reader() as reader:
            return reader.blocks(replay_id, ids)

    def expenses(self) -> list[Expense]:
        """Return what live requests cost, by day (UTC), person and comparison, the oldest first; of deleted comparisons too."""
        with self._reader() as reader:
            return read_expenses(reader.fetch(queries.EXPENSES))

    def started(self) -> list[Started]:
        """Return who started which live runs or let them go on, the oldest first; of deleted comparisons too."""
        with self._reader() as reader:
            return read_started(reader.fetch(queries.STARTED))

    @property
    def has_ledger(self) -> bool:
        """Whether anything was ever started live; costs nothing."""
        return self._has_ledger

    def spent_on(self, day: date) -> float:
        """Return the dollars that the live requests of today (UTC) or yesterday come to so far; costs nothing.

        What is set aside for requests without an answer is in it.
        """
        return self._day_sums.of(day)

    def spent_in(self, comparison_id: str) -> float:
        """Return the dollars that a comparison's live requests come to, those without an answer at the most they can cost."""
        return math.fsum(one.usd for one in self.expenses() if one.comparison_id == comparison_id)

    def check(self) -> None:
        """Raise :class:`StoreError` where the database cannot be read at the moment."""
        with self._reader() as reader:
            reader.fetch(queries.LAST_REPLAY)

    def version(self, comparison_id: str) -> int:
        """Return a number that grows with every change of this comparison that has reached the file; costs nothing."""
        return self._versions.get(comparison_id, 0)

    def library_version(self) -> int:
        """Return a number that grows with every change of any comparison; costs nothing."""
        return self._changes

    # -- within ----------------------------------------------------------------------------------------------------------

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        with self._database.snapshot() as cursor:
            yield Reader(cursor, self._database.name)

    def _take_in(self, bundle: Bundle, part: Part) -> Arrived:
        with self._saving:
            self._writer.flush()
            try:
                with self._database.transaction() as cursor:
                    arrived, added = take_in(cursor, all_shapes(cursor), bundle, part, self._last_replay + 1)
            except StoreError as error:
                if isinstance(error.__cause__, UNFIT):
                    raise InputError(f"{bundle.archive.name}: {part.id} cannot be stored: {error}") from error
                raise
            self._last_replay += added
            self._writer.welcome(part.id)
        if arrived.arrival is not Arrival.KNOWN:
            with self._lock:
                self._blocks.pop(part.id, None)
            self._note_changes([part.id])
            self.mark_interrupted(part.id)
        return arrived

    def _numbered(self, replays: Iterable[ReplaySpec]) -> list[tuple[int, ReplaySpec]]:
        """Give new replays their numbers; only while saving, since nobody else may take a number meanwhile."""
        numbered = list(enumerate(replays, start=self._last_replay + 1))
        self._last_replay += len(numbered)
        with self._lock:
            self._keys |= {one.id: ReplayKey(number, one.comparison_id) for number, one in numbered}
        return numbered

    def _summaries(self, among: Collection[str] | None) -> list[ComparisonSummary]:
        with self._reader() as reader:
            return reader.comparisons(among)

    def _places(self, query: str, *values: object) -> list[Row]:
        self._writer.flush()
        with self._reader() as reader:
            return reader.fetch(query, *values)

    def _require(self, comparison_id: str) -> None:
        with self._reader() as reader:
            reader.require(comparison_id)

    def _append_states(self, places: Iterable[Row], status: Status, message: str | None) -> None:
        for number, comparison_id, turns, at_ms in places:
            row = (number, BY_WORKER, status.value, turns, at_ms, message)
            self._writer.put(Unit(comparison_id, {"replay_state": [row]}))
        self._writer.flush()

    def _key(self, replay_id: str) -> ReplayKey:
        with self._lock:
            key = self._keys.get(replay_id)
        if key is None:
            with self._reader() as reader:
                key = reader.key(replay_id)
            with self._lock:
                self._keys[replay_id] = key
        return key

    def _add_texts(self, rows: Rows, comparison_id: str, blocks: Mapping[str, str]) -> None:
        """Add the blocks that this comparison does not have yet."""
        known = self._blocks.get(comparison_id)
        if known is None:
            with self._reader() as reader:
                known = {one for (one,) in reader.fetch(queries.KNOWN_BLOCKS, comparison_id)}
        with self._lock:
            known = self._blocks.setdefault(comparison_id, known)
            new = [(comparison_id, block, body) for block, body in blocks.items() if block not in known]
            known.update(blocks)
        if new:
            rows.setdefault("block_text", []).extend(new)

    def _note_changes(self, comparisons: Iterable[str]) -> None:
        with self._lock:
            self._changes += 1
            for comparison_id in comparisons:
                self._versions[comparison_id] = self._changes


def as_launched_now(spec: ComparisonSpec) -> StoredComparison:
    """Return a comparison that is launched at this moment, by this software and at today's prices."""
    versions = {"memdash": memdash.__version__, "python": platform.python_version()}
    for package in ("anthropic", "ctok"):
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    if spec.provider is Provider.ANTHROPIC:
        versions[answerer.VERSION_KEY] = answerer.present_answerer().value
    table = PriceTable.load()
    models = [*spec.models, *(choice.params.get("summary_model") for choice in spec.strategies)]
    return StoredComparison(
        spec=spec,
        title=spec.title,
        created_at=datetime.now(UTC),
        versions=versions,
        prices=PriceTable({model: price for model in models if model and (price := table.price(model))}),
        replays=spec.replays(),
    )
