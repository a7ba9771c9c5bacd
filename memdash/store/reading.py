"""Answers to what pages, reports and commands ask, each from one moment of the database."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import duckdb

from memdash import codec
from memdash.collecting import uncollected
from memdash.errors import NotStored, StoreError
from memdash.records import Record, RequestRecord, Status
from memdash.replay_log import AnyLog, ReplayLog, ReplayOutline, RequestOutline
from memdash.scripts.model import Script
from memdash.spec import Provider, ReplaySpec
from memdash.store import queries
from memdash.store.notes import Additions, Note, read_additions
from memdash.store.rows import (
    Row,
    read_iterations,
    read_request_outlines,
    read_requests,
    read_state,
    record_readers,
)
from memdash.store.settings import StoredComparison, read_prices, read_replay

_TOGETHER = 200
"""How many replays are read in one go: it bounds how many rows there are at a time beside the records made of them."""
_SEQUENCE: Callable[[Any], int] = attrgetter("seq")

BY_WORKER = -1
"""The sequence number of a state that the replay itself did not yield."""


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
    confirms: str | None = None
    """The simulated comparison that this live one checks."""
    sweep: bool = False
    """Whether it goes over ranges of thresholds."""
    notes: tuple[Note, ...] = ()
    baseline: bool = False
    """Whether it is the one that others are held against."""


class ReplayKey(NamedTuple):
    """What stands for a replay in the tables."""

    number: int
    comparison: str


class Reader:
    """Reads through one cursor; inside a snapshot all answers are of one moment.

    ``name`` is what error messages call the database.
    """

    def __init__(self, cursor: duckdb.DuckDBPyConnection, name: str) -> None:
        self._cursor = cursor
        self._name = name

    def fetch(self, query: str, *values: object) -> list[Row]:
        """Return every row that answers a query."""
        return self._cursor.execute(query, list(values)).fetchall()

    def comparisons(self, among: Collection[str] | None = None) -> list[ComparisonSummary]:
        """Return every comparison in no particular order, or those of the ids ``among`` that are there."""
        rows = (
            self.fetch(queries.COMPARISONS)
            if among is None
            else self._cursor.execute(queries.COMPARISONS_AMONG, {"ids": list(among)}).fetchall()
        )
        additions = self.additions(among)
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
                confirms=confirms,
                sweep=sweep,
                notes=additions.get(comparison_id, Additions()).notes,
                baseline=additions.get(comparison_id, Additions()).baseline,
            )
            for comparison_id, title, created_at, provider, confirms, sweep, scripts, models, series, statuses in rows
        ]

    def require(self, comparison_id: str) -> Row:
        """Return the row of a comparison.

        Raises :class:`NotStored` for an id that is not known, with those that come near.
        """
        rows = self.fetch(queries.COMPARISON, comparison_id)
        if rows:
            return rows[0]
        known = [one for (one,) in self.fetch(queries.COMPARISON_IDS)]
        near = get_close_matches(comparison_id, known, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise NotStored(f"there is no comparison {comparison_id!r}{hint}", self._name)

    def key(self, replay_id: str) -> ReplayKey:
        """Return what stands for a replay in the tables; raises :class:`NotStored` for one that is not known."""
        rows = self.fetch(queries.REPLAY_KEY, replay_id)
        if not rows:
            raise NotStored(f"there is no replay {replay_id!r}", self._name)
        return ReplayKey(*rows[0])

    def replay_numbers(self, comparison_id: str) -> dict[int, str]:
        """Return the ids of a comparison's replays by their rising numbers; raises :class:`StoreError` for an unknown one."""
        self.require(comparison_id)
        return dict(self.fetch(queries.REPLAY_NUMBERS, comparison_id))

    def comparison(self, comparison_id: str) -> StoredComparison:
        """Return a comparison as it was launched, with what its refinement added since."""
        _id, title, created_at, settings, versions = self.require(comparison_id)
        stored = json.loads(settings)
        scripts = self._scripts(stored["scripts"])
        launched = codec.load_settings(stored["spec"], [scripts[one] for one in stored["scripts"]])
        rounds = tuple(
            codec.load_proposal(value) for (value,) in self.fetch(queries.REFINEMENTS, comparison_id)
        )
        return StoredComparison(
            spec=launched.with_refined(choice for one in rounds for choice in one.choices),
            title=title,
            created_at=created_at.replace(tzinfo=UTC),
            versions=json.loads(versions),
            prices=read_prices(self.fetch(queries.PRICES, comparison_id)),
            replays=tuple(spec for _number, spec in self._replays(comparison_id)),
            refinements=rounds,
            notes=self.additions([comparison_id]).get(comparison_id, Additions()).notes,
        )

    def replay_logs(self, comparison_id: str, only: Collection[str] | None = None) -> list[ReplayLog]:
        """Return what happened in a comparison's replays, in their order; requests come without block texts.

        ``only`` are the ids of the replays that are wanted; None is all of them.
        """
        logs = {number: ReplayLog(spec) for number, spec in self._wanted(comparison_id, only)}
        with uncollected():
            for first, last in spans(logs):
                for number, request in self._requests(first, last, blocks={}):
                    logs[number].requests.append(request)
                self._fill({number: logs[number] for number in range(first, last + 1)})
        return list(logs.values())

    def replay_outlines(self, comparison_id: str, only: Collection[str] | None = None) -> list[ReplayOutline]:
        """Return what the results of a comparison's replays are made of; ``only`` is as in :meth:`replay_logs`."""
        outlines = {number: ReplayOutline(spec) for number, spec in self._wanted(comparison_id, only)}
        with uncollected():
            for first, last in spans(outlines):
                for number, request in self._request_outlines(first, last):
                    outlines[number].requests.append(request)
                self._fill({number: outlines[number] for number in range(first, last + 1)})
        return list(outlines.values())

    def _wanted(self, comparison_id: str, only: Collection[str] | None) -> list[tuple[int, ReplaySpec]]:
        self.require(comparison_id)
        chosen = None if only is None else set(only)
        return [pair for pair in self._replays(comparison_id) if chosen is None or pair[1].id in chosen]

    def _fill(self, logs: Mapping[int, AnyLog]) -> None:
        """Add to logs that have their requests all their other records, by the numbers of their replays."""
        span = min(logs), max(logs)
        for number, *state in self.fetch(queries.STATES, *span):
            logs[number].statuses.append(read_state(*state))
        readers = record_readers()
        for table, query in queries.FLAT.items():
            read = readers[table]
            shelves: dict[int, list[Any]] = {
                number: getattr(log, f"{table}s") for number, log in logs.items()
            }
            for number, *columns in self.fetch(query, *span):
                shelves[number].append(read(*columns))
        for log in logs.values():
            for records in (log.requests, log.events, log.turns, log.jobs, log.probes, log.facts):
                records.sort(key=_SEQUENCE)

    def journal(self, replay_id: str) -> list[Record]:
        """Return everything a replay yielded, in the order of its sequence, block texts included."""
        number, comparison_id = self.key(replay_id)
        blocks: dict[tuple[int, int], dict[str, str]] = {}
        for _replay, seq, block, body in self.fetch(queries.BLOCKS_OF_REPLAY, comparison_id, number, number):
            blocks.setdefault((number, seq), {})[block] = body
        records: list[Record] = [
            read_state(*state)
            for _replay, *state in self.fetch(queries.STATES, number, number)
            if state[0] != BY_WORKER
        ]
        records += [request for _number, request in self._requests(number, number, blocks=blocks)]
        readers = record_readers()
        for table, query in queries.FLAT.items():
            records += [readers[table](*columns) for _number, *columns in self.fetch(query, number, number)]
        return sorted(records, key=lambda record: record.seq)

    def blocks(self, replay_id: str, ids: Sequence[str]) -> dict[str, str]:
        """Return the JSON of blocks of a replay by id; raises :class:`StoreError` for one that it does not have."""
        found: dict[str, str] = dict(self.fetch(queries.BLOCKS, self.key(replay_id).comparison, list(ids)))
        missing = [one for one in ids if one not in found]
        if missing:
            raise StoreError(f"{replay_id}: has no block {missing[0]!r}")
        return found

    def additions(self, among: Collection[str] | None) -> dict[str, Additions]:
        """Return what people have added to comparisons, by id; with ``among`` only to those."""
        if among is None:
            return read_additions(self.fetch(queries.ADDITIONS))
        return read_additions(self._cursor.execute(queries.ADDITIONS_AMONG, {"ids": list(among)}).fetchall())

    def _scripts(self, hashes: Iterable[str]) -> dict[str, Script]:
        wanted = sorted(set(hashes))
        return {one: _load_script(body) for one, body in self.fetch(queries.SCRIPTS, wanted)}

    def _replays(self, comparison_id: str) -> list[tuple[int, ReplaySpec]]:
        rows = self.fetch(queries.REPLAYS, comparison_id)
        scripts = self._scripts(row[3] for row in rows)
        return [(row[0], read_replay(row, scripts[row[3]])) for row in rows]

    def _requests(
        self, first: int, last: int, *, blocks: Mapping[tuple[int, int], Mapping[str, str]]
    ) -> Iterable[tuple[int, RequestRecord]]:
        """The requests of the replays numbered from ``first`` to ``last``: a comparison's numbers are given in one go."""
        iterations = read_iterations(self.fetch(queries.ITERATIONS, first, last))
        return read_requests(self.fetch(queries.REQUESTS, first, last), iterations, blocks)

    def _request_outlines(self, first: int, last: int) -> Iterable[tuple[int, RequestOutline]]:
        iterations = read_iterations(self.fetch(queries.ITERATIONS, first, last))
        return read_request_outlines(self.fetch(queries.REQUEST_OUTLINES, first, last), iterations)


def spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Split rising numbers into runs without gaps, each of which is read in one go, unless it is a very long one.

    Returns the first and the last number of each.
    """
    spans: list[tuple[int, int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1 and number - spans[-1][0] < _TOGETHER:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return spans


@lru_cache(maxsize=32)
def _load_script(body: str) -> Script:
    return codec.load_script(body)
