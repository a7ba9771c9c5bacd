"""The settings of a sweep as points of a grid: which are next to each other, and what lies between."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeGuard

from memdash.errors import InputError
from memdash.metrics.sweep.midpoints import Number, midpoint
from memdash.spec import ComparisonSpec
from memdash.strategies import Family, StrategyChoice


class Gap(NamedTuple):
    """Two played settings that are neighbours on an axis of their family, and the setting between them."""

    low: StrategyChoice
    high: StrategyChoice
    between: StrategyChoice


def gaps(spec: ComparisonSpec) -> Iterator[Gap]:
    """Yield the gaps between played settings that are wide enough to look into."""
    for family in spec.sweep.families if spec.sweep else ():
        members = _members(spec, family)
        for axis in family.axes:
            for low, high in _next_to_each_other(members, family, axis.name):
                value = midpoint(low.params[axis.name], high.params[axis.name], geometric=axis.geometric)
                between = None if value is None else _moved(family, low, axis.name, value)
                if between is not None:
                    yield Gap(low, high, between)


def steps_aside(spec: ComparisonSpec, setting: StrategyChoice) -> Iterator[StrategyChoice]:
    """Yield the neighbours that a played setting lacks on an axis.

    A setting between two grid points lies on one line of the grid; on the other axis its neighbours are values that the grid
    has elsewhere.
    """
    for family in spec.sweep.families if spec.sweep else ():
        members = _members(spec, family)
        if setting not in members:
            continue
        for axis in family.axes:
            own = setting.params[axis.name]
            if not is_number(own):
                continue
            grid = _values(members, axis.name)
            line = _values(
                (
                    one
                    for one in members
                    if _elsewhere(one, family, axis.name) == _elsewhere(setting, family, axis.name)
                ),
                axis.name,
            )
            lower, higher = [one for one in grid if one < own], [one for one in grid if one > own]
            found = []
            if lower and min(line) == own:
                found.append(_moved(family, setting, axis.name, max(lower)))
            if higher and max(line) == own:
                found.append(_moved(family, setting, axis.name, min(higher)))
            yield from (one for one in found if one is not None)


def is_number(value: object) -> TypeGuard[Number]:
    """Return whether a parameter's value has values between it and another; a truth value has none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _members(spec: ComparisonSpec, family: Family) -> list[StrategyChoice]:
    """The played settings of a family, at whatever values of its axes."""
    return [one for one in (*spec.strategies, *spec.refined) if _belongs(one, family, spec.models[0])]


def _belongs(choice: StrategyChoice, family: Family, model: str) -> bool:
    if choice.name != family.strategy:
        return False
    values = {axis.name: choice.params[axis.name] for axis in family.axes}
    try:
        return family.at(values, choice.model or model).params == choice.params
    except InputError:
        return False


def _next_to_each_other(
    members: Iterable[StrategyChoice], family: Family, name: str
) -> Iterator[tuple[StrategyChoice, StrategyChoice]]:
    """Yield the settings that differ in this parameter alone, each with the next one in rising order."""
    lines: dict[str, list[StrategyChoice]] = {}
    for member in members:
        if is_number(member.params[name]):
            lines.setdefault(json.dumps(_elsewhere(member, family, name)), []).append(member)
    for line in lines.values():
        yield from pairwise(sorted(line, key=lambda member: member.params[name]))


def _elsewhere(choice: StrategyChoice, family: Family, name: str) -> list[Any]:
    """Where a setting stands apart from this axis: its model, and its values on the others."""
    return [choice.model, *(choice.params[axis.name] for axis in family.axes if axis.name != name)]


def _values(members: Iterable[StrategyChoice], name: str) -> list[Number]:
    return [value for one in members if is_number(value := one.params[name])]


def _moved(family: Family, setting: StrategyChoice, name: str, value: Number) -> StrategyChoice | None:
    """The setting with another value on one axis; None where the strategy does not take it."""
    values: Mapping[str, Any] = {axis.name: setting.params[axis.name] for axis in family.axes} | {name: value}
    try:
        return replace(family.at(values, setting.model), model=setting.model)
    except InputError:
        return None
