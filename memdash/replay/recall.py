"""Facts in a context: whether their text is still there, and what is asked about them when."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from memdash.records import Survival
from memdash.scripts.grading import matches
from memdash.scripts.model import Fact, Script, Value
from memdash.strategies.base import Message


def due(script: Script, turn: int, last_turn: int) -> list[Fact]:
    """Return the facts to be asked about after ``turn``; one not stated by then is not asked about."""
    return [
        fact
        for fact in script.facts
        if fact.stated_by(turn) and (turn in fact.probe_after if fact.probe_after else turn == last_turn)
    ]


def survival(
    fact: Fact, turn: int, context: Sequence[Message], stated_in: Mapping[int, Collection[int]]
) -> Survival:
    """Return where the text of ``fact``, as last stated by ``turn``, is in ``context``.

    ``stated_in`` holds, by turn, the object ids of the blocks that turn brought along, so that the stating
    message can be told from
    a restatement.
    """
    values = fact.stated_by(turn)
    stating = stated_in.get(values[-1].turn, ())
    best = Survival.GONE
    for block in _blocks(context):
        found = block_survival(values, visible_text(block), stating=id(block) in stating)
        if found is Survival.VERBATIM:
            return found
        best = strongest(best, found)
    return best


def block_survival(values: Sequence[Value], text: str, *, stating: bool) -> Survival:
    """Return what one block's ``text`` holds of a fact whose ``values`` were stated so far.

    ``stating`` says that the turn which stated the latest of them brought the block along.
    """
    if not text:
        return Survival.GONE
    *earlier, latest = values
    if matches(latest.text, text):
        return Survival.VERBATIM if stating else Survival.RESTATED
    return Survival.STALE if any(matches(value.text, text) for value in earlier) else Survival.GONE


def strongest(one: Survival, other: Survival) -> Survival:
    """Return what counts for a context that holds both."""
    return min(one, other, key=_STRENGTH.index)


_STRENGTH = tuple(Survival)
"""From what a model needs most to what is of no use to it."""


def _blocks(context: Sequence[Message]) -> Iterator[Mapping[str, Any]]:
    for message in context:
        yield from message["content"]


def visible_text(block: Mapping[str, Any]) -> str:
    """Return the words of a block that a model can read: text, tool inputs and results, summaries. Thinking is not among them."""
    match block.get("type"):
        case "text":
            return str(block.get("text") or "")
        case "tool_use":
            return " ".join(str(value) for value in _leaves(block.get("input")))
        case "tool_result" | "compaction":
            content = block.get("content")
            if isinstance(content, str):
                return content
            return "\n".join(visible_text(part) for part in content or ())
        case _:
            return ""


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None:
        yield value
