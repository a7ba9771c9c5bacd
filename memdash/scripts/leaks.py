"""Warnings: what makes a script measure less than its author thinks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from memdash.scripts.grading import matches
from memdash.scripts.model import Fact, Script, Value


class _Piece(NamedTuple):
    """A text of the conversation: who wrote it, in which turn, and where it begins in all of them joined."""

    turn: int
    source: str
    text: str
    start: int


_MOST_TOLD = 5
"""Repetitions told of a fact."""
_USER = "the user"
_REPLY = "the recorded reply"
_STEP = "the text before a tool call"


def find_warnings(script: Script) -> list[str]:
    """Return what is doubtful about the valid ``script``, in order of its facts and turns."""
    if not script.facts:
        return []
    pieces = _pieces(script)
    joined = "\n".join(piece.text for piece in pieces)
    return [warning for fact in script.facts for warning in _fact_warnings(script, fact, pieces, joined)]


def _pieces(script: Script) -> list[_Piece]:
    pieces: list[_Piece] = []
    start = 0
    for turn in script.turns:
        texts = [(_USER, turn.text), *((_STEP, step.text) for step in turn.steps if step.text)]
        if turn.reply:
            texts.append((_REPLY, turn.reply))
        for source, text in texts:
            pieces.append(_Piece(turn.number, source, text, start))
            start += len(text) + 1
    return pieces


def _fact_warnings(script: Script, fact: Fact, pieces: list[_Piece], joined: str) -> Iterator[str]:
    stated = {value.turn for value in fact.values}
    if any(matches(value.answer, fact.question) for value in fact.values):
        yield f"fact {fact.id!r}: the question itself gives the answer away"
    systems = [script.system, *(turn.system for turn in script.turns if turn.system)]
    if any(matches(value.text, system) for value in fact.values for system in systems):
        yield f"fact {fact.id!r}: the system prompt says it, so no strategy can forget it"
    repeats = (piece for value in fact.values for piece in _repeats(value, pieces, joined))
    told = (piece for piece in repeats if piece.source != _USER or piece.turn not in stated)
    for piece in islice(told, _MOST_TOLD):
        if piece.source == _USER:
            yield f"fact {fact.id!r}: the user repeats it in turn {piece.turn}; it is remembered from there"
        else:
            yield f"fact {fact.id!r}: {piece.source} of turn {piece.turn} repeats it; it leaks the fact to every window"
    if any(told):
        yield f"fact {fact.id!r}: it is repeated in further places"


def _repeats(value: Value, pieces: list[_Piece], joined: str) -> Iterator[_Piece]:
    """Yield the pieces after the statement of ``value`` that hold its text."""
    later = [
        piece
        for piece in pieces
        if piece.turn > value.turn or (piece.turn == value.turn and piece.source != _USER)
    ]
    # One look at everything spares thousands of looks at the parts: nearly always nothing is repeated.
    if later and matches(value.text, joined[later[0].start :]):
        yield from (piece for piece in later if matches(value.text, piece.text))
