"""Files that a run writes beside what it prints."""

from __future__ import annotations

import os
from pathlib import Path

from memdash.errors import InputError


def check_writable(path: Path | None, option: str) -> None:
    """Raise :class:`InputError` where a file could not be written, before a run is paid for."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder; name a file in it")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}; make it first")


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8; an older one is replaced, but what other commands wrote to GitHub's job summary stays before it.

    Raises :class:`InputError` where it cannot be written.
    """
    mode = "a" if os.environ.get("GITHUB_STEP_SUMMARY") == str(path) else "w"
    try:
        with path.open(mode, encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
