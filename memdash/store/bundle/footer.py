"""What the end of a Parquet file says of its parts, read here and not by the library: that may end the process over a broken one.

Parquet keeps it in Thrift's compact protocol (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md),
by the numbers of the fields in https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, Any

_MAGIC = b"PAR1"
_MOST_BYTES = 64 * 2**20
_MOST_DEPTH = 16

_ROW_GROUPS, _CHUNKS, _CHUNK, _CODEC, _SIZE = 4, 1, 3, 4, 7
_UNCOMPRESSED = 0


def group_sizes(file: IO[bytes]) -> list[int]:
    """Return how many bytes the values of each row group take.

    Raises ``ValueError`` where the file is no Parquet, or is compressed within itself.
    """
    fields = _Thrift(_footer(file)).struct()
    return [_group_size(group) for group in _list(fields, _ROW_GROUPS)]


def _group_size(group: Any) -> int:
    size = 0
    for chunk in _list(group, _CHUNKS):
        told = _struct(_struct(chunk).get(_CHUNK))
        if told.get(_CODEC) != _UNCOMPRESSED:
            raise ValueError("is compressed within itself, which no bundle of ours is")
        size += _positive(told.get(_SIZE))
    return size


def _footer(file: IO[bytes]) -> bytes:
    """The last bytes of a file: what it says of itself, the length of that, and the magic word."""
    end = file.seek(0, os.SEEK_END)
    if end < 12:
        raise _problem("it is too short")
    file.seek(end - 8)
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or not 0 < length <= min(end - 12, _MOST_BYTES):
        raise _problem("its end is not one of Parquet")
    file.seek(end - 8 - length)
    return file.read(length)


class _Thrift:
    """Reads structures as values by field number."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._depth = 0

    def struct(self) -> dict[int, Any]:
        """Read a structure."""
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise _problem("it is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)
        self._depth -= 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):  # in a list a truth takes a byte
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._varint())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            if count > len(self._data):
                raise _problem("a list in it is too long")
            return [self._value(head & 15) for _ in range(count)]
        if kind == 12:
            return self.struct()
        raise _problem("it holds something that Parquet does not have")

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) < count:
            raise _problem("it ends too early")
        self._at += count
        return taken

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise _problem("a number in it is too large")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


def _struct(value: Any) -> Mapping[int, Any]:
    if not isinstance(value, dict):
        raise _problem("it lacks a part")
    return value


def _list(value: Any, field: int) -> list[Any]:
    found = _struct(value).get(field)
    if not isinstance(found, list):
        raise _problem("it lacks a list")
    return found


def _positive(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise _problem("it lacks a size")
    return value


def _problem(why: str) -> ValueError:
    return ValueError(f"is no Parquet file of ours ({why})")
