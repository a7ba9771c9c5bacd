"""Strategies of the user's own: from a file, from a folder named in the environment, from an installed package.

A strategy in a file runs as the user's own code, so a path is only ever taken from the command line, from a run's file that is
named there, or from the environment, never from a page.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from memdash.errors import InputError
from memdash.strategies.base import Strategy
from memdash.strategies.parameters import parameters

FOLDER_VARIABLE = "MEMDASH_STRATEGIES"
"""Names a folder whose ``*.py`` files hold strategies (several folders are separated as in PATH)."""

ENTRY_POINTS = "memdash.strategies"
"""The entry point group under which an installed package offers strategies."""


@dataclass(frozen=True, slots=True)
class Found:
    """A strategy of the user's own and the file it was loaded from, None for an installed one."""

    cls: type[Strategy]
    file: str | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that should have been a strategy and could not be used."""

    where: str
    message: str


@cache
def load_file(path: str) -> tuple[type[Strategy], ...]:
    """Run a Python file and return the strategies it defines, in order.

    Raises :class:`InputError` with the file's own line where it cannot be run or defines none that can be used.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{path}: there is no such file; name a Python file that defines a strategy")
    module = _run(file)
    classes = [
        one
        for one in vars(module).values()
        if inspect.isclass(one) and issubclass(one, Strategy) and one.__module__ == module.__name__
    ]
    found = tuple(one for one in classes if not inspect.isabstract(one))
    if not found:
        unfinished = "; ".join(
            f"{one.__name__} lacks {', '.join(sorted(one.__abstractmethods__))}" for one in classes
        )
        raise InputError(
            f"{path}: it defines no strategy; write a class that derives from memdash.strategies.Strategy and has context() and "
            f"close(){f' ({unfinished})' if unfinished else ''}"
        )
    for cls in found:
        check_declaration(cls, path)
    return found


def _run(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"memdash_own_{abs(hash(str(file)))}_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise InputError(f"{file}: not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[spec.name]
        line = getattr(error, "lineno", None) or _line_in(error, file)
        raise InputError(f"{file}:{line}: {type(error).__name__}: {error}") from None
    return module


def _line_in(error: Exception, file: Path) -> int | str:
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)
    ]
    return (lines and lines[-1]) or "?"


def check_declaration(cls: type[Strategy], where: str) -> None:
    """Raise :class:`InputError` where a class does not say what every strategy must say of itself."""
    for name in ("name", "title", "description"):
        value = getattr(cls, name, None)
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{where}: {cls.__name__}.{name} must be a text")
    if not cls.name.isidentifier():
        raise InputError(f"{where}: {cls.__name__}.name is {cls.name!r}; use letters, digits and underscores")
    try:
        parameters(cls.Params)
    except (AttributeError, TypeError, ValueError, NameError) as error:
        raise InputError(
            f"{where}: {cls.__name__}.Params must be a frozen dataclass of param() fields: {error}"
        ) from None


@cache
def discover() -> tuple[tuple[Found, ...], tuple[Problem, ...]]:
    """Find the strategies of installed packages and of the folders in ``MEMDASH_STRATEGIES``, once in a process.

    One that cannot be used is a problem to be shown, and spoils nothing else.
    """
    found: list[Found] = []
    problems: list[Problem] = []
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            cls = entry.load()
            if not (inspect.isclass(cls) and issubclass(cls, Strategy)):
                raise InputError(f"{entry.value} is not a strategy class")
            check_declaration(cls, entry.value)
            found.append(Found(cls, None))
        except Exception as error:
            problems.append(Problem(f"entry point {entry.name}", str(error)))
    for file in _folder_files():
        try:
            found.extend(Found(cls, str(file)) for cls in load_file(str(file)))
        except InputError as error:
            problems.append(Problem(str(file), str(error)))
    return tuple(found), tuple(problems)


def _folder_files() -> Iterator[Path]:
    for folder in filter(None, os.environ.get(FOLDER_VARIABLE, "").split(os.pathsep)):
        yield from sorted(one for one in Path(folder).resolve().glob("*.py") if not one.name.startswith("_"))
