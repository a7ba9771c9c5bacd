"""Find a number in text, however it is written: ``2400``, ``2,400``, ``2 400``, ``2.400,00 €``."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from memdash.scripts.patterns import compile_pattern

_SPACES = " \u00a0\u2009\u202f"
_SEPARATORS = ".,'\u2019" + _SPACES

# A number as people write it. Groups after a space have exactly three digits, so that "14 June" or "2 rooms" never join.
_TOKEN = re.compile(
    rf"(?<![0-9.])(?:[0-9]{{1,3}}(?:[{_SPACES}][0-9]{{3}}(?![0-9]))+(?:[.,][0-9]+)?|[0-9]+(?:[.,'\u2019][0-9]+)*)"
)
# Clock times and dates are no numbers: 14:30 is not 14, 2026-06-14 is not 6, 3/4 is not 3.
_TIED_BEFORE = re.compile(r"[0-9][:/]$|[0-9]-[0-9]{1,2}-$")
_TIED_AFTER = re.compile(r"[:/][0-9]|-[0-9]{1,2}-[0-9]")
_CURRENCIES = ("EUR", "USD", "GBP", "CHF", "JPY", "SEK", "NOK", "DKK", "PLN", "CAD", "AUD", "INR")
_LONGEST = 40
"""Longest number looked at, in characters: a line of a million digits is not an amount."""


def parse_number(text: str) -> Decimal | None:
    """Return the plain decimal number ``text`` stands for (``2400``, ``-3.5``), None if it is not one or not finite."""
    if len(text) > _LONGEST or not re.fullmatch(r"[-+]?[0-9]+(\.[0-9]+)?", text.strip()):
        return None
    try:
        return Decimal(text.strip())
    except InvalidOperation:  # pragma: no cover - the pattern above admits nothing that Decimal refuses
        return None


def holds_number(text: str, wanted: Decimal) -> bool:
    """Say whether ``wanted`` is one of the numbers in ``text``.

    A number must stand for itself: part of a longer number, a clock time, a date, a fraction or a word (``A2400``) does not
    count. ``2.400`` and ``2,400`` can be read as thousands or as decimals, so they count as either.
    """
    candidate = _candidate(abs(wanted))
    line_end = -1
    for match in candidate.finditer(text):
        if match.start() < line_end:
            continue
        line_start = text.rfind("\n", 0, match.start()) + 1
        line_end = text.find("\n", match.end())
        line_end = len(text) if line_end < 0 else line_end
        if _line_holds(text[line_start:line_end], wanted):
            return True
    return False


@lru_cache(maxsize=4096)
def _candidate(wanted: Decimal) -> Any:
    """A quick pattern for the digits of ``wanted`` before its decimals; only lines that hold them are looked at closely."""
    whole = str(int(wanted))
    parts = []
    for index, digit in enumerate(whole):
        left = len(whole) - index
        parts.append((f"[{_SEPARATORS}]?" if index and left % 3 == 0 else "") + digit)
    return compile_pattern("".join(parts))


def _line_holds(line: str, wanted: Decimal) -> bool:
    for match in _TOKEN.finditer(line):
        token = match.group()
        if len(token) > _LONGEST:
            continue
        before, after = line[max(0, match.start() - 8) : match.start()], line[match.end() : match.end() + 5]
        if _is_tied(before, after):
            continue
        negative = bool(re.search(r"(?:^|[\s(\[=:€$£])[-\u2212][€$£]?$", before))
        if any((-value if negative else value) == wanted for value in _readings(token)):
            return True
    return False


def _is_tied(before: str, after: str) -> bool:
    """Say whether the number belongs to something that is not a number: a word, a time, a date, a multiple in ``k``."""
    word = re.search(r"[^\W\d]+$", before)
    if word and word.group().upper() not in _CURRENCIES:
        return True
    if re.match(r"[kK](?![^\W\d])|_", after):
        return True
    if re.search(r"[0-9]{4}-$", before) and re.match(r"-[0-9]", after):
        return True
    return bool(_TIED_BEFORE.search(before) or _TIED_AFTER.match(after))


@lru_cache(maxsize=8192)
def _readings(token: str) -> tuple[Decimal, ...]:
    """Every number that ``token`` can stand for; empty for what is none (``1.2.3``)."""
    kinds = {char for char in token if not char.isdigit()}
    if not kinds:
        return (Decimal(token),)
    if kinds & set(_SPACES) or "'" in kinds or "\u2019" in kinds:
        return _grouped(re.sub(rf"[{_SPACES}'\u2019]", "'", token), "'")
    if len(kinds) == 2:
        return _grouped(token, next(char for char in token if not char.isdigit()))
    separator = kinds.pop()
    groups = token.split(separator)
    readings = [*_grouped(token, separator)]
    if len(groups) == 2:
        readings.append(Decimal(f"{groups[0]}.{groups[1]}"))
    elif not readings and separator == ",":  # a list without spaces: rooms 1,2,3
        readings += [Decimal(group) for group in groups]
    return tuple(readings)


def _grouped(token: str, separator: str) -> tuple[Decimal, ...]:
    """Read ``token`` as thousands parted by ``separator``, with decimals after another separator."""
    match = re.fullmatch(rf"([1-9][0-9]{{0,2}}(?:{re.escape(separator)}[0-9]{{3}})+)(?:[.,]([0-9]+))?", token)
    if not match:
        return ()
    whole = match.group(1).replace(separator, "")
    return (Decimal(f"{whole}.{match.group(2)}" if match.group(2) else whole),)
