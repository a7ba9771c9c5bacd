"""The store: what was compared, what happened, and the answers that pages, reports and commands ask of it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Self

import memdash
from memdash import codec
from memdash.errors import StoreError
from memdash.prices import ModelPrice, PriceTable, Tier
from memdash.records import Record, RequestRecord, Status, from_line
from memdash.replay_log import ReplayLog
from memdash.scripts.model import Script
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Provider, ReplaySpec, Replies
from memdash.store import queries
from memdash.store.database import Database
from memdash.store.export import export_requests
from memdash.store.purge import purge
from memdash.store.rows import (
    READERS,
    Row,
    Rows,
    add_record,
    read_iterations,
    read_requests,
    read_state,
)
from memdash.store.writer import Unit, Writer

MEMORY = ":memory:"
"""The path of a store that ends with its process."""

_BY_WORKER = -1
"""The sequence number of a state that the replay itself did not yield."""


def database_path() -> Path:
    """Return the database to use where none is named: ``MEMDASH_DB``, else ``data/memdash.duckdb`` in the working folder."""
    return Path(os.environ.get("MEMDASH_DB") or "data/memdash.duckdb")


@dataclass(frozen=True, slots=True)
class ComparisonSummary:
    """One comparison in a list: what it holds, and where each of its replays stands, without its records."""

    id: str
    title: str
    created_at: datetime
    provider: Provider
    statuses: tuple[Status, ...]
    scripts: tuple[str, ...]
    models: tuple[str, ...]
    series: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A comparison as it was launched: its settings, its replays, what ran it and what its models cost then."""

    spec: ComparisonSpec
    title: str
    created_at: datetime
    versions: Mapping[str, str]
    prices: PriceTable
    replays: tuple[ReplaySpec, ...]

    @property
    def id(self) -> str:
        """The comparison's id, the last part of its permalink."""
        return self.spec.id


class _Key(NamedTuple):
    """What stands for a replay in the tables."""

    number: int
    comparison: str


