"""Regular expressions from files: compiled by RE2, which matches in linear time.

A script may come from anybody, and its patterns run over whole requests. RE2 has no backtracking, so no pattern can run
away; what it has no form for (lookarounds, backreferences) is refused with a message that says so.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

from memdash.errors import InputError

MAX_PATTERN = 1_000
"""Longest pattern accepted, in characters."""

_UNSUPPORTED = ("invalid perl operator", "invalid escape sequence")


class PatternError(InputError):
    """Raised when a regular expression is not valid, too long, or uses what RE2 does not have."""


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Any:
    """Compile ``pattern`` with RE2, ignoring case; the result has ``search(text)`` and ``finditer(text)``.

    Raises:
        PatternError: the pattern is too long, not valid, or not supported.
    """
    if len(pattern) > MAX_PATTERN:
        raise PatternError(
            f"the pattern has {len(pattern):,} characters; at most {MAX_PATTERN:,} are accepted"
        )
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        raise PatternError(f"not a valid regular expression: {_explain(error)}") from None


def _explain(error: Exception) -> str:
    """Return RE2's complaint as a sentence part, with a hint where the construct is one that Python's ``re`` has."""
    if isinstance(error, UnicodeEncodeError):
        return "it holds half of a surrogate pair"
    detail = error.args[0] if error.args else error
    text = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
    if text.startswith(_UNSUPPORTED):
        text += (
            " (lookarounds and backreferences are not supported, so that every pattern runs in linear time)"
        )
    return text
