"""What changed between a request and the one it continues: the first block that is no longer as it was."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memdash.integrity.conversations import Request, agreement
from memdash.integrity.prompts import Block, Blocks

_AROUND = 32
_WIDEST = 96
"""How many characters of a text are shown: before the place where it differs, and in all."""


class Part(StrEnum):
    """Which part of a request changed; the prompt cache reads them in this order."""

    TOOLS = "tools"
    SYSTEM = "system"
    MESSAGES = "messages"
    ANSWER = "answer"
    """The assistant's latest answer, which the client did not hand back as it came."""


class Change(StrEnum):
    """What happened to the first block that differs."""

    CHANGED = "changed"
    REMOVED = "removed"
    INSERTED = "inserted"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference. ``blocks`` is how many were removed or inserted there (1 where one changed).

    ``path_before`` and ``path_after`` are the block's in the earlier request and in this one, None where it is not in it.
    ``before`` and ``after`` are short, printable excerpts around the place where the block differs.
    """

    part: Part
    change: Change
    blocks: int
    path_before: str | None
    path_after: str | None
    before: str | None
    after: str | None


def first_difference(
    blocks: Blocks, earlier: Request, request: Request, *, ignores_thinking: bool
) -> Difference | None:
    """Return the first edit of what ``earlier`` sent, None where ``request`` only adds to it.

    ``ignores_thinking``: the model leaves out the thinking of earlier turns by itself. A history that a server compaction
    has closed is not compared.
    """
    old, new = earlier.prompt, request.prompt
    for part, before, after in ((Part.TOOLS, old.tools, new.tools), (Part.SYSTEM, old.system, new.system)):
        if before != after:
            at = _first(before, after)
            path = f"{part}.{at}"
            return _difference(blocks, part, before, after, path, path, at)
    if _compacted_since(blocks, earlier, request):
        return None
    shown, shown_now = (
        [
            place
            for place, number in enumerate(prompt.entries)
            if not (ignores_thinking and blocks[number].is_thinking)
        ]
        for prompt in (old, new)
    )
    mine = [old.entries[place] for place in shown]
    others = [new.entries[place] for place in shown_now]
    at = _first(mine, others)
    if at == len(mine):
        return None
    path = old.path(shown[at])
    path_now = new.path(shown_now[at]) if at < len(others) else None
    return _difference(blocks, Part.MESSAGES, mine, others, path, path_now, at)


def changed_answer(blocks: Blocks, earlier: Request, request: Request) -> Difference | None:
    """Return where the answer of ``earlier`` is handed back in another form, thinking left aside; None where it is not."""
    told, visible = earlier.told, request.visible
    at = _first(told, visible)
    if at == len(told) or at >= len(visible):
        return None
    shown = [place for place, number in enumerate(request.prompt.entries) if not blocks[number].is_thinking]
    before, after = _excerpts(blocks[told[at]], blocks[visible[at]])
    return Difference(Part.ANSWER, Change.CHANGED, 1, None, request.prompt.path(shown[at]), before, after)


def _compacted_since(blocks: Blocks, earlier: Request, request: Request) -> bool:
    front = request.prompt.entries[:1]
    return bool(front) and blocks[front[0]].is_compaction and earlier.prompt.entries[:1] != front


def _first(before: Sequence[int], after: Sequence[int]) -> int:
    pairs = zip(before, after, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(before), len(after)))


def _difference(
    blocks: Blocks,
    part: Part,
    before: Sequence[int],
    after: Sequence[int],
    path_before: str | None,
    path_after: str | None,
    at: int,
) -> Difference:
    """Tell what happened at entry ``at``, the first that differs."""
    old = before[at] if at < len(before) else None
    new = after[at] if at < len(after) else None
    gone = before[at:].index(new) if new is not None and new in before[at:] else None
    come = after[at:].index(old) if old is not None and old in after[at:] else None
    if new is None:
        gone = len(before) - at
    if old is None:
        come = len(after) - at
    if gone is not None and (come is None or gone <= come):
        assert old is not None
        text, _ = _excerpts(blocks[old], None)
        return Difference(part, Change.REMOVED, gone, path_before, None, text, None)
    if come is not None:
        assert new is not None
        text, _ = _excerpts(blocks[new], None)
        return Difference(part, Change.INSERTED, come, None, path_after, None, text)
    assert old is not None
    assert new is not None
    one, other = _excerpts(blocks[old], blocks[new])
    return Difference(part, Change.CHANGED, 1, path_before, path_after, one, other)


def _excerpts(before: Block, after: Block | None) -> tuple[str, str | None]:
    """Return both blocks as short texts that begin shortly before the place where they differ."""
    if after is None:
        return _shown(before.text, 0), None
    plain = before.kind == after.kind == "text" and before.role == after.role
    if before.role != after.role:
        return f"{before.role}: {_shown(before.text, 0)}", f"{after.role}: {_shown(after.text, 0)}"
    one, other = (before.text, after.text) if plain else (before.json, after.json)
    start, _ = agreement(one, other)
    return _shown(one, start - _AROUND), _shown(other, start - _AROUND)


def _shown(text: str, start: int) -> str:
    """Return a piece of ``text`` that a terminal shows as it is: nothing in it moves the cursor or turns the writing round."""
    start = max(start, 0)
    piece = text[start : start + _WIDEST]
    shown = "".join(_escaped(one) for one in piece)
    return ("…" if start else "") + shown + ("…" if start + _WIDEST < len(text) else "")


def _escaped(one: str) -> str:
    if unicodedata.category(one) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp"):
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(one, f"\\u{{{ord(one):x}}}")
    return one
