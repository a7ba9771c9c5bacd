"""Length limits as people word them: "at most 150 words", "no more than twelve words", "in three sentences"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_ONES: Final = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS: Final = {
    word: 10 * number
    for number, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
_SPELLED: Final = "|".join((*_TENS, *sorted(_ONES, key=len, reverse=True), "hundred", "thousand", "dozen"))
_NUMBER: Final = rf"(?P<number>\d[\d,.]*|(?:an? )?(?:{_SPELLED})(?:[ -](?:and )?(?:{_SPELLED}))*)"
_RANGE: Final = r"(?:(?:\d[\d,]*)\s*(?:-|–|—|to|and|or)\s*)?"
_UNIT: Final = (
    r"(?P<unit>words?|tokens?|sentences?|lines?|bullets?(?: points?)?|points|characters?|chars|paragraphs?)"
)
_EXPRESSION: Final = re.compile(
    rf"(?:(?P<below>under|below|fewer than|less than|shorter than|<)\s+)?(?<![\w.,]){_RANGE}{_NUMBER}[ -]*(?:\w+ )?{_UNIT}\b|"
    rf"\b(?P<unit2>word|token|sentence|line|character)s?[ -]?(?:limit|count|budget|cap|maximum|max)\s*(?:\w+ ){{0,2}}?(?:[:=]|of|is|at)?\s*(?P<number2>\d[\d,]*)|"
    r"\b(?:limit|maximum|max|cap)(?:_words)?\s*[:=]\s*(?P<number3>\d[\d,]*)\s*(?P<unit3>words?|tokens?)?",
    re.I,
)
_FLOOR: Final = re.compile(r"\b(?:at least|minimum(?: of)?|more than|not less than|no fewer than)\s*$", re.I)
_NOT_NO: Final = re.compile(r"\b(?:no|not|never)\s+more than\s*$", re.I)

_WORDS_PER: Final = {
    "word": 1.0,
    "token": 0.45,
    "sentence": 18.0,
    "line": 14.0,
    "bullet": 16.0,
    "point": 16.0,
    "char": 0.16,
    "paragraph": 80.0,
}


class Limit(NamedTuple):
    """The most words a text may have, and the most statements where sentences or points were counted."""

    words: int
    statements: int | None = None


@lru_cache(maxsize=512)
def named(text: str) -> Limit | None:
    """Return the tightest length limit named in ``text``, None where it names none."""
    words: list[int] = []
    statements: list[int] = []
    for match in _EXPRESSION.finditer(text):
        raw = match["number"] or match["number2"] or match["number3"]
        unit = (match["unit"] or match["unit2"] or match["unit3"] or "words").lower()
        number = _number(raw)
        if number is None or number < 1:
            continue
        before = text[max(0, match.start() - 24) : match.start()]
        if _FLOOR.search(before) and not _NOT_NO.search(before):
            continue
        if match["below"] or re.search(
            r"\b(?:under|below|fewer than|less than|shorter than)\s*$", before, re.I
        ):
            number = max(1, number - 1)
        key = next(one for one in _WORDS_PER if unit.startswith(one))
        if key == "word" and number == 1 and "a" in raw.lower().split()[:1]:
            continue
        words.append(max(1, int(number * _WORDS_PER[key])))
        if key in ("sentence", "line", "bullet", "point"):
            statements.append(number)
    if not words:
        return None
    return Limit(min(words), min(statements, default=None))


def _number(raw: str) -> int | None:
    digits = raw.replace(",", "").rstrip(".")
    if digits.isdigit():
        return int(digits)
    total, current = 0, 0
    for word in re.split(r"[ -]+", raw.lower()):
        if word in _ONES:
            current += _ONES[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word == "dozen":
            current = max(current, 1) * 12
        elif word == "thousand":
            total, current = total + max(current, 1) * 1000, 0
        elif word not in ("and", "a", "an", ""):
            return None
    return total + current or None
