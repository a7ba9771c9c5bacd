"""Text in Markdown that stays text, also on the sites that read more into it than Markdown's own marks."""

from __future__ import annotations

import re

from memdash.tables.lines import one_line

_MARKS = re.compile(r"[\\|*_`<>\[\]~]|\$(?!\d)|&(?=#?\w+;)")
_AT_START = re.compile(r"^(?:[#+=-]|\d+(?=[.)]))")
_SEEN_LATER = re.compile(
    r"@(?=\w)"  # a mention, which sends somebody a message
    r"|#(?=\d)|\bGH(?=-\d)"  # a reference to an issue
    r"|:(?=[\w+-]+:)"  # an emoji's short code
    r"|:(?=//)|\bwww(?=\.)"  # an address
)
_JOINER = "\u2060"


def escaped(text: str) -> str:
    """Return ``text`` on one line so that Markdown shows exactly its characters, in a table's cell as in a sentence.

    Backslashes take the meaning from marks. Mentions, references, emoji and addresses are looked for in the finished text
    (GitHub), so a character of no width keeps them from being found.
    """
    return _MARKS.sub(r"\\\g<0>", _SEEN_LATER.sub(rf"\g<0>{_JOINER}", one_line(text)))


def paragraph(text: str) -> str:
    """Return ``text`` as a paragraph of its own: nothing at its start makes it a heading, a list or a rule."""
    return _AT_START.sub(_quoted, escaped(text))


def _quoted(found: re.Match[str]) -> str:
    start = found[0]
    return f"{start}\\" if start[0].isdigit() else f"\\{start}"
