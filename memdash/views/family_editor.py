"""The strategies of a sweep with their ranges: a row each, the values in sight, everything else behind a button."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from memdash import numbers
from memdash.errors import InputError
from memdash.strategies import Axis, Family, Parameter, parameters, parse_family, strategies, strategy
from memdash.views.choices import SweepChoices
from memdash.views.components import clip, plain
from memdash.views.parameter_input import parameter_input
from memdash.views.range_input import range_input, suggested, told

_NOTHING: Final = ""
"""The choice of no swept parameter."""

_HELP: Final = (
    "Each strategy is played at every value of its swept parameter; two swept parameters make a grid. Full history is always "
    "played too: everything is measured against it."
)


def families_input(prefix: str, seed: SweepChoices, models: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Draw the rows; returns the families as they are spelled, and what is wrong with them."""
    if prefix + "rows" not in st.session_state:
        st.session_state[prefix + "rows"] = dict(enumerate(seed.families))
    rows: dict[int, str] = st.session_state[prefix + "rows"]
    chosen: list[str] = []
    trouble = ""
    with st.container(gap="xsmall"):
        st.markdown(":small[Strategies to sweep]", help=_HELP)
        for number, text in list(rows.items()):
            try:
                chosen.append(_row(f"{prefix}row.{number}.", number, parse_family(text), rows, models))
            except InputError as error:
                trouble = str(error)
                st.caption(f":red[{plain(trouble)}]")
        st.menu_button(
            "Add a strategy",
            [cls.name for cls in strategies() if parameters(cls.Params)],
            format_func=lambda name: plain(strategy(name).title),
            icon=":material/add:",
            type="tertiary",
            key=prefix + "add",
            on_click=_add,
            args=(prefix,),
        )
    return tuple(dict.fromkeys(chosen)), trouble


def _row(key: str, number: int, seed: Family, rows: dict[int, str], models: Sequence[str]) -> str:
    """One family: its values in sight, the inputs behind a button. Raises :class:`InputError`."""
    cls = strategy(seed.strategy, seed.file)
    with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall"):
        words = st.container(width="stretch")  # filled below, once the values are known
        with st.popover(
            "", icon=":material/tune:", type="tertiary", help="Ranges and parameters", key=key + "more"
        ):
            st.markdown(f"**{plain(cls.title)}**")
            st.caption(plain(cls.description))
            editor = st.container()
        st.button(
            "",
            icon=":material/close:",
            type="tertiary",
            key=key + "remove",
            help=f"Remove {plain(cls.title)}",
            on_click=_remove,
            args=(rows, number),
        )
    try:
        with editor:
            family = _editor(key, seed, parameters(cls.Params))
            expansion = family.expand(models)
            if expansion.left_out:
                left_out = numbers.count(len(expansion.left_out), "combination")
                st.caption(f":orange[{left_out} left out: {plain(clip(expansion.left_out[0], 120))}]")
    except InputError:
        words.markdown(plain(cls.title))
        raise
    words.markdown(f"{plain(cls.title)}  \n:small[:gray[{plain(clip(_summary(family), 90))}]]")
    return str(family)


def _summary(family: Family) -> str:
    swept = [f"{_words(axis.name)}: {told(axis.values)}" for axis in family.axes]
    return " · ".join([*swept, *(f"{_words(name)} {value}" for name, value in family.given.items())])


def _editor(key: str, seed: Family, declared: Sequence[Parameter]) -> Family:
    """Which parameters are swept, over which values, and what the others are."""
    by_name = {one.name: one for one in declared}
    seeds = {axis.name: axis for axis in seed.axes}
    first = _swept_input(key + "first", "Sweep", list(by_name), list(seeds)[:1])
    names = [first] if first else []
    axes = [_axis(key, by_name[first], seeds.get(first), seed)] if first else []
    rest = [name for name in by_name if name != first]
    if first and rest:
        second = _swept_input(key + "second", "And, for a grid", rest, list(seeds)[1:])
        if second:
            names.append(second)
            axes.append(_axis(key, by_name[second], seeds.get(second), seed))
    given: dict[str, Any] = {}
    fixed = [one for one in declared if one.name not in names]
    if fixed:
        st.caption("The same for every value")
    values: Mapping[str, Any] = {one.name: seed.given.get(one.name, one.default) for one in declared}
    for one in fixed:
        value = parameter_input(key, one, values)
        if value != one.default or one.name in seed.given:
            given[one.name] = value
    return Family(seed.strategy, given, tuple(axes), seed.file)


def _swept_input(key: str, label: str, names: Sequence[str], seeded: Sequence[str]) -> str:
    options = [*names, _NOTHING]
    default = seeded[0] if seeded and seeded[0] in names else _NOTHING
    return st.selectbox(
        label,
        options,
        index=options.index(default),
        format_func=lambda name: _words(name) if name else "nothing more",
        key=key,
    )


def _axis(key: str, parameter: Parameter, seed: Axis | None, family: Family) -> Axis:
    """The values of a swept parameter; what was a single value becomes the first suggestion of a range."""
    return range_input(f"{key}{parameter.name}.range.", parameter, seed or _from_given(parameter, family))


def _from_given(parameter: Parameter, family: Family) -> Axis | None:
    if parameter.choices or parameter.type is bool or parameter.name not in family.given:
        return None
    around = suggested(parameter).values
    values = {*around, family.given[parameter.name]}
    return Axis(parameter.name, tuple(sorted(one for one in values if isinstance(one, int | float))))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _remove(rows: dict[int, str], number: int) -> None:
    rows.pop(number, None)


def _add(prefix: str) -> None:
    name = st.session_state[prefix + "add"]
    if name is None:
        return
    main = parameters(strategy(name).Params)[0]
    axes = () if main.choices or main.type is bool else (suggested(main),)
    rows: dict[int, str] = st.session_state[prefix + "rows"]
    rows[max(rows, default=-1) + 1] = str(Family(name, {}, axes, None))
