"""The YAML form of a script: from the document's nodes to the model, field by field (docs/scripts.md is the reference)."""

from __future__ import annotations

from typing import Any

from memdash.scripts.dates import parse_date
from memdash.scripts.document import Mapping, Node, Scalar, Sequence
from memdash.scripts.fields import ID, Fields, as_integer, as_json_object, as_text, kind
from memdash.scripts.generating import expanded, recipe_problems, size_problems
from memdash.scripts.limits import MAX_GENERATED_LINES, MAX_OUTPUT_TOKENS, MAX_PAUSE, MAX_SEED
from memdash.scripts.model import (
    Block,
    Expectation,
    Fact,
    Grading,
    Json,
    Material,
    Recipe,
    Script,
    Step,
    ToolCall,
    Turn,
    Value,
)
from memdash.scripts.problems import Place, Problem, brief, suggest

_MANY = 1_000_000
"""Bound of turn numbers and ``fixed_tokens``; whether a turn exists is validation's business."""
_SCRIPT_KEYS = (
    *(
        "id",
        "title",
        "description",
        "system",
        "tools",
        "tool_defaults",
        "max_tokens",
        "effort",
        "fixed_tokens",
    ),
    *("turns", "facts"),
)
_TURN_KEYS = ("user", "pause", "calls", "steps", "reply", "system", "tools")
_STEP_KEYS = ("say", "calls")
_CALL_KEYS = ("id", "name", "input", "result", "error")
_RECIPE_KEYS = ("kind", "lines", "seed", "include")
_FACT_KEYS = ("id", "turn", "kind", "question", "answer", "text", "updates", "probe_after")
_UPDATE_KEYS = ("turn", "answer", "text")
_MATERIALS = tuple(kind.value for kind in Material)
_GRADINGS = tuple(grading.value for grading in Grading)
_TO_GRADE = "a pattern, or one of {number: 2400}, {date: 2026-06-14}, {all_of: [a, b]}, {f1: reference}, {regex: pattern}"


def read_form(root: Mapping, stem: str, problems: list[Problem]) -> Script:
    """Return the script that ``root`` stands for; what is wrong with it goes to ``problems``, and the result is then not used.

    ``stem`` is the file's name without its ending: the id of a script that gives none.
    """
    fields = Fields(root, (), problems)
    fields.only(_SCRIPT_KEYS)
    fields.need("turns")
    identifier = fields.identifier("id") if "id" in fields else stem
    if "id" not in fields and not ID.fullmatch(stem):
        fields.note("", "'id' is missing, and the file's name does not make one")
    max_tokens = fields.integer("max_tokens", 1, MAX_OUTPUT_TOKENS)
    return Script(
        id=identifier or "",
        title=fields.text("title") or identifier or "",
        turns=_turns(fields),
        description=fields.text("description", empty=True) or "",
        system=fields.text("system", empty=True) or "",
        tools=_tools(fields) or (),
        tool_defaults=_tool_defaults(fields),
        facts=tuple(_fact(Fields(node, place, problems)) for place, node in fields.items("facts")),
        fixed_tokens=fields.integer("fixed_tokens", 0, _MANY),
        max_tokens=1024 if max_tokens is None else max_tokens,
        effort=fields.text("effort"),
    )


def _tools(fields: Fields) -> tuple[dict[str, Json], ...] | None:
    """Tool definitions as they are sent; what is in them is validation's business. None where the key is missing."""
    if "tools" not in fields:
        return None
    tools = [as_json_object(node, place, fields.problems) for place, node in fields.items("tools")]
    return tuple(tool or {} for tool in tools)


def _tool_defaults(fields: Fields) -> dict[str, str]:
    node = fields.node("tool_defaults")
    if node is None:
        return {}
    defaults = Fields(node, (*fields.place, "tool_defaults"), fields.problems)
    names = list(node.items) if isinstance(node, Mapping) else []
    return {name: defaults.text(name, empty=True) or "" for name in names}


