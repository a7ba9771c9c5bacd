"""A comparison written as a file: the settings of ``memdash run`` by the names of its options, and what is asserted.

    script: trip-planning
    strategy:
      - full_history
      - compaction:2000
    token-counter: estimate
    assert:
      - kept>=baseline
      - cost_usd<=1.05*baseline

Values mean what they mean on the command line, whose own options go before them; its assertions are added. Scripts and strategies
that are files are looked for beside the file first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memdash.cli.setup import Setup
from memdash.errors import InputError, ScriptError

if TYPE_CHECKING:
    from memdash.scripts.document import Node
    from memdash.scripts.problems import Place, Problem

MAX_BYTES = 1024 * 1024
"""Largest file that is read."""
ASSERT = "assert"


@dataclass(frozen=True, slots=True)
class Written:
    """One value in the file: its text, and where it stands."""

    text: str
    line: int
    field: str


@dataclass(frozen=True, slots=True)
class RunFile:
    """The settings of a run as its file has them; ``settings`` are defaults for the options of the same parameters."""

    path: Path
    settings: Mapping[str, Any]
    written: Mapping[str, Sequence[Written]]

    @property
    def assertions(self) -> list[str]:
        """What is asserted, as written."""
        return [one.text for one in self.written.get(ASSERT, ())]

    def check(self, key: str, read: Callable[[str], object]) -> None:
        """Read every value of ``key``; raises :class:`ScriptError` with file, line and field for one that cannot be read."""
        for one in self.written.get(key, ()):
            try:
                read(one.text)
            except InputError as error:
                problem = str(error).removeprefix(f"--assert {one.text!r}: ")
                raise ScriptError(problem, path=self.path, line=one.line, field=one.field) from None


def read_run_file(path: Path, options: Sequence[click.Parameter], context: click.Context) -> RunFile:
    """Return what a file says; ``options`` are those of the command, which know what their values may be.

    Raises :class:`ScriptError` with file, line and field for the first thing that cannot be used.
    """
    from memdash.scripts.document import Mapping as MappingNode
    from memdash.scripts.document import line_of, parse
    from memdash.scripts.fields import kind
    from memdash.scripts.files import read_text
    from memdash.scripts.problems import Problems, spell

    if not path.exists():
        raise ScriptError("there is no such file; a script is given with --script", path=path)
    root = parse(read_text(path, MAX_BYTES), path)
    if not isinstance(root, MappingNode):
        raise ScriptError(
            f"a run is a mapping (script: …, strategy: …, assert: …), not {kind(root)}",
            path=path,
            line=root.line,
        )
    known = {one.opts[0].removeprefix("--"): one for one in options if one.name in _SETTINGS}
    problems = Problems()
    reader = _Reader(path.parent, context, problems)
    for key, node in root.items.items():
        reader.read(key, node, known)
    if problems:
        first = min(problems, key=lambda one: line_of(root, one.place))
        raise ScriptError(first.text, path=path, line=line_of(root, first.place), field=spell(first.place))
    written = {
        key: [Written(text, line_of(root, place), spell(place) or key) for place, text in texts]
        for key, texts in reader.written.items()
    }
    return RunFile(path, reader.settings, written)


_SETTINGS = frozenset(one.name for one in fields(Setup))
_FILES = frozenset(("script", "strategy"))
"""Settings whose values may be files."""


class _Reader:
    """Reads one key of the file after another, and notes what is wrong with it."""

    def __init__(self, folder: Path, context: click.Context, problems: list[Problem]) -> None:
        self._folder = folder
        self._context = context
        self._problems = problems
        self.settings: dict[str, Any] = {}
        self.written: dict[str, list[tuple[Place, str]]] = {}

    def read(self, key: str, node: Node, known: Mapping[str, click.Parameter]) -> None:
        from memdash.scripts.problems import Problem, suggest

        option = known.get(key)
        if key == ASSERT:
            self.written[key] = self._texts(key, node, several=True)
        elif option is None:
            hint = suggest(key, [*known, ASSERT])
            self._problems.append(Problem((key,), f"unknown key{hint}"))
        elif isinstance(option, click.Option) and option.is_flag:
            self._read_flag(key, node, option)
        else:
            texts = self._texts(key, node, several=option.multiple)
            self.written[key] = texts
            values = [self._converted(place, text, option) for place, text in texts]
            if values and option.name:
                self.settings[option.name] = values if option.multiple else values[0]

    def _read_flag(self, key: str, node: Node, option: click.Parameter) -> None:
        from memdash.scripts.fields import Fields

        value = Fields(_mapping(key, node), (), self._problems).boolean(key)
        if value is not None and option.name:
            self.settings[option.name] = value

    def _texts(self, key: str, node: Node, *, several: bool) -> list[tuple[Place, str]]:
        """The values of a key as written: one, or a list where there may be several."""
        from memdash.scripts.document import Sequence as SequenceNode
        from memdash.scripts.fields import as_text

        items: list[tuple[Place, Node]] = [((key,), node)]
        if several and isinstance(node, SequenceNode):
            items = [((key, index), item) for index, item in enumerate(node.items)]
        read = [(place, as_text(item, place, self._problems)) for place, item in items]
        return [
            (place, self._beside(text.strip()) if key in _FILES else text.strip())
            for place, text in read
            if text is not None
        ]

    def _converted(self, place: Place, text: str, option: click.Parameter) -> Any:
        """The value as the option takes it from the command line."""
        from memdash.scripts.problems import Problem

        try:
            option.type.convert(text, option, self._context)
        except click.BadParameter as error:
            self._problems.append(Problem(place, error.message.removesuffix(".")))
        return text

    def _beside(self, text: str) -> str:
        """The file of this name beside the file, where there is one; ``FILE.py:…`` names a strategy in a file.

        A name without an ending is an id.
        """
        end = text.find(".py")
        name, rest = (text, "") if end < 0 else (text[: end + 3], text[end + 3 :])
        path = self._folder / name
        return f"{path}{rest}" if Path(name).suffix and "\0" not in name and path.is_file() else text


def _mapping(key: str, node: Node) -> Node:
    from memdash.scripts.document import Mapping as MappingNode

    return MappingNode(node.line, {key: node}, {key: node.line})
