"""Scripts as JSON (stored with a comparison, and hashed) and as YAML (for people)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

import yaml

from memdash.errors import ScriptError
from memdash.scripts.document import plain_value
from memdash.scripts.files import MAX_SCRIPT_BYTES
from memdash.scripts.generating import generate
from memdash.scripts.model import Expectation, Fact, Grading, Script, Step, ToolCall, Turn, Value
from memdash.scripts.validation import ensure_valid

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def to_json(script: Script) -> str:
    """Return ``script`` as canonical JSON: keys sorted, no spaces, so that equal scripts give equal text."""
    return _canonical(dataclasses.asdict(script))


def from_json(text: str | bytes) -> Script:
    """Return the script that :func:`to_json` wrote.

    Raises:
        ScriptError: the text is no script, or one that is not valid.
    """
    from pydantic import TypeAdapter, ValidationError  # slow to import, and only needed here

    try:
        script = TypeAdapter(Script).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ScriptError(f"not a stored script: {first['msg']}", field=place or None) from None
    return ensure_valid(script)


def script_hash(script: Script) -> str:
    """Return the SHA-256 (hexadecimal) of everything in ``script`` that is replayed or graded.

    Left out are its warnings, what a long result was generated from (the text it gave is what counts) and what kind of thing a
    fact is.
    """
    content = dataclasses.asdict(script)
    del content["warnings"]
    for fact in content["facts"]:
        del fact["kind"]
    for turn in content["turns"]:
        for step in turn["steps"]:
            for call in step["calls"]:
                del call["generated"]
    return hashlib.sha256(_canonical(content).encode()).hexdigest()


def _canonical(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def to_yaml(script: Script) -> str:
    """Return ``script`` in its YAML form (docs/scripts.md); loading it gives an equal script.

    Raises:
        ScriptError: the text is longer than a script file may be.
    """
    text: str = yaml.dump(
        _script_form(script),
        Dumper=_ScriptDumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
        default_flow_style=False,
    )
    if len(text.encode()) > MAX_SCRIPT_BYTES:
        most = MAX_SCRIPT_BYTES // 1024 // 1024
        raise ScriptError(
            f"the script {script.id} is larger than the {most} MB a YAML script may have; replay its source directly"
        )
    return text


class _ScriptDumper(_DUMPER):  # type: ignore[misc]  # the C dumper where PyYAML has it
    """Writes long texts as blocks, and quotes what the loader would not read back as text."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal objects out: scripts have no anchors."""
        return True


def _write_text(dumper: Any, text: str) -> Any:
    style = None
    if "\n" in text and _fits_block(text):
        style = "|"
    elif not isinstance(plain_value(text), str):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _fits_block(text: str) -> bool:
    """Say whether a literal block keeps ``text`` as it is and is pleasant to read."""
    lines = text.split("\n")
    return (
        not text.startswith((" ", "\n", "\t"))
        and all(line == line.rstrip() for line in lines)
        and not text.endswith("\n\n")
        and all(char == "\n" or (char.isprintable() and char != "\ufeff") for char in text)
    )


_ScriptDumper.add_representer(str, _write_text)


def _script_form(script: Script) -> dict[str, Any]:
    form: dict[str, Any] = {"id": script.id, "title": script.title}
    form |= _given(description=script.description, system=script.system)
    if script.tools:
        form["tools"] = [dict(tool) for tool in script.tools]
    form |= _given(tool_defaults=dict(script.tool_defaults))
    if script.max_tokens != 1024:
        form["max_tokens"] = script.max_tokens
    form |= {} if script.effort is None else {"effort": script.effort}
    form |= {} if script.fixed_tokens is None else {"fixed_tokens": script.fixed_tokens}
    form["turns"] = [_turn_form(turn) for turn in script.turns]
    return form | _given(facts=[_fact_form(fact) for fact in script.facts])


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _turn_form(turn: Turn) -> dict[str, Any]:
    only_text = len(turn.content) == 1 and set(turn.content[0]) == {"type", "text"}
    form: dict[str, Any] = {
        "user": turn.content[0]["text"] if only_text else [dict(block) for block in turn.content]
    }
    if turn.pause is not None:
        form["pause"] = int(turn.pause) if turn.pause.is_integer() else turn.pause
    form |= {} if turn.system is None else {"system": turn.system}
    form |= {} if turn.tools is None else {"tools": [dict(tool) for tool in turn.tools]}
    if len(turn.steps) == 1 and not turn.steps[0].text:
        form |= _step_form(turn.steps[0])
    elif turn.steps:
        form["steps"] = [_step_form(step) for step in turn.steps]
    return form | _given(reply=turn.reply)


def _step_form(step: Step) -> dict[str, Any]:
    calls = [
        {"id": call.id, "name": call.name}
        | _given(input=dict(call.input))
        | {"result": _result_form(call)}
        | _given(error=call.is_error)
        for call in step.calls
    ]
    return _given(say=step.text) | {"calls": calls}


def _result_form(call: ToolCall) -> Any:
    """A generated result as its recipe, as long as the recipe still makes this text."""
    recipe = call.generated
    if recipe is None or generate(recipe) != call.result:
        return call.result
    form = {"kind": recipe.kind.value, "lines": recipe.lines, "seed": recipe.seed}
    return {"generate": form | _given(include=list(recipe.include))}


def _fact_form(fact: Fact) -> dict[str, Any]:
    first, *updates = fact.values
    form: dict[str, Any] = {"id": fact.id, "turn": first.turn} | _given(kind=fact.kind)
    form |= {"question": fact.question} | _value_form(first)
    form |= _given(updates=[{"turn": value.turn} | _value_form(value) for value in updates])
    return form | _given(probe_after=list(fact.probe_after))


def _value_form(value: Value) -> dict[str, Any]:
    form = {"answer": _expectation_form(value.answer)}
    return form if value.text == value.answer else form | {"text": _expectation_form(value.text)}


def _expectation_form(expectation: Expectation) -> Any:
    match expectation.grading:
        case Grading.REGEX if _reads_as_text(expectation.values[0]):
            return expectation.values[0]
        case Grading.ALL_OF:
            return {"all_of": list(expectation.values)}
        case grading:
            return {grading.value: expectation.values[0]}


def _reads_as_text(pattern: str) -> bool:
    return isinstance(plain_value(pattern), str)
