"""Where the prompt of a request ends and where its cache marks lie in it."""

from __future__ import annotations

from typing import NamedTuple

from memdash.simulator.cache import PlacedMark
from memdash.simulator.conversation import Step
from memdash.simulator.errors import invalid
from memdash.simulator.marks import MOST_MARKS, Lifetime, Mark, check_order, too_many
from memdash.simulator.opening import Opening
from memdash.simulator.options import Options
from memdash.simulator.prompt import Prompt


class _Automatic(NamedTuple):
    """The automatic mark, and the message it lies in."""

    step: Step
    mark: Mark


def place(step: Step, opening: Opening, options: Options) -> tuple[Prompt, list[PlacedMark]]:
    """Return the whole prompt and the cache marks on it."""
    strips_before = -1 if opening.end.reader.facts.keeps_thinking else _turn_start(step)
    prompt = _render(step, opening.end, strips_before)
    marks = [*opening.tool_set.marks, *opening.system_prompt.marks]
    marks += [Mark(index, lifetime, path) for _, index, lifetime, path in step.marks]
    automatic = None if options.automatic_mark is None else _automatic_mark(step, options.automatic_mark)
    found = len(marks) + (automatic is not None)
    if not found:
        return prompt, []
    if found > MOST_MARKS:
        raise too_many(found)
    check_order(marks if automatic is None else [*marks, automatic.mark])
    placed = [PlacedMark(opening.tools, mark.index, mark.lifetime) for mark in opening.tool_set.marks]
    placed += [PlacedMark(opening.system, mark.index, mark.lifetime) for mark in opening.system_prompt.marks]
    for marked, index, lifetime, _ in step.marks:
        part = _render(marked, opening.end, strips_before)
        placed.append(PlacedMark(part, part.shown.index(index), lifetime))
    if automatic is not None:
        part = _render(automatic.step, opening.end, strips_before)
        placed.append(PlacedMark(part, part.shown.index(automatic.mark.index), automatic.mark.lifetime))
    return prompt, placed


def _automatic_mark(step: Step, lifetime: Lifetime) -> _Automatic | None:
    """Return where the automatic mark goes: the last block that may carry one; None where it carries one
    already.
    """
    at: Step | None = step
    while at is not None and at.message is not None:
        for index in range(len(at.message.blocks) - 1, -1, -1):
            if at.message.blocks[index].is_cacheable:
                on_block = {there for where, place, there, _ in step.marks if where is at and place == index}
                if on_block - {lifetime}:
                    raise invalid(
                        "cache_control: the last cacheable block already has cache_control with a different ttl; "
                        "use the same ttl or leave one of them out"
                    )
                return None if on_block else _Automatic(at, Mark(index, lifetime, ""))
        at = at.parent
    return None


def _render(step: Step, start: Prompt, strips_before: int) -> Prompt:
    """Return the prompt that ends with this step's message; assistant thinking before that index is left out."""
    if strips_before >= 0:
        prompt = start
        for part in _path(step):
            if part.message is not None:
                prompt = prompt.and_message(part.message, without_thinking=part.index < strips_before)
        return prompt
    missing = []
    at: Step | None = step
    while at is not None and at.message is not None and at.rendered_from is not start:
        missing.append(at)
        at = at.parent
    prompt = at.rendered if at is not None and at.message is not None and at.rendered is not None else start
    for part in reversed(missing):
        if part.message is not None:
            prompt = prompt.and_message(part.message)
            part.rendered, part.rendered_from = prompt, start
    return prompt


def _path(step: Step) -> list[Step]:
    path = []
    at: Step | None = step
    while at is not None:
        path.append(at)
        at = at.parent
    path.reverse()
    return path


def _turn_start(step: Step) -> int:
    """Return the index of the last message that opens a user turn."""
    at: Step | None = step
    while at is not None and at.message is not None:
        if at.message.opens_turn:
            return at.index
        at = at.parent
    return 0
