"""What a text is written in, as far as it matters to a tokenizer: its writing system, or code and data."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter

CODE = "code or data"
"""JSON, program text, logs, tables: more symbols and digits than prose has."""

_SYMBOLS = frozenset('{}[]()<>=;:/\\_|"#$&*+@~^%`0123456789')
_CODE_SHARE = 0.2
"""Prose has a share of some 3 % of such characters, a log or JSON a quarter and more."""
_ACCENTED_SHARE = 0.01
_CJK = frozenset(("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO"))


def writing_of(text: str) -> str:
    """Return ``Latin``, ``Latin with accents``, ``Cyrillic``, ``CJK``, another writing system's name, or :data:`CODE`.

    The writing system is that of most letters. Without letters a text is data.
    """
    shown = [char for char in text if not char.isspace()]
    letters = [char for char in shown if char.isalpha()]
    symbols = sum(char in _SYMBOLS for char in shown)
    if not letters or symbols / len(shown) >= _CODE_SHARE or _is_json(text):
        return CODE
    system = Counter(map(_system, letters)).most_common(1)[0][0]
    if system != "Latin":
        return system
    accented = sum(not char.isascii() and _system(char) == "Latin" for char in letters)
    return "Latin with accents" if accented / len(letters) >= _ACCENTED_SHARE else "Latin"


def _system(letter: str) -> str:
    """The first word of a letter's Unicode name is its writing system, but for what Chinese and Japanese share."""
    name = unicodedata.name(letter, "OTHER").split()[0]
    return "CJK" if name in _CJK else name.title()


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False
