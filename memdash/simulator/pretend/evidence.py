"""How well a visible sentence answers a question.

Does it have the attribute that is asked for, is it about the same thing and the same person, does it hold a value of the right
kind that belongs to that attribute, and is it said at all, not just asked or supposed?
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memdash.simulator.pretend import units as reading
from memdash.simulator.pretend.lexicon import RIVALS
from memdash.simulator.pretend.ownership import clause_with, is_of_others
from memdash.simulator.pretend.questions import Question
from memdash.simulator.pretend.values import Kind, values
from memdash.simulator.pretend.visible import Speaker, Statement
from memdash.simulator.pretend.wording import DOUBT, PART, UPDATE, clauses, is_question

THRESHOLD: Final = 0.6

_RESULT_THRESHOLD: Final = 0.66
"""Long results hold many lines that share words with a question; they must cover more of it."""
_NEXT_TO: Final = 0.6
"""How much a concept counts that stands in a neighbouring sentence, a heading or the tool call, not in the sentence itself."""

_NOBODY: Final = re.compile(
    r"\bI (?:do not|don['’]t) (?:know|see|have|find)\b|\bnot (?:been )?(?:mentioned|said|given)\b", re.I
)

_SOMEWHERE: Final = re.compile(
    r"\b(?:in|at|near|on|from|by|opposite|beside|next to|behind|under|to|via|inside|outside|between|is|are|of|room)\b:? (?!\d|(?:january|february|march|"
    r"april|may|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day|the \d|noon)\b)|:|\b(?:seat|row|gate|platform|terminal|floor|table) \w",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A statement that answers a question, and how well."""

    statement: Statement
    score: float


def weigh(unit: str, question: Question) -> float:
    """Return how much ``unit`` counts among what ``question`` is about; 0 for nothing."""
    if unit in question.proper and question.own:
        return 0.4
    if unit in question.sort and any(
        reading.weight(other) >= 0.9 for other in question.units - question.sort
    ):
        return 0.3
    return reading.weight(unit)


def score(question: Question, weights: Mapping[str, float], one: Statement, owner: str | None) -> float:
    """Return how well ``one`` answers ``question``, from 0 to about 1.

    ``weights`` are those of the question's units, ``owner`` the user's first name where it is known.
    """
    text, units = one.text, one.sentence.units
    if one.speaker is Speaker.ASSISTANT and _NOBODY.search(text):
        return 0.0
    near, asked_before = _near(one, question), _answers_before(one)
    total = reached = own = 0.0
    factor = 1.0
    for unit, weight in weights.items():
        if one.speaker is Speaker.TOOL and unit in question.sort:
            weight = reading.weight(unit)  # fields and log lines name what they hold
        match = reading.likeness(unit, units)
        own += weight * match
        if match < 1.0:
            match = max(
                match, _NEXT_TO * reading.likeness(unit, near), 0.9 * reading.likeness(unit, asked_before)
            )
        if match < 0.5:
            match = max(match, _by_value(unit, text, question))
        total += weight
        reached += weight * match
        if match < 0.5 and reading.is_attribute(unit):
            return 0.0
        if match < _NEXT_TO:
            if reading.is_entity(unit) and weight >= 0.9:
                factor *= 0.5
            if not RIVALS.get(unit, frozenset()).isdisjoint(units):
                factor *= 0.4
    if own < 0.3 and not any(values(text, kind) for kind in question.kinds if kind is not Kind.NAME):
        return 0.0  # everything it has of the question stands beside it
    coverage = reached / total if total else 0.0
    if coverage * factor < (_RESULT_THRESHOLD if one.speaker is Speaker.TOOL else THRESHOLD):
        return 0.0
    here_or_near = units | near
    if not all(mark in here_or_near for mark in question.marks):
        return 0.0
    if not question.own and not question.proper <= here_or_near:
        return 0.0
    if not _has_value(question, one):
        return 0.0
    if _gives_back(question, one) or (not units - question.units and not _own_values(question, text)):
        return 0.0  # it only repeats the question
    if question.kinds[:1] == (Kind.NAME,) and not _names(text, question):
        factor *= 0.8 if one.speaker is Speaker.USER else 0.5
    if (
        one.speaker is Speaker.TOOL
        and "IDENT" in units
        and Kind.PHONE in question.kinds
        and Kind.CODE in question.kinds
    ):
        factor *= 1.1  # of the fields with a number, the one that is called so
    factor *= _standing(question, one, owner)
    factor *= _binding(question, text)
    return coverage * factor


def _near(one: Statement, question: Question) -> frozenset[str]:
    near = one.sentence.heading | one.about
    if one.speaker is not Speaker.TOOL:
        for other in (one.before, one.after):
            if other is not None and other.text != question.text:
                near = near | other.units
    return near


def _answers_before(one: Statement) -> frozenset[str]:
    """What a speaker asked just before answering it themselves: "The budget? 1,500 in all."."""
    if one.before is not None and one.before.text.endswith("?") and len(one.before.text.split()) <= 8:
        return one.before.units
    return frozenset()


_NAMED: Final = re.compile(
    r"(?:\b(?:is|are|was|it['’]s)|:) (?:the )?(?:[A-ZÀ-Þ]|[\w./]*[-\d./_]\w)|^[A-ZÀ-Þ][\w'’-]+ [A-ZÀ-Þ][\w'’-]+ "
)

_NAMED_PLACE: Final = re.compile(
    r"\b(?:at|in|with|room|hotel|hostel|inn|restaurant|booked) (?:the )?[A-ZÀ-Þ]"
)

