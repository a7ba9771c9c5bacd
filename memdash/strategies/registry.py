"""Every known strategy by name, and a choice of one with its parameters checked."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from memdash.errors import InputError
from memdash.strategies.base import Strategy
from memdash.strategies.own import Problem, discover, load_file
from memdash.strategies.parameters import Parameter, parameters


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """A strategy with its parameters, checked.

    ``params`` holds every parameter in its native type. ``file`` is where a strategy of the user's own is written, None for any
    other: another process finds it there. ``model`` is the only model it is meant for, where a threshold was given as a share of
    that model's context window; None is any.
    """

    name: str
    params: Mapping[str, Any]
    file: str | None = None
    model: str | None = None

    @property
    def label(self) -> str:
        """Its name in a comparison, for instance ``window of 4``.

        Somebody else's own strategy, which is not known here, is told by its name and parameters.
        """
        try:
            cls = strategy(self.name, self.file)
            settled = cls.Params(**self.params)
        except (InputError, TypeError):
            given = ", ".join(f"{name}={value}" for name, value in self.params.items())
            return f"{self.name} ({given})" if given else self.name
        return cls.label(settled)

    @property
    def signed_by_api(self) -> bool:
        """Whether the API signs what it keeps."""
        return strategy(self.name, self.file).signed_by_api

    def build(self) -> Strategy:
        """Return a new strategy at the start of a conversation."""
        cls = strategy(self.name, self.file)
        return cls(cls.Params(**self.params))


_registry: dict[str, type[Strategy]] = {}
_files: dict[str, str] = {}

S = TypeVar("S", bound=type[Strategy])


def register(cls: S) -> S:
    """Make a strategy known under its name; used as a class decorator by the built-in ones.

    Raises ValueError where the name is taken by another class.
    """
    known = _registry.setdefault(cls.name, cls)
    if known is not cls:
        raise ValueError(
            f"the strategy name {cls.name!r} is taken by {known.__module__}.{known.__qualname__}"
        )
    return cls


def strategies() -> tuple[type[Strategy], ...]:
    """Return every known strategy: the built-in ones, then the user's own in the order they were found."""
    for found in discover()[0]:
        if found.cls.name not in _registry:
            _registry[found.cls.name] = found.cls
            if found.file is not None:
                _files[found.cls.name] = found.file
    return tuple(_registry.values())


def strategy(name: str, file: str | None = None) -> type[Strategy]:
    """Return the strategy of this name; one of the user's own is loaded from its ``file`` where that is not done yet.

    Raises :class:`InputError` where there is none, with what comes near.
    """
    if name not in _registry and file is not None:
        _add_file(file)
    known = {cls.name: cls for cls in strategies()}
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise InputError(f"there is no strategy {name!r}{hint} Known are: {', '.join(known)}")
    return known[name]


def _add_file(file: str) -> tuple[type[Strategy], ...]:
    """Make the strategies of a file known; raises :class:`InputError` where a name is taken."""
    classes = load_file(file)
    for cls in classes:
        known = _registry.setdefault(cls.name, cls)
        if known is not cls:
            taken = _files.get(cls.name) or f"{known.__module__}.{known.__qualname__}"
            raise InputError(
                f"{file}: the strategy name {cls.name!r} is taken by {taken}; choose another name"
            )
        _files[cls.name] = file
    return classes


def parameters_of(name: str, file: str | None = None) -> tuple[Parameter, ...]:
    """Return what a strategy declares, the main parameter first; raises :class:`InputError` where there is none of this name."""
    return parameters(strategy(name, file).Params)


def file_of(name: str) -> str | None:
    """Return where a strategy of the user's own is written, None for any other."""
    return _files.get(name)


def choose(name: str, given: Mapping[str, Any] | None = None) -> StrategyChoice:
    """Return a checked choice: ``given`` parameters in their types, the others at their defaults.

    Raises :class:`InputError` for an unknown strategy or parameter and for a value out of range.
    """
    cls = strategy(name)
    declared = parameters(cls.Params)
    given = dict(given or {})
    unknown = given.keys() - {one.name for one in declared}
    if unknown:
        wrong = min(unknown)
        names = ", ".join(one.name for one in declared) or "none"
        raise InputError(f"{name}: there is no parameter {wrong!r}; its parameters: {names}")
    values: dict[str, Any] = {}
    for one in declared:
        try:
            values[one.name] = one.parse(given[one.name]) if one.name in given else one.default
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    try:
        settled = cls.Params(**values)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return StrategyChoice(name, dataclasses.asdict(settled), _files.get(name))


_FILE = re.compile(r"^(?P<path>.+\.py)(?::(?P<cls>[A-Za-z_]\w*))?(?::(?P<rest>.*))?$", re.DOTALL)


def name_and_rest(text: str) -> tuple[str, str | None]:
    """Split a written strategy into its registered name and its parameters, None where it has none.

    Raises :class:`InputError` where the file of a strategy of the user's own cannot be used.
    """
    own = _FILE.match(text)
    if own is None:
        name, colon, rest = text.partition(":")
        return name.strip(), rest if colon else None
    path = str(Path(own["path"]).resolve())
    classes = {cls.__name__: cls for cls in _add_file(path)}
    wanted = own["cls"]
    if wanted is None:
        if len(classes) > 1:
            raise InputError(f"{own['path']}: which strategy? Add one of :{', :'.join(classes)}")
        wanted = next(iter(classes))
    if wanted not in classes:
        raise InputError(f"{own['path']}: it defines no strategy {wanted!r}, but {', '.join(classes)}")
    return classes[wanted].name, own["rest"]


def strategy_problems() -> tuple[Problem, ...]:
    """Return what should have been a strategy of the user's own and could not be used, to be shown beside the known ones."""
    return discover()[1]
