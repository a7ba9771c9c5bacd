"""Answering a question about something said, from what the request shows and from nothing else.

Each visible sentence is weighed as an answer: does it have the attribute that is asked for, is it about the same thing and the
same person, does it hold a value of the right kind. The best one answers, the newest where several say it; none good
enough, and the answer is that it is not known. A statement about something else that shares words must not pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memdash.simulator.pretend import units as reading
from memdash.simulator.pretend.lexicon import PEOPLE, RIVALS
from memdash.simulator.pretend.questions import Question
from memdash.simulator.pretend.values import Kind, values
from memdash.simulator.pretend.visible import Speaker, Statement

_THRESHOLD: Final = 0.6
_RIVALRY: Final = 0.75
"""How near a newer statement must come to the best one to count as saying the same thing anew."""
_NEXT_TO: Final = 0.6
"""How much a concept counts that stands in a neighbouring sentence, a heading or the tool call, not in the sentence itself."""

UPDATE: Final = re.compile(
    r"\b(?:actually|instead|now|changed?|changes|changing|raised?|raising|increased?|lowered?|cut|reduced?|bumped|upped|moved|shifted|pushed|postponed|brought forward|"
    r"new|newer|correction|correct|rather|no longer|update|updated|revised?|revise|scrap|forget|scratch|make (?:it|that)|turns out|after all|wrong|"
    r"switched|renamed|replaced?|rebooked|rescheduled|delayed|goes up|go up|went up|up to|down to|from now on|as of)\b",
    re.I,
)
_DOUBT: Final = re.compile(
    r"\b(?:if|unless|imagine|suppose|say we|what if|would|could|might|maybe|perhaps|hypothetically|typical(?:ly)?|usual(?:ly)?|average|on average|"
    r"most people|many people|others|normally|for example|e\.g\.)\b",
    re.I,
)
_PART: Final = re.compile(
    r"\b(?:half|third of|quarter of|part of|share of|spent|already|leftover|per (?:day|night|person|head)|each|a (?:day|night)|daily|used up|of which|booked for|deposit|remaining|left over)\b",
    re.I,
)
_TELLING: Final = re.compile(
    r"\b(?:note|remember|keep in mind|bear in mind|be aware|know|write down) that\b", re.I
)
_CLAUSE: Final = re.compile(
    r"(?:;|,| [–—-] | but | and | while | because | since | so | who | whose | though | although | whereas |:(?= ))",
    re.I,
)
_NOBODY: Final = re.compile(
    r"\bI (?:do not|don['’]t) (?:know|see|have|find)\b|\bnot (?:been )?(?:mentioned|said|given)\b", re.I
)
_SELF_WORD: Final = re.compile(
    r"\b(?:i|i['’]m|i['’]ve|i['’]d|i['’]ll|me|my|mine|myself|we|we['’]re|we['’]ve|we['’]d|we['’]ll|us|our|ours|the user|user|your|you|you['’]re)\b",
    re.I,
)
_OTHERS: Final = re.compile(r"\b(?:he|she|he['’]s|she['’]s|his|her|hers|him)\b", re.I)
_POSSESSOR: Final = re.compile(
    r"\b(?P<who>[A-ZÀ-Þ][\w-]+)(?:['’]s\b| (?:is|was|has|can['’]t|cannot|likes?|loves?|prefers?|lives?|works?|hates?|arrives?|lands?)\b)"
)
_MOVER: Final = re.compile(
    r"\b(?:the|a|an|this|that|these|those) (?P<who>[\w-]+) (?:will |should )?(?:arriv|land|get|reach|leav|depart|com|return)",
    re.I,
)
_VEHICLES: Final = frozenset(("FLIGHT", "TRAIN", "BUS", "FERRY", "CAR", "user"))
_STALE: Final = re.compile(
    r"(?:instead of|rather than|no longer|not|from|was|were|old|previous(?:ly)?|used to be|scrap|forget|originally|earlier|before|up from|down from|replaces?|in place of)\s(?:the\s|our\s|my\s|those\s|at\s|a\s)?(?:\w+\s)?$",
    re.I,
)
_LONGEST_QUOTE: Final = 60

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


@dataclass(frozen=True, slots=True)
class Found:
    """A statement that answers a question, and how well."""

    statement: Statement
    score: float


def find(question: Question, given: Sequence[Statement]) -> Found | None:
    """Return the statement that answers ``question`` best, the newest of those that say it; None where none does."""
    weights = {unit: _weight(unit, question) for unit in question.units}
    weights = {unit: weight for unit, weight in weights.items() if weight > 0}
    if not any(weight >= 0.9 for weight in weights.values()):
        return None
    owner = _user_name(given)
    wanted = frozenset(weights) | reading.related_to(frozenset(weights))
    rated = [
        Found(one, score)
        for one in given
        if _touches(one, wanted) and (score := _score(question, weights, one, owner)) >= _THRESHOLD
    ]
    if not rated:
        return None
    best = max(one.score for one in rated)
    rivals = [one for one in rated if one.score >= best * _RIVALRY]
    newest = max(rivals, key=lambda one: (one.statement.place, one.score))
    # Within one text the better sentence wins, not the later one: a text seldom corrects itself.
    peers = [one for one in rivals if one.statement.message == newest.statement.message]
    corrected = UPDATE.search(newest.statement.text) and not _DOUBT.search(newest.statement.text)
    winner = newest if corrected else max(peers, key=lambda one: (one.score, one.statement.place))
    return _corrected(question, winner, given)


def answer(question: Question, given: Sequence[Statement]) -> str | None:
    """Return the answer to ``question`` in words, quoting what is visible; None where nothing visible answers it."""
    found = find(question, given)
    if found is None:
        return None
    quotes = [_quote(question, found.statement, given)]
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


# -- how well a statement answers -------------------------------------------------------------------------------------------


def _weight(unit: str, question: Question) -> float:
    if unit in question.proper and question.own:
        return 0.4
    if unit in question.sort and any(
        reading.weight(other) >= 0.9 for other in question.units - question.sort
    ):
        return 0.3
    return reading.weight(unit)


def _touches(one: Statement, wanted: frozenset[str]) -> bool:
    """Whether a statement, or what stands beside it, has anything of the question; a cheap test for long texts."""
    if not wanted.isdisjoint(one.sentence.units) or not wanted.isdisjoint(one.sentence.heading):
        return True
    if one.speaker is Speaker.TOOL:
        return False
    return any(other is not None and not wanted.isdisjoint(other.units) for other in (one.before, one.after))


def _score(question: Question, weights: dict[str, float], one: Statement, owner: str | None) -> float:
    text, units = one.text, one.sentence.units
    if one.speaker is Speaker.ASSISTANT and _NOBODY.search(text):
        return 0.0
    near = _near(one, question)
    total = reached = own = 0.0
    factor = 1.0
    for unit, weight in weights.items():
        match = reading.likeness(unit, units)
        own += weight * match
        if match < 1.0:
            match = max(match, _NEXT_TO * reading.likeness(unit, near))
        if match < 0.5:
            match = max(match, _by_value(unit, text, question))
        total += weight
        reached += weight * match
        if match < 0.5 and reading.is_attribute(unit):
            return 0.0
        if match < _NEXT_TO:
            if reading.is_entity(unit):
                factor *= 0.5
            if not RIVALS.get(unit, frozenset()).isdisjoint(units):
                factor *= 0.4
    if own < 0.3 and not any(values(text, kind) for kind in question.kinds if kind is not Kind.NAME):
        return 0.0  # everything it has of the question stands beside it
    coverage = reached / total if total else 0.0
    if coverage * factor < _THRESHOLD:
        return 0.0
    here_or_near = units | near
    if not all(mark in here_or_near for mark in question.marks):
        return 0.0
    if not question.own and not question.proper <= here_or_near:
        return 0.0
    if not _has_value(question, one):
        return 0.0
    if not units - question.units and not _own_values(question, text):
        return 0.0  # it only repeats the question
    if question.kinds[:1] == (Kind.NAME,) and not _names(text):
        factor *= 0.8 if one.speaker is Speaker.USER else 0.5
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


def _names(text: str) -> bool:
    """Whether somebody is named; also by the first word, where that is no word we know."""
    if values(text, Kind.NAME) or values(text, Kind.CODE):
        return True
    first = re.match(r"[A-ZÀ-Þ][\w-]*[a-zà-ÿ]\b(?! (?:and|the|a|me|us|it)\b)", text)
    return first is not None and any(
        not reading.is_concept(unit) for unit in reading.word_units(first.group())
    )


def _own_values(question: Question, text: str) -> bool:
    return any(values(text, kind) for kind in (*question.kinds, Kind.NUMBER, Kind.CODE, Kind.NAME))


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
    if text.rstrip(" \"”')").endswith("?") and not _TELLING.search(text):
        factor *= 0.45
    elif _DOUBT.search(_clause_with(question, text)):
        factor *= 0.5
    if _PART.search(text) and not _PART.search(question.text):
        factor *= 0.6
    if (
        one.speaker is Speaker.ASSISTANT
        and not re.search(r"\byou(?:r|['’]re)?\b", text, re.I)
        and question.own
    ):
        factor *= 0.85
    if one.speaker is Speaker.SYSTEM:
        factor *= 0.9
    if question.own and _is_of_others(question, one, owner):
        factor *= 0.3
    return factor


def _clause_with(question: Question, text: str) -> str:
    """Return the clause of ``text`` that has most of what is asked for."""
    clauses = [clause for clause in _CLAUSE.split(text) if clause and clause.strip()]
    if len(clauses) < 2:
        return text
    return max(
        clauses,
        key=lambda clause: sum(reading.weight(unit) for unit in question.units & reading.units(clause)),
    )


def _is_of_others(question: Question, one: Statement, owner: str | None) -> bool:
    clause = _clause_with(question, one.text)
    units = reading.units(clause)
    people = (units & reading.PEOPLE_CONCEPTS) - question.units
    if people:
        bare = re.sub(
            r"\b(?:my|our|a|an|i have an?|we have an?) (?:[\w-]+ )?(?:" + _people_words() + r")(?:['’]s)?",
            " ",
            clause,
            flags=re.I,
        )
        if not _SELF_WORD.search(bare):
            return True
    if question.units & reading.PEOPLE_CONCEPTS:
        return False
    if _OTHERS.search(clause) and not _SELF_WORD.search(clause):
        return True
    if question.units & {"ARRIVAL", "DEPARTURE"} and not _SELF_WORD.search(clause):
        mover = _MOVER.search(clause)
        if (
            mover
            and _VEHICLES.isdisjoint(reading.word_units(mover["who"]))
            and question.units.isdisjoint(reading.word_units(mover["who"]))
        ):
            return True
    if not question.units & _PERSONAL or _SELF_WORD.search(clause):
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


def _people_words() -> str:
    return "|".join(word for line in PEOPLE.values() for word in line.split())


def _user_name(given: Sequence[Statement]) -> str | None:
    for one in given:
        if "SELF" in one.sentence.units and one.speaker in (Speaker.USER, Speaker.ASSISTANT):
            name = reading.introduced_name(one.text)
            if name:
                return name.lower()
    return None


def _binding(question: Question, text: str) -> float:
    """Weigh whether the value belongs to the attribute: "12 euros on the tram, well within the budget" is no budget."""
    heads = [unit for unit in question.units if reading.is_attribute(unit)]
    if not heads or not question.kinds or question.kinds[0] in (Kind.NAME, Kind.COLOUR, Kind.CODE):
        return 1.0
    clauses = [clause for clause in _CLAUSE.split(text) if clause and clause.strip()]
    if len(clauses) < 2:
        return 1.0
    for clause in clauses:
        if any(values(clause, kind) for kind in question.kinds) and reading.units(clause) & set(heads):
            return 1.0
    if UPDATE.search(text):
        return 0.95
    strange = [
        clause
        for clause in clauses
        if any(values(clause, kind) for kind in question.kinds)
        and any(
            reading.is_entity(unit) or reading.is_attribute(unit)
            for unit in reading.units(clause) - question.units
        )
    ]
    return 0.55 if strange else 0.8


# -- corrections ---------------------------------------------------------------------------------------------------------


_CORRECTION: Final = re.compile(
    r"\b(?:actually|instead|correction|rather|sorry|i meant|no,|no longer|scrap|scratch|make (?:it|that)|turns out|after all|was wrong|got it wrong|"
    r"changed?|raised?|bumped|upped|moved|shifted|postponed|delayed|not)\b",
    re.I,
)
_EXACT_KINDS: Final = frozenset(
    (
        Kind.MONEY,
        Kind.NUMBER,
        Kind.PERCENT,
        Kind.DURATION,
        Kind.DATE,
        Kind.TIME,
        Kind.VERSION,
        Kind.PHONE,
        Kind.EMAIL,
        Kind.COLOUR,
    )
)


def _corrected(question: Question, found: Found, given: Sequence[Statement]) -> Found:
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
    if not (UPDATE.search(text) or _CORRECTION.search(text)) or text.rstrip(" \"”')").endswith("?"):
        return False
    old = {value.text.lower() for kind in question.kinds for value in values(current.statement.text, kind)}
    new = {value.text.lower() for kind in question.kinds for value in values(text, kind)}
    if not new - old:
        return False
    others = one.sentence.units - question.units - reading.implied_by(question.units)
    if any(reading.is_attribute(unit) or reading.is_entity(unit) for unit in others):
        return False
    lower = text.lower()
    if any(
        re.search(rf"(?<!\w){re.escape(value)}(?!\w)", lower)
        for value in old | _numbers(current.statement.text)
    ):
        return True
    if (
        not _CORRECTION.search(text)
        or not _EXACT_KINDS.intersection(question.kinds)
        or _content(question, one) > 3
    ):
        return False
    if one.message == current.statement.message:
        return one.index - current.statement.index <= 2
    return one.message in [message for message in user_messages if message > current.statement.message][:1]


def _numbers(text: str) -> set[str]:
    return {value.text.lower() for value in values(text, Kind.NUMBER) if len(value.text) >= 3}


def _content(question: Question, one: Statement) -> int:
    """How many words a statement has beyond values, the question's own and small words."""
    return sum(
        1
        for unit in one.sentence.units - question.units
        if reading.weight(unit) >= 1.0 and not any(char.isdigit() for char in unit)
    )


