"""YAML file -> :class:`Script`; docs/scripts.md describes the form."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from memdash.errors import ScriptError
from memdash.scripts.document import Mapping, Node, Sequence, line_of, parse
from memdash.scripts.fields import kind
from memdash.scripts.files import MAX_SCRIPT_BYTES, decode, read_text
from memdash.scripts.form import read_form
from memdash.scripts.model import Script
from memdash.scripts.problems import Place, Problem, Problems, TooManyProblems, spell
from memdash.scripts.validation import find_problems, with_warnings


def load_script(path: Path | str) -> Script:
    """Return the script in the YAML file ``path``, valid and with its warnings.

    Raises:
        ScriptError: the file cannot be read or is not a valid script; the message is that of the first problem.
    """
    path = Path(path)
    return parse_script(read_text(path, MAX_SCRIPT_BYTES), path)


def parse_script(text: str | bytes, path: Path | str = "script.yaml") -> Script:
    """Return the script in ``text``; ``path`` names it in messages and gives the id where the script has none.

    Raises:
        ScriptError: as :func:`load_script`.
    """
    script, errors = _read(text, path)
    if errors or script is None:
        raise errors[0]
    return script


def check_script(path: Path | str) -> tuple[Script | None, list[ScriptError]]:
    """Read the YAML file ``path`` and return the script and no errors, or None and every problem found, in order of line."""
    path = Path(path)
    try:
        return _read(read_text(path, MAX_SCRIPT_BYTES), path)
    except ScriptError as error:
        return None, [error]


def check_text(
    text: str | bytes, path: Path | str = "script.yaml"
) -> tuple[Script | None, list[ScriptError]]:
    """As :func:`check_script`, for text that is in no file, such as an upload or an edited copy."""
    try:
        return _read(text, path)
    except ScriptError as error:
        return None, [error]


def _read(text: str | bytes, path: Path | str) -> tuple[Script | None, list[ScriptError]]:
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    if len(text) > MAX_SCRIPT_BYTES:
        raise ScriptError(f"the script has more than {MAX_SCRIPT_BYTES // 1024 // 1024} MB", path=path)
    root = parse(decode(text, path), path)
    if not isinstance(root, Mapping):
        raise ScriptError(
            f"a script is a mapping (id: …, turns: …), not {kind(root)}", path=path, line=root.line
        )
    problems = Problems()
    with suppress(TooManyProblems):
        script = read_form(root, Path(path).stem, problems)
        # What belongs together is only looked at once each part is what it should be; else one mistake would make many messages.
        if not problems:
            problems += find_problems(script)
        if not problems:
            return with_warnings(script), []
    errors = [_located(root, problem, path) for problem in problems]
    return None, sorted(errors, key=lambda error: error.line or 0)


def _located(root: Mapping, problem: Problem, path: Path | str) -> ScriptError:
    place = problem.place
    # A turn with one step may give its calls directly; the message then names what is in the file.
    turn = _node(root, place[:2])
    if place[2:4] == ("steps", 0) and isinstance(turn, Mapping) and "calls" in turn.items:
        place = place[:2] + place[4:]
    return ScriptError(problem.text, path=path, line=line_of(root, place), field=spell(place))


def _node(root: Node, place: Place) -> Node | None:
    node: Node | None = root
    for part in place:
        if isinstance(node, Mapping) and isinstance(part, str):
            node = node.items.get(part)
        elif isinstance(node, Sequence) and isinstance(part, int):
            node = node.items[part] if part < len(node.items) else None
        else:
            return None
    return node
