"""Whose something is: "my sister is allergic" does not say what I am allergic to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memdash.simulator.pretend import units as reading
from memdash.simulator.pretend.lexicon import PEOPLE
from memdash.simulator.pretend.questions import Question
from memdash.simulator.pretend.visible import Speaker, Statement
from memdash.simulator.pretend.wording import SELF_WORD, clauses

_OTHERS: Final = re.compile(r"\b(?:he|she|he['’]s|she['’]s|his|her|hers|him)\b", re.I)

_POSSESSOR: Final = re.compile(
    r"\b(?P<who>[A-ZÀ-Þ][\w-]+)(?:['’]s\b| (?:is|was|has|can['’]t|cannot|likes?|loves?|prefers?|lives?|works?|hates?|arrives?|lands?)\b)"
)

_MOVER: Final = re.compile(
    r"\b(?:the|a|an|this|that|these|those) (?P<who>[\w-]+) (?:will |should )?(?:arriv|land|get|reach|leav|depart|com|return)",
    re.I,
)

_VEHICLES: Final = frozenset(("FLIGHT", "TRAIN", "BUS", "FERRY", "CAR", "user"))

_PERSONAL: Final = frozenset(
    [
        "ALLERGY",
        "DIET",
        "SELF",
        "FAVOURITE",
        "BIRTHDAY",
        "AGE",
        "PHONE",
        "EMAIL",
        "HOME",
        "JOB",
        "COLOUR",
        "SIZE",
        "SALARY",
        "ANNIVERSARY",
        "DOSE",
        "LANGUAGE",
    ]
)


def is_of_others(question: Question, one: Statement, owner: str | None) -> bool:
    """Whether a statement gives what somebody else has, where the question asks for the speaker's own.

    ``owner`` is the speaker's first name in lower case, where it is known: a summary may speak of them by it.
    """
    clause = clause_with(question, one.text)
    units = reading.units(clause)
    people = (units & reading.PEOPLE_CONCEPTS) - question.units
    if people:
        bare = re.sub(
            r"\b(?:my|our|a|an|i have an?|we have an?) (?:[\w-]+ )?(?:" + _people_words() + r")(?:['’]s)?",
            " ",
            clause,
            flags=re.I,
        )
        if not SELF_WORD.search(bare):
            return True
    if question.units & reading.PEOPLE_CONCEPTS:
        return False
    if _OTHERS.search(clause) and not SELF_WORD.search(clause):
        return True
    if question.units & {"ARRIVAL", "DEPARTURE"} and not SELF_WORD.search(clause):
        mover = _MOVER.search(clause)
        if (
            mover
            and _VEHICLES.isdisjoint(reading.word_units(mover["who"]))
            and question.units.isdisjoint(reading.word_units(mover["who"]))
        ):
            return True
    if not question.units & _PERSONAL or SELF_WORD.search(clause):
        return False
    # "because my sister, who … is allergic": the clause itself names nobody, the one before it does.
    before = one.text[: max(one.text.find(clause), 0)]
    if (
        re.search(r"\bwho(?:se)? $|\bwho(?:se)?$", before.rstrip() + " ")
        and reading.units(before) & reading.PEOPLE_CONCEPTS - question.units
    ):
        return True
    for match in _POSSESSOR.finditer(clause):
        who = match["who"].lower()
        known = reading.word_units(who)
        if (
            who != owner
            and who not in ("user", "the", "this", "that", "it", "there")
            and all(not unit[0].isupper() for unit in known)
            and known
        ):
            return True
    return False


def clause_with(question: Question, text: str) -> str:
    """Return the clause of ``text`` that has most of what is asked for."""
    found = clauses(text)
    if len(found) < 2:
        return text
    return max(
        found,
        key=lambda clause: sum(reading.weight(unit) for unit in question.units & reading.units(clause)),
    )


def _people_words() -> str:
    return "|".join(word for line in PEOPLE.values() for word in line.split())


def user_name(given: Sequence[Statement]) -> str | None:
    """Return the first name by which the user is introduced, in lower case; None where they are not."""
    for one in given:
        if "SELF" in one.sentence.units and one.speaker in (Speaker.USER, Speaker.ASSISTANT):
            name = reading.introduced_name(one.text)
            if name:
                return name.lower()
    return None
