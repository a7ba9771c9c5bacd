"""Records as rows and rows as records: which field stands in which column."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any

from memdash.records import (
    Control,
    EventKind,
    EventRecord,
    FactRecord,
    Iteration,
    JobRecord,
    MissReason,
    ProbeRecord,
    Purpose,
    Record,
    RequestRecord,
    Status,
    StatusRecord,
    Survival,
    TurnRecord,
    Usage,
)
from memdash.replay_log import RequestOutline

Row = tuple[Any, ...]
Rows = dict[str, list[Row]]
"""Rows to be inserted, by table."""

USAGE_COLUMNS = tuple(one.name for one in fields(Usage))
REQUEST_COLUMNS = tuple(
    one.name
    for one in fields(RequestRecord)
    if one.name
    not in (
        "options",
        "usage",
        "blocks",
        "iterations",
        "transformations",
        "applied_edits",
        "diagnosis",
        "kind",
    )
)
"""The fields of a request that are one column each, in the order of the table."""

_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _columns(record: type) -> Callable[[Any], Row]:
    getter: Callable[[Any], Row] = attrgetter(*(one.name for one in fields(record) if one.name != "kind"))
    return getter


_request: Callable[[Any], Row] = attrgetter(*REQUEST_COLUMNS)
_usage: Callable[[Any], Row] = attrgetter(*USAGE_COLUMNS)
_event: Callable[[Any], Row] = attrgetter("seq", "event", "turn", "at_ms")
_flat = {
    "turn": ("turn", _columns(TurnRecord)),
    "job": ("job", _columns(JobRecord)),
    "probe": ("probe", _columns(ProbeRecord)),
    "fact": ("fact", _columns(FactRecord)),
    "status": ("replay_state", _columns(StatusRecord)),
}
"""The table of each kind of record whose fields are columns, and what reads them."""


def add_record(rows: Rows, replay: int, record: Record) -> None:
    """Add the rows of one record of replay number ``replay``, but for the texts of its blocks."""
    if isinstance(record, RequestRecord):
        _add_request(rows, replay, record)
    elif isinstance(record, EventRecord):
        rows.setdefault("event", []).append((replay, *_event(record), _dump(record.data)))
    else:
        table, columns = _flat[record.kind]
        rows.setdefault(table, []).append((replay, *columns(record)))


def _add_request(rows: Rows, replay: int, record: RequestRecord) -> None:
    seq = record.seq
    for place, one in enumerate(record.iterations):
        row = (replay, seq, place, one.type, one.model, *_usage(one.usage))
        rows.setdefault("usage_iteration", []).append(row)
    if record.blocks:
        rows.setdefault("block", []).extend((replay, seq, block) for block in record.blocks)
    rows.setdefault("request", []).append(
        (
            replay,
            *_request(record),
            *_usage(record.usage),
            len(record.iterations),
            _dump(record.options),
            _dump(record.transformations) if record.transformations else None,
            _dump(record.applied_edits) if record.applied_edits else None,
            None if record.diagnosis is None else _dump(record.diagnosis),
        )
    )


class _Json:
    """Reads JSON texts, each different one once: the options of a replay's requests hardly differ, nor do its cuts."""

    def __init__(self) -> None:
        self._read: dict[str, Any] = {}

    def __call__(self, text: str) -> Any:
        value = self._read.get(text)
        if value is None:
            value = self._read[text] = json.loads(text)
        return value


