"""The input for the values of a swept parameter: a list, equal steps or a factor, with the values shown as they will run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

import streamlit as st

from memdash import numbers
from memdash.errors import InputError
from memdash.strategies import Axis, Parameter
from memdash.strategies.ranges import read_values, spell_values
from memdash.views.components import plain
from memdash.views.parameter_input import caption

_MOST_SHOWN: Final = 12
_SPELLED = re.compile(r"(.+)\.\.(.+?)([/*])(.+)")


class Kind(StrEnum):
    """How values are given."""

    LIST = "list"
    STEPS = "steps"
    FACTOR = "factor"


_NAMES: Final = {Kind.LIST: "List", Kind.STEPS: "Equal steps", Kind.FACTOR: "Factor"}
_STEP_NAMES: Final = {Kind.STEPS: "Step", Kind.FACTOR: "Factor"}
_SIGNS: Final = {Kind.STEPS: "/", Kind.FACTOR: "*"}
_HELP: Final = (
    "Values by themselves, evenly spaced, or each a factor times the one before. A number of tokens may be a share of the "
    "model's context window, such as 5%."
)


class Written(NamedTuple):
    """Values as they are written into the inputs."""

    kind: Kind
    listed: str
    first: str
    last: str
    step: str


def range_input(key: str, parameter: Parameter, seed: Axis | None) -> Axis:
    """Let the person give the values of a parameter; ``seed`` is what stands there first.

    Raises :class:`InputError` where they cannot be read.
    """
    if parameter.choices or parameter.type is bool:
        return _choice_input(key, parameter, seed)
    written = write(parameter, seed or suggested(parameter))
    kind = st.segmented_control(
        caption(parameter)[:1].upper() + caption(parameter)[1:],
        list(Kind),
        default=written.kind,
        required=True,
        format_func=_NAMES.__getitem__,
        key=key + "kind",
        help=f"{plain(parameter.help)}. {_HELP}",
        width="stretch",
    )
    if kind == Kind.LIST:
        text = st.text_input(
            "Values",
            written.listed,
            placeholder="500, 1000, 2000",
            key=key + "list",
            label_visibility="collapsed",
        )
        parts = [part.strip() for part in re.split(r"[,;|\s]+", text) if part.strip()]
        if not parts:
            raise InputError(f"{parameter.name}: give at least one value")
    else:
        columns = st.columns(3, gap="small")
        first = columns[0].text_input("From", written.first, key=key + "from")
        last = columns[1].text_input("To", written.last, key=key + "to")
        step = columns[2].text_input(_STEP_NAMES[kind], written.step, key=f"{key}{kind}")
        parts = [f"{first.strip()}..{last.strip()}{_SIGNS[kind]}{step.strip()}"]
    values, geometric = read_values(parameter, parts)
    st.caption(f"Runs at {plain(told(values))}")
    return Axis(parameter.name, values, geometric)


def told(values: Sequence[Any]) -> str:
    """Spell the values of a range, the first and the last of very many."""
    shown = [f"{one:,}" if isinstance(one, int) and not isinstance(one, bool) else f"{one}" for one in values]
    if len(shown) > _MOST_SHOWN:
        shown = [*shown[: _MOST_SHOWN - 2], "…", shown[-1]]
        return f"{', '.join(shown)} ({numbers.count(len(values), 'value')})"
    return ", ".join(shown)


def write(parameter: Parameter, axis: Axis) -> Written:
    """Return how the values of an axis are written into the inputs: as a range where they are one."""
    listed = ", ".join(str(one) for one in axis.values)
    first, last = str(axis.values[0]), str(axis.values[-1])
    spelled = _SPELLED.fullmatch(spell_values(axis, parameter) or "")
    if spelled is None:
        return Written(Kind.LIST, listed, first, last, "")
    kind = Kind.FACTOR if spelled[3] == "*" else Kind.STEPS
    return Written(kind, listed, spelled[1], spelled[2], spelled[4])


def suggested(parameter: Parameter) -> Axis:
    """Values to begin with: the default, half of it and twice of it, within the parameter's bounds."""
    middle = parameter.default or parameter.minimum or 1
    kind: Any = parameter.type
    values = [kind(middle * factor) for factor in (0.5, 1, 2)]
    if parameter.minimum is not None:
        values = [max(one, kind(parameter.minimum)) for one in values]
    if parameter.maximum is not None:
        values = [min(one, kind(parameter.maximum)) for one in values]
    return Axis(parameter.name, tuple(sorted(set(values))), geometric=False)


def _choice_input(key: str, parameter: Parameter, seed: Axis | None) -> Axis:
    options: list[Any] = [False, True] if parameter.type is bool else list(parameter.choices)
    chosen = st.multiselect(
        caption(parameter)[:1].upper() + caption(parameter)[1:],
        options,
        default=[one for one in (seed.values if seed else options) if one in options],
        format_func=lambda one: {True: "on", False: "off"}.get(one, str(one).replace("_", " ")),
        key=key + "choices",
        help=plain(parameter.help),
    )
    if not chosen:
        raise InputError(f"{parameter.name}: choose at least one value")
    return Axis(parameter.name, tuple(one for one in options if one in chosen))