def _turns(fields: Fields) -> tuple[Turn, ...]:
    turns = tuple(
        _turn(node, place, index + 1, fields.problems)
        for index, (place, node) in enumerate(fields.items("turns"))
    )
    # Long results are made last, once it is known that they stay within bounds and that the script will be used.
    for problem in size_problems(turns):
        fields.problems.append(problem)
    return turns if fields.problems else expanded(turns)


def _turn(node: Node, place: Place, number: int, problems: list[Problem]) -> Turn:
    if isinstance(node, Scalar):
        return Turn(number, _text_block(as_text(node, place, problems)))
    fields = Fields(node, place, problems)
    fields.only(_TURN_KEYS)
    fields.need("user")
    if "calls" in fields and "steps" in fields:
        fields.note("calls", "give either 'calls' (one step) or 'steps' (several), not both")
    pause = fields.number("pause", 0, MAX_PAUSE)
    return Turn(
        number=number,
        content=_content(fields),
        steps=_steps(fields, number),
        reply=fields.text("reply"),
        pause=pause,
        system=fields.text("system", empty=True),
        tools=_tools(fields),
    )


def _text_block(text: str | None) -> tuple[Block, ...]:
    return ({"type": "text", "text": text or ""},)


def _content(fields: Fields) -> tuple[Block, ...]:
    """The user's message: text, or a list of content blocks."""
    if not isinstance(fields.node("user"), Sequence):
        return _text_block(fields.text("user"))
    blocks = [as_json_object(node, place, fields.problems) for place, node in fields.items("user")]
    return tuple(block or {} for block in blocks)


def _steps(fields: Fields, turn: int) -> tuple[Step, ...]:
    if "calls" in fields:
        return (Step(_calls(fields, turn, 0)),)
    steps: list[Step] = []
    count = 0
    for place, node in fields.items("steps"):
        step = Fields(node, place, fields.problems)
        step.only(_STEP_KEYS)
        step.need("calls")
        calls = _calls(step, turn, count)
        count += len(calls)
        steps.append(Step(calls, step.text("say", empty=True) or ""))
    return tuple(steps)


def _calls(fields: Fields, turn: int, before: int) -> tuple[ToolCall, ...]:
    calls = fields.items("calls")
    if isinstance(fields.node("calls"), Sequence) and not calls:
        fields.note("calls", "is empty; leave it out")
    return tuple(
        _call(Fields(node, place, fields.problems), f"turn-{turn}-call-{before + index + 1}")
        for index, (place, node) in enumerate(calls)
    )


def _call(fields: Fields, default_id: str) -> ToolCall:
    fields.only(_CALL_KEYS)
    if "result" in fields and "name" not in fields:
        fields.note("", "a tool result without its call; give the call's 'name' and 'input' beside 'result'")
    elif "result" not in fields and "name" in fields:
        fields.note("", "a tool call without its result; give 'result' (\"\" for an empty one)")
    else:
        fields.need("name", "result")
    result, recipe = _result(fields)
    return ToolCall(
        id=(fields.text("id") if "id" in fields else default_id) or "",
        name=fields.text("name") or "",
        input=fields.json_object("input") or {},
        result=result,
        is_error=fields.boolean("error") or False,
        generated=recipe,
    )


def _result(fields: Fields) -> tuple[str, Recipe | None]:
    """A result that is written out, or what it is generated from; the text is then made at the end of reading."""
    node = fields.node("result")
    if not isinstance(node, Mapping):
        return fields.text("result", empty=True) or "", None
    if list(node.items) != ["generate"]:
        fields.note(
            "result",
            f"must be text, or {{generate: {{kind: log, lines: 200, seed: 7}}}}, not {_described(node)}",
        )
        return "", None
    return "", _recipe(Fields(node.items["generate"], (*fields.place, "result", "generate"), fields.problems))


