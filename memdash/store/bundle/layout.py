"""What is in a bundle, and where: a zip with a folder for each comparison, JSON of what was launched, Parquet of what happened.

``bundle.json``                            the format, the schema, who wrote it, and how many rows each table has
``comparisons/<id>/comparison.json``       rows of the small tables, as objects
``comparisons/<id>/<table>.parquet``       rows of a table of records; a table without rows has no file

In records ``replay`` is the replay's place in its comparison, from 0, not its number in a database.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FORMAT = "memdash bundle"
VERSION = 1
"""Grows when an older memdash could not read a bundle any more; a new column of the schema does not count."""

MANIFEST = "bundle.json"

RECORD_KEYS: Mapping[str, tuple[str, ...]] = {
    "replay_state": ("replay", "seq"),
    "request": ("replay", "seq"),
    "usage_iteration": ("replay", "seq", "place"),
    "block": ("replay", "seq", "id"),
    "event": ("replay", "seq"),
    "turn": ("replay", "seq"),
    "job": ("replay", "seq"),
    "probe": ("replay", "seq"),
    "fact": ("replay", "seq"),
    "block_text": ("id",),
}
"""The tables of records, and what tells their rows apart within a comparison."""

DOCUMENT_TABLES = ("script", "price", "replay", "comparison_change")
"""The tables whose rows stand in ``comparison.json``, beside the one row of ``comparison``."""

LEFT_OUT = ("schema_version", "tombstone", "ledger")
"""The tables that say something of one database and travel with no comparison."""

JSON_COLUMNS: Mapping[str, Mapping[str, type]] = {
    "request": {"options": dict, "transformations": list, "applied_edits": list, "diagnosis": dict},
    "event": {"data": dict},
    "block_text": {"body": object},
}
"""The columns of records that hold JSON, and what it must be."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison of a bundle: its id, its title when it was written, and how many rows each table of records has."""

    id: str
    title: str
    rows: Mapping[str, int]

    @property
    def document(self) -> str:
        """The name of the entry that says what was launched."""
        return f"comparisons/{self.id}/comparison.json"

    def table(self, table: str) -> str:
        """Return the name of the entry that holds a table."""
        return f"comparisons/{self.id}/{table}.parquet"

    @property
    def entries(self) -> set[str]:
        """The names of all its entries."""
        return {self.document, *(self.table(one) for one in self.rows)}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bundle says of itself: the schema its tables have, the memdash that wrote it, and its comparisons."""

    schema: int
    memdash: str
    created_at: str
    parts: tuple[Part, ...]

    @property
    def entries(self) -> set[str]:
        """The names of all entries that the bundle must have, and may have."""
        return {MANIFEST}.union(*(part.entries for part in self.parts))

    def to_data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "schema": self.schema,
            "memdash": self.memdash,
            "created_at": self.created_at,
            "comparisons": [
                {"id": part.id, "title": part.title, "rows": dict(part.rows)} for part in self.parts
            ],
        }


def read_manifest(data: Any) -> Manifest:
    """Read what :meth:`Manifest.to_data` gave, of this version; raises ``ValueError`` where it is something else."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"{MANIFEST} does not say that it is a memdash bundle")
    parts = data.get("comparisons")
    if not isinstance(parts, list) or not parts:
        raise ValueError("it names no comparison")
    manifest = Manifest(
        schema=_whole(data, "schema"),
        memdash=_text(data, "memdash"),
        created_at=_text(data, "created_at"),
        parts=tuple(_read_part(part) for part in parts),
    )
    if len({part.id for part in manifest.parts}) < len(parts):
        raise ValueError("it names a comparison twice")
    return manifest


def written_by(data: Any) -> tuple[int, int, str]:
    """Return the version of a bundle's format, its schema and its memdash; raises ``ValueError`` where it does not say.

    It is asked before anything else is read: whatever a newer bundle holds, this stays where it is.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"{MANIFEST} does not say that it is a memdash bundle")
    return _whole(data, "version"), _whole(data, "schema"), _text(data, "memdash")


def _read_part(data: Any) -> Part:
    if not isinstance(data, dict):
        raise ValueError("a comparison in it is no object")
    part_id = _text(data, "id")
    if not _ID.fullmatch(part_id):
        raise ValueError(f"{part_id[:80]!r} is no id of a comparison")
    rows = data.get("rows")
    if not isinstance(rows, dict) or not rows.keys() <= RECORD_KEYS.keys():
        raise ValueError(f"{part_id} has tables that are not known")
    return Part(part_id, _text(data, "title"), {name: _whole(rows, name, least=1) for name in rows})


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def _whole(data: Mapping[str, Any], name: str, least: int = 0) -> int:
    value = data.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is no whole number")
    return value
