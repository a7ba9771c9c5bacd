"""Quoting the words that answer, without a value that has become stale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memdash.simulator.pretend import units as reading
from memdash.simulator.pretend.questions import Question
from memdash.simulator.pretend.values import Kind, Value, values
from memdash.simulator.pretend.visible import Statement
from memdash.simulator.pretend.wording import CLAUSE, UPDATE

_STALE: Final = re.compile(
    r"(?:instead of|rather than|no longer|not|from|was|were|old|previous(?:ly)?|used to be|scrap|forget|originally|earlier|before|up from|down from|replaces?|in place of)\s(?:the\s|our\s|my\s|those\s|at\s|a\s)?(?:\w+\s)?$",
    re.I,
)

_LONGEST_QUOTE: Final = 60


def quote(question: Question, one: Statement, given: Sequence[Statement]) -> str:
    """Return the words of the statement that answer; without a value that it, or a newer statement, has made stale."""
    text = one.text
    earlier = [
        value.text.lower()
        for other in given
        if other.place < one.place and other.sentence.units & question.units
        for kind in question.kinds
        for value in values(other.text, kind)
    ]
    for kind in question.kinds:
        held = [value for value in values(text, kind) if kind is not Kind.NUMBER or len(value.text) > 1]
        if len(held) < 2 or kind in (Kind.NAME, Kind.CODE):
            continue
        fresh = [value for value in held if not _STALE.search(text[: value.start])]
        if UPDATE.search(text) and len(fresh) > 1:
            fresh = [value for value in fresh if value.text.lower() not in earlier] or fresh
        if fresh and len(fresh) < len(held):
            return _around(
                text, fresh[0].start, fresh[-1].end, [value for value in held if value not in fresh]
            )
        break
    if len(text.split()) > _LONGEST_QUOTE:
        return _excerpt(question, text)
    return text


def _around(text: str, start: int, end: int, stale: Sequence[Value]) -> str:
    """Cut ``text`` to the clause from ``start`` to ``end``, free of the stale values."""
    left = max([value.end for value in stale if value.end <= start], default=0)
    right = min([value.start for value in stale if value.start >= end], default=len(text))
    for boundary in CLAUSE.finditer(text):
        if left < boundary.end() <= start and left > 0:
            left = boundary.end()
        if end <= boundary.start() < right and right < len(text):
            right = boundary.start()
    piece = text[left:right].strip(" ,;:–—-")
    if right < len(text):
        piece = re.sub(
            r"(?:[\s,;:–—-]*\b(?:instead of|rather than|not|no longer|from|up from|down from|was|the|old|our|my|in place of|and|it|than))+\s*$",
            "",
            piece,
            flags=re.I,
        )
    return re.sub(r"^(?:to|is|are|but|and|now) ", "", piece) if left else piece


def _excerpt(question: Question, text: str) -> str:
    """Return the part of a very long sentence around what is asked for."""
    spans = [(value.start, value.end) for kind in question.kinds for value in values(text, kind)]
    parts = text.split()
    hits = [at for at, word in enumerate(parts) if question.units & set(reading.units(word))]
    if spans and hits:
        position, offset = hits[0], 0
        for at, word in enumerate(parts):
            if offset >= spans[0][0] and abs(at - hits[0]) < _LONGEST_QUOTE // 2:
                position = (hits[0] + at) // 2
                break
            offset += len(word) + 1
    else:
        position = hits[0] if hits else 0
    low = max(0, position - _LONGEST_QUOTE // 2)
    return " ".join(parts[low : low + _LONGEST_QUOTE])
