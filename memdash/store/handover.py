"""What one process hands to another, as lines of JSON: comparisons, records, states and changes.

The same lines go to the owner of the file over its loopback route, come back from it, and lie in the inbox when there is no
owner. A line that begins with ``{"op":`` is an order; every other line is a record, as :func:`memdash.records.to_line` writes it,
of the replay that the last ``records`` order named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from memdash import codec
from memdash.errors import StoreError
from memdash.prices import PriceTable
from memdash.records import Record, Status, from_line, to_line
from memdash.spending import Entry
from memdash.store.notes import Note
from memdash.store.protocol import AnyStore
from memdash.store.settings import StoredComparison

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from memdash.metrics.sweep.refinement import Proposal

_ORDER = b'{"op":'


@dataclass(frozen=True, slots=True)
class Adopt:
    """Keep this comparison; nothing happens where it is kept already."""

    comparison: StoredComparison


@dataclass(frozen=True, slots=True)
class Extend:
    """Add to a comparison what a round of its refinement asks for; nothing happens where it is its latest round already."""

    comparison_id: str
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class Append:
    """Keep these records of a replay."""

    replay_id: str
    records: Sequence[Record]


@dataclass(frozen=True, slots=True)
class NoteState:
    """Note a state that these replays themselves did not yield."""

    replay_ids: tuple[str, ...]
    status: Status
    message: str | None


@dataclass(frozen=True, slots=True)
class NoteEntries:
    """Write these entries into the ledger of what live requests cost."""

    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class Rename:
    """Give a comparison another title."""

    comparison_id: str
    title: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Hide a comparison from every query."""

    comparison_id: str


@dataclass(frozen=True, slots=True)
class Purge:
    """Erase what was deleted."""


Order = Adopt | Extend | Append | NoteState | NoteEntries | Rename | Delete | Purge


def to_lines(order: Order) -> list[bytes]:
    """Return an order as lines, without their ends."""
    if isinstance(order, Adopt):
        return [_order("comparison", **_comparison_data(order.comparison))]
    if isinstance(order, Extend):
        return [
            _order("extend", comparison=order.comparison_id, proposal=codec.dump_proposal(order.proposal))
        ]
    if isinstance(order, Append):
        return [records_of(order.replay_id), *(to_line(record) for record in order.records)]
    if isinstance(order, NoteState):
        return [_order("states", replays=order.replay_ids, status=order.status.value, message=order.message)]
    if isinstance(order, NoteEntries):
        return [_order("ledger", entries=_entries().dump_python(list(order.entries), mode="json"))]
    if isinstance(order, Rename):
        return [_order("rename", comparison=order.comparison_id, title=order.title)]
    if isinstance(order, Delete):
        return [_order("delete", comparison=order.comparison_id)]
    return [_order("purge")]


def records_of(replay_id: str) -> bytes:
    """Return the line that says whose the records after it are."""
    return _order("records", replay=replay_id)


def from_lines(lines: Iterable[bytes]) -> Iterator[Order]:
    """Read what :func:`to_lines` wrote; raises ``ValueError`` where a line is something else."""
    replay_id: str | None = None
    records: list[Record] = []
    for line in lines:
        if not line.startswith(_ORDER):
            if replay_id is None:
                raise ValueError("a record of no replay")
            records.append(from_line(line))
            continue
        if replay_id is not None and records:
            yield Append(replay_id, records)
        replay_id, records = None, []
        data = json.loads(line)
        if data["op"] == "records":
            replay_id = _text(data, "replay")
        else:
            yield _read_order(data)
    if replay_id is not None and records:
        yield Append(replay_id, records)


def carry_out(orders: Iterable[Order], store: AnyStore) -> None:
    """Do to ``store`` what the orders say, and return once it is kept for good."""
    for order in orders:
        if isinstance(order, Adopt):
            if not _has(store, order.comparison.id):
                store.adopt(order.comparison)
        elif isinstance(order, Extend):
            store.extend(order.comparison_id, order.proposal)
        elif isinstance(order, Append):
            store.append(order.replay_id, order.records)
        elif isinstance(order, NoteState):
            store.append_states(order.replay_ids, order.status, order.message)
        elif isinstance(order, NoteEntries):
            store.note_entries(order.entries)
        elif isinstance(order, Rename):
            store.rename(order.comparison_id, order.title)
        elif isinstance(order, Delete):
            store.delete(order.comparison_id)
        else:
            store.purge()
    store.flush()


