"""Text on one line, without what would act on the text around it."""

from __future__ import annotations

import unicodedata

_DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Commands that turn the direction of all the text after them; they show nothing of their own."""


def one_line(text: str) -> str:
    """Return ``text`` on one line, without control characters and without commands that turn the direction of our own words.

    A script must not move a terminal's cursor. Half a surrogate pair, which no encoding of text has, is shown as unknown.
    """
    return "".join(_shown(one) for one in text)


def _shown(char: str) -> str:
    if char in _DIRECTION:
        return ""
    category = unicodedata.category(char)
    if category == "Cs":
        return "\ufffd"
    return " " if category in ("Cc", "Zl", "Zp") else char
