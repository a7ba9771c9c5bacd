"""Reading words: from a sentence to the units it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from memdash.simulator.pretend.lexicon import (
    ATTRIBUTES,
    ENTITIES,
    IMPLIED,
    NO_NAMES,
    PEOPLE,
    RELATED,
    SOFT,
    SOFT_WEIGHTS,
    STOP,
)
from memdash.simulator.pretend.phrases import PHRASES, Phrase
from memdash.simulator.pretend.stems import stem


def _forms(words: str) -> Iterator[str]:
    """Yield listed words and their plurals; other forms are listed where they mean the same."""
    for word in words.split():
        yield word
        if word.endswith("y") and word[-2] not in "aeiou":
            yield f"{word[:-1]}ies"
        elif word.endswith(("s", "x", "ch", "sh")):
            yield f"{word}es"
        else:
            yield f"{word}s"


_CONCEPTS: Final = {
    word: concept
    for kind in (SOFT, ENTITIES, PEOPLE, ATTRIBUTES)
    for concept, words in kind.items()
    for word in _forms(words)
}
_ATTRIBUTES: Final = frozenset(ATTRIBUTES) | {"SELF", "HEADCOUNT", "ORIGIN"}
_ENTITIES: Final = frozenset(ENTITIES) | frozenset(PEOPLE)
PEOPLE_CONCEPTS: Final = frozenset(PEOPLE)

_PHRASES_BY_WORD: Final[dict[str, list[Phrase]]] = {}
for _one in PHRASES:
    for _word in _one.words:
        _PHRASES_BY_WORD.setdefault(_word, []).append(_one)

_TOKEN: Final = re.compile(r"[^\W_]+(?:['’\-.:,/+_]+[^\W_]+)*")
_PART: Final = re.compile(r"[-/:+_.]+|(?<=[a-z])(?=[A-Z])")

_CHEAP: Final = re.compile(
    r"\b[Bb]udget(?=[ -](?:airlines?|carriers?|hotels?|hostels?|flights?|options?|travel\w*|friendly|restaurants?|chain|version|phone|model)\b)"
)
"""Where the word says that something is cheap."""

_NAME: Final = r"[A-ZÀ-Þ][\w'’-]+"
_INTRODUCTION: Final = re.compile(
    r"\b(?:I['’]m|I am|[Cc]alls? me|[Gg]o by|[Nn]ame is|[Nn]ame['’]s|[Uu]ser is (?:called|named)|[Uu]ser(?: name)?(?: is|:)|[Nn]ame:) "
    rf"(?P<after>{_NAME})"
    rf"|\b[Tt]his is (?P<this>{_NAME})(?= speaking| here| from|[,.!]|$)"
    rf"|(?:^|[,.!–—] ?|\b[Ii]t['’]s )(?P<here>{_NAME})(?: {_NAME})? here\b"
    rf"|\b[Ii]t['’]s (?P<again>{_NAME})(?: {_NAME})? (?:again|speaking)\b"
    rf"|\b(?!What|Where|Who|That|There|Here|It|How|When)(?P<the>[A-ZÀ-Þ][\w-]+)['’]s the name\b"
    rf"|^(?P<met>{_NAME})(?: {_NAME})*, (?:pleased|nice|glad|good|delighted|happy) to\b"
    rf"|\b(?:[Bb]est|[Rr]egards|[Ww]ishes|[Cc]heers|[Ss]incerely|[Yy]ours),? (?P<signed>{_NAME})(?: {_NAME})*\W*$"
)
_INTRODUCTION_WORDS: Final = frozenset(
    (
        "i'm",
        "i’m",
        "am",
        "call",
        "go",
        "name",
        "name's",
        "name’s",
        "user",
        "this",
        "here",
        "it's",
        "it’s",
        "calls",
        "wishes",
        "regards",
        "best",
        "cheers",
        "sincerely",
        "yours",
        "meet",
    )
)
_OWNED: Final = re.compile(
    r"\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Tt]he|[Ii]ts) (?:\w+ )?(?!user|name|own|full|first|last)\w+(?:['’]s)? (?:\w+ )?"
    r"name(?: is|['’]s|:)"
)


@lru_cache(maxsize=50_000)
def word_units(word: str) -> tuple[str, ...]:
    """Return the units of one word as written; none for a word that carries no meaning of its own."""
    lower = word.lower().replace("’", "'")
    if lower in STOP:
        return ()
    if lower.endswith("'s"):
        lower = lower[:-2]
    if lower in _CONCEPTS:
        return (_CONCEPTS[lower],)
    if not any(char.isalpha() for char in lower):
        return (normal_number(lower),)
    parts = [part for part in _PART.split(word) if part]
    if len(parts) > 1:
        return (lower, *(unit for part in parts for unit in word_units(part)))
    if any(char.isdigit() for char in lower):
        return (lower,)
    if len(lower) < 2:
        return ()
    return (stem(lower),)


def normal_number(text: str) -> str:
    """Return a number without its thousands separators and trailing zeros after the point; other text in lower case."""
    bare = re.sub(r"(?<=\d)[, ](?=\d{3}(?!\d))", "", text.lower())
    return re.sub(r"(?<=\d)[.,]0+$", "", bare)


def units(text: str) -> frozenset[str]:
    """Return the units of a sentence."""
    if "udget" in text:
        text = _CHEAP.sub("cheap", text)
    found: set[str] = set()
    phrases: set[Phrase] = set()
    introduces = False
    for word in _TOKEN.findall(text):
        found.update(word_units(word))
        lower = word.lower()
        if lower in _PHRASES_BY_WORD:
            phrases.update(_PHRASES_BY_WORD[lower])
        introduces = introduces or lower in _INTRODUCTION_WORDS
    if phrases:
        plain = text.lower().replace("’", "'")
        found.update(one.concept for one in phrases if one.pattern.search(plain))
    if introduces and introduced_name(text):
        found.update(("SELF", "NAME"))
    return frozenset(found)


def introduced_name(text: str) -> str | None:
    """Return the first name by which the speaker introduces themselves in this sentence, if they do."""
    for match in _INTRODUCTION.finditer(text):
        name = next(one for one in match.groups() if one)
        if name.lower() not in NO_NAMES and not _OWNED.search(text[: match.end()]):
            return name
    return None


def is_attribute(unit: str) -> bool:
    """Whether ``unit`` is something people ask for."""
    return unit in _ATTRIBUTES


def is_entity(unit: str) -> bool:
    """Whether ``unit`` is a known thing or person that has attributes."""
    return unit in _ENTITIES


def is_concept(unit: str) -> bool:
    """Whether ``unit`` is a concept of the lexicon and not just a stem."""
    return unit[:1].isupper()


def weight(unit: str) -> float:
    """Return how much finding ``unit`` in a statement counts towards its answering a question that has it."""
    if unit in _ATTRIBUTES:
        return 2.0 if unit != "NAME" else 1.0
    if unit in SOFT:
        return SOFT_WEIGHTS.get(unit, 0.3)
    return 1.0


def likeness(unit: str, found: frozenset[str]) -> float:
    """Return how far ``unit`` is present among ``found``: 1 for itself, less for a related concept, else 0."""
    if unit in found:
        return 1.0
    if not is_concept(unit):
        return 0.0
    return max((RELATED.get(frozenset((unit, other)), 0.0) for other in found), default=0.0)


def implied_by(found: Iterable[str]) -> frozenset[str]:
    """Return what the concepts in ``found`` bring along anyway."""
    return frozenset().union(*(_IMPLIED[unit] for unit in found if unit in _IMPLIED))


def _units_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset(unit for word in words for unit in ((word,) if is_concept(word) else word_units(word)))


_IMPLIED: Final = {concept: _units_of(words) for concept, words in IMPLIED.items()}


def related_to(found: frozenset[str]) -> frozenset[str]:
    """Return the concepts that can stand in for one in ``found``, however little."""
    return frozenset(other for pair in RELATED if pair & found for other in pair - found)
