"""A YAML file as a tree of nodes that know their lines.

The tree is built from the parser's events, without recursion and without the parser's own constructors, so that a file can
neither create objects nor exhaust the stack or the memory: anchors, aliases and tags are refused, nesting is bounded, and a
key may stand once. Plain scalars are typed by YAML 1.2's core rules, so ``yes`` is a word and ``2026-06-14`` is text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import yaml

from memdash.errors import ScriptError
from memdash.scripts.files import MAX_DEPTH

_TOO_DEEP = f"lists and mappings are nested more than {MAX_DEPTH} deep"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MAX_VALUES = 200_000
"""Most values of a file, keys counted: far more than scripts need, and read in about a second."""
_INTEGER = re.compile(r"[-+]?[0-9]{1,4000}|0o[0-7]{1,20}|0x[0-9a-fA-F]{1,16}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")


@dataclass(slots=True)
class Scalar:
    """A single value: ``text`` as written, ``value`` as typed (a quoted scalar is always text)."""

    line: int
    text: str
    value: str | int | float | bool | None
    quoted: bool = False


@dataclass(slots=True)
class Sequence:
    """A list."""

    line: int
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class Mapping:
    """A mapping; ``key_lines`` holds the line of each key."""

    line: int
    items: dict[str, Node] = field(default_factory=dict)
    key_lines: dict[str, int] = field(default_factory=dict)


Node = Scalar | Sequence | Mapping


def parse(text: str, path: Path | str) -> Node:
    """Return the root node of the one document in ``text``.

    Raises:
        ScriptError: it is not YAML, or YAML that scripts do not use.
    """
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        raise ScriptError(
            f"there is a control character (U+{ord(control.group()):04X})", path=path, line=line
        )
    return _Composer(path).compose(text)


def line_of(root: Node, place: Iterable[str | int]) -> int:
    """Return the line of ``place``, or of the nearest thing around it that is in the file."""
    node, line = root, root.line
    for part in place:
        if isinstance(node, Mapping) and isinstance(part, str) and part in node.items:
            line, node = node.key_lines[part], node.items[part]
        elif isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
            line = node.line
        else:
            break
    return line


def plain_value(text: str) -> str | int | float | bool | None:
    """Return what an unquoted scalar stands for (YAML 1.2, core schema); infinities and NaN are floats."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE"):
        return True
    if text in ("false", "False", "FALSE"):
        return False
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITE.fullmatch(text):
        return -math.inf if text[0] == "-" else math.inf
    if text in (".nan", ".NaN", ".NAN"):
        return math.nan
    return text


class _Composer:
    """Builds the tree from events; one instance for one document."""

    def __init__(self, path: Path | str) -> None:
        self._path = path
        self._root: Node | None = None
        self._open: list[Sequence | Mapping] = []
        self._count = 0
        self._keys: list[str | None] = []  # the key that waits for its value, for each open mapping

    def compose(self, text: str) -> Node:
        for event in self._events(text):
            self._take(event)
        if self._root is None:
            raise ScriptError("the file is empty", path=self._path)
        return self._root

    def _events(self, text: str) -> Iterator[Any]:
        try:
            yield from yaml.parse(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else None
            raise ScriptError(_explain(error), path=self._path, line=line) from None
        except (yaml.YAMLError, ValueError, UnicodeError) as error:
            raise ScriptError(f"not valid YAML: {str(error).splitlines()[0]}", path=self._path) from None

    def _take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            self._refuse(
                line,
                f"anchors and aliases are not used here ({sign}{event.anchor}); write the value out",
            )
        tag = getattr(event, "tag", None)
        if tag and tag != "!":
            self._refuse(line, f"tags are not used here ({tag}); leave it out")
        match event:
            case yaml.DocumentStartEvent():
                if self._root is not None:
                    self._refuse(line, "there is a second document; a file holds one")
            case yaml.ScalarEvent():
                plain = event.style is None or event.style == ""
                value = plain_value(event.value) if plain else event.value
                self._add(Scalar(line, event.value, value, quoted=not plain))
            case yaml.SequenceStartEvent():
                self._enter(Sequence(line))
            case yaml.MappingStartEvent():
                self._enter(Mapping(line))
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._open.pop()
                self._keys.pop()

    def _enter(self, node: Sequence | Mapping) -> None:
        self._add(node)
        if len(self._open) == MAX_DEPTH:
            self._refuse(node.line, _TOO_DEEP)
        self._open.append(node)
        self._keys.append(None)

    def _add(self, node: Node) -> None:
        self._count += 1
        if self._count > MAX_VALUES:
            self._refuse(node.line, f"the file holds more than {MAX_VALUES:,} values")
        if not self._open:
            self._root = node
            return
        parent = self._open[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif self._keys[-1] is None:
            self._begin_key(parent, node)
        else:
            parent.items[self._keys[-1]] = node
            self._keys[-1] = None

    def _begin_key(self, parent: Mapping, node: Node) -> None:
        if not isinstance(node, Scalar):
            self._refuse(node.line, "a key is a list or a mapping; keys are words")
        elif node.text in parent.key_lines:
            self._refuse(
                node.line, f"the key {node.text!r} stands twice (first in line {parent.key_lines[node.text]})"
            )
        else:
            parent.key_lines[node.text] = node.line
            self._keys[-1] = node.text

    def _refuse(self, line: int, problem: str) -> NoReturn:
        raise ScriptError(problem, path=self._path, line=line)


def _explain(error: yaml.MarkedYAMLError) -> str:
    """Return the parser's complaint with a hint where people commonly meet it."""
    problem = str(error.problem or error.context or "syntax error")
    if (
        "nesting depth" in problem
    ):  # the parser's own bound, met before ours where a file is nothing but brackets
        return _TOO_DEEP
    if "cannot start any token" in problem:
        problem += " (indent by spaces, not tabs; a text that begins with @, ` or % needs quotes)"
    elif "mapping values are not allowed" in problem:
        problem += " (a text with a colon needs quotes)"
    return f"not valid YAML: {problem}"
