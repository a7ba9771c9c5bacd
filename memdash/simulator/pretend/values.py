"""What kinds of value a sentence holds: amounts, dates, times, names, codes."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple


class Kind(StrEnum):
    """What a question asks for, and what a statement can give."""

    MONEY = "money"
    NUMBER = "number"
    PERCENT = "percent"
    DURATION = "duration"
    DATE = "date"
    TIME = "time"
    NAME = "name"
    CODE = "code"
    VERSION = "version"
    PHONE = "phone"
    EMAIL = "email"
    HOST = "host"
    COLOUR = "colour"


class Value(NamedTuple):
    """A value in a sentence: its kind, where it stands and its text."""

    kind: Kind
    start: int
    end: int
    text: str


_UNITS: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|"
    "thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen"
)
_SPELLED: Final = rf"(?:{_UNITS})(?:[ -](?:and )?(?:{_UNITS}))*"
_DIGITS: Final = r"\d+(?:[., ' ]\d{3})*(?:[.,]\d+)?(?:\s?[kKmM]\b)?"
_CURRENCY: Final = (
    r"(?:€|\$|£|¥|euros?|eur|dollars?|usd|pounds?|sterling|gbp|chf|francs?|kron(?:a|or|er)|sek|nok|dkk|yen|jpy|bucks|quid|z[lł]oty|pln|"
    r"reais|rupees|inr|cents?)"
)
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?)"
)
_ORDINAL: Final = (
    r"(?:twenty-|thirty-)?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|tenth|eleventh|twelfth|thirteenth|fourteenth|"
    r"fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth"
)
_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
COLOURS: Final = (
    "red|green|blue|yellow|orange|purple|violet|pink|black|white|grey|gray|brown|teal|turquoise|cyan|magenta|maroon|crimson|scarlet|navy|"
    "indigo|lilac|lavender|mauve|beige|cream|ivory|gold|golden|silver|bronze|copper|olive|lime|mint|emerald|amber|ochre|coral|salmon|"
    "peach|burgundy|azure|aquamarine|mustard|rust|sienna|charcoal|fuchsia|petrol|sapphire|ruby|jade|khaki|plum|rose|tan|vermilion|cobalt"
)

_PATTERNS: Final[dict[Kind, re.Pattern[str]]] = {
    Kind.MONEY: re.compile(
        rf"(?:[€$£¥]|\b(?:eur|usd|gbp|chf|sek|nok|dkk))\s?{_DIGITS}|\b(?:{_DIGITS}|{_SPELLED})\s?(?:{_CURRENCY})(?!\w)",
        re.I,
    ),
    Kind.NUMBER: re.compile(
        rf"(?<![\w.,:/-]){_DIGITS}(?![\w:]|[-/]\d)|\b(?!one\b(?! (?:hundred|thousand|million)))(?:{_SPELLED}|a couple|a pair)\b",
        re.I,
    ),
    Kind.PERCENT: re.compile(rf"(?:{_DIGITS}|{_SPELLED})\s?(?:%|per ?cent)", re.I),
    Kind.DURATION: re.compile(
        rf"\b{_DIGITS} ?(?:ms|s|m|h|d)\b|\b(?:{_DIGITS}|{_SPELLED}|an?|half an?)[ -]"
        r"(?:milliseconds?|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|nights?|weeks?|fortnights?|months?|years?)\b",
        re.I,
    ),
    Kind.DATE: re.compile(
        rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?:,? \d{{4}})?|\b{_MONTH}\.? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|"
        rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}[./]\d{{1,2}}[./](?:\d{{4}}|\d\d)\b|\b\d{{1,2}}\.\d{{1,2}}\.(?!\d)|\b\d{{1,2}}/\d{{1,2}}\b|"
        rf"\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)\b|\b(?:{_ORDINAL})(?: of)? {_MONTH}\b|\b{_MONTH} (?:the )?(?:{_ORDINAL})\b|\bthe (?:{_ORDINAL})\b(?= of \w|[,.;!?]|$)|"
        rf"\b{_WEEKDAY}s?\b|\b(?:today|tonight|tomorrow|yesterday)\b|\b(?:end|start|middle) of (?:the |next |this )?(?:week|month|quarter|year|{_MONTH})\b|"
        rf"\b(?:next|this|last) (?:week|month|year|spring|summer|autumn|winter|weekend)\b|\b(?:christmas|easter|new year)\b|"
        rf"\b(?:in|early|late|mid|by|since|until|before|after) {_MONTH}\b|"
        rf"\b(?:in|since|until|year|{_MONTH}|spring|summer|autumn|winter) (?:of )?(?:19|20)\d\d\b(?=[,.;!?)]|$| (?:and|but|in|at|as|when|with|on)\b)",
        re.I,
    ),
    Kind.TIME: re.compile(
        r"\b\d{1,2}[:.h]\d\d(?!\d|\.\d)(?::\d\d)?(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]\.?m\b\.?|\b(?:noon|midnight|midday|lunchtime)\b|"
        rf"\b(?:\d{{1,2}}|{_SPELLED}) o['’]clock\b|\b(?:half past|half|quarter past|quarter to|{_SPELLED} (?:minutes )?(?:past|to)) "
        rf"(?:\d{{1,2}}|{_SPELLED})\b|\bat (?:{_SPELLED}|\d{{1,2}})(?: (?:thirty|fifteen|forty-five|twenty|forty|ten))?"
        r"(?= in the| at night|[.,;!]| on |$)|\b(?:in the|early|late|this|tomorrow) (?:morning|afternoon|evening)\b",
        re.I,
    ),
    Kind.NAME: re.compile(
        r"\b[A-ZÀ-Þ][\w'’-]*[a-zà-ÿ][\w'’-]*(?: (?:(?:de|da|van|von|der|den|of|del) )*[A-ZÀ-Þ][\w'’-]+)*"
    ),
    Kind.CODE: re.compile(
        r"(?<![\w-])(?=[\w.#/-]*\d)(?=[\w.#/-]*(?:[A-Za-z#_-]|\d{3}))[\w#](?:[\w.#/-]*[\w#])?|\b[A-Z][A-Z0-9_-]+\b|[\"“'‘`][^\"“”'’`]{2,60}[\"”'’`]|"
        r"(?<![\w-])[a-z0-9]+(?:[-_][a-z0-9]+)+(?![\w-])|\b[a-z]+[A-Z]\w*\b"
    ),
    Kind.VERSION: re.compile(
        r"\bv?\d+(?:\.\d+)+(?:[-+.]?\w+)*|\bv\d+\b|\b(?:version|release|build) \d+\b(?!\.\d)|\b\d+\b", re.I
    ),
    Kind.PHONE: re.compile(r"\+?\(?\d[\d ()/.-]{5,}\d"),
    Kind.EMAIL: re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    Kind.HOST: re.compile(
        r"\b[\w-]+(?:\.[\w-]+)+(?::\d+)?\b|\b[a-z]+-?\d+\b|\b\w+:\d{2,5}\b|\b[a-z]+(?:-[a-z0-9]+)+\b", re.I
    ),
    Kind.COLOUR: re.compile(
        rf"\b(?:(?:light|dark|deep|bright|pale|royal|sky|forest|midnight) )?(?:{COLOURS})(?:ish)?\b", re.I
    ),
}


@lru_cache(maxsize=20_000)
def values(text: str, kind: Kind) -> tuple[Value, ...]:
    """Return the values of ``kind`` in ``text``, in order."""
    found = [
        Value(kind, match.start(), match.end(), match.group().strip())
        for match in _PATTERNS[kind].finditer(text)
    ]
    if kind is Kind.NAME:
        # A capital at the start of a sentence is no evidence of a name unless another capital follows it.
        found = [one for one in found if one.start > 0 or " " in one.text]
    return tuple(one for one in found if one.text)


def holds(text: str, kind: Kind) -> bool:
    """Whether ``text`` holds a value of ``kind``."""
    return bool(values(text, kind))
