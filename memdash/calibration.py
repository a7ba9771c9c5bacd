"""How far a token counter is off on a user's own scripts, by kind of block and by writing.

A block's tokens are told by the difference between two counts, with and without it, so that what frames a request falls out; the
server's counts and ours are made of the same bodies. Only blocks that a script states are counted: thinking is signed by the API,
and nothing here pretends to be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from memdash.scripts.model import Script
from memdash.writing import CODE, writing_of

MOST_CALLS = 30
"""A handful: counting is free, but limited a minute."""
_MOST_TEXTS = 3
"""Of each kind and writing."""

Body = Mapping[str, Any]
Count = Callable[[Body], int]
"""Counts the tokens of a request body."""


class Kind(StrEnum):
    """The kinds of block a script can state, in the order they are shown."""

    SYSTEM = "system"
    TOOLS = "tools"
    USER = "user text"
    ASSISTANT = "assistant text"
    TOOL_USE = "tool use"
    TOOL_RESULT = "tool result"
    IMAGE = "image"


class Sample(NamedTuple):
    """One block to be counted: two bodies that differ by it alone. ``characters`` is None for an image."""

    kind: Kind
    writing: str
    characters: int | None
    body: Body
    without: Body


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be counted. ``left_out`` names what no call was left for."""

    samples: tuple[Sample, ...]
    left_out: tuple[tuple[Kind, str], ...]

    @property
    def bodies(self) -> list[Body]:
        """Every body to be counted, once."""
        return list({_key(body): body for one in self.samples for body in (one.body, one.without)}.values())

    @property
    def calls(self) -> int:
        """How many calls it takes."""
        return len(self.bodies)


class CounterError(NamedTuple):
    """The tokens of several blocks as the server and as our counter count them; kind or writing None is all of them."""

    kind: Kind | None
    writing: str | None
    texts: int
    characters: int | None
    counted: int
    estimated: int

    @property
    def relative(self) -> float | None:
        """How much more our counter says, as a share of the server's count; None where that is 0."""
        return (self.estimated - self.counted) / self.counted if self.counted else None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The counter's error by kind and writing together, by each alone, and over all."""

    rows: tuple[CounterError, ...]
    by_kind: tuple[CounterError, ...]
    by_writing: tuple[CounterError, ...]
    total: CounterError


def plan(scripts: Sequence[Script], model: str) -> Plan:
    """Choose a few representative blocks of each kind and writing in ``scripts``, within :data:`MOST_CALLS`.

    Of each group as many as fit are taken, short, middling and long ones. Where even one of each is too many, the groups with
    the least text are left out.
    """
    groups: dict[tuple[Kind, str], list[Sample]] = {}
    for sample in _samples(scripts, model):
        groups.setdefault((sample.kind, sample.writing), []).append(sample)
    order = list(Kind)
    keys = sorted(groups, key=lambda key: (order.index(key[0]), key[1]))
    for most in range(_MOST_TEXTS, 0, -1):
        chosen = Plan(tuple(one for key in keys for one in _spread(groups[key], most)), ())
        if chosen.calls <= MOST_CALLS:
            return chosen
    kept = sorted(keys, key=lambda key: -sum(one.characters or 0 for one in groups[key]))
    while chosen.calls > MOST_CALLS:
        kept.pop()
        samples = tuple(one for key in keys if key in kept for one in _spread(groups[key], 1))
        chosen = Plan(samples, tuple(key for key in keys if key not in kept))
    return chosen


def calibrate(chosen: Plan, count: Count, estimate: Count) -> Calibration:
    """Count what was planned with the server (``count``) and with our counter (``estimate``), each body once."""
    counted = {_key(body): (count(body), estimate(body)) for body in chosen.bodies}
    found: list[tuple[Sample, int, int]] = []
    for sample in chosen.samples:
        more, less = counted[_key(sample.body)], counted[_key(sample.without)]
        found.append((sample, more[0] - less[0], more[1] - less[1]))
    cells = dict.fromkeys((one.kind, one.writing) for one, *_ in found)
    kinds = dict.fromkeys(one.kind for one, *_ in found)
    writings = dict.fromkeys(one.writing for one, *_ in found)
    return Calibration(
        rows=tuple(_sum(found, kind, writing) for kind, writing in cells),
        by_kind=tuple(_sum(found, kind, None) for kind in kinds),
        by_writing=tuple(_sum(found, None, writing) for writing in writings),
        total=_sum(found, None, None),
    )