def _recipe(fields: Fields) -> Recipe | None:
    """A recipe that is fine; None where a problem was noted."""
    before = len(fields.problems)
    fields.only(_RECIPE_KEYS)
    fields.need("kind", "lines", "seed")
    kind = fields.text("kind")
    if kind is not None and kind not in _MATERIALS:
        fields.note("kind", f"there is no kind {brief(kind)}{suggest(kind, _MATERIALS)}")
    lines = fields.integer("lines", 1, MAX_GENERATED_LINES) or 0
    seed = fields.integer("seed", 0, MAX_SEED) or 0
    include = [as_text(node, place, fields.problems) or "" for place, node in fields.items("include")]
    if kind is None or len(fields.problems) > before:
        return None
    recipe = Recipe(Material(kind), lines, seed, tuple(include))
    for problem in recipe_problems(recipe, fields.place):
        fields.problems.append(problem)
    return recipe


def _fact(fields: Fields) -> Fact:
    fields.only(_FACT_KEYS)
    fields.need("id", "turn", "question", "answer")
    values = [_value(fields)]
    for place, node in fields.items("updates"):
        update = Fields(node, place, fields.problems)
        update.only(_UPDATE_KEYS)
        update.need("turn", "answer")
        values.append(_value(update))
    return Fact(
        id=fields.identifier("id") or "",
        question=fields.text("question") or "",
        values=tuple(values),
        probe_after=_probe_after(fields),
        kind=fields.text("kind"),
    )


def _value(fields: Fields) -> Value:
    answer = _expectation(fields, "answer")
    text = _expectation(fields, "text") if "text" in fields else answer
    return Value(fields.integer("turn", 1, _MANY) or 0, answer, text)


def _probe_after(fields: Fields) -> tuple[int, ...]:
    node = fields.node("probe_after")
    if isinstance(node, Scalar):
        turn = fields.integer("probe_after", 1, _MANY)
        return () if turn is None else (turn,)
    turns = [
        as_integer(item, place, fields.problems, 1, _MANY) for place, item in fields.items("probe_after")
    ]
    return tuple(turn for turn in turns if turn is not None)


def _expectation(fields: Fields, key: str) -> Expectation:
    """Read what an answer or a text must match. The result is of no use where a problem was noted."""
    node = fields.node(key)
    unusable = Expectation(Grading.REGEX, ("",))
    match node:
        case None:
            return unusable
        case Scalar(value=str()):
            return _plain_expectation(fields, key, node)
        case Scalar(value=value) if isinstance(value, int | float) and not isinstance(value, bool):
            fields.note(
                key,
                f"is the number {node.text[:40]}; write {{number: {node.text[:40]}}}, or quote it for a pattern",
            )
            return unusable
        case Mapping(items=items) if len(items) == 1 and next(iter(items)) in _GRADINGS:
            grading = Grading(next(iter(items)))
            inner = Fields(node, (*fields.place, key), fields.problems)
            if grading is not Grading.ALL_OF:
                return Expectation(grading, (inner.text(grading.value) or "",))
            parts = [as_text(item, place, fields.problems) for place, item in inner.items("all_of")]
            return Expectation(grading, tuple(part or "" for part in parts))
        case _:
            fields.note(key, f"must be {_TO_GRADE}, not {_described(node)}")
            return unusable


def _plain_expectation(fields: Fields, key: str, node: Scalar) -> Expectation:
    if not node.quoted and parse_date(node.text):
        fields.note(key, f"is a date; write {{date: {node.text}}}, or quote it for a pattern")
    return Expectation(Grading.REGEX, (fields.text(key) or "",))


def _described(node: Any) -> str:
    if isinstance(node, Mapping):
        return (
            "a mapping of " + ", ".join(repr(key) for key in list(node.items)[:5])
            if node.items
            else "an empty mapping"
        )
    return kind(node)
