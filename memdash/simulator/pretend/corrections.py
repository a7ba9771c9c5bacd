"""Corrections that name a thing only by its old value, or by coming right after it: "actually, make that 3,100"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from memdash.simulator.pretend import units as reading
from memdash.simulator.pretend.evidence import Found
from memdash.simulator.pretend.questions import Question
from memdash.simulator.pretend.values import Kind, values
from memdash.simulator.pretend.visible import Speaker, Statement
from memdash.simulator.pretend.wording import UPDATE, is_question

_CORRECTION: Final = re.compile(
    r"\b(?:actually|instead|correction|i meant|no longer|scrap|scratch|make (?:it|that)|turns out|after all|was wrong|got it wrong|"
    r"changed?|raised?|bumped|upped|moved|shifted|postponed|delayed|went up)\b|^(?:no|sorry|wait)[,:;–—-]",
    re.I,
)

_EXACT_KINDS: Final = frozenset(Kind) - {Kind.NAME, Kind.CODE, Kind.HOST}
"""Kinds of which a word that only looks like a value is none."""


def corrected(question: Question, found: Found, given: Sequence[Statement]) -> Found:
    """Follow corrections that name the thing only by its old value or by coming right after: "actually make that 3,100"."""
    user_messages = sorted({one.message for one in given if one.speaker is Speaker.USER})
    current = found
    for one in given:
        if (
            one.place > current.statement.place
            and one.speaker is Speaker.USER
            and _corrects(question, current, one, user_messages)
        ):
            current = Found(one, current.score)
    return current


def _corrects(question: Question, current: Found, one: Statement, user_messages: Sequence[int]) -> bool:
    text = one.text
    if not _may_correct(text):
        return False
    old = {value.text.lower() for kind in question.kinds for value in values(current.statement.text, kind)}
    new = {value.text.lower() for kind in question.kinds for value in values(text, kind)}
    if not new - old:
        return False
    if not _is_of_the_same_kind(question, current.statement.text, text):
        return False
    others = one.sentence.units - question.units - reading.implied_by(question.units)
    if any(reading.is_attribute(unit) or reading.is_entity(unit) for unit in others):
        return False
    lower = text.lower()
    known = old | _numbers(current.statement.text)
    if any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", lower) for value in known):
        return True
    if not _CORRECTION.search(text) or _EXACT_KINDS.isdisjoint(question.kinds) or _content(question, one) > 3:
        return False
    if one.message == current.statement.message:
        return one.index - current.statement.index <= 2
    return one.message in [message for message in user_messages if message > current.statement.message][:1]


@lru_cache(maxsize=20_000)
def _may_correct(text: str) -> bool:
    """Whether a sentence is worded as a correction, and does not ask."""
    return bool(UPDATE.search(text) or _CORRECTION.search(text)) and not is_question(text)


def _numbers(text: str) -> set[str]:
    return {value.text.lower() for value in values(text, Kind.NUMBER) if len(value.text) >= 3}


def _content(question: Question, one: Statement) -> int:
    """How many words a statement has beyond values, the question's own and small words."""
    return sum(
        1
        for unit in one.sentence.units - question.units
        if reading.weight(unit) >= 1.0 and not any(char.isdigit() for char in unit)
    )


def _is_of_the_same_kind(question: Question, before: str, after: str) -> bool:
    """Whether ``after`` gives what ``before`` gives: an amount of money is not corrected by "ten words at most"."""
    kind = next((kind for kind in question.kinds if values(before, kind)), None)
    if kind is None or values(after, kind):
        return True
    return kind is Kind.MONEY and bool(_numbers(after))