_APPOSITION: Final = re.compile(r"\b(?P<what>[\w-]+),? (?=[A-ZÀ-Þ][\w-]*[a-zà-ÿ]|[\w./]*[-\d/_]\w)")

_LIVING: Final = reading.PEOPLE_CONCEPTS | frozenset(["DOG", "CAT", "PET", "HORSE", "BIRD"])


def _by_value(unit: str, text: str, question: Question) -> float:
    """A value can say what it is of: teal is a colour, and "my dog Biscuit" gives a name."""
    kind = {"COLOUR": Kind.COLOUR, "EMAIL": Kind.EMAIL, "PHONE": Kind.PHONE}.get(unit)
    if kind is not None:
        return 0.8 if values(text, kind) else 0.0
    if unit == "SERVER":
        return 0.8 if Kind.HOST in question.kinds and values(text, Kind.HOST) else 0.0
    if unit != "NAME" or len(question.units) < 2:
        return 0.0
    if any(
        not question.units.isdisjoint(reading.word_units(match["what"]))
        for match in _APPOSITION.finditer(text)
    ):
        return 1.0
    if _NAMED.search(text) or (question.units.isdisjoint(_LIVING) and _NAMED_PLACE.search(text)):
        return 0.8
    return 0.0


def _names(text: str, question: Question) -> bool:
    """Whether somebody is named; also by the first word, where that is no word we know."""
    if values(text, Kind.NAME) or (Kind.CODE in question.kinds and values(text, Kind.CODE)):
        return True
    first = re.match(r"[A-ZÀ-Þ][\w-]*[a-zà-ÿ]\b(?! (?:and|the|a|me|us|it)\b)", text)
    return first is not None and any(
        not reading.is_concept(unit) for unit in reading.word_units(first.group())
    )


_FIELD: Final = re.compile(r"[\w.-]+: (?P<value>\S.*)")


def _gives_back(question: Question, one: Statement) -> bool:
    """Whether a field of a result holds what the question names: "customer_id: C-1001" is not what C-1001 ordered."""
    field = _FIELD.fullmatch(one.text) if one.speaker is Speaker.TOOL else None
    return field is not None and bool(
        re.search(rf"(?<!\w){re.escape(field['value'].lower())}(?!\w)", question.text.lower())
    )


def _own_values(question: Question, text: str) -> bool:
    """Whether the statement holds a value that the question does not give itself."""
    asked = question.text.lower()
    kinds = (*question.kinds, Kind.NUMBER, Kind.CODE, Kind.NAME)
    return any(value.text.lower() not in asked for kind in kinds for value in values(text, kind))


def _has_value(question: Question, one: Statement) -> bool:
    """Whether the statement holds a value of a kind that is asked for, other than those the question gives."""
    if not question.kinds:
        return True
    text = one.text
    if question.kinds[0] is Kind.NAME:
        return bool(_new_words(question, text))
    if question.kinds[0] in (Kind.CODE, Kind.HOST):
        return bool(_new_words(question, text))
    if question.kinds[0] is Kind.COLOUR:
        return bool(values(text, Kind.COLOUR)) or len(_new_words(question, text)) >= 1
    asked = question.text.lower()
    return any(value.text.lower() not in asked for kind in question.kinds for value in values(text, kind))


def _new_words(question: Question, text: str) -> frozenset[str]:
    found = reading.units(text) - question.units
    return frozenset(unit for unit in found if reading.weight(unit) >= 1.0 and not reading.is_attribute(unit))


def _standing(question: Question, one: Statement, owner: str | None) -> float:
    """Weigh who says it of whom, and whether it is said at all or only asked, wished or half meant."""
    text, factor = one.text, 1.0
    if is_question(text):
        factor *= 0.45
    elif DOUBT.search(clause_with(question, text)):
        factor *= 0.5
    if PART.search(text) and not PART.search(question.text):
        factor *= 0.6
    if one.speaker is Speaker.ASSISTANT and not question.of_model:
        if question.own and not re.search(r"\byou(?:r|['’]re)?\b", text, re.I):
            factor *= 0.85
        attributed = any(reading.is_attribute(unit) for unit in question.units & one.sentence.units)
        if not attributed and not any(values(text, kind) for kind in Kind if kind is not Kind.DURATION):
            factor *= 0.7
    if question.place and not _SOMEWHERE.search(text):
        factor *= 0.5
    if one.speaker is Speaker.SYSTEM:
        factor *= 0.9
    if question.own and is_of_others(question, one, owner):
        factor *= 0.3
    return factor


def _binding(question: Question, text: str) -> float:
    """Weigh whether the value belongs to the attribute: "12 euros on the tram, well within the budget" is no budget."""
    heads = [unit for unit in question.units if reading.is_attribute(unit)]
    if not heads or not question.kinds or question.kinds[0] in (Kind.NAME, Kind.COLOUR, Kind.CODE):
        return 1.0
    parts = clauses(text)
    if len(parts) < 2:
        return 1.0
    for clause in parts:
        if any(values(clause, kind) for kind in question.kinds) and reading.units(clause) & set(heads):
            return 1.0
    if UPDATE.search(text):
        return 0.95
    strange = [
        clause
        for clause in parts
        if any(values(clause, kind) for kind in question.kinds)
        and any(
            reading.is_entity(unit) or reading.is_attribute(unit)
            for unit in reading.units(clause) - question.units
        )
    ]
    return 0.55 if strange else 0.8