def _sum(found: Iterable[tuple[Sample, int, int]], kind: Kind | None, writing: str | None) -> CounterError:
    part = [one for one in found if kind in (None, one[0].kind) and writing in (None, one[0].writing)]
    characters = [one.characters for one, *_ in part if one.characters is not None]
    return CounterError(
        kind,
        writing,
        texts=len(part),
        characters=sum(characters) if characters else None,
        counted=sum(counted for _, counted, _ in part),
        estimated=sum(estimated for *_, estimated in part),
    )


def _spread(samples: Sequence[Sample], most: int) -> list[Sample]:
    """At most ``most`` of them, from the middles of as many classes of length."""
    ordered = sorted(samples, key=lambda one: one.characters or 0)
    if len(ordered) <= most:
        return ordered
    return [ordered[(2 * place + 1) * len(ordered) // (2 * most)] for place in range(most)]


# -- the blocks of scripts, each in two bodies -----------------------------------------------------------------------------

_SHORT = "a"
"""One token in both vocabularies."""
_NO_LETTERS = "–"


def _samples(scripts: Iterable[Script], model: str) -> Iterator[Sample]:
    """Every block that can be counted; a text that stands in several places counts once for each kind."""
    seen: set[tuple[Kind, str]] = set()
    for script in scripts:
        for sample in _of_script(script, model):
            key = sample.kind, _key(sample.body)
            if key not in seen:
                seen.add(key)
                yield sample


def _of_script(script: Script, model: str) -> Iterator[Sample]:
    plain: Body = {"model": model, "messages": [_message("user", _text(_SHORT))]}
    if script.system:
        system = [_text(script.system)]
        yield _sample(Kind.SYSTEM, script.system, {**plain, "system": system}, plain)
    tools = [dict(tool) for tool in script.tools]
    if tools:
        text = json.dumps(tools, ensure_ascii=False)
        yield _sample(Kind.TOOLS, text, {**plain, "tools": tools}, plain)
    for turn in script.turns:
        for block in turn.content:
            body = {**plain, "messages": [_message("user", block, _text(_SHORT))]}
            if block.get("type") == "text":
                yield _sample(Kind.USER, block["text"], body, plain)
            elif block.get("type") == "image":
                yield Sample(Kind.IMAGE, _NO_LETTERS, None, body, plain)
        said = [*(step.text for step in turn.steps), turn.reply]
        for text in filter(None, said):
            yield _assistant(text, model)
        for call in (call for step in turn.steps for call in step.calls):
            if tools:
                yield from _tool_call(call.name, call.input, call.result, {**plain, "tools": tools})


def _assistant(text: str, model: str) -> Sample:
    def body(*blocks: Body) -> Body:
        user = _message("user", _text(_SHORT))
        return {"model": model, "messages": [user, _message("assistant", *blocks), user]}

    return _sample(Kind.ASSISTANT, text, body(_text(_SHORT), _text(text)), body(_text(_SHORT)))


def _tool_call(name: str, given: Mapping[str, Any], result: str, frame: Body) -> Iterator[Sample]:
    """A call's input against an empty one, and its result against a short one."""

    def body(arguments: Mapping[str, Any], *content: Body) -> Body:
        call = {"type": "tool_use", "id": "toolu_calibration", "name": name, "input": dict(arguments)}
        answer = {"type": "tool_result", "tool_use_id": call["id"], "content": list(content)}
        messages = [*frame["messages"], _message("assistant", call), _message("user", answer)]
        return {**frame, "messages": messages}

    bare = body({}, _text(_SHORT))
    if given:
        text = json.dumps(given, ensure_ascii=False)
        yield _sample(Kind.TOOL_USE, text, body(given, _text(_SHORT)), bare)
    if result:
        yield _sample(Kind.TOOL_RESULT, result, body({}, _text(_SHORT), _text(result)), bare)


def _sample(kind: Kind, text: str, body: Body, without: Body) -> Sample:
    writing = CODE if kind in (Kind.TOOLS, Kind.TOOL_USE) else writing_of(text)
    return Sample(kind, writing, len(text), body, without)


def _message(role: str, *blocks: Body) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _key(body: Body) -> str:
    return json.dumps(body, sort_keys=True, ensure_ascii=False)
