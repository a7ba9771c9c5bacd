"""Extractive summaries: statements in the words they were made in, the most informative first, as many as the limit holds.

What session-memory prompts ask for weighs most: goals, decisions, values and identifiers, what tools found, errors,
corrections, what is to be remembered. Pleasantries and chat without content weigh nothing. Nothing is added. Statements of equal weight are
taken oldest first, until there is no room for another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from memdash.simulator.pretend import units as reading
from memdash.simulator.pretend.limits import Limit
from memdash.simulator.pretend.orders import SummaryOrder
from memdash.simulator.pretend.values import Kind, holds, values
from memdash.simulator.pretend.visible import Passage, Speaker, Statement, statements
from memdash.simulator.pretend.wording import UPDATE, is_question

_DEFAULT_WORDS: Final = 400
_WORDS_PER_TOKEN: Final = 0.4
"""How many words of a summary surely fit into a token, codes and numbers included."""
_LEAST: Final = 0.3
"""Statements that weigh less are left out even where there is room."""

_BASE: Final = {Speaker.USER: 1.0, Speaker.ASSISTANT: 0.15, Speaker.TOOL: 0.3, Speaker.SYSTEM: 0.0}
_KIND_WEIGHTS: Final = {
    Kind.MONEY: 0.8,
    Kind.DATE: 0.7,
    Kind.TIME: 0.4,
    Kind.CODE: 0.8,
    Kind.PHONE: 0.5,
    Kind.EMAIL: 0.8,
    Kind.NUMBER: 0.3,
    Kind.NAME: 0.5,
    Kind.PERCENT: 0.3,
    Kind.COLOUR: 0.5,
}
_SIGNS: Final[tuple[tuple[re.Pattern[str], float], ...]] = (
    (
        re.compile(
            r"\b(?:remember|keep in mind|bear in mind|note that|don['’]t forget|important|for the record|remind)\b",
            re.I,
        ),
        0.8,
    ),
    (
        re.compile(
            r"\b(?:deci(?:de|ded|sion|sions)|agreed?|chose|chosen|settled?|booked|confirmed|go with|going with|went with|picked|final)\b",
            re.I,
        ),
        0.7,
    ),
    (
        re.compile(
            r"\b(?:must|never|always|only|can['’]t|cannot|mustn['’]t|not allowed|no longer|required?|avoid|without|strictly)\b",
            re.I,
        ),
        0.5,
    ),
    (
        re.compile(
            r"\b(?:i|we) (?:want|need|plan|have to|hope|aim)\b|\bi['’]d like\b|\bwe['’]d like\b|\b(?:goal|trying to|help me|help us|todo|to do|open|pending|next step)\b",
            re.I,
        ),
        0.5,
    ),
    (re.compile(r"\b(?:my|our|mine|ours|i['’]m|i am|we['’]re|we are|the user|user['’]s)\b", re.I), 0.8),
    (re.compile(r"\b(?:allerg\w+|intoleran\w+|deadline|password|budget)\b", re.I), 0.4),
)
_PLEASANTRY: Final = re.compile(
    r"^(?:\W|hi|hello|hey|thanks?|thank you|great|good|nice|lovely|perfect|wonderful|cool|ok|okay|yes|no|sure|sounds?|that|this|it|is|was|very|so|much|helpful|helps?|useful|really|again|awesome|"
    r"brilliant|excellent|fine|alright|right|got|you|there|morning|afternoon|evening|day|bye|goodbye|cheers|please|wow|oh|ah|for|your|help|the|all|a|lot)+$",
    re.I,
)
_FILLER: Final = re.compile(
    r"^(?:(?:hi|hello|hey)(?: there| again| everyone)?[,.!]+ |by the way, |btw,? |oh,? |well, |so, |also, |okay, |ok, |right, |anyway, |just so you know,? |please (?:note|remember) that |fyi,? |for the record,? |"
    r"one more thing:? |good (?:morning|afternoon|evening)[,.!]+ |thanks[,.!]+ )+",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Item:
    """Something that may go into a summary."""

    place: tuple[int, int]
    text: str
    score: float
    units: frozenset[str]
    speaker: Speaker

    @property
    def words(self) -> int:
        return len(self.text.split()) + 1  # its bullet


def summarise(order: SummaryOrder, max_tokens: int | None) -> str:
    """Write the summary that ``order`` asks for; it never exceeds its limit, counted in words between spaces."""
    limit = order.limit or Limit(min(_DEFAULT_WORDS, max(8, int((max_tokens or 1_024) * _WORDS_PER_TOKEN))))
    words = limit.words
    opening = closing = ""
    if order.tag and words >= 8:
        opening, closing = f"<{order.tag}>\n", f"\n</{order.tag}>"
        words -= 2
    if order.scratch_tag and order.scratch_tag != order.tag and words >= 40:
        note = "Going through it in order and keeping what the next turn needs."
        opening = f"<{order.scratch_tag}>\n{note}\n</{order.scratch_tag}>\n{opening}"
        words -= len(note.split()) + 2
    body = _body(order.material, Limit(words, limit.statements))
    return f"{opening}{body}{closing}"


def _body(material: Sequence[Passage], limit: Limit) -> str:
    items = _items(material)
    chosen: list[_Item] = []
    room = limit.words
    most = limit.statements if limit.statements is not None else len(items)
    for item in sorted(items, key=lambda one: (-one.score, one.place)):
        if item.score < _LEAST and chosen:
            break
        if len(chosen) < most and item.words <= room:
            chosen.append(item)
            room -= item.words
    if not chosen:
        return _cut(items, limit.words)
    chosen.sort(key=lambda one: one.place)
    return "\n".join(f"- {one.text}" for one in chosen)


def _cut(items: Sequence[_Item], words: int) -> str:
    """Return as much of the weightiest statement as fits, where none fits whole."""
    if not items:
        return " ".join(["Nothing", "was", "said", "yet."][:words])
    best = max(items, key=lambda one: (one.score, [-at for at in one.place]))
    return " ".join(best.text.split()[:words])


# -- statements and their weight ---------------------------------------------------------------------------------------------


def _items(material: Sequence[Passage]) -> list[_Item]:
    said = statements(material)
    shapes = [_shape(one) if _is_result(one) else None for one in said]
    alike = Counter(shapes)
    items: list[_Item] = []
    seen: set[str] = set()
    for number, one in enumerate(said):
        text = _FILLER.sub("", one.text)
        text = text[:1].upper() + text[1:] if text != one.text else text
        if (
            text.lower() in seen
            or _PLEASANTRY.match(text)
            or (text.endswith(":") and one.speaker is Speaker.USER)
        ):
            continue
        seen.add(text.lower())
        shape = shapes[number]
        if shape is not None:
            # A line that a log repeats with other numbers is noise; what stands there once is what happened.
            repeats = alike[shape]
            if repeats > 3:
                continue
            score = _weigh_result(one, text) * (1.0 if repeats == 1 else 0.6)
            if score >= _LEAST:
                text = _with_call(one.call, text)
        else:
            score = _weigh(one, text)
        item = _Item((one.message, number), text, score, one.sentence.units, one.speaker)
        if items and _completes(one, items[-1]):
            before = items.pop()
            item = replace(
                item,
                place=before.place,
                text=f"{before.text} {text}",
                score=max(before.score, score) + 0.1,
                units=before.units | item.units,
            )
        if one.speaker is Speaker.USER and UPDATE.search(text):
            items = [old for old in items if not _supersedes(item, old)]
        items.append(item)
    return items


def _weigh(one: Statement, text: str) -> float:
    """Return how much the next turn would miss this statement."""
    units = one.sentence.units
    if not any(reading.weight(unit) > 0.2 for unit in units):
        return 0.0
    attributes = sum(1 for unit in units if reading.is_attribute(unit))
    content = (1.0 if attributes else 0.0) + 0.2 * min(max(attributes - 1, 0), 3)
    valued = sum(weight for kind, weight in _KIND_WEIGHTS.items() if holds(text, kind))
    if one.speaker is Speaker.ASSISTANT:
        return _BASE[one.speaker] + (0.5 * (content + valued) if valued else 0.0)
    content += valued + sum(weight for sign, weight in _SIGNS if sign.search(text))
    if content and UPDATE.search(text):
        content += 0.3
    if one.before is not None and _ANNOUNCED.search(one.before.text) and not is_question(one.before.text):
        content += 0.7
    if is_question(text):
        return 0.3 + 0.15 * content
    if _COMMAND.match(text):
        return 0.4 + 0.4 * content  # done by now, or open work
    if content >= 0.5:
        return _BASE[one.speaker] + content
    return 0.4 + content


def _weigh_result(one: Statement, text: str) -> float:
    """Return how much the next turn would miss this line of a tool result: outcomes and values most, words alone little."""
    units = one.sentence.units
    bare = _STAMP.sub("", text)
    outcome = not units.isdisjoint(_OUTCOMES) and len(bare.split()) > 3
    if not outcome and not any(char.isdigit() for char in bare):
        return 0.1
    valued = sum(
        weight
        for kind, weight in ((Kind.CODE, 0.8), (Kind.NUMBER, 0.3), (Kind.DATE, 0.7))
        if holds(bare, kind)
    )
    attribute = any(reading.is_attribute(unit) for unit in units)
    return _BASE[Speaker.TOOL] + 0.4 * (attribute + valued) + (0.6 if outcome else 0.0)


_OUTCOMES: Final = frozenset(("ERROR", "CAUSE"))
_ANNOUNCED: Final = re.compile(
    r"\b(?:decision|decided|news|important|remember|keep in mind|note|for the record|one (?:more )?thing|a rule|rules|a fact|facts|details?)\b",
    re.I,
)
"""What says that the next sentence matters."""
_COMMAND: Final = re.compile(
    r"(?:(?:and|then|now|please|first|next|also|could you|can you|would you|let['’]s|let us),? )*(?:read|show|draft|write|put|check|look|tell|give|list|compare|search|"
    r"find|suggest|recommend|explain|describe|publish|post|open|run|try|get|pull|fetch|add|create|make|prepare|help|walk|propose|summari[sz]e|translate|"
    r"name|pick|plan|sketch|go|do|start|continue|proceed)\b",
    re.I,
)
_STAMP: Final = re.compile(
    r"^\W*\d{4}-\d\d-\d\d[T ]?[\d:.,]*Z?\W*(?:[+-]\d\d:?\d\d)?|^\W*\d\d:\d\d:\d\d[.,\d]*"
)


_RESULT_LINE: Final = re.compile(
    r"^\W*(?:\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d\b)|\b(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL)\b|^\w+\([^)]*\): |^[a-z]+(?:_[a-z]+)+: "
)
"""A line of a log, or of an earlier summary that names the call it is from."""


def _is_result(one: Statement) -> bool:
    return one.speaker is Speaker.TOOL or bool(_RESULT_LINE.search(one.text))


def _shape(one: Statement) -> frozenset[str]:
    return frozenset(unit for unit in one.sentence.units if not any(char.isdigit() for char in unit))


def _with_call(call: str, text: str) -> str:
    """Name the tool call that gave a result, so that it is still known what the result is about."""
    name, _, given = call.partition(" ")
    if not name:
        return text
    inputs = ", ".join(value for value in re.findall(r'(?<=: )"([^"]{1,40})"', given)[:2])
    return f"{name}({inputs}): {text}" if inputs else f"{name}: {text}"


def _completes(one: Statement, before: _Item) -> bool:
    """Whether a statement makes sense only with the one before it: "Our budget? 2,400 all in." or "Make that 3,100."."""
    if one.speaker is not Speaker.USER or before.speaker is not Speaker.USER:
        return False
    own = [unit for unit in one.sentence.units if reading.is_attribute(unit) or reading.is_entity(unit)]
    content = [
        unit
        for unit in one.sentence.units
        if reading.weight(unit) >= 1.0 and not any(char.isdigit() for char in unit)
    ]
    if (
        own
        or len(content) > 2
        or not any(
            values(one.text, kind) for kind in (Kind.NUMBER, Kind.MONEY, Kind.DATE, Kind.TIME, Kind.CODE)
        )
    ):
        return False
    if not any(reading.is_attribute(unit) for unit in before.units):
        return False
    if UPDATE.search(one.text):
        return one.message - before.place[0] <= 2 and len(one.text.split()) <= 14
    return one.message == before.place[0] and len(content) <= 1 and len(one.text.split()) <= 7


def _supersedes(new: _Item, old: _Item) -> bool:
    """Whether a later statement says the same thing anew, with a correcting word and another value."""
    if new.speaker is not Speaker.USER or old.speaker is not Speaker.USER or not UPDATE.search(new.text):
        return False
    topic = {unit for unit in new.units if reading.is_attribute(unit)}
    told = {unit for unit in old.units if reading.is_attribute(unit) or reading.is_entity(unit)}
    named = topic | {unit for unit in new.units if reading.is_entity(unit)}
    if not topic or not told or not told <= named:
        return False
    for kind in (Kind.MONEY, Kind.DATE, Kind.TIME, Kind.CODE, Kind.NUMBER, Kind.COLOUR):
        was, becomes = values(old.text, kind), values(new.text, kind)
        if was:
            held = {value.text.lower() for value in becomes}
            return bool(becomes) and any(value.text.lower() not in held for value in was)
    return False