class Store:
    """A store that this process owns; safe to use from several threads.

    What is handed in is written by one thread in batches; :meth:`flush` waits until it is in the file. Everything raises
    :class:`StoreError` where the database cannot be read or written. Use :meth:`open`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._saving = Lock()
        self._keys: dict[str, _Key] = {}
        self._blocks: dict[str, set[str]] = {}
        self._versions: dict[str, int] = {}
        self._changes = 0
        with database.cursor() as cursor:
            (self._last_replay,) = cursor.execute(queries.LAST_REPLAY).fetchall()[0]
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

    def save_comparison(self, spec: ComparisonSpec, *, created_at: datetime | None = None) -> None:
        """Keep a comparison, its replays, their scripts and the prices of today; returns once it is in the file.

        ``created_at`` is for one that was launched elsewhere. Raises :class:`StoreError` where the id is taken.
        """
        replays = spec.replays()
        scripts = {id(script): codec.dump_script(script) for script in spec.scripts}
        created = _timestamp(created_at or datetime.now(UTC))
        with self._saving:
            if self._has(spec.id):
                raise StoreError(f"there is already a comparison {spec.id!r}")
            new = {stored.hash for stored in scripts.values()} - self._known_scripts(scripts.values())
            first = self._last_replay + 1
            self._last_replay += len(replays)
            rows: Rows = {
                "comparison": [
                    (
                        spec.id,
                        created,
                        spec.title,
                        spec.provider.value,
                        json.dumps(
                            {
                                "spec": codec.dump_settings(spec),
                                "scripts": [scripts[id(script)].hash for script in spec.scripts],
                            }
                        ),
                        json.dumps(_versions()),
                    )
                ],
                "script": list(
                    {
                        stored.hash: (stored.hash, script.id, script.title, stored.body)
                        for script in spec.scripts
                        if (stored := scripts[id(script)]).hash in new
                    }.values()
                ),
                "price": list(_price_rows(spec)),
                "replay": [
                    _replay_row(number, replay, scripts[id(replay.script)].hash)
                    for number, replay in enumerate(replays, start=first)
                ],
            }
            with self._lock:
                for number, replay in enumerate(replays, start=first):
                    self._keys[replay.id] = _Key(number, spec.id)
                self._blocks[spec.id] = set()
            self._writer.put(Unit(spec.id, rows))
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
        self._key(replay_id)
        self._append_states(self._fetch_flushed(queries.PLACE, replay_id), status, message)

    def flush(self) -> None:
        """Return once everything handed in so far is in the file."""
        self._writer.flush()

    def mark_interrupted(self) -> None:
        """Mark every replay without an end as interrupted: whoever ran it is gone. It can be resumed."""
        unfinished = self._fetch_flushed(queries.UNFINISHED)
        self._append_states(unfinished, Status.INTERRUPTED, "the program that ran it ended")

    def rename(self, comparison_id: str, title: str) -> None:
        """Give a comparison another title."""
        self._require(comparison_id)
        row = (comparison_id, _timestamp(datetime.now(UTC)), "title", title)
        self._writer.put(Unit(comparison_id, {"comparison_change": [row]}))
        self._writer.flush()

    def delete(self, comparison_id: str) -> None:
        """Hide a comparison from every query; :meth:`purge` erases it from the file."""
        self._require(comparison_id)
        row = (comparison_id, _timestamp(datetime.now(UTC)))
        self._writer.put(Unit(comparison_id, {"tombstone": [row]}))
        self._writer.flush()
        with self._lock:
            self._blocks.pop(comparison_id, None)
            self._keys = {
                replay: key for replay, key in self._keys.items() if key.comparison != comparison_id
            }

    def purge(self) -> None:
        """Erase what was deleted, and its texts, by writing the file anew without it."""
        with self._saving:
            self._writer.flush()
            purge(self._database)

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
        """Return every comparison, the newest first."""
        return [
            ComparisonSummary(
                id=comparison_id,
                title=title,
                created_at=created_at.replace(tzinfo=UTC),
                provider=Provider(provider),
                statuses=tuple(map(Status, statuses)),
                scripts=tuple(scripts),
                models=tuple(models),
                series=tuple(dict.fromkeys(series)),
            )
            for comparison_id, title, created_at, provider, scripts, models, series, statuses in self._fetch(
                queries.COMPARISONS
            )
        ]

    def comparison(self, comparison_id: str) -> StoredComparison:
        """Return a comparison; raises :class:`StoreError` for an id that is not known, with those that come near."""
        ((_id, title, created_at, settings, versions),) = self._require(comparison_id)
        stored = json.loads(settings)
        scripts = self._scripts(stored["scripts"])
        return StoredComparison(
            spec=codec.load_settings(stored["spec"], [scripts[one] for one in stored["scripts"]]),
            title=title,
            created_at=created_at.replace(tzinfo=UTC),
            versions=json.loads(versions),
            prices=_read_prices(self._fetch(queries.PRICES, comparison_id)),
            replays=tuple(spec for _number, spec in self._replays(comparison_id)),
        )

    def replay_logs(self, comparison_id: str) -> list[ReplayLog]:
        """Return what the numbers of a comparison's replays are made of, in their order; requests come without block texts."""
        self._require(comparison_id)
        replays = self._replays(comparison_id)
        logs = {number: ReplayLog(spec) for number, spec in replays}
        for number, request in self._requests(min(logs), max(logs), blocks={}):
            logs[number].requests.append(request)
        for number, *state in self._fetch(queries.STATES, min(logs), max(logs)):
            logs[number].statuses.append(read_state(*state))
        for table, query in queries.FLAT.items():
            read = READERS[table]
            shelves: dict[int, list[Any]] = {
                number: getattr(log, f"{table}s") for number, log in logs.items()
            }
            for number, *columns in self._fetch(query, min(logs), max(logs)):
                shelves[number].append(read(*columns))
        return list(logs.values())

    def journal(self, replay_id: str) -> list[Record]:
        """Return everything a replay yielded, in the order of its sequence, block texts included.

        It is what ``replay(resume_from=…)`` goes on from; states that the worker noted are not in it.
        """
        key = self._key(replay_id)
        number = key.number
        blocks: dict[tuple[int, int], dict[str, str]] = {}
        for _replay, seq, block, body in self._fetch(
            queries.BLOCKS_OF_REPLAY, key.comparison, number, number
        ):
            blocks.setdefault((number, seq), {})[block] = body
        records: list[Record] = [
            read_state(*state)
            for _replay, *state in self._fetch(queries.STATES, number, number)
            if state[0] != _BY_WORKER
        ]
        records += [request for _number, request in self._requests(number, number, blocks=blocks)]
        for table, query in queries.FLAT.items():
            records += [READERS[table](*columns) for _number, *columns in self._fetch(query, number, number)]
        return sorted(records, key=lambda record: record.seq)

    def blocks(self, replay_id: str, ids: Sequence[str]) -> dict[str, str]:
        """Return the JSON of blocks of a replay by id; raises :class:`StoreError` for one that it does not have."""
        found: dict[str, str] = dict(self._fetch(queries.BLOCKS, self._key(replay_id).comparison, list(ids)))
        missing = [one for one in ids if one not in found]
        if missing:
            raise StoreError(f"{replay_id}: has no block {missing[0]!r}")
        return found

    def version(self, comparison_id: str) -> int:
        """Return a number that grows with every change of this comparison that has reached the file; costs nothing."""
        return self._versions.get(comparison_id, 0)

    def library_version(self) -> int:
        """Return a number that grows with every change of any comparison; costs nothing."""
        return self._changes

    def export_parquet(self, comparison_id: str, path: Path) -> None:
        """Write one row for each request of a comparison to ``path``, as Parquet, or as CSV where it ends in ``.csv``."""
        prices = PriceTable.load()
        costs = [
            (number, request.seq, prices.request_cost(request))
            for number, request in self._requests(*self._span(comparison_id), blocks={})
        ]
        with self._database.cursor() as cursor:
            export_requests(cursor, comparison_id, costs, path)

    # -- within ----------------------------------------------------------------------------------------------------------

    def _fetch(self, query: str, *values: object) -> list[Row]:
        with self._database.cursor() as cursor:
            return cursor.execute(query, list(values)).fetchall()

    def _fetch_flushed(self, query: str, *values: object) -> list[Row]:
        self._writer.flush()
        return self._fetch(query, *values)

    def _append_states(self, places: Iterable[Row], status: Status, message: str | None) -> None:
        for number, comparison_id, turns, at_ms in places:
            row = (number, _BY_WORKER, status.value, turns, at_ms, message)
            self._writer.put(Unit(comparison_id, {"replay_state": [row]}))
        self._writer.flush()

    def _has(self, comparison_id: str) -> bool:
        return bool(self._fetch("select 1 from comparison where id = ?", comparison_id))

    def _require(self, comparison_id: str) -> list[Row]:
        rows = self._fetch(queries.COMPARISON, comparison_id)
        if not rows:
            known = [one for (one,) in self._fetch(queries.COMPARISON_IDS)]
            near = get_close_matches(comparison_id, known, n=3, cutoff=0.5)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise StoreError(f"{self._database.name}: there is no comparison {comparison_id!r}{hint}")
        return rows

    def _span(self, comparison_id: str) -> tuple[int, int]:
        """The first and the last number of a comparison's replays, which were given in one go."""
        self._require(comparison_id)
        numbers = [number for number, _spec in self._replays(comparison_id)]
        return min(numbers), max(numbers)

    def _key(self, replay_id: str) -> _Key:
        with self._lock:
            key = self._keys.get(replay_id)
        if key is None:
            rows = self._fetch(queries.REPLAY_KEY, replay_id)
            if not rows:
                raise StoreError(f"{self._database.name}: there is no replay {replay_id!r}")
            key = _Key(*rows[0])
            with self._lock:
                self._keys[replay_id] = key
        return key

    def _add_texts(self, rows: Rows, comparison_id: str, blocks: Mapping[str, str]) -> None:
        """Add the blocks that this comparison does not have yet."""
        known = self._blocks.get(comparison_id)
        if known is None:
            known = {one for (one,) in self._fetch(queries.KNOWN_BLOCKS, comparison_id)}
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

    def _known_scripts(self, scripts: Iterable[codec.StoredScript]) -> set[str]:
        return {one for (one,) in self._fetch(queries.KNOWN_SCRIPTS, [stored.hash for stored in scripts])}

    def _scripts(self, hashes: Iterable[str]) -> dict[str, Script]:
        wanted = sorted(set(hashes))
        return {one: _load_script(body) for one, body in self._fetch(queries.SCRIPTS, wanted)}

    def _replays(self, comparison_id: str) -> list[tuple[int, ReplaySpec]]:
        rows = self._fetch(queries.REPLAYS, comparison_id)
        scripts = self._scripts(row[3] for row in rows)
        return [(row[0], _read_replay(row, scripts[row[3]])) for row in rows]

    def _requests(
        self, first: int, last: int, *, blocks: Mapping[tuple[int, int], Mapping[str, str]]
    ) -> Iterable[tuple[int, RequestRecord]]:
        iterations = read_iterations(self._fetch(queries.ITERATIONS, first, last))
        return read_requests(self._fetch(queries.REQUESTS, first, last), iterations, blocks)


