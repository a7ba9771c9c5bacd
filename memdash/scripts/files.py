"""Read text from files that may hold anything: bounded, UTF-8, with one clear message for what is wrong."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from memdash.errors import ScriptError

MAX_SCRIPT_BYTES = 8 * 1024 * 1024
"""Largest script (YAML) that is read."""
MAX_CONVERSATION_BYTES = 50 * 1024 * 1024
"""Largest foreign conversation file that is read."""
MAX_DEPTH = 100
"""Deepest nesting of lists and mappings in any file."""

_UTF16_OR_32 = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def read_text(path: Path, limit: int) -> str:
    """Return the text of ``path``, without a byte order mark.

    Raises:
        ScriptError: there is no such file, it is no regular file, it cannot be read, it is larger than ``limit`` bytes
        (found out before it is read), empty, or not UTF-8 text.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ScriptError("this is not a file; give a script or a conversation file", path=path)
        if status.st_size > limit:
            size, most = status.st_size / 1024 / 1024, limit / 1024 / 1024
            raise ScriptError(f"the file has {size:,.1f} MB; at most {most:,.0f} MB are read", path=path)
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise ScriptError("there is no such file", path=path) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ScriptError(f"the file cannot be read ({reason})", path=path) from None
    if len(data) > limit:
        raise ScriptError(f"the file has more than {limit / 1024 / 1024:,.0f} MB", path=path)
    return decode(data, path)


def decode(data: bytes, path: Path | str) -> str:
    """Return ``data`` as text.

    Raises:
        ScriptError: it is empty or not UTF-8; the line is that of the first wrong byte.
    """
    if data.startswith(_UTF16_OR_32):
        raise ScriptError("the file is UTF-16 or UTF-32; save it as UTF-8", path=path, line=1)
    nul = data.find(b"\0")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise ScriptError(
            "there is a NUL byte; this is not a text file (or it is UTF-16: save it as UTF-8)",
            path=path,
            line=line,
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # utf-8-sig counts from after the mark; the bytes up to the error hold the same line ends either way.
        line = data.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise ScriptError(
            f"the byte 0x{byte:02x} is not UTF-8; save the file as UTF-8", path=path, line=line
        ) from None
    if not re.search(r"\S", text):
        raise ScriptError("the file is empty", path=path)
    return text