def only_new(orders: Iterable[Order], store: AnyStore) -> Iterator[Order]:
    """Leave out what ``store`` has already: for orders that may have been carried out once before."""
    for order in orders:
        if isinstance(order, Append):
            try:
                known = {record.seq for record in store.journal(order.replay_id)}
            except StoreError:
                known = set()
            order = Append(order.replay_id, [one for one in order.records if one.seq not in known])
        yield order


def comparison_lines(store: AnyStore, comparison_id: str, *, texts: bool) -> Iterator[bytes]:
    """Return a whole comparison as lines; with ``texts`` the blocks of its requests too."""
    stored = store.comparison(comparison_id)
    yield from to_lines(Adopt(stored))
    for log in store.replay_logs(comparison_id):
        records: list[Record] = [*log.events, *log.turns, *log.jobs, *log.probes, *log.facts, *log.statuses]
        requests = (
            [one for one in store.journal(log.spec.id) if one.kind == "request"] if texts else log.requests
        )
        yield from to_lines(Append(log.spec.id, [*requests, *records]))


def _has(store: AnyStore, comparison_id: str) -> bool:
    try:
        store.comparison(comparison_id)
    except StoreError:
        return False
    return True


def _order(op: str, **data: Any) -> bytes:
    return json.dumps({"op": op, **data}, separators=(",", ":")).encode()


def _read_order(data: Mapping[str, Any]) -> Order:
    op = data["op"]
    if op == "comparison":
        return Adopt(_read_comparison(data))
    if op == "extend":
        return Extend(_text(data, "comparison"), codec.load_proposal(_text(data, "proposal")))
    if op == "states":
        return NoteState(_texts(data, "replays"), Status(data["status"]), data["message"])
    if op == "ledger":
        return NoteEntries(_entries().validate_python(data["entries"]))
    if op == "rename":
        return Rename(_text(data, "comparison"), _text(data, "title"))
    if op == "delete":
        return Delete(_text(data, "comparison"))
    if op == "purge":
        return Purge()
    raise ValueError(f"unknown order {op!r}")


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def _texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = data.get(name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} are no texts")
    return tuple(values)


def _comparison_data(comparison: StoredComparison) -> dict[str, Any]:
    return {
        "settings": codec.dump_settings(comparison.spec),
        "scripts": [codec.dump_script(script).body for script in comparison.spec.scripts],
        "title": comparison.title,
        "created_at": comparison.created_at.isoformat(),
        "versions": dict(comparison.versions),
        "prices": _prices().dump_python(comparison.prices, mode="json"),
        "replays": [
            {"spec": codec.dump_replay(replay), "script": replay.script.id} for replay in comparison.replays
        ],
        "refinements": [codec.dump_proposal(one) for one in comparison.refinements],
        "notes": [{"at": one.at.isoformat(), "text": one.text, "who": one.who} for one in comparison.notes],
    }


def _read_comparison(data: Mapping[str, Any]) -> StoredComparison:
    try:
        scripts = [codec.load_script(body) for body in data["scripts"]]
        by_id = {script.id: script for script in scripts}
        return StoredComparison(
            spec=codec.load_settings(data["settings"], scripts),
            title=_text(data, "title"),
            created_at=datetime.fromisoformat(data["created_at"]),
            versions={str(name): str(version) for name, version in data["versions"].items()},
            prices=_prices().validate_python(data["prices"]),
            replays=tuple(codec.load_replay(one["spec"], by_id[one["script"]]) for one in data["replays"]),
            refinements=tuple(codec.load_proposal(one) for one in data.get("refinements", ())),
            notes=tuple(
                Note(
                    datetime.fromisoformat(one["at"]),
                    _text(one, "text"),
                    None if one["who"] is None else _text(one, "who"),
                )
                for one in data.get("notes", ())
            ),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a comparison that cannot be read ({error!r})") from error


@cache
def _prices() -> TypeAdapter[PriceTable]:
    from pydantic import TypeAdapter

    return TypeAdapter(PriceTable)


@cache
def _entries() -> TypeAdapter[list[Entry]]:
    from pydantic import TypeAdapter

    return TypeAdapter(list[Entry])
