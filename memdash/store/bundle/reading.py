"""A bundle that somebody gave us, checked as a whole before any of it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import memdash
from memdash.errors import InputError
from memdash.store.bundle.archive import Archive
from memdash.store.bundle.layout import MANIFEST, VERSION, Manifest, Part, read_manifest, written_by
from memdash.store.database import SCHEMA_VERSION


class Bundle:
    """A bundle whose entries are all there, undamaged and of a size that can be.

    Raises :class:`InputError` over anything else; ``name`` is what the message calls it.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.archive = Archive(file, name)
        data = self.archive.json(MANIFEST)
        try:
            self._refuse_newer(*written_by(data))
            self.manifest: Manifest = read_manifest(data)
        except ValueError as error:
            self.archive.refuse(f"is no memdash bundle: {error}")
        self.archive.require(self.manifest.entries)
        self.archive.check()

    @property
    def older(self) -> bool:
        """Whether its tables may lack columns that were added since."""
        return self.manifest.schema < SCHEMA_VERSION

    def document(self, part: Part) -> Any:
        """Return what a comparison's document says, whatever that is."""
        return self.archive.json(part.document)

    @contextmanager
    def refusing(self, part: Part) -> Iterator[None]:
        """Turn every ``ValueError`` over a comparison, and JSON without an end, into an :class:`InputError` that names it."""
        try:
            yield
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{self.archive.name}: {part.id} {' '.join(str(error).split())[:300]}"
            ) from error

    def _refuse_newer(self, version: int, schema: int, by: str) -> None:
        if version > VERSION or schema > SCHEMA_VERSION:
            self.archive.refuse(
                f"was written by memdash {by[:40]}, and this is memdash {memdash.__version__}: upgrade memdash to import it"
            )