def read_requests(
    rows: Iterable[Row],
    iterations: Mapping[tuple[int, int], tuple[Iteration, ...]],
    blocks: Mapping[tuple[int, int], Mapping[str, str]],
) -> Iterator[tuple[int, RequestRecord]]:
    """Read the rows that answer ``queries.REQUESTS``; yields each with the number of its replay.

    ``iterations`` and ``blocks`` are by replay number and sequence number.
    """
    read = _Json()
    for (
        replay, seq, number, purpose, turn, step, model, betas, system_block, tools_block, base_request, shared, entries,
        started_ms, first_event_ms, first_text_ms, finished_ms, reply_blocks, stop_reason, request_id, message_id, retries,
        job, modelled, control, miss_reason, missed_tokens, error_status, error_type, error_message,
        input_tokens, cache_creation, ephemeral_5m, ephemeral_1h, cache_read, output_tokens, thinking_tokens,
        parts, options, transformations, applied_edits, diagnosis,
    ) in rows:  # fmt: skip
        yield (
            replay,
            RequestRecord(
                seq,
                number,
                _PURPOSES[purpose],
                turn,
                step,
                model,
                read(options),
                tuple(read(betas)),
                system_block,
                tools_block,
                base_request,
                shared,
                tuple(entries.split()),
                started_ms,
                first_event_ms,
                first_text_ms,
                finished_ms,
                Usage(
                    input_tokens,
                    cache_creation,
                    ephemeral_5m,
                    ephemeral_1h,
                    cache_read,
                    output_tokens,
                    thinking_tokens,
                ),
                blocks.get((replay, seq), {}),
                iterations[replay, seq] if parts else (),
                tuple(reply_blocks.split()),
                stop_reason,
                request_id,
                message_id,
                retries,
                job,
                modelled,
                None if control is None else Control(control),
                None if miss_reason is None else _MISS_REASONS[miss_reason],
                missed_tokens,
                () if transformations is None else tuple(read(transformations)),
                () if applied_edits is None else tuple(read(applied_edits)),
                error_status,
                error_type,
                error_message,
                None if diagnosis is None else read(diagnosis),
            ),
        )


def read_request_outlines(
    rows: Iterable[Row], iterations: Mapping[tuple[int, int], tuple[Iteration, ...]]
) -> Iterator[tuple[int, RequestOutline]]:
    """Read the rows that answer ``queries.REQUEST_OUTLINES``; yields each with the number of its replay."""
    for replay, seq, number, purpose, turn, model, *counts, parts, miss_reason, status, kind, message in rows:
        yield (
            replay,
            RequestOutline(
                seq,
                number,
                _PURPOSES[purpose],
                turn,
                model,
                Usage(*counts),
                iterations[replay, seq] if parts else (),
                None if miss_reason is None else _MISS_REASONS[miss_reason],
                status,
                kind,
                message,
            ),
        )


_PURPOSES = {str(one): one for one in Purpose}
_EVENT_KINDS = {str(one): one for one in EventKind}
_MISS_REASONS = {str(one): one for one in MissReason}


def read_iterations(rows: Iterable[Row]) -> dict[tuple[int, int], tuple[Iteration, ...]]:
    """Read rows of ``usage_iteration`` in their order, by replay number and sequence number of the request."""
    read: dict[tuple[int, int], tuple[Iteration, ...]] = {}
    for replay, seq, _place, kind, model, *usage in rows:
        read[replay, seq] = (*read.get((replay, seq), ()), Iteration(kind, Usage(*usage), model))
    return read


def _read_probe(
    seq: int,
    fact: str,
    asked_after: int,
    control: str,
    question: str,
    answer: str,
    passed: bool,
    stale: bool,
    visible: bool,
    survival: str,
    grading: str,
    request: int,
) -> ProbeRecord:
    return ProbeRecord(
        seq,
        fact,
        asked_after,
        Control(control),
        question,
        answer,
        passed,
        stale,
        visible,
        Survival(survival),
        grading,
        request,
    )


def _read_fact(seq: int, fact: str, survival: str) -> FactRecord:
    return FactRecord(seq, fact, Survival(survival))


def read_state(
    seq: int, status: str, turns_completed: int, at_ms: float, message: str | None
) -> StatusRecord:
    """Read a row of ``replay_state`` without its ``replay``."""
    return StatusRecord(seq, Status(status), turns_completed, at_ms, message)


def record_readers() -> Mapping[str, Callable[..., Record]]:
    """Return what makes a record of the columns after ``replay``, for the tables that hold one record a row."""
    read = _Json()

    def read_event(seq: int, event: str, turn: int, at_ms: float, data: str) -> EventRecord:
        return EventRecord(seq, _EVENT_KINDS[event], turn, at_ms, read(data))

    return {
        "event": read_event,
        "turn": TurnRecord,
        "job": JobRecord,
        "probe": _read_probe,
        "fact": _read_fact,
    }
