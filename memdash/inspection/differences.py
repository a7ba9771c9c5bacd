"""What differs between two requests: their settings, and block by block what was added, removed and changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any, NamedTuple

from memdash.inspection.alignment import Stretch, align
from memdash.inspection.blocks import Kind, as_json, entries_of, kind_of, text_of, tool_text
from memdash.inspection.requests import recorded_context
from memdash.records import RequestRecord
from memdash.replay_log import ReplayLog

_MOST_PAIRS = 100_000
"""Pairs of equal words that are looked at in two texts."""


class Change(StrEnum):
    """What became of a block; the values are the words for it."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Side(NamedTuple):
    """A block as one of the two requests holds it: ``path`` in the body, and the id of its recorded text.

    Tools and system prompt are one block each.
    """

    path: str
    role: str
    block: str


class Line(NamedTuple):
    """A block in one of the two requests, or in both."""

    change: Change
    before: Side | None
    now: Side | None


class Setting(NamedTuple):
    """A field of the request beside its content, or its beta headers, as JSON; None where it is not given."""

    name: str
    before: str | None
    now: str | None


@dataclass(frozen=True, slots=True)
class Differences:
    """Everything that two requests hold, in the order of the second; removed blocks stand where they were."""

    settings: tuple[Setting, ...]
    lines: tuple[Line, ...]

    def count(self, change: Change) -> int:
        """Return how many blocks had this happen to them."""
        return sum(line.change is change for line in self.lines)

    @property
    def none(self) -> bool:
        """Whether nothing differs."""
        return not self.settings and self.count(Change.SAME) == len(self.lines)


class Word(NamedTuple):
    """A piece of a text that was changed: what happened to it."""

    change: Change
    text: str


def differences(before: tuple[ReplayLog, RequestRecord], now: tuple[ReplayLog, RequestRecord]) -> Differences:
    """Compare two requests, of one replay or of two; blocks are compared by the ids of their texts."""
    sides = [_sides(log, record) for log, record in (before, now)]
    lines: list[Line] = []
    for role in ("tools", "system"):
        lines += _whole(*([one for one in side if one.role == role] for side in sides))
    one, other = ([side for side in both if side.path.startswith("messages")] for both in sides)
    for stretch in align([_key(side) for side in one], [_key(side) for side in other]):
        lines += _lines(stretch, one, other)
    return Differences(tuple(_settings(before[1], now[1])), tuple(lines))


def words_changed(before: str, now: str) -> list[Word]:
    """Return how a text became another, word by word.

    Where what differs is too long for that, it is one piece removed and one added, between the ends that are the same.
    """
    old, new = (_WORDS.findall(text) for text in (before, now))
    words = []
    for one in align(old, new, most_pairs=_MOST_PAIRS):
        if one.same:
            words.append(Word(Change.SAME, "".join(new[one.now : one.now_end])))
            continue
        if one.before < one.before_end:
            words.append(Word(Change.REMOVED, "".join(old[one.before : one.before_end])))
        if one.now < one.now_end:
            words.append(Word(Change.ADDED, "".join(new[one.now : one.now_end])))
    return words


def side_text(side: Side, text: str) -> str:
    """Return what a side says, from its recorded text."""
    value = json.loads(text)
    if side.role == "tools":
        return "\n\n".join(map(tool_text, value))
    if side.role == "system":
        return "\n\n".join(map(text_of, value))
    return text_of(value)


def side_kind(side: Side, text: str) -> Kind:
    """Return what a side is, from its recorded text."""
    if side.role in _FIXED:
        return _FIXED[side.role]
    return kind_of(json.loads(text))


def details_changed(before: str, now: str) -> list[Setting]:
    """Return the fields in which two recorded blocks differ, where what they say is the same: an id, a signature, a mark."""
    old, new = json.loads(before), json.loads(now)
    if not isinstance(old, dict) or not isinstance(new, dict):
        return []
    return list(_fields(old, new))


_WORDS = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")
"""A word or a mark with the space before it: alone, spaces would be equal to one another everywhere."""
_FIXED: Mapping[str, Kind] = {"tools": Kind.TOOL, "system": Kind.SYSTEM}


def _sides(log: ReplayLog, record: RequestRecord) -> list[Side]:
    context = recorded_context(log, record)
    fixed = [
        Side(name, name, block)
        for name, block in (("tools", context.tools), ("system", context.system))
        if block is not None
    ]
    return fixed + [Side(one.path, one.role, one.block) for one in entries_of(context)]


def _key(side: Side) -> tuple[str, str]:
    return side.role, side.block


def _whole(before: Sequence[Side], now: Sequence[Side]) -> Iterator[Line]:
    for old, new in zip_longest(before, now):
        if old is not None and new is not None:
            yield Line(Change.SAME if old.block == new.block else Change.CHANGED, old, new)
        else:
            yield Line(Change.ADDED if old is None else Change.REMOVED, old, new)


def _lines(stretch: Stretch, before: Sequence[Side], now: Sequence[Side]) -> Iterator[Line]:
    """Blocks that stand in each other's place are one changed block each, others went or came."""
    old, new = before[stretch.before : stretch.before_end], now[stretch.now : stretch.now_end]
    if stretch.same:
        yield from (Line(Change.SAME, *pair) for pair in zip(old, new, strict=True))
    elif [one.role for one in old] == [one.role for one in new]:
        yield from (Line(Change.CHANGED, *pair) for pair in zip(old, new, strict=True))
    else:
        yield from (Line(Change.REMOVED, one, None) for one in old)
        yield from (Line(Change.ADDED, None, one) for one in new)


def _settings(before: RequestRecord, now: RequestRecord) -> Iterator[Setting]:
    yield from _fields(
        {**before.options, "model": before.model, "anthropic-beta": list(before.betas)},
        {**now.options, "model": now.model, "anthropic-beta": list(now.betas)},
    )


def _fields(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Setting]:
    for name in dict.fromkeys([*before, *now]):
        if before.get(name) != now.get(name):
            old, new = (as_json(one[name]) if name in one else None for one in (before, now))
            yield Setting(name, old, new)