@lru_cache(maxsize=32)
def _load_script(body: str) -> Script:
    return codec.load_script(body)


def _timestamp(moment: datetime) -> datetime:
    """UTC without saying so, as the tables hold it."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def _versions() -> dict[str, str]:
    versions = {"memdash": memdash.__version__, "python": platform.python_version()}
    for package in ("anthropic", "ctok"):
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


def _price_rows(spec: ComparisonSpec) -> Iterable[Row]:
    """The prices of every model that a comparison names; a model without a price has no row."""
    table = PriceTable.load()
    models = [*spec.models, *(choice.params.get("summary_model") for choice in spec.strategies)]
    for model in dict.fromkeys(models):
        price = table.price(model) if model else None
        for tier in price.tiers if price else ():
            yield (
                spec.id,
                model,
                tier.above,
                tier.input,
                tier.write_5m,
                tier.write_1h,
                tier.read,
                tier.output,
                price.since if price else None,
                price.source if price else "",
            )


def _read_prices(rows: Iterable[Row]) -> PriceTable:
    models: dict[str, ModelPrice] = {}
    for model, above, entry, write_5m, write_1h, read, output, since, source in rows:
        earlier = models[model].tiers if model in models else ()
        tier = Tier(above, entry, write_5m, write_1h, read, output)
        models[model] = ModelPrice(model, (*earlier, tier), source, since)
    return PriceTable(models)


def _replay_row(number: int, replay: ReplaySpec, script_hash: str) -> Row:
    return (
        number,
        replay.id,
        replay.comparison_id,
        script_hash,
        replay.script.id,
        replay.strategy,
        json.dumps(dict(replay.params)),
        replay.label,
        replay.series,
        replay.model,
        replay.effort,
        replay.max_tokens,
        replay.provider.value,
        replay.cache.value,
        replay.cache_marks.value,
        replay.warm,
        replay.check,
        replay.pace,
        replay.replies.value,
        replay.turns,
        replay.repeat,
        replay.seed,
        replay.salt,
        replay.token_counter,
        replay.relax_limits,
        replay.controls,
    )


def _read_replay(row: Row, script: Script) -> ReplaySpec:
    (
        _number, replay_id, comparison_id, _hash, strategy, params, label, series, model, effort, max_tokens, provider, cache,
        cache_marks, warm, check, pace, replies, turns, repeat, seed, salt, token_counter, relax_limits, controls,
    ) = row  # fmt: skip
    return ReplaySpec(
        id=replay_id,
        comparison_id=comparison_id,
        script=script,
        strategy=strategy,
        params=json.loads(params),
        label=label,
        series=series,
        model=model,
        effort=effort,
        max_tokens=max_tokens,
        provider=Provider(provider),
        cache=CacheLifetime(cache),
        cache_marks=CacheMarks(cache_marks),
        warm=warm,
        check=check,
        pace=pace,
        replies=Replies(replies),
        turns=turns,
        repeat=repeat,
        seed=seed,
        salt=salt,
        token_counter=token_counter,
        relax_limits=relax_limits,
        controls=controls,
    )
