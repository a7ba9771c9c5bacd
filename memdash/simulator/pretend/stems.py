"""Reducing a word to its stem, so that "booked" is found for "booking".

A light one on purpose: a tool result of 200,000 characters must be read in a tenth of a second, which a full
Snowball stemmer in Python is twenty times too slow for, and what it does better the lexicon does by hand.
"""

from __future__ import annotations

from typing import Final

_VOWELS: Final = frozenset("aeiouy")
_ENDINGS: Final = (
    "ational",
    "ations",
    "ation",
    "ions",
    "ion",
    "ments",
    "ment",
    "ings",
    "ing",
    "edly",
    "ed",
    "ly",
    "es",
    "er",
    "ers",
    "s",
)
_DOUBLED: Final = frozenset("bdgmnprt")

_IRREGULAR: Final = {
    form: base
    for base, forms in {
        "grow": "grew grown",
        "write": "wrote written",
        "drive": "drove driven",
        "speak": "spoke spoken",
        "break": "broke broken",
        "begin": "began begun",
        "swim": "swam swum",
        "sing": "sang sung",
        "buy": "bought",
        "bring": "brought",
        "teach": "taught",
        "think": "thought",
        "catch": "caught",
        "lead": "led",
        "send": "sent",
        "build": "built",
        "lose": "lost",
        "win": "won",
        "wear": "wore worn",
        "read": "reading",
    }.items()
    for form in forms.split()
}


def stem(word: str) -> str:
    """Return the stem of a lower-case English word; short words stay as they are."""
    word = _IRREGULAR.get(word, word)
    if len(word) < 4:
        return word
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3]
    if word.endswith(("ss", "us", "is")):
        return word
    for ending in _ENDINGS:
        if not word.endswith(ending):
            continue
        rest = word[: -len(ending)]
        if len(rest) < 3 or _VOWELS.isdisjoint(rest):
            continue
        if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] in _DOUBLED:
            rest = rest[:-1]
        return _bare(rest)
    return _bare(word)


def _bare(rest: str) -> str:
    """Drop the last vowel that endings come and go with: move, moving; delivery, deliver."""
    return rest[:-1] if len(rest) > 3 and rest[-1] in "ey" else rest
