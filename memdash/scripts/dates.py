"""Find a date in text, however it is written: ``14 June 2026``, ``June 14th``, ``2026-06-14``, ``14/06/2026``."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache
from typing import Any

from memdash.scripts.patterns import compile_pattern

_TAIL = 40
"""Characters after the day and the month in which the year is looked for."""

_MONTHS = (
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may", "may"),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
)


def parse_date(text: str) -> datetime.date | None:
    """Return the ISO 8601 calendar date ``text`` stands for (``2026-06-14``), None if it is not one."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text.strip()):
        return None
    try:
        return datetime.date.fromisoformat(text.strip())
    except ValueError:
        return None


def holds_date(text: str, wanted: datetime.date) -> bool:
    """Say whether ``text`` names the day ``wanted``.

    A year may be left out; one that is given must be right. A weekday beside the date is not looked at. Numbers parted by a
    slash count only where day and month cannot be taken for one another (14/06/2026, 06/14/2026); parted by dots, the day
    comes first.
    """
    candidate, patterns = _patterns(wanted)
    for hit in candidate.finditer(text):
        start, end = max(0, hit.start() - 3), hit.end() + _TAIL
        for pattern in patterns:
            for match in pattern.finditer(text, start, end):
                if match.group("year") is None or _year(match.group("year")) == wanted.year:
                    return True
    return False


@lru_cache(maxsize=4096)
def _patterns(wanted: datetime.date) -> tuple[Any, tuple[re.Pattern[str], ...]]:
    """A quick pattern for places where ``wanted`` may stand, and the exact ways to write it, each with a group ``year``."""
    day, month = f"0?{wanted.day}", f"0?{wanted.month}"
    name = "(?:" + "|".join(rf"{name}\b\.?" for name in _MONTHS[wanted.month - 1]) + ")"
    ordinal = rf"{day}(?:st|nd|rd|th)?"
    year = r"(?P<year>(?:19|20)[0-9]{2})\b"
    short_year = r"(?P<year>(?:19|20)?[0-9]{2})"
    start, end = r"(?<![0-9./-])", r"(?![0-9/]|[.,-][0-9])"
    words = [rf"{ordinal}(?:\s+of\s+|\s+|-){name}", rf"{name}(?:\s+|-)(?:the\s+)?{ordinal}"]
    exact = [
        rf"(?<![0-9]){words[0]}(?:(?:,?\s+|-){year})?",
        rf"\b{words[1]}(?![0-9a-z:])(?:(?:,?\s+|-){year})?",
        rf"{start}(?P<year>{wanted.year})(?P<sep>[-/.]){month}(?P=sep){day}(?![0-9]|[-/.][0-9])",
        rf"{start}{day}\.{month}\.{short_year}{end}",
    ]
    if wanted.day > 12 or wanted.day == wanted.month:
        exact += [
            rf"{start}{day}(?P<sep>[/-]){month}(?P=sep){short_year}{end}",
            rf"{start}{month}(?P<sep>[/-]){day}(?P=sep){short_year}{end}",
        ]
    if wanted.day > 12:
        two = f"{wanted.day:02}/{wanted.month:02}|{wanted.month:02}/{wanted.day:02}"
        exact.append(rf"{start}(?:{two})(?P<year>(?!))?{end}")
    figures = [rf"{wanted.year}[-/.]{month}[-/.]{day}", rf"{day}[-/.]{month}", rf"{month}[-/.]{day}"]
    return compile_pattern("|".join(words + figures)), tuple(
        re.compile(pattern, re.IGNORECASE) for pattern in exact
    )


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text)
