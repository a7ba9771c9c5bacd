"""Reading a zip that nobody vouches for: nothing in it is believed before it was seen, and nothing is written under its names.

Sizes are counted while unpacking, whatever the headers say. Entries are unpacked into files without a name.
"""

from __future__ import annotations

import json
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from struct import error as StructError
from typing import IO, Any, BinaryIO, NoReturn

from memdash.errors import InputError

_MOST_DIRECTORY = 16 * 2**20
"""Bytes of a zip's directory: room for some 100,000 entries."""
_MOST_ENTRIES = 100_000
_MOST_UNPACKED = 32 * 2**30
"""Bytes of all entries together."""
_MOST_RATIO = 200
"""How many times its own size a bundle may unpack to. The largest ratio seen in bundles of ours is given in the tests."""
_FREE = 64 * 2**20
"""So many bytes may be unpacked whatever the ratio: a small bundle of much that repeats itself is no attack."""
_MOST_JSON = 256 * 2**20
_CHUNK = 256 * 1024

_ENCRYPTED = 0x1
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, StructError, EOFError, OSError, NotImplementedError, RuntimeError, ValueError,
    OverflowError,
)  # fmt: skip
"""What ``zipfile`` raises over bytes that are no zip, or were one."""


class Archive:
    """The entries of a zip by name. ``name`` is what error messages call it; every method raises :class:`InputError`."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._size = file.seek(0, 2)
        file.seek(0)
        try:
            self._zip = zipfile.ZipFile(_Bounded(file))
            entries = self._zip.infolist()
        except _DAMAGE as error:
            self.refuse(f"is no zip, or only a part of one ({_reason(error)}); export it again")
        if len(entries) > _MOST_ENTRIES:
            self.refuse(f"has {len(entries):,} entries; a bundle has at most {_MOST_ENTRIES:,}")
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            self._admit(entry)
        self._unpacked = 0

    def refuse(self, why: str) -> NoReturn:
        """Raise :class:`InputError` with what is wrong."""
        raise InputError(f"{self.name}: {why}")

    def require(self, expected: Collection[str]) -> None:
        """Refuse an archive that lacks one of the ``expected`` entries or has another."""
        for one in sorted(expected - self._entries.keys()):
            self.refuse(f"lacks {one!r}; export it again")
        for one in sorted(self._entries.keys() - expected):
            self.refuse(f"holds {one[:120]!r}, which is no part of a bundle")

    def check(self) -> None:
        """Unpack everything once, to nowhere: whatever is damaged or far too large is found before anything is used."""
        for name in self._entries:
            for _chunk in self._chunks(name):
                pass

    def json(self, name: str) -> Any:
        """Return what an entry of JSON says."""
        if name not in self._entries:
            self.refuse(f"is no memdash bundle: there is no {name} in it")
        parts: list[bytes] = []
        size = 0
        for chunk in self._chunks(name):
            size += len(chunk)
            if size > _MOST_JSON:
                self.refuse(f"{name}: is too large")
            parts.append(chunk)
        try:
            return json.loads(b"".join(parts), parse_constant=no_number)
        except (ValueError, RecursionError) as error:
            self.refuse(f"{name}: is no JSON ({_reason(error)})")

    @contextmanager
    def unpacked(self, name: str) -> Iterator[IO[bytes]]:
        """Give an entry as a file, which is gone afterwards."""
        with tempfile.TemporaryFile(prefix="memdash-") as file:
            for chunk in self._chunks(name):
                file.write(chunk)
            file.seek(0)
            yield file

    def _admit(self, entry: zipfile.ZipInfo) -> None:
        name = entry.orig_filename
        shown = repr(name[:120])
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if name.startswith(("/", "\\")) or ".." in name or "\\" in name or ":" in name or "\0" in name:
            self.refuse(f"holds an entry that points out of it ({shown})")
        if kind == stat.S_IFLNK:
            self.refuse(f"holds a link ({shown})")
        if kind not in (0, stat.S_IFREG) or entry.is_dir():
            self.refuse(f"holds something that is no file ({shown})")
        if entry.flag_bits & _ENCRYPTED:
            self.refuse(f"is encrypted ({shown}); export it again without a password")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            self.refuse(f"is packed in a way that is not used for bundles ({shown})")
        if name in self._entries:
            self.refuse(f"holds {shown} twice")
        self._entries[name] = entry

    def _chunks(self, name: str) -> Iterator[bytes]:
        most = min(_MOST_UNPACKED, _FREE + _MOST_RATIO * self._size)
        unpacked = 0
        try:
            with self._zip.open(self._entries[name]) as file:
                while chunk := file.read(_CHUNK):
                    unpacked += len(chunk)
                    self._unpacked += len(chunk)
                    if (
                        unpacked > most or self._unpacked > 2 * most
                    ):  # everything is unpacked twice: checked, then read
                        self.refuse(
                            f"unpacks to more than {most // 2**20:,} MiB, which no bundle of its size does"
                        )
                    yield chunk
        except _DAMAGE as error:
            self.refuse(f"{name}: is damaged ({_reason(error)}); export it again")


class _Bounded:
    """A file for ``zipfile``, which reads a zip's directory in one go: not one that takes up the memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell
        self.seekable = file.seekable

    def read(self, size: int = -1) -> bytes:
        """Read; raises ``BadZipFile`` for a size that only an attack has."""
        if size > _MOST_DIRECTORY:
            raise zipfile.BadZipFile("its directory is too large")
        return self._file.read(size)


def no_number(text: str) -> NoReturn:
    """Refuse the words for what is no number, which JSON does not have; raises ``ValueError``."""
    raise ValueError(f"{text} is no JSON")


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text[:200] or type(error).__name__
