"""Where the prompt of a request ends, what is read of its messages, and where its cache marks lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from memdash.simulator.cache import PlacedMark
from memdash.simulator.clearing import Clearing
from memdash.simulator.conversation import Step
from memdash.simulator.errors import invalid
from memdash.simulator.marks import MOST_MARKS, Lifetime, Mark, check_order, too_many
from memdash.simulator.opening import Opening
from memdash.simulator.options import Options
from memdash.simulator.prompt import Prompt, Thinking

_Shown = Callable[[Step], Prompt]
"""The prompt at the end of a step's message, as this request shows it."""


class _Automatic(NamedTuple):
    """The automatic mark, and the message it lies in."""

    step: Step
    mark: Mark


@dataclass(frozen=True, slots=True)
class Placed:
    """A whole prompt and the cache marks on it.

    ``applied`` are the edits that context editing made, ``cleared`` the tool uses whose results it took away, and
    ``original`` is the prompt's size without it.
    """

    prompt: Prompt
    marks: list[PlacedMark]
    original: int
    applied: tuple[dict[str, Any], ...] = ()
    cleared: frozenset[str] = frozenset()


def place(step: Step, opening: Opening, options: Options, clearing: Clearing) -> Placed:
    """Lay out the messages that end at ``step``: from their latest compaction on, after context editing."""
    if options.context.clears:
        path = _path(step)
        edited = clearing.apply(path, opening.end, options.context)
        prompt = edited.prompts[step]
        marks = _marks(step, opening, options, edited.prompts.__getitem__)
        return Placed(prompt, marks, edited.original_total, edited.applied, edited.cleared)
    shown: _Shown
    if opening.end.reader.facts.keeps_thinking:
        shown = partial(_render, start=opening.end)
    else:
        shown = _stripped(_path(step), opening.end, _turn_start(step)).__getitem__
    prompt = shown(step)
    return Placed(prompt, _marks(step, opening, options, shown), prompt.total)


def _marks(step: Step, opening: Opening, options: Options, shown: _Shown) -> list[PlacedMark]:
    """Return the marks of the request as they lie on what is read; one on a closed message marks nothing."""
    marks = [*opening.tool_set.marks, *opening.system_prompt.marks]
    marks += [Mark(index, lifetime, path) for _, index, lifetime, path in step.marks]
    automatic = None if options.automatic_mark is None else _automatic_mark(step, options.automatic_mark)
    found = len(marks) + (automatic is not None)
    if not found:
        return []
    if found > MOST_MARKS:
        raise too_many(found)
    check_order(marks if automatic is None else [*marks, automatic.mark])
    placed = [PlacedMark(opening.tools, mark.index, mark.lifetime) for mark in opening.tool_set.marks]
    placed += [PlacedMark(opening.system, mark.index, mark.lifetime) for mark in opening.system_prompt.marks]
    first = -1 if step.cut is None else step.cut[0].index
    for marked, index, lifetime, _ in step.marks:
        if marked.index < first:
            continue
        part = shown(marked)
        if index in part.shown:
            placed.append(PlacedMark(part, part.shown.index(index), lifetime))
    if automatic is not None:
        part = shown(automatic.step)
        placed.append(PlacedMark(part, part.shown.index(automatic.mark.index), automatic.mark.lifetime))
    return placed


def _automatic_mark(step: Step, lifetime: Lifetime) -> _Automatic | None:
    """Return where the automatic mark goes: the last block that may carry one; None where it carries one
    already.
    """
    for at in _back(step):
        assert at.message is not None
        for index in range(len(at.message.blocks) - 1, (at.message.opens_at or 0) - 1, -1):
            if at.message.blocks[index].is_cacheable:
                on_block = {there for where, place, there, _ in step.marks if where is at and place == index}
                if on_block - {lifetime}:
                    raise invalid(
                        "cache_control: the last cacheable block already has cache_control with a different ttl; "
                        "use the same ttl or leave one of them out"
                    )
                return None if on_block else _Automatic(at, Mark(index, lifetime, ""))
    return None


def _render(step: Step, start: Prompt) -> Prompt:
    """Return the prompt that ends with this step's message."""
    missing = []
    prompt = start
    for at in _back(step):
        if at.rendered is not None and at.rendered_from is start:
            prompt = at.rendered
            break
        missing.append(at)
    for part in reversed(missing):
        assert part.message is not None
        prompt = prompt.and_message(part.message, part.index)
        part.rendered, part.rendered_from = prompt, start
    return prompt


def _stripped(path: list[Step], start: Prompt, turn_start: int) -> dict[Step, Prompt]:
    """Return the prompts on a model that strips the thinking of earlier turns."""
    prompts = {}
    prompt = start
    for part in path:
        assert part.message is not None
        thinking = Thinking.STRIPPED if part.index < turn_start else Thinking.SHOWN
        prompt = prompts[part] = prompt.and_message(part.message, part.index, thinking)
    return prompts


def _back(step: Step) -> Iterator[Step]:
    """Yield the steps that are read, the last first: back to the latest compaction."""
    first = None if step.cut is None else step.cut[0]
    at: Step | None = step
    while at is not None and at.message is not None:
        yield at
        at = None if at is first else at.parent


def _path(step: Step) -> list[Step]:
    path = list(_back(step))
    path.reverse()
    return path


def _turn_start(step: Step) -> int:
    """Return the index of the last message that opens a user turn."""
    for at in _back(step):
        if at.message is not None and at.message.opens_turn:
            return at.index
    return 0
