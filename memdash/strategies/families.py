"""A strategy over a range of thresholds: what a sweep sweeps.

A family is written like a strategy, with ranges in place of values: ``compaction:trigger=1000..8000*2,words=150|300``.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from memdash.errors import InputError
from memdash.models import facts
from memdash.strategies.parameters import Parameter, parameters
from memdash.strategies.ranges import MOST_VALUES, Axis, is_share, read_values, spell_values, tokens_of
from memdash.strategies.registry import StrategyChoice, choose, file_of, parameters_of, strategy
from memdash.strategies.spelling import alternatives, escaped, read_spec

_MOST_AXES = 2


class Expansion(NamedTuple):
    """The settings that families stand for, without repetition, and the combinations that no strategy takes, with why."""

    choices: tuple[StrategyChoice, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """One strategy whose parameters are fixed by ``given`` (as written, by name) but for its ``axes``.

    With no axis it is a single setting, with two a grid. ``file`` is where a strategy of the user's own is written.
    """

    strategy: str
    given: Mapping[str, Any]
    axes: tuple[Axis, ...] = ()
    file: str | None = None

    def __str__(self) -> str:
        """Return it as it is written; :func:`parse_family` reads it back to an equal family."""
        declared = parameters(strategy(self.strategy, self.file).Params)
        swept = {axis.name: axis for axis in self.axes}
        written = [
            (one.name, _spelled(one, swept.get(one.name), self.given))
            for one in declared
            if one.name in swept or one.name in self.given
        ]
        name = self.strategy
        if self.file is not None:
            name = f"{self.file}:{strategy(self.strategy, self.file).__name__}"
        if not written:
            return name
        if len(written) == 1 and written[0][0] == declared[0].name and "=" not in written[0][1]:
            return f"{name}:{written[0][1]}"
        return f"{name}:{','.join(f'{key}={value}' for key, value in written)}"

    @property
    def size(self) -> int:
        """How many combinations of values it has, before any is left out."""
        return math.prod(len(axis.values) for axis in self.axes)

    def at(self, values: Mapping[str, Any], model: str | None = None) -> StrategyChoice:
        """Return the setting at these ``values`` of its parameters, by name; a share of a context window is that of ``model``.

        Raises :class:`InputError` where the strategy does not take them, or the model's window is not known.
        """
        declared = {one.name: one for one in parameters_of(self.strategy, self.file)}
        given = {**self.given, **values}
        shares = [
            name for name, value in given.items() if name in declared and is_share(declared[name], value)
        ]
        if not shares:
            return choose(self.strategy, given)
        window = _window(model, f"{self.strategy}: {shares[0]}: {given[shares[0]]}")
        return replace(
            choose(self.strategy, given | {name: tokens_of(given[name], window) for name in shares}),
            model=model,
        )

    def expand(self, models: Sequence[str]) -> Expansion:
        """Return its settings for these models: one for all of them, or one each where a value is a share of the window.

        Combinations that the strategy refuses are left out. Raises :class:`InputError` where none is left or a window that is
        needed is not known.
        """
        targets: Sequence[str | None] = models if self._has_shares() else (None,)
        for model in targets:
            if model is not None:
                _window(model, str(self))
        found: list[StrategyChoice] = []
        left_out: dict[str, None] = {}
        for combination in itertools.product(*(axis.values for axis in self.axes)):
            values = {axis.name: value for axis, value in zip(self.axes, combination, strict=True)}
            for model in targets:
                try:
                    found.append(self.at(values, model))
                except InputError as error:
                    if not self.axes:
                        raise
                    for_model = f" of {model}" if model is not None and len(targets) > 1 else ""
                    where = ", ".join(f"{name}={value}" for name, value in values.items())
                    left_out[f"{self.strategy}:{where}{for_model}: {_without_name(error, self.strategy)}"] = (
                        None
                    )
        if not found:
            raise InputError(f"{self}: no combination can be run; the first: {next(iter(left_out))}")
        return Expansion(merged(found, models), tuple(left_out))

    def choices(self, models: Sequence[str]) -> tuple[StrategyChoice, ...]:
        """Return the settings of :meth:`expand`."""
        return self.expand(models).choices

    def _has_shares(self) -> bool:
        declared = {one.name: one for one in parameters_of(self.strategy, self.file)}
        values = [*self.given.items(), *((axis.name, value) for axis in self.axes for value in axis.values)]
        return any(is_share(declared[name], value) for name, value in values)


def parse_family(text: str) -> Family:
    """Read a strategy whose values may be ranges, as written on the command line; see :mod:`memdash.strategies.ranges`.

    A range of one value is that value. Raises :class:`InputError` where it cannot be read, has more than two ranges or more than
    :data:`~memdash.strategies.ranges.MOST_VALUES` combinations.
    """
    name, written = read_spec(text)
    declared = {one.name: one for one in parameters_of(name)}
    given: dict[str, Any] = {}
    axes: list[Axis] = []
    for key, value in written.items():
        if key not in declared:
            choose(name, {key: value})  # says what there is
        try:
            values, geometric = read_values(declared[key], alternatives(value))
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        if len(values) == 1:
            given[key] = values[0]
        else:
            axes.append(Axis(key, values, geometric))
    family = Family(name, given, tuple(axes), file_of(name))
    if len(axes) > _MOST_AXES:
        ranged = ", ".join(axis.name for axis in axes)
        raise InputError(f"{text!r}: {ranged} are ranges; at most two parameters can be swept at once")
    if family.size > MOST_VALUES:
        raise InputError(
            f"{text!r}: {family.size:,} combinations are more than {MOST_VALUES:,}; take larger steps"
        )
    return family


def swept(families: Iterable[Family], models: Sequence[str]) -> Expansion:
    """Return what a sweep of these families plays: full history first, the baseline, and each setting once.

    Raises :class:`InputError` where a family has no setting that can be run.
    """
    found = [choose("full_history")]
    left_out: list[str] = []
    for family in families:
        expansion = family.expand(models)
        found += expansion.choices
        left_out += expansion.left_out
    return Expansion(merged(found, models), tuple(dict.fromkeys(left_out)))


def merged(choices: Iterable[StrategyChoice], models: Sequence[str]) -> tuple[StrategyChoice, ...]:
    """Return each setting once, where it first stands: settings are the same whose settled parameters are.

    One that is meant for every one of ``models`` is meant for any.
    """
    meant: dict[tuple[str, str], dict[str | None, StrategyChoice]] = {}
    for choice in choices:
        key = choice.name, json.dumps(dict(choice.params), sort_keys=True)
        meant.setdefault(key, {}).setdefault(choice.model, choice)
    kept: list[StrategyChoice] = []
    for by_model in meant.values():
        if None in by_model or by_model.keys() >= set(models):
            kept.append(replace(next(iter(by_model.values())), model=None))
        else:
            kept += by_model.values()
    return tuple(kept)


def _spelled(parameter: Parameter, axis: Axis | None, given: Mapping[str, Any]) -> str:
    if axis is None:
        return _written(given[parameter.name])
    return spell_values(axis, parameter) or "|".join(_written(value) for value in axis.values)


def _written(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return escaped(value) if isinstance(value, str) else str(value)


def _window(model: str | None, what: str) -> int:
    known = facts(model) if model is not None else None
    if known is None:
        whose = f"of {model!r}, which is not known" if model is not None else "of the model"
        raise InputError(f"{what} is a share of the context window {whose}; give a number of tokens")
    return known.context_window


def _without_name(error: InputError, name: str) -> str:
    return str(error).removeprefix(f"{name}: ")
