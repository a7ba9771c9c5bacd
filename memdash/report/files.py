"""A comparison as a file, in the format of the file's ending."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from memdash.errors import InputError
from memdash.report.reading import read
from memdash.report.rows import Comparison, to_csv, to_json, to_parquet

if TYPE_CHECKING:
    from memdash.report.blocks import Report
    from memdash.store.protocol import AnyStore

_ROWS: Mapping[str, Callable[[Comparison], bytes]] = {
    ".json": to_json,
    ".csv": to_csv,
    ".parquet": to_parquet,
}


def _to_html(report: Report) -> bytes:
    from memdash.report.html import to_html  # it draws, and what only reads or prints never does

    return to_html(report)


def _to_markdown(report: Report) -> bytes:
    from memdash.report.markdown import to_markdown

    return to_markdown(report)


_REPORTS: Mapping[str, Callable[[Report], bytes]] = {".html": _to_html, ".md": _to_markdown}

ENDINGS = (*_REPORTS, *_ROWS)
"""The endings of the files that :func:`made` makes."""


def made(store: AnyStore, comparison_id: str, ending: str, *, redact: bool = False) -> bytes:
    """Return a stored comparison as a file with this ending, one of :data:`ENDINGS`; ``redact`` leaves out conversation text.

    Raises :class:`~memdash.errors.StoreError` where the comparison is not there or cannot be read.
    """
    if ending in _ROWS:
        return _ROWS[ending](read(store, comparison_id, redact=redact))
    from memdash.report.telling import tell

    return _REPORTS[ending](tell(store, comparison_id, redact=redact))


def ending_of(path: Path) -> str:
    """Return which of :data:`ENDINGS` a file has; raises :class:`InputError` for an unknown one."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f"{path}: write to a file that ends in {', '.join(ENDINGS)} (or .zip, a bundle), not {path.suffix or 'nothing'!r}"
        )
    return ending


def write(content: bytes, path: Path) -> None:
    """Write a file whole or not at all; an older one is replaced.

    Raises :class:`InputError` for a place that cannot be written.
    """
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes the place of the one at ``path`` where the block ends well, and is gone where not.

    Raises :class:`InputError` for a place that cannot be written.
    """
    try:
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w+b") as file:
                yield file
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(draft, 0o666 & ~umask)  # mkstemp makes it private; an export is an ordinary file
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