def _beside(
    question: Question, winner: Statement, given: Sequence[Statement], kind: Kind
) -> Statement | None:
    """Return a sentence next to ``winner`` that gives the other half of "when": the date or the time."""
    for one in given:
        if (
            one.message == winner.message
            and 0 < abs(one.index - winner.index) <= 2
            and one.speaker is winner.speaker
        ):
            others = {unit for unit in one.sentence.units - question.units if unit in RIVALS}
            if values(one.text, kind) and not others and not one.text.rstrip().endswith("?"):
                return one
    return None


# -- quoting ----------------------------------------------------------------------------------------------------------------


def _quote(question: Question, one: Statement, given: Sequence[Statement]) -> str:
    """Return the words of the statement that answer; without a value that it, or a newer statement, has made stale."""
    text = one.text
    earlier = [
        value.text.lower()
        for other in given
        if other.place < one.place and other.sentence.units & question.units
        for kind in question.kinds
        for value in values(other.text, kind)
    ]
    for kind in question.kinds:
        held = [value for value in values(text, kind) if kind is not Kind.NUMBER or len(value.text) > 1]
        if len(held) < 2 or kind in (Kind.NAME, Kind.CODE):
            continue
        fresh = [value for value in held if not _STALE.search(text[: value.start])]
        if UPDATE.search(text) and len(fresh) > 1:
            fresh = [value for value in fresh if value.text.lower() not in earlier] or fresh
        if fresh and len(fresh) < len(held):
            return _around(
                text, fresh[0].start, fresh[-1].end, [value for value in held if value not in fresh]
            )
        break
    if len(text.split()) > _LONGEST_QUOTE:
        return _excerpt(question, text)
    return text


