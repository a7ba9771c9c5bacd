"""Read typed fields from the nodes of a YAML document; every problem is noted with its place, and reading goes on."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence as SequenceOf
from typing import Any

from memdash.scripts.document import Mapping, Node, Scalar, Sequence
from memdash.scripts.problems import Place, Problem, brief, nearest, suggest

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
"""Form of the ids of scripts and facts."""
KIND = re.compile(r"[a-z][a-z0-9_-]{0,29}")
"""Form of the kind of a fact: a word that fits into a table."""


class Fields:
    """A mapping of the document: each method reads one field, notes what is wrong with it and then returns None."""

    def __init__(self, node: Node, place: Place, problems: list[Problem]) -> None:
        self.place = place
        self.problems = problems
        self._items: dict[str, Node] = {}
        self._misspelt: set[str | None] = set()
        if isinstance(node, Mapping):
            self._items = node.items
            self.is_mapping = True
        else:
            self.is_mapping = False
            self.note("", f"must be a mapping (key: value), not {kind(node)}")

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def note(self, key: str, text: str) -> None:
        """Note a problem of the field ``key``, or of the whole mapping where ``key`` is empty."""
        self.problems.append(Problem((*self.place, key) if key else self.place, text))

    def only(self, known: SequenceOf[str]) -> None:
        """Note every key that is not one of ``known``."""
        for key in self._items:
            if key not in known:
                self.note(key, f"unknown key{suggest(key, known)}")
                self._misspelt.add(nearest(key, known))

    def need(self, *keys: str) -> None:
        """Note each of ``keys`` that is missing, unless :meth:`only` has seen it misspelt or this is no mapping."""
        if self.is_mapping:
            for key in keys:
                if key not in self._items and key not in self._misspelt:
                    self.note("", f"{key!r} is missing")

    def node(self, key: str) -> Node | None:
        """Return the node of ``key``; None where it is missing."""
        return self._items.get(key)

    def text(self, key: str, *, empty: bool = False) -> str | None:
        """Read text; a plain number or date counts as what is written. ``empty`` says whether it may be empty."""
        node = self._items.get(key)
        return None if node is None else as_text(node, (*self.place, key), self.problems, empty=empty)

    def identifier(self, key: str) -> str | None:
        """Read an id: letters, digits, ``_``, ``.`` and ``-``, at most 80."""
        text = self.text(key)
        if text is not None and not ID.fullmatch(text):
            self.note(
                key,
                f"{brief(text)} is no id; use letters, digits, '_', '.' and '-', at most 80, a letter or digit first",
            )
            return None
        return text

    def integer(self, key: str, low: int, high: int) -> int | None:
        """Read a whole number from ``low`` to ``high``."""
        node = self._items.get(key)
        return None if node is None else as_integer(node, (*self.place, key), self.problems, low, high)

    def number(self, key: str, low: float, high: float) -> float | None:
        """Read a finite number from ``low`` to ``high``."""
        node = self._items.get(key)
        if node is None:
            return None
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.note(key, f"must be a number, not {kind(node)}")
        elif not math.isfinite(value) or not low <= value <= high:
            self.note(
                key,
                f"must be from {low:,g} to {high:,g}, not {brief(node.text) if isinstance(node, Scalar) else value}",
            )
        else:
            return float(value)
        return None

    def boolean(self, key: str) -> bool | None:
        """Read true or false."""
        node = self._items.get(key)
        if node is None:
            return None
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        self.note(key, f"must be true or false, not {kind(node)}")
        return None

    def items(self, key: str) -> list[tuple[Place, Node]]:
        """Read a list; empty where it is missing or no list."""
        node = self._items.get(key)
        if node is None:
            return []
        if not isinstance(node, Sequence):
            self.note(key, f"must be a list, not {kind(node)}")
            return []
        return [((*self.place, key, index), item) for index, item in enumerate(node.items)]

    def json_object(self, key: str) -> dict[str, Any] | None:
        """Read a JSON object: any keys and values, all numbers finite."""
        node = self._items.get(key)
        return None if node is None else as_json_object(node, (*self.place, key), self.problems)


def kind(node: Node) -> str:
    """Say what ``node`` is, for messages."""
    if isinstance(node, Sequence):
        return "a list"
    if isinstance(node, Mapping):
        return "a mapping"
    if node.value is None:
        return "empty"
    if isinstance(node.value, bool):
        return f"the truth value {node.text}"
    if isinstance(node.value, int | float):
        return f"the number {node.text[:40]}"
    return f"the text {brief(node.text)}"


def as_text(node: Node, place: Place, problems: list[Problem], *, empty: bool = False) -> str | None:
    """Read ``node`` as text, see :meth:`Fields.text`."""
    if not isinstance(node, Scalar):
        problems.append(Problem(place, f"must be text, not {kind(node)}"))
    elif node.value is None or (not empty and not node.text.strip()):
        hint = 'write "" for an empty text' if empty else "write the text, or leave the key out"
        problems.append(Problem(place, f"is empty; {hint}"))
    else:
        return node.text
    return None


def as_integer(node: Node, place: Place, problems: list[Problem], low: int, high: int) -> int | None:
    """Read ``node`` as a whole number from ``low`` to ``high``."""
    value = node.value if isinstance(node, Scalar) else None
    if isinstance(value, bool) or not isinstance(value, int):
        problems.append(Problem(place, f"must be a whole number, not {kind(node)}"))
    elif not low <= value <= high:
        shown = node.text[:40] if isinstance(node, Scalar) else value
        problems.append(Problem(place, f"must be from {low:,} to {high:,}, not {shown}"))
    else:
        return value
    return None


def as_json_object(node: Node, place: Place, problems: list[Problem]) -> dict[str, Any] | None:
    """Read ``node`` as a JSON object."""
    if not isinstance(node, Mapping):
        problems.append(Problem(place, f"must be a mapping, not {kind(node)}"))
        return None
    before = len(problems)
    value = _json(node, place, problems)
    return value if len(problems) == before else None


def _json(node: Node, place: Place, problems: list[Problem]) -> Any:
    """The JSON value of ``node``; recursion is bounded by the document's depth."""
    if isinstance(node, Mapping):
        return {key: _json(item, (*place, key), problems) for key, item in node.items.items()}
    if isinstance(node, Sequence):
        return [_json(item, (*place, index), problems) for index, item in enumerate(node.items)]
    if isinstance(node.value, float) and not math.isfinite(node.value):
        problems.append(Problem(place, f"must be a finite number, not {node.text[:40]}"))
        return None
    return node.value
