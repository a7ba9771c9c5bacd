"""Words in charts: escaped, wrapped and short enough for a card."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

LINE = 66
"""Characters of a title that fit on one line of a card of 520 px."""

NAME = 28
"""Characters of a series' name that fit beside a bar or in a title."""


def escape(text: str) -> str:
    """Return ``text`` so that Plotly shows it as it is.

    Plotly renders some HTML in titles, labels and hover boxes, and takes what stands between two dollar signs for a formula.
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    plain = " ".join(text.split())
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("$", "&#36;")):
        plain = plain.replace(char, entity)
    return plain


def shorten(text: str, length: int = NAME) -> str:
    """Cut ``text`` to ``length`` characters, the last an ellipsis where something was left out."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def wrap(text: str, *, lines: int = 2) -> list[str]:
    """Break ``text`` into at most ``lines`` lines of :data:`LINE` characters; what does not fit ends in an ellipsis.

    Lines come out about equally long, so that no word is left alone on the last one.
    """
    plain = " ".join(text.split())
    broken = _broken(plain, LINE, lines)
    for width in range(len(plain) // max(len(broken), 1), LINE):
        tried = _broken(plain, max(width, 1), lines)
        if " ".join(tried) == " ".join(broken):
            return tried
    return broken


def _broken(text: str, width: int, lines: int) -> list[str]:
    return textwrap.wrap(text, width, max_lines=lines, placeholder=" …", break_on_hyphens=False)


def markup(text: str, *, lines: int = 2) -> str:
    """Wrap and escape a title; wrapping comes first, since an entity is one character on the screen."""
    return "<br>".join(escape(line) for line in wrap(text, lines=lines))


def tell(kind: str, title: str, told: Sequence[str]) -> str:
    """Put a chart into words: what kind it is, its finding, and its series one by one."""
    return ". ".join(part for part in (kind, title, "; ".join(told)) if part) + "."