def _around(text: str, start: int, end: int, stale: Sequence[tuple[Kind, int, int, str]]) -> str:
    """Cut ``text`` to the clause from ``start`` to ``end``, free of the stale values."""
    left = max([value[2] for value in stale if value[2] <= start], default=0)
    right = min([value[1] for value in stale if value[1] >= end], default=len(text))
    for boundary in _CLAUSE.finditer(text):
        if left < boundary.end() <= start and left > 0:
            left = boundary.end()
        if end <= boundary.start() < right and right < len(text):
            right = boundary.start()
    piece = text[left:right].strip(" ,;:–—-")
    if right < len(text):
        piece = re.sub(
            r"(?:[\s,;:–—-]*\b(?:instead of|rather than|not|no longer|from|up from|down from|was|the|old|our|my|in place of|and|it|than))+\s*$",
            "",
            piece,
            flags=re.I,
        )
    return re.sub(r"^(?:to|is|are|but|and|now) ", "", piece) if left else piece


def _excerpt(question: Question, text: str) -> str:
    """Return the part of a very long sentence around what is asked for."""
    spans = [(value.start, value.end) for kind in question.kinds for value in values(text, kind)]
    parts = text.split()
    hits = [at for at, word in enumerate(parts) if question.units & set(reading.units(word))]
    if spans and hits:
        position, offset = hits[0], 0
        for at, word in enumerate(parts):
            if offset >= spans[0][0] and abs(at - hits[0]) < _LONGEST_QUOTE // 2:
                position = (hits[0] + at) // 2
                break
            offset += len(word) + 1
    else:
        position = hits[0] if hits else 0
    low = max(0, position - _LONGEST_QUOTE // 2)
    return " ".join(parts[low : low + _LONGEST_QUOTE])
