"""Answering a question about something said, from what the request shows and from nothing else.

Each visible sentence is weighed as an answer: does it have the attribute that is asked for, is it about the same thing and the
same person, does it hold a value of the right kind. The best one answers, the newest where several say it; none good
enough, and the answer is that it is not known. A statement about something else that shares words must not pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memdash.simulator.pretend import units as reading
from memdash.simulator.pretend.corrections import corrected
from memdash.simulator.pretend.evidence import THRESHOLD, Found, score, weigh
from memdash.simulator.pretend.lexicon import RIVALS
from memdash.simulator.pretend.ownership import user_name
from memdash.simulator.pretend.questions import Question
from memdash.simulator.pretend.quotes import quote
from memdash.simulator.pretend.values import Kind, values
from memdash.simulator.pretend.visible import Speaker, Statement
from memdash.simulator.pretend.wording import DOUBT, UPDATE, is_question

_RIVALRY: Final = 0.75
"""How near a newer statement must come to the best one to count as saying the same thing anew."""


def find(question: Question, given: Sequence[Statement]) -> Found | None:
    """Return the statement that answers ``question`` best, the newest of those that say it; None where none does."""
    weights = {unit: weigh(unit, question) for unit in question.units}
    weights = {unit: weight for unit, weight in weights.items() if weight > 0}
    if not any(weight >= 0.9 for weight in weights.values()):
        return None
    owner = user_name(given)
    wanted = frozenset(weights) | reading.related_to(frozenset(weights))
    rated = [
        Found(one, reached)
        for one in given
        if not wanted.isdisjoint(one.reach) and (reached := score(question, weights, one, owner)) >= THRESHOLD
    ]
    if not rated:
        return None
    best = max(one.score for one in rated)
    rivals = [one for one in rated if one.score >= best * _RIVALRY]
    newest = max(rivals, key=lambda one: (one.statement.place, one.score))
    # Within one text the better sentence wins, not the later one: a text seldom corrects itself.
    peers = [one for one in rivals if one.statement.message == newest.statement.message]
    corrects = UPDATE.search(newest.statement.text) and not DOUBT.search(newest.statement.text)
    winner = newest if corrects else max(peers, key=lambda one: (one.score, one.statement.place))
    return corrected(question, winner, given)


def answer(question: Question, given: Sequence[Statement]) -> str | None:
    """Return the answer to ``question`` in words, quoting what is visible; None where nothing visible answers it."""
    found = find(question, given)
    if found is None:
        return None
    quotes = [quote(question, found.statement, given)]
    for kind in question.also:
        if values(quotes[0], kind):
            continue
        more = _beside(question, found.statement, given, kind)
        if more is not None:
            quotes.append(more.text)
    source = {
        Speaker.USER: "This was said",
        Speaker.ASSISTANT: "As said before",
        Speaker.TOOL: "The tool result says",
        Speaker.SYSTEM: "My instructions say",
    }[found.statement.speaker]
    return f"{source}: “{' '.join(quotes)}”"


def _beside(
    question: Question, winner: Statement, given: Sequence[Statement], kind: Kind
) -> Statement | None:
    """Return a sentence next to ``winner`` that gives the other half of "when": the date or the time."""
    for one in given:
        near = one.message == winner.message and 0 < abs(one.index - winner.index) <= 2
        if not near or one.speaker is not winner.speaker or is_question(one.text):
            continue
        if values(one.text, kind) and RIVALS.keys().isdisjoint(one.sentence.units - question.units):
            return one
    return None
