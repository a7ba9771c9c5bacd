"""The settings of a sweep as curves over what was swept: one curve a family, and one for each setting that is not swept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from memdash.errors import InputError
from memdash.metrics.sweep import Setting
from memdash.palette import HUES, Style, assign
from memdash.strategies import Axis, Family, parameters, strategy


class Point(NamedTuple):
    """A setting at a value of the swept parameter; of a curve without an axis the value is None."""

    value: Any
    setting: Setting


@dataclass(frozen=True, slots=True)
class Curve:
    """The settings of one family, in rising order of ``axis``; None for a single setting.

    A family with two ranges gives a curve for each value of its second. ``unit`` is that of the swept parameter, "" where it
    has none; ``numeric`` is whether its values are numbers, ``geometric`` whether they are steps of a factor.
    """

    name: str
    strategy: str
    axis: str | None
    unit: str
    numeric: bool
    geometric: bool
    points: tuple[Point, ...]

    @property
    def settings(self) -> list[Setting]:
        """Its settings."""
        return [point.setting for point in self.points]

    @property
    def is_full_history(self) -> bool:
        """Whether it is what everything is measured against."""
        return self.points[0].setting.is_full_history


class Cell(NamedTuple):
    """A setting at the values of two swept parameters."""

    across: Any
    up: Any
    setting: Setting


@dataclass(frozen=True, slots=True)
class Grid:
    """A family with two ranges, on one model, cache and marks; combinations that cannot be run are not among the cells."""

    name: str
    strategy: str
    across: Axis
    up: Axis
    across_unit: str
    up_unit: str
    cells: tuple[Cell, ...]


def curves(families: Sequence[Family], settings: Sequence[Setting]) -> tuple[Curve, ...]:
    """Return the curves of a sweep: full history first, then those of each family, then settings that belong to none."""
    found: list[Curve] = []
    placed: set[str] = set()
    for family in families:
        for where, group in _conditions(settings).items():
            members = _members(family, group)
            placed.update(setting.series for _, setting in members)
            found += _of_family(family, members, where)
    alone = [_single(one) for one in settings if one.is_full_history or one.series not in placed]
    return tuple([*alone, *(one for one in found if not one.is_full_history)])


def grids(families: Sequence[Family], settings: Sequence[Setting]) -> tuple[Grid, ...]:
    """Return the families with two ranges, in the order they are given."""
    found = []
    for family in families:
        if len(family.axes) != 2:
            continue
        across, up = _across_first(family.axes)
        for where, group in _conditions(settings).items():
            members = _members(family, group)
            if members:
                found.append(
                    Grid(
                        name=_join(_title(family), where),
                        strategy=family.strategy,
                        across=_filled(across, members),
                        up=_filled(up, members),
                        across_unit=_unit(family, across.name),
                        up_unit=_unit(family, up.name),
                        cells=tuple(
                            Cell(values[across.name], values[up.name], one) for values, one in members
                        ),
                    )
                )
    return tuple(found)


def curve_styles(drawn: Sequence[Curve]) -> dict[str, Style]:
    """Give each curve its strategy's colour, and a marker that no other curve has while there are markers left.

    Markers are filled: a hollow one says that a threshold was never reached.
    """
    free = [hue.marker for hue in HUES]
    styles: dict[str, Style] = {}
    for name, style in assign((one.name, one.strategy) for one in drawn).items():
        marker = style.marker.removesuffix("-open")
        if marker not in free and free:
            marker = free[0]
        if marker in free:
            free.remove(marker)
        styles[name] = replace(style, marker=marker)
    return styles


def style_of(series: str, drawn: Iterable[Curve], styles: Mapping[str, Style]) -> Style:
    """Return the style of the first curve that a setting stands on. Raises KeyError where it stands on none."""
    for curve in drawn:
        if any(setting.series == series for setting in curve.settings):
            return styles[curve.name]
    raise KeyError(series)


Members = list[tuple[Mapping[str, Any], Setting]]
"""Settings of a family with their values of its swept parameters, by name."""


def _conditions(settings: Sequence[Setting]) -> dict[str, list[Setting]]:
    """Settings by what they share beside their strategy, told in words where there are several of it."""
    several = [len({get(one) for one in settings}) > 1 for get in _CONDITIONS]
    groups: dict[str, list[Setting]] = {}
    for one in settings:
        told = " · ".join(get(one) for get, many in zip(_CONDITIONS, several, strict=True) if many)
        groups.setdefault(told, []).append(one)
    return groups


_CONDITIONS: tuple[Callable[[Setting], str], ...] = (
    lambda one: one.model,
    lambda one: "no caching" if one.cache == "off" else f"{one.cache} cache",
    lambda one: f"{one.cache_marks} marks",
)


def _members(family: Family, settings: Sequence[Setting]) -> Members:
    """The settings that a family gives at some values of its swept parameters, whether it names these values or not."""
    found: Members = []
    for setting in settings:
        if setting.strategy != family.strategy:
            continue
        values = {axis.name: setting.params.get(axis.name) for axis in family.axes}
        try:
            choice = family.at(values, setting.model)
        except InputError:
            continue
        if dict(choice.params) == dict(setting.params):
            found.append((values, setting))
    return found


def _of_family(family: Family, members: Members, where: str) -> list[Curve]:
    if not members:
        return []
    if not family.axes:
        return [_single(setting) for _, setting in members]
    axis, *others = _across_first(family.axes)
    rows: dict[tuple[Any, ...], Members] = {}
    for values, setting in members:
        rows.setdefault(tuple(values[other.name] for other in others), []).append((values, setting))
    return [
        _curve(
            family,
            axis,
            _join(_title(family, dict(zip((o.name for o in others), row, strict=True))), where),
            group,
        )
        for row, group in sorted(rows.items(), key=lambda item: [_sort_key(value) for value in item[0]])
    ]


def _curve(family: Family, axis: Axis, name: str, members: Members) -> Curve:
    numeric = all(isinstance(values[axis.name], int | float) for values, _ in members)
    points = [Point(values[axis.name], setting) for values, setting in members]
    if numeric:
        points.sort(key=lambda point: float(point.value))
    return Curve(
        name=f"{name}, by {_words(axis.name)}",
        strategy=family.strategy,
        axis=axis.name,
        unit=_unit(family, axis.name),
        numeric=numeric,
        geometric=axis.geometric and numeric,
        points=tuple(points),
    )


def _single(setting: Setting) -> Curve:
    return Curve(setting.series, setting.strategy, None, "", False, False, (Point(None, setting),))


def _across_first(axes: Sequence[Axis]) -> list[Axis]:
    """The axis to draw along first: the one with numbers, and of two such the one with more values."""
    return sorted(axes, key=lambda axis: (not _is_numeric(axis), -len(axis.values)))


def _is_numeric(axis: Axis) -> bool:
    return all(isinstance(value, int | float) or str(value).endswith("%") for value in axis.values)


def _filled(axis: Axis, members: Members) -> Axis:
    """An axis with the values that were played, refined ones among them, shares as tokens."""
    values = sorted({values[axis.name] for values, _ in members}, key=_sort_key)
    return Axis(axis.name, tuple(values), axis.geometric)


def _sort_key(value: Any) -> tuple[bool, float, str]:
    number = isinstance(value, int | float)
    return (not number, float(value) if number else 0.0, str(value))


def _title(family: Family, row: Mapping[str, Any] | None = None) -> str:
    """Name a family by its strategy and what is fixed in it."""
    told = [f"{_words(name)} {value}" for name, value in {**family.given, **(row or {})}.items()]
    return ", ".join([strategy(family.strategy, family.file).title, *told])


def _unit(family: Family, name: str) -> str:
    declared = {one.name: one for one in parameters(strategy(family.strategy, family.file).Params)}
    return declared[name].unit


def _words(name: str) -> str:
    return name.replace("_", " ")


def _join(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
