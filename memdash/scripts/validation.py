"""What makes a script usable, beyond the form of its file: everything that belongs together fits together.

The checks run on the model, so that they hold for scripts from YAML, from importers and from stored JSON alike. A problem
refuses the script; a warning (:mod:`memdash.scripts.leaks`) goes with it.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from memdash.errors import ScriptError
from memdash.scripts.facts import fact_problems
from memdash.scripts.fields import ID
from memdash.scripts.generating import filler_of, recipe_problems, size_problems
from memdash.scripts.grading import matches
from memdash.scripts.leaks import find_warnings
from memdash.scripts.limits import EFFORTS, MAX_FACTS, MAX_OUTPUT_TOKENS, MAX_PAUSE, MAX_TURNS
from memdash.scripts.model import Expectation, Json, Script, ToolCall, Turn
from memdash.scripts.patterns import PatternError
from memdash.scripts.problems import MAX_PROBLEMS, Place, Problem, brief, spell, suggest
from memdash.scripts.tools import tool_problems

_USER_BLOCKS = ("text", "image", "document")


def find_problems(script: Script) -> list[Problem]:
    """Return what makes ``script`` unusable, at most ``MAX_PROBLEMS``, with the places in the words of the YAML form."""
    too_large = list(_size_problems(script))
    return too_large or list(islice(_problems(script), MAX_PROBLEMS))


def _problems(script: Script) -> Iterator[Problem]:
    yield from _script_problems(script)
    yield from tool_problems(script.tools, ("tools",))
    for index, turn in enumerate(script.turns):
        yield from _turn_problems(turn, index)
    yield from _call_problems(script)
    yield from _recipe_problems(script)
    for index, fact in enumerate(script.facts):
        yield from fact_problems(script, fact, ("facts", index))
    yield from _repeated(
        ((("facts", index, "id"), fact.id) for index, fact in enumerate(script.facts)), "fact"
    )
    yield from _accident_problems(script)


def ensure_valid(script: Script, path: Path | str | None = None) -> Script:
    """Return ``script`` with its warnings.

    Raises:
        ScriptError: it has a problem; the message is that of the first.
    """
    for problem in find_problems(script):
        raise ScriptError(problem.text, path=path, field=spell(problem.place))
    return with_warnings(script)


def with_warnings(script: Script) -> Script:
    """Return the valid ``script`` with what :func:`find_warnings` notices added to the warnings it has."""
    new = [warning for warning in find_warnings(script) if warning not in script.warnings]
    return dataclasses.replace(script, warnings=(*script.warnings, *new)) if new else script


def _size_problems(script: Script) -> Iterator[Problem]:
    if len(script.turns) > MAX_TURNS:
        yield Problem(
            ("turns",), f"there are {len(script.turns):,} turns; at most {MAX_TURNS:,} are accepted"
        )
    if len(script.facts) > MAX_FACTS:
        yield Problem(
            ("facts",), f"there are {len(script.facts):,} facts; at most {MAX_FACTS:,} are accepted"
        )
    yield from size_problems(script.turns)


def _script_problems(script: Script) -> Iterator[Problem]:
    if not ID.fullmatch(script.id):
        yield Problem(("id",), f"{brief(script.id)} is no id")
    if not script.turns:
        yield Problem(("turns",), "a script needs at least one turn")
    if not 1 <= script.max_tokens <= MAX_OUTPUT_TOKENS:
        yield Problem(("max_tokens",), f"must be from 1 to {MAX_OUTPUT_TOKENS:,}, not {script.max_tokens}")
    if script.fixed_tokens is not None and script.fixed_tokens < 0:
        yield Problem(("fixed_tokens",), "must not be negative")
    if script.effort is not None and script.effort not in EFFORTS:
        yield Problem(("effort",), f"{brief(script.effort)} is no effort{suggest(script.effort, EFFORTS)}")
    defined = {str(tool.get("name")) for tools in _tool_lists(script) for tool in tools}
    for name in script.tool_defaults:
        if name not in defined:
            yield Problem(("tool_defaults", name), f"there is no tool of this name{suggest(name, defined)}")


def _tool_lists(script: Script) -> Iterator[tuple[Mapping[str, Json], ...]]:
    yield script.tools
    yield from (turn.tools for turn in script.turns if turn.tools is not None)


def _turn_problems(turn: Turn, index: int) -> Iterator[Problem]:
    place: Place = ("turns", index)
    if turn.number != index + 1:
        yield Problem(place, f"is numbered {turn.number}; turns are numbered from 1 in order")
    if not turn.content:
        yield Problem((*place, "user"), "is empty")
    for number, block in enumerate(turn.content):
        yield from _block_problems(
            block, (*place, "user", number) if len(turn.content) > 1 else (*place, "user")
        )
    if turn.pause is not None and not (math.isfinite(turn.pause) and 0 <= turn.pause <= MAX_PAUSE):
        yield Problem((*place, "pause"), f"must be from 0 to {MAX_PAUSE:,g} seconds")
    if turn.reply is not None and not turn.reply.strip():
        yield Problem((*place, "reply"), "is empty; leave it out and the model finds its own")
    if turn.tools is not None:
        yield from tool_problems(turn.tools, (*place, "tools"))
    for number, step in enumerate(turn.steps):
        if not step.calls:
            yield Problem(
                (*place, "steps", number),
                "has no tool call; what the assistant says at the end is the turn's 'reply'",
            )


def _block_problems(block: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    kind = block.get("type")
    if kind == "tool_result":
        yield Problem(place, "a tool result without its call; results stand with their calls under 'calls'")
    elif kind not in _USER_BLOCKS:
        yield Problem(place, f"a content block has 'type': {', '.join(_USER_BLOCKS)}; not {brief(str(kind))}")
    elif kind == "text" and not (isinstance(block.get("text"), str) and block["text"].strip()):
        yield Problem(place, "a text block needs 'text' that is not empty (the API refuses it)")
    elif kind != "text" and not isinstance(block.get("source"), Mapping):
        yield Problem(place, f"a block of type {kind} needs a 'source' mapping")
    if "cache_control" in block:
        yield Problem(
            place, "leave 'cache_control' out: where the cache marks stand is a setting of the comparison"
        )


def _call_problems(script: Script) -> Iterator[Problem]:
    """Calls have ids of their own, and call what is defined at their turn."""
    yield from _repeated(
        (((*place, "id"), call.id) for place, call in _placed_calls(script)),
        "tool call",
    )
    names = {str(tool.get("name")) for tool in script.tools}
    for index, turn in enumerate(script.turns):
        if turn.tools is not None:
            names = {str(tool.get("name")) for tool in turn.tools}
        for number, step in enumerate(turn.steps):
            for position, call in enumerate(step.calls):
                place: Place = ("turns", index, "steps", number, "calls", position)
                if call.name not in names:
                    text = f"there is no tool {brief(call.name)} at turn {turn.number}{suggest(call.name, names)}"
                    yield Problem((*place, "name"), text)
                if not _is_json(call.input):
                    yield Problem((*place, "input"), "is no JSON object (finite numbers, text keys)")


def _recipe_problems(script: Script) -> Iterator[Problem]:
    for place, call in _placed_calls(script):
        if call.generated is not None:
            yield from recipe_problems(call.generated, (*place, "result", "generate"))


def _accident_problems(script: Script) -> Iterator[Problem]:
    """What a generator makes up says no fact: it would be told where nobody planted it."""
    made = [(place, filler_of(call)) for place, call in _placed_calls(script) if call.generated is not None]
    everything = "\n".join(text for _, text in made)
    for fact in script.facts if made else ():
        expectations = {said for value in fact.values for said in (value.answer, value.text)}
        # One look at everything spares a look at each part: nearly always nothing is said by accident.
        hit = [expectation for expectation in expectations if _matches(expectation, everything)]
        for place, text in made:
            if any(_matches(expectation, text) for expectation in hit):
                words = f"says the fact {brief(fact.id)} by accident; choose another seed, or a rarer answer"
                yield Problem((*place, "result", "generate", "seed"), words)


def _matches(expectation: Expectation, text: str) -> bool:
    try:
        return matches(expectation, text)
    except (PatternError, ValueError):
        return False  # the problem of the fact, and told there


def _placed_calls(script: Script) -> Iterator[tuple[Place, ToolCall]]:
    for index, turn in enumerate(script.turns):
        for number, step in enumerate(turn.steps):
            for position, call in enumerate(step.calls):
                yield ("turns", index, "steps", number, "calls", position), call


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _repeated(ids: Iterable[tuple[Place, str]], what: str) -> Iterator[Problem]:
    seen: dict[str, Place] = {}
    for place, identifier in ids:
        if identifier in seen:
            yield Problem(
                place, f"the {what} id {brief(identifier)} is taken by {spell(seen[identifier][:-1])}"
            )
        seen.setdefault(identifier, place)
