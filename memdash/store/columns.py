"""Many replays read as columns of numbers: a few queries, however many replays there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from memdash.records import Control, Status, Survival
from memdash.replay_columns import (
    Counts,
    EventColumns,
    FactRow,
    ProbeRow,
    ReplayColumns,
    RequestColumns,
    State,
    UsageColumns,
    WaitColumns,
)
from memdash.store import queries

_BUCKETS = (
    "input_tokens",
    "cache_creation_input_tokens",
    "ephemeral_5m_input_tokens",
    "ephemeral_1h_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)
_CONTROLS = {str(one): one for one in Control}
_SURVIVALS = {str(one): one for one in Survival}

_Columns = Mapping[str, NDArray[Any]]


def read_columns(cursor: duckdb.DuckDBPyConnection, replays: Mapping[int, str]) -> ReplayColumns:
    """Read what the outcomes of replays are made of; ``replays`` are their ids by number, in rising order."""
    numbers = list(replays)

    def rows(query: str) -> list[tuple[Any, ...]]:
        return cursor.execute(query, {"numbers": numbers}).fetchall()

    def columns(query: str, **values: object) -> _Columns:
        found: _Columns = cursor.execute(query, {"numbers": numbers, **values}).fetchnumpy()
        return found

    models = sorted(model for (model,) in rows(queries.MODELS_PAID))
    requests = columns(queries.REQUEST_COLUMNS_OF, models=models)
    iterations = columns(queries.ITERATION_COLUMNS_OF, models=models)
    turns = columns(queries.WAIT_COLUMNS_OF)
    events = columns(queries.EVENT_COLUMNS_OF)
    states: list[State | None] = [None] * len(numbers)
    for place, status, completed in rows(queries.STATES_OF):
        states[place] = State(Status(status), completed)
    return ReplayColumns(
        ids=tuple(replays.values()),
        requests=RequestColumns(
            replay=_whole(requests["place"]),
            turn=_whole(requests["turn"]),
            purpose=_whole(requests["purpose"]),
            failed=_flags(requests["failed"]),
            split=_flags(requests["split"]),
            usages=_usages(requests, iterations),
            models=models,
        ),
        turns=WaitColumns(_whole(turns["place"]), _whole(turns["turn"]), np.asarray(turns["wait_ms"])),
        events=EventColumns(
            _whole(events["place"]), _whole(events["turn"]), _whole(events["kind"]), _flags(events["used"])
        ),
        probes=_probes(rows(queries.PROBE_ROWS_OF)),
        facts=[FactRow(place, fact, _SURVIVALS[one]) for place, fact, one in rows(queries.FACT_ROWS_OF)],
        states=states,
    )


def _probes(rows: Sequence[tuple[Any, ...]]) -> list[ProbeRow]:
    return [
        ProbeRow(place, fact, asked_after, _CONTROLS[control], *verdicts)
        for place, fact, asked_after, control, *verdicts in rows
    ]


def _usages(requests: _Columns, iterations: _Columns) -> UsageColumns:
    """The top-level usage of each request, with iterations in place of it where a request has any."""
    whole = np.flatnonzero(~_flags(requests["split"]))
    if not len(iterations["place"]):
        return UsageColumns(
            request=whole,
            model=_whole(requests["model"])[whole],
            compaction=np.zeros(len(whole), bool),
            **{name: _counts(requests[name], whole) for name in _BUCKETS},
        )
    parent = _requests_of(iterations, requests)
    every = np.arange(len(parent))
    request = np.concatenate([whole, parent])
    order = np.argsort(request, kind="stable")
    model = _whole(iterations["model"])
    paid = np.where(model < 0, _whole(requests["model"])[parent], model)  # its own where it names one
    return UsageColumns(
        request=request[order],
        model=np.concatenate([_whole(requests["model"])[whole], paid])[order],
        compaction=np.concatenate([np.zeros(len(whole), bool), _flags(iterations["compaction"])])[order],
        **{
            name: _joined(_counts(requests[name], whole), _counts(iterations[name], every), order)
            for name in _BUCKETS
        },
    )


def _requests_of(iterations: _Columns, requests: _Columns) -> NDArray[np.int64]:
    """The place of each iteration's request; both are in the order of replay and sequence."""
    step = int(max(requests["seq"].max(initial=0), iterations["seq"].max(initial=0))) + 1
    keys = _whole(requests["place"]) * step + _whole(requests["seq"])
    return np.searchsorted(keys, _whole(iterations["place"]) * step + _whole(iterations["seq"]))


def _counts(column: NDArray[Any], chosen: NDArray[np.int64]) -> Counts:
    reported = ~np.ma.getmaskarray(column)[chosen]
    return Counts(np.where(reported, _whole(np.ma.getdata(column))[chosen], 0), reported)


def _joined(one: Counts, other: Counts, order: NDArray[np.int64]) -> Counts:
    return Counts(
        np.concatenate([one.value, other.value])[order], np.concatenate([one.reported, other.reported])[order]
    )


def _whole(column: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(column, np.int64)


def _flags(column: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(column, bool)
