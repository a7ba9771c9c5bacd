"""A foreign conversation on its way to a script: messages in the Messages API's form, each knowing where it came from.

An importer turns its format into a :class:`Conversation`; :mod:`memdash.scripts.importers.building` makes the script. So
whatever is odd about a conversation (a greeting first, results that are missing, ids that repeat) is dealt with once, for
every format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from memdash.errors import ScriptError

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in a file something stands: the line, where a file has one document a line, and the path inside the document."""

    path: Path | str
    line: int | None = None
    field: str = ""

    def key(self, name: str) -> Origin:
        """Return the place of the value of ``name`` in this object."""
        return Origin(self.path, self.line, f"{self.field}.{name}" if self.field else name)

    def item(self, index: int) -> Origin:
        """Return the place of the item ``index`` of this list."""
        return Origin(self.path, self.line, f"{self.field}[{index}]")

    def error(self, problem: str) -> ScriptError:
        """Return ``problem`` as an error that names this place."""
        return ScriptError(problem, path=self.path, line=self.line, field=self.field or None)

    def __str__(self) -> str:
        parts = [f"line {self.line}" if self.line else "", self.field]
        return ", ".join(part for part in parts if part) or "the file"


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON document of a file: the whole file, or a line of it."""

    value: Any
    origin: Origin


@dataclass(slots=True)
class Message:
    """One message; ``content`` are blocks of type text, image, document, tool_use (id, name, input) or tool_result (text)."""

    role: Role
    content: list[dict[str, Any]]
    origin: Origin


@dataclass(frozen=True, slots=True)
class FixedPart:
    """The system prompt and the tool definitions in force; no tools where the source does not give them."""

    system: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()


class Notes:
    """Warnings of an import; what occurs often is said once, with its number and its first place."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._places: dict[str, str] = {}

    def add(self, origin: Origin, text: str) -> None:
        """Note ``text`` about what stands at ``origin``."""
        self._counts[text] += 1
        self._places.setdefault(text, str(origin))

    def lines(self) -> tuple[str, ...]:
        """Return the warnings, in order of first occurrence."""
        return tuple(
            f"{self._places[text]}: {text}" + (f" ({count} times in all)" if count > 1 else "")
            for text, count in self._counts.items()
        )


@dataclass(slots=True)
class Conversation:
    """One conversation: its messages, the fixed part at its start, and later ones by the index of the message they came with."""

    messages: list[Message]
    origin: Origin
    notes: Notes
    fixed: FixedPart = FixedPart()
    changes: dict[int, FixedPart] = field(default_factory=dict)
    max_tokens: int | None = None
    effort: str | None = None
