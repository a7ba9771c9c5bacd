"""What a message asks for, where it asks for something that was said."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memdash.simulator.pretend import units as reading
from memdash.simulator.pretend.recall import ASKED_NOUN, FIRST_PERSON, MARK, is_about_something_said
from memdash.simulator.pretend.values import Kind
from memdash.simulator.pretend.visible import split


@dataclass(frozen=True, slots=True)
class Question:
    """A question about something said.

    ``units`` are the concepts an answer must be about, ``kinds`` the kinds of value of which it must hold one (empty: any words
    will do), ``also`` kinds that are asked for beside it. ``own`` says that it asks for the speaker's own.
    ``proper`` are the names and ``marks`` the numbers and identifiers it mentions, ``sort`` the sort of thing it asks for ("which
    instrument"), which a statement seldom names. ``place`` says that it asks where, ``of_model`` that it asks what the model itself said.
    """

    text: str
    units: frozenset[str]
    kinds: tuple[Kind, ...]
    also: tuple[Kind, ...]
    own: bool
    proper: frozenset[str]
    marks: frozenset[str]
    sort: frozenset[str]
    place: bool
    of_model: bool


_LEAD_IN: Final = re.compile(
    r"^(?:(?:by the way|btw|quick (?:check|question|one)|one (?:more )?(?:quick )?(?:thing|question)|before (?:we|i) (?:go on|continue|forget|book anything|move on)|just (?:checking|to be sure|to check|checking)|"
    r"remind me|sorry|right|okay|ok|hey|hi|hello|also|oh|out of interest|for the record|to recap|for my notes|for the form|last question|a (?:quick )?(?:check|question)|refresh my memory)\s*[,:;.–—-]+\s*)+"
)

_OF_SOMEBODY: Final = re.compile(
    r"\b(?:[Ww]h(?:at|ich|ere|en|o)|[Hh]ow)\b.{0,30}\b(?:does|did|is|was|has|can|must) (?!I\b)[A-ZÀ-Þ][\w'’-]+ (?:live|work|stay|sit|study|teach|arrive|land|drive|speak|play|own|"
    r"drink|eat|avoid|bring|pay|owe|living|working|staying|sitting|arriving|landing|called|born|allergic)\b"
)
"""Where Tao lives is something that only the conversation can say."""

_NOT_ASKED: Final = re.compile(
    r"\b(?:answer|reply|respond|use|keep it|be brief|no explanation|if you (?:don't|do not|can't|cannot)|if (?:it|that|this|there) (?:was|is|has)|just (?:the|give|say|answer)|in one (?:short )?(?:sentence|word|line)|only)\b"
)

_PROPER: Final = re.compile(r"(?<=[a-z,;:'’] )[A-ZÀ-Þ][\w'’-]*[a-zà-ÿ][\w'’-]*")

_EVERYDAY_MARKS: Final = re.compile(
    r"^(?:wi-fi|wifi|e-mail|id|pin|ip|tv|co-worker|check-in|check-out|api|url|ok|db|usd|eur|gbp|pm|am|http|https|cpu|faq|pdf|uk|us|usa|eu|i|"
    r"(?:[a-z]+-)+(?:and|to|of|in|by|up|off|out|on|term|time|friendly|free|wide))$"
)


def asked(message: str) -> Question | None:
    """Return the question about something said that ``message`` asks, None where it is ordinary chat."""
    return _asked(message) if len(message) <= 20_000 else _asked(message[-4_000:])


@lru_cache(maxsize=4_096)
def _asked(message: str) -> Question | None:
    # Clients put their instructions around the question; the question itself is one sentence, and seldom far from the end.
    said = split(message)[-12:]
    for at in range(len(said) - 1, -1, -1):
        sentence = said[at]
        plain = _plain(sentence)
        if not plain:
            continue
        marked = sentence.rstrip(" \"”')").endswith("?")
        if is_about_something_said(plain, marked) or (marked and _OF_SOMEBODY.search(sentence)):
            return _understood(sentence, plain, said[at - 1] if at else "")
        if marked:
            return None  # ordinary chat ends in a question of its own
        if any(char.isdigit() for char in plain) and not _NOT_ASKED.search(plain):
            return None  # "The budget? 1,500 in all.": the question was answered there and then
    return None


def _plain(sentence: str) -> str:
    lower = sentence.lower().replace("’", "'").strip(" \"“”'()*_")
    lower = re.sub(r"\b(what|who|when|where|how|which|that|it)'(?:s|re)\b", r"\1 is", lower)
    return _LEAD_IN.sub("", lower)


_ASKING_UNITS: Final = frozenset(
    unit
    for word in (
        *(
            "say",
            "exact",
            "now",
            "repeat",
            "confirm",
            "recall",
            "give",
            "read",
            "look",
            "forget",
            "forgot",
            "forgotten",
            "memory",
        ),
        *("refresh", "quick", "check", "sure", "double", "spell", "track", "hand", "refer"),
    )
    for unit in reading.word_units(word)
)
"""What a question says about being a question."""


def _understood(sentence: str, plain: str, before: str) -> Question:
    found = set(reading.units(sentence) | reading.units(plain)) - _ASKING_UNITS
    if re.search(r"\bdid\b.*\breturn\b|\breturned\b", plain):
        found.discard("RETURN")  # what a tool gave back, not the way home
    if re.search(r"(?:^|\b(?:you|please|and) )name (?:my|our|the)\b", plain):
        found -= {"NAME", "SELF"}  # to name something is to say it
    subject = sentence
    if before and all(reading.weight(unit) < 0.9 for unit in found):
        # "How do I open locker 17? What was the code?": the sentence before says of what.
        found |= reading.units(before) - _ASKING_UNITS
        subject = f"{before} {sentence}"
    for unit in sorted(found):
        if unit in found:
            found -= reading.implied_by((unit,))
    kinds, also = _kinds(plain, found)
    proper = frozenset(
        unit
        for match in _PROPER.finditer(subject)
        for unit in reading.word_units(match.group())
        if not reading.is_attribute(unit) and not unit[0].isupper()
    )
    marks = frozenset(
        unit
        for match in MARK.finditer(subject)
        if not _EVERYDAY_MARKS.match(match.group().lower())
        for unit in reading.word_units(match.group())[:1]
        if not unit[0].isupper()
    )
    noun = ASKED_NOUN.search(plain)
    sort = (
        frozenset(
            unit
            for unit in reading.word_units(noun["noun"])
            if not reading.is_concept(unit) or unit in _SORTS
        )
        if noun
        else frozenset()
    )
    return Question(
        sentence,
        frozenset(found),
        kinds,
        also,
        bool(FIRST_PERSON.search(plain)),
        proper,
        marks,
        sort,
        bool(re.search(r"\bwhere\b", plain)),
        bool(re.search(r"\b(?:did|have) you\b", plain)),
    )


_BY_PHRASE: Final[tuple[tuple[re.Pattern[str], tuple[Kind, ...], tuple[Kind, ...]], ...]] = (
    (
        re.compile(
            r"\b(?:date|day) and (?:the |at what |what )?(?:time|hour)\b|\btime and (?:date|day)\b|\btime\b.*\b(?:which|what) (?:day|date)\b|\b(?:day|date)\b.*\b(?:what|which) time\b|\bwhen exactly\b|\bwhen\b.*\b(?:and )?at what time\b"
        ),
        (Kind.DATE, Kind.TIME),
        (Kind.DATE, Kind.TIME),
    ),
    (
        re.compile(r"\b(?:what|which) (?:\w+ )?time\b|\bo'clock\b|\bwhat hour\b|\btime (?:do|does|is|of)\b"),
        (Kind.TIME,),
        (),
    ),
    (
        re.compile(
            r"\b(?:what|which|on what|on which) (?:\w+ )?(?:date|day|weekday|month)\b|\bdate of\b|\bdate\b"
        ),
        (Kind.DATE,),
        (),
    ),
    (re.compile(r"\bwhen\b"), (Kind.DATE, Kind.TIME), (Kind.DATE, Kind.TIME)),
    (
        re.compile(
            r"\bhow (?:much|many) (?:percent|per cent)\b|\bpercentage\b|\bhow much of (?:a )?discount\b"
        ),
        (Kind.PERCENT, Kind.NUMBER),
        (),
    ),
    (re.compile(r"\bhow long\b|\bhow much time\b|\bduration\b"), (Kind.DURATION, Kind.NUMBER, Kind.DATE), ()),
    (re.compile(r"\bhow (?:many|old|tall|big|large|high|often|far)\b"), (Kind.NUMBER,), ()),
    (re.compile(r"\bhow much\b"), (Kind.MONEY, Kind.NUMBER), ()),
    (re.compile(r"\bwho(?:m|se)?\b"), (Kind.NAME,), ()),
)

_BY_UNIT: Final[dict[str, tuple[Kind, ...]]] = {
    "BUDGET": (Kind.MONEY, Kind.NUMBER),
    "SALARY": (Kind.MONEY, Kind.NUMBER),
    "SELF": (Kind.NAME,),
    "ALLERGY": (),
    "DIET": (),
    "COLOUR": (Kind.COLOUR,),
    "PORT": (Kind.NUMBER, Kind.HOST),
    "VERSION": (Kind.VERSION,),
    "PHONE": (Kind.PHONE,),
    "EMAIL": (Kind.EMAIL,),
    "BIRTHDAY": (Kind.DATE,),
    "DEADLINE": (Kind.DATE, Kind.TIME),
    "ARRIVAL": (Kind.DATE, Kind.TIME),
    "AGE": (Kind.NUMBER,),
    "HEADCOUNT": (Kind.NUMBER,),
    "NAME": (Kind.NAME, Kind.CODE),
}

_OPEN: Final = re.compile(
    r"\bwhere\b|\bwhich (?:airport|city|town|station|terminal|place)\b|\bwhat (?:airport|city|town|station|terminal)\b|\bwhy\b|\bwith whom\b|\bhow\b(?! (?:much|many|old|long|tall|big|large|high|often|far))"
)

_SERVER_ASKED: Final = re.compile(
    r"\b(?:what|which) (?:\w+ )?(?:host|hostname|server|machine|node|instance|box)\b"
)

_SORTS: Final = frozenset(("TICKET", "CAR", "DATABASE", "SERVICE", "HOTEL", "RESTAURANT"))

_NUMBER_ASKED: Final = re.compile(r"\b(?:number|id|identifier|reference|ref)\b")


def _kinds(plain: str, found: set[str]) -> tuple[tuple[Kind, ...], tuple[Kind, ...]]:
    if "BUDGET" in found or "SALARY" in found:
        return _BY_UNIT["BUDGET"], ()
    if "SELF" in found:
        return _BY_UNIT["SELF"], ()
    for pattern, kinds, also in _BY_PHRASE:
        if pattern.search(plain):
            if kinds == (Kind.NAME,) and {"PHONE", "EMAIL"} & found:
                continue
            return kinds, also
    if _OPEN.search(plain):
        return (), ()
    for unit in sorted(found):
        if unit in _BY_UNIT:
            return _BY_UNIT[unit], ()
    if _SERVER_ASKED.search(plain):
        return (Kind.HOST, Kind.CODE, Kind.NAME), ()
    if "IDENT" in found or _NUMBER_ASKED.search(plain):
        return (Kind.NUMBER, Kind.CODE, Kind.PHONE), ()
    if {"CODE", "PASSWORD", "SEAT"} & found:
        return (Kind.CODE, Kind.NUMBER), ()
    return (), ()
