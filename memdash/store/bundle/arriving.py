"""Taking one comparison of a bundle into a database: all of it or nothing, and what is there already only once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from memdash.errors import MemdashError
from memdash.event_fields import misfit
from memdash.store import queries
from memdash.store.bundle.document import Document, as_batch, check_document, read_document
from memdash.store.bundle.layout import JSON_COLUMNS, RECORD_KEYS, Part
from memdash.store.bundle.reading import Bundle
from memdash.store.bundle.tables import Shape, check_json, read_parquet
from memdash.store.bundle.writing import record_batches, replaced
from memdash.store.reading import BY_WORKER, ComparisonSummary, Reader
from memdash.store.settings import StoredComparison
from memdash.tokens import COUNTERS

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from memdash.replay_log import ReplayLog

_TOGETHER = 10
"""How many replays are read back in one go."""
_ADD = "insert into {table} ({columns}) select {columns} from arriving"
_ADD_TO_COMPARISON = (
    "insert into {table} ({columns}, comparison) select {columns}, $comparison::varchar from arriving"
)


class Arrival(StrEnum):
    """What became of a comparison of a bundle."""

    NEW = "new"
    MORE = "more"
    """It was here, and the bundle knew more of it."""
    KNOWN = "known"
    """It was here with all that the bundle holds."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """One comparison of a bundle: its id, its title in the bundle, and what became of it."""

    id: str
    title: str
    arrival: Arrival


def take_in(
    cursor: duckdb.DuckDBPyConnection,
    shapes: Mapping[str, Shape],
    bundle: Bundle,
    part: Part,
    next_number: int,
) -> tuple[Arrived, int]:
    """Add a comparison of a bundle, or what of it is not here yet; returns how many replays were added.

    New replays are numbered from ``next_number`` on. ``cursor`` is inside a transaction, which must be rolled back where this
    raises: :class:`InputError` for content that is no comparison, and for one that is here with other content.
    """
    with bundle.refusing(part):
        document = check_document(bundle.document(part), shapes, part.id, older=bundle.older)
        here = _here(cursor, shapes, bundle, part)
        if here is not None:
            _check_same_launch(here, document, bundle, part)
        playing = here is not None and bool(cursor.execute(queries.UNFINISHED, [part.id, part.id]).fetchall())
        numbers, added = _numbered(cursor, part, document, next_number)
        rows = _add_document(cursor, shapes, part, _news(cursor, here, document), numbers)
        in_order = [numbers[row["id"]] for row in document["replay"]]
        for table in RECORD_KEYS:
            known = None if here is None else _known(cursor, shapes[table], part.id)
            for batch in _records(bundle, part, shapes[table], in_order):
                new = batch if known is None else _unknown(batch, shapes[table], known, bundle, part)
                rows += _add(cursor, shapes[table], part.id, new)
        if rows:
            if playing:
                bundle.archive.refuse(f"{part.id} is being played here; import it when that has ended")
            _read_back(cursor, part, bundle.archive.name)
    if here is None:
        return Arrived(part.id, part.title, Arrival.NEW), added
    return Arrived(part.id, part.title, Arrival.MORE if rows else Arrival.KNOWN), added


# -- what is here ----------------------------------------------------------------------------------------------------------


def _here(
    cursor: duckdb.DuckDBPyConnection, shapes: Mapping[str, Shape], bundle: Bundle, part: Part
) -> Document | None:
    if not cursor.execute(queries.TAKEN, [part.id]).fetchall():
        return None
    if not cursor.execute(queries.COMPARISON, [part.id]).fetchall():
        bundle.archive.refuse(
            f"{part.id} was deleted here; run memdash purge, or erase what was deleted in the Library, and import it again"
        )
    return read_document(cursor, shapes, part.id)


def _check_same_launch(here: Document, document: Document, bundle: Bundle, part: Part) -> None:
    """What was launched never changes, but that a refinement adds replays."""
    replays = {row["id"]: row for row in here["replay"]}
    same = (
        all(here[table] == document[table] for table in ("comparison", "script", "price"))
        and all(replays.get(row["id"], row) == row for row in document["replay"])
    )  # fmt: skip
    if not same:
        _clash(bundle, part)


def _clash(bundle: Bundle, part: Part) -> None:
    bundle.archive.refuse(
        f"another comparison has the id {part.id} here, or it went on in another way; delete and purge that one to import this"
    )


def _known(cursor: duckdb.DuckDBPyConnection, shape: Shape, comparison_id: str) -> dict[Any, bytes]:
    """The rows of a table that are here, by what tells them apart."""
    numbers = [number for number, _id in cursor.execute(queries.REPLAY_NUMBERS, [comparison_id]).fetchall()]
    known: dict[Any, bytes] = {}
    for batch in record_batches(cursor, shape, comparison_id):
        if shape.table != "block_text":
            batch = replaced(batch, numbers)
        known.update(_digests(batch, shape))
    return known


def _digests(batch: pa.RecordBatch, shape: Shape) -> Iterator[tuple[Any, bytes]]:
    keys = [shape.schema.names.index(name) for name in RECORD_KEYS[shape.table]]
    for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        key = tuple(row[place] for place in keys)
        if key[1:] == (
            BY_WORKER,
        ):  # a state without a place in the replay's sequence: only all of it tells it apart
            key = row
        yield key, hashlib.blake2b(repr(row).encode(), digest_size=16).digest()


def _unknown(
    batch: pa.RecordBatch, shape: Shape, known: Mapping[Any, bytes], bundle: Bundle, part: Part
) -> pa.RecordBatch:
    """Leave out the rows that are here; the same place with another content is another comparison."""
    import pyarrow as pa

    new: list[int] = []
    for place, (key, digest) in enumerate(_digests(batch, shape)):
        if key not in known:
            new.append(place)
        elif known[key] != digest:
            _clash(bundle, part)
    return batch.take(pa.array(new, pa.int64()))


# -- what arrives ----------------------------------------------------------------------------------------------------------


def _numbered(
    cursor: duckdb.DuckDBPyConnection, part: Part, document: Document, next_number: int
) -> tuple[dict[str, int], int]:
    """The number of each replay, and how many of them are new."""
    numbers = {one: number for number, one in cursor.execute(queries.REPLAY_NUMBERS, [part.id]).fetchall()}
    new = [row["id"] for row in document["replay"] if row["id"] not in numbers]
    return numbers | {one: number for number, one in enumerate(new, start=next_number)}, len(new)


def _news(cursor: duckdb.DuckDBPyConnection, here: Document | None, document: Document) -> Document:
    """What of a document is not here yet."""
    if here is None:
        return {
            **document,
            "script": _new_scripts(cursor, document),
            "comparison_change": _own(cursor, document),
        }
    ids = {row["id"] for row in here["replay"]}
    renamed = max(
        (row["changed_at"] for row in here["comparison_change"] if row["kind"] == "title"), default=""
    )
    return {
        "comparison": [],
        "script": [],
        "price": [],
        "replay": [row for row in document["replay"] if row["id"] not in ids],
        "comparison_change": [
            row
            for row in document["comparison_change"]
            if row not in here["comparison_change"]
            and row["kind"] != "baseline"
            and (row["kind"] != "title" or row["changed_at"] > renamed)
        ],
    }


def _new_scripts(cursor: duckdb.DuckDBPyConnection, document: Document) -> list[dict[str, Any]]:
    hashes = [row["hash"] for row in document["script"]]
    known = {one for (one,) in cursor.execute(queries.KNOWN_SCRIPTS, [hashes]).fetchall()}
    return [row for row in document["script"] if row["hash"] not in known]


def _own(cursor: duckdb.DuckDBPyConnection, document: Document) -> list[dict[str, Any]]:
    """The changes of a comparison that is new here; which one is the baseline is for this library to say, once it has one."""
    changes = document["comparison_change"]
    if not cursor.execute(queries.BASELINES).fetchall():
        return changes
    return [row for row in changes if row["kind"] != "baseline"]


def _add_document(
    cursor: duckdb.DuckDBPyConnection,
    shapes: Mapping[str, Shape],
    part: Part,
    news: Document,
    numbers: Mapping[str, int],
) -> int:
    return sum(
        _add(cursor, shapes[table], part.id, as_batch(rows, shapes[table], numbers))
        for table, rows in news.items()
    )


def _records(bundle: Bundle, part: Part, shape: Shape, numbers: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """The rows of a table of records, with the numbers of their replays here."""
    if shape.table not in part.rows:
        return
    rows = 0
    with bundle.archive.unpacked(part.table(shape.table)) as file:
        for batch in read_parquet(file, shape, older=bundle.older):
            check_json(batch, JSON_COLUMNS.get(shape.table, {}))
            rows += batch.num_rows
            if shape.table == "block_text":
                yield batch
                continue
            if max(batch.column(0).to_pylist(), default=0) >= len(numbers):
                raise ValueError(f"has rows of {shape.table} that belong to no replay")
            yield replaced(batch, numbers)
    if rows != part.rows[shape.table]:
        raise ValueError(f"has {rows:,} rows of {shape.table}, not {part.rows[shape.table]:,}")


def _add(cursor: duckdb.DuckDBPyConnection, shape: Shape, comparison_id: str, batch: pa.RecordBatch) -> int:
    """Insert rows; returns how many."""
    import pyarrow as pa

    if not batch.num_rows:
        return 0
    whose = shape.table in ("price", "replay", "comparison_change", "block_text")
    query = (_ADD_TO_COMPARISON if whose else _ADD).format(table=shape.table, columns=shape.columns)
    values = {"comparison": comparison_id} if whose else {}
    cursor.register("arriving", pa.Table.from_batches([batch]))
    cursor.execute(query, values).fetchall()
    cursor.unregister("arriving")
    rows: int = batch.num_rows
    return rows


def _check_log(log: ReplayLog) -> None:
    """Raise ``ValueError`` where records speak of what their replay does not have: numbers are made by looking it up."""
    spec = log.spec
    turns = [one.turn for records in (log.requests, log.events, log.turns) for one in records]
    turns += [one.turns_completed for one in log.statuses] + [one.asked_after for one in log.probes]
    if max(turns, default=0) > spec.turns:
        raise ValueError("has a turn that its replay does not have")
    if any(not one.shared and one.entries[:1] and one.entries[0].startswith("+") for one in log.requests):
        raise ValueError("has a request that goes on with a message it never began")
    facts = {fact.id for fact in spec.script.facts if fact.stated_by(spec.turns)}
    if not {one.fact for one in log.probes} | {one.fact for one in log.facts} <= facts:
        raise ValueError("has a fact that its script does not have")
    wrong = next(filter(None, (misfit(one.event, one.data) for one in log.events)), None)
    if wrong is not None:
        raise ValueError(f"has an event whose {wrong!r} is of another kind")


def _check_launch(stored: StoredComparison) -> None:
    """Raise ``ValueError`` where something that is kept as it is written is not what is looked up in it."""
    versions: object = stored.versions
    if not isinstance(versions, dict) or not all(isinstance(one, str) for one in versions.values()):
        raise ValueError("has versions that are none")
    for spec in stored.replays:
        params: object = spec.params
        if not isinstance(params, dict) or any(isinstance(one, dict | list) for one in params.values()):
            raise ValueError("has parameters that are none")
        if spec.token_counter not in COUNTERS:
            raise ValueError(f"has a token counter {spec.token_counter[:60]!r} that is not known")


def _check_answerer(summary: ComparisonSummary, stored: StoredComparison) -> None:
    """Raise ``ValueError`` where it does not say in one way what answers: who may let it go on, and what that may cost, follow
    from what its settings say, and a replay is answered by what its own row says."""
    said = {summary.provider, stored.spec.provider, *(replay.provider for replay in stored.replays)}
    if len(said) > 1:
        raise ValueError("has replays that are not answered by what its settings say")


def _read_back(cursor: duckdb.DuckDBPyConnection, part: Part, name: str) -> None:
    """Read all that was added as every page reads it. Raises ``ValueError`` where that does not go."""
    reader = Reader(cursor, name)
    try:
        (summary,) = reader.comparisons([part.id])
        stored = reader.comparison(part.id)
        _check_launch(stored)
        _check_answerer(summary, stored)
        ids = [one.id for one in stored.replays]
        for start in range(0, len(ids), _TOGETHER):
            for log in reader.replay_logs(part.id, ids[start : start + _TOGETHER]):
                _check_log(log)
    except (MemdashError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"cannot be read ({type(error).__name__}: {error})") from error
    lacking = cursor.execute(queries.BLOCK_WITHOUT_TEXT, {"comparison": part.id}).fetchall()
    if lacking:
        raise ValueError(f"lacks the text of block {lacking[0][0][:60]!r}")
    misplaced = cursor.execute(queries.MISPLACED_BLOCK, {"comparison": part.id}).fetchall()
    if misplaced:
        raise ValueError(f"has a block {misplaced[0][0][:60]!r} of another kind than stands there")
