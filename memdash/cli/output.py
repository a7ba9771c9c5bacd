"""What the commands print: results to standard output, everything else to standard error, and never a broken-pipe trace."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, TextIO

_PLAIN = str.maketrans({"─": "-", "–": "-", "−": "-", "×": "x", "·": "|", "…": "...", "↳": ">", "’": "'"})


def say(text: str) -> None:
    """Print a result to standard output; a reader that has gone away (``| head``) is no error."""
    _write(sys.stdout, text)


def complain(text: str) -> None:
    """Print a message for the person at the terminal to standard error."""
    _write(sys.stderr, text)


def say_json(value: Any) -> None:
    """Print one JSON object, and nothing else, to standard output."""
    say(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def flush() -> None:
    """Flush both streams; called once at the end, so that the interpreter finds nothing left to fail on."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _silence(stream)


def _write(stream: TextIO, text: str) -> None:
    line = text if text.endswith("\n") else text + "\n"
    try:
        try:
            stream.write(line)
        except UnicodeEncodeError:  # a terminal that cannot show a character gets its like, or its escape
            encoding = stream.encoding or "ascii"
            stream.write(line.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        _silence(stream)


def _silence(stream: TextIO) -> None:
    """Send what is still to come to nowhere."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
