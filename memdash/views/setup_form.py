"""The setup form in the sidebar: what to compare, what it will cost, and Run.

The strategies' parts are drawn from their parameter declarations; no strategy has code of its own here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from memdash.errors import InputError
from memdash.scripts.model import Script
from memdash.spec import ComparisonSpec
from memdash.strategies import StrategyChoice, choose, parameters, strategies, strategy
from memdash.views import address
from memdash.views.choices import Choices, needed, of_spec, read_strategy, spell, to_spec
from memdash.views.components import clip, plain
from memdash.views.estimate import estimate_line
from memdash.views.form_parts import (
    advanced_input,
    conditions_input,
    length_input,
    models_input,
    provider_badge,
    provider_input,
    run_button,
    scripts_input,
)
from memdash.views.parameter_input import caption, parameter_input
from memdash.views.state import scripts_at_hand


@st.fragment(key="setup")
def setup_form() -> None:
    """Draw the form. It reruns alone, so that choosing leaves the results beside it untouched."""
    seed: Choices = st.session_state["setup_seed"]
    prefix = f"setup.{st.session_state['setup_epoch']}."
    scripts = scripts_at_hand()

    provider_badge(prefix)
    top = st.container(
        gap="xsmall"
    )  # filled last: Run is in sight on a small screen too, and needs all that is chosen below
    chosen = scripts_input(prefix, seed, scripts)
    chosen_strategies, trouble = _strategies(prefix, seed)
    chosen = models_input(prefix, replace(chosen, strategies=chosen_strategies))
    chosen = length_input(prefix, chosen, scripts)
    chosen = conditions_input(prefix, chosen)
    chosen = advanced_input(prefix, chosen)
    chosen = provider_input(prefix, chosen)

    address.write_choices(chosen)
    with top:
        _run(prefix, chosen, scripts, trouble)


# -- strategies ----------------------------------------------------------------------------------------------------------

Row = tuple[str, dict[str, Any]]
"""A strategy's name and the parameters that were given; what is left open stays open."""


def _strategies(prefix: str, seed: Choices) -> tuple[tuple[str, ...], str]:
    """The list of strategies with their thresholds, and what is wrong with them; one may stand in it several times."""
    if prefix + "rows" not in st.session_state:
        seeded = [read_strategy(text) for text in seed.strategies]
        st.session_state[prefix + "rows"] = {
            number: (choice.name, needed(choice)) for number, choice in enumerate(seeded)
        }
    rows: dict[int, Row] = st.session_state[prefix + "rows"]
    chosen: list[StrategyChoice] = []
    trouble = ""
    with st.container(gap="xsmall"):
        st.markdown(
            ":small[Strategies]",
            help="What is sent of the conversation so far. Add the same one again to compare thresholds.",
        )
        for number, (name, given) in list(rows.items()):
            try:
                chosen.append(_strategy_row(f"{prefix}row.{number}.", number, name, given, rows))
            except InputError as error:
                trouble = str(error)
                st.caption(f":red[{plain(trouble)}]")
        st.menu_button(
            "Add a strategy",
            [cls.name for cls in strategies()],
            format_func=lambda name: plain(strategy(name).title),
            icon=":material/add:",
            type="tertiary",
            key=prefix + "add",
            on_click=_add_strategy,
            args=(prefix,),
        )
    return tuple(spell(one) for one in chosen), trouble


def _strategy_row(
    key: str, number: int, name: str, given: Mapping[str, Any], rows: dict[int, Row]
) -> StrategyChoice:
    """One strategy: its name, its main parameter in sight, the others behind a button. Raises :class:`InputError`."""
    cls = strategy(name)
    declared = parameters(cls.Params)
    values = {one.name: given.get(one.name, one.default) for one in declared}
    with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall"):
        words = st.container(width="stretch")  # filled below, once the values are known
        if declared:
            values[declared[0].name] = parameter_input(key, declared[0], values, hidden=True)
        if len(declared) > 1:
            with st.popover(
                "", icon=":material/tune:", type="tertiary", help="Further parameters", key=key + "more"
            ):
                st.markdown(f"**{plain(cls.title)}**")
                st.caption(plain(cls.description))
                for one in declared[1:]:
                    values[one.name] = parameter_input(key, one, values)
        st.button(
            "",
            icon=":material/close:",
            type="tertiary",
            key=key + "remove",
            help=f"Remove {plain(cls.title)}",
            on_click=_remove_strategy,
            args=(rows, number),
        )
    notes = [caption(declared[0])] if declared else [cls.description.rstrip(".")]
    notes += [
        f"{one.name.replace('_', ' ')}: {values[one.name]}"
        for one in declared[1:]
        if values[one.name] != one.default
    ]
    words.markdown(f"{plain(cls.title)}  \n:small[:gray[{plain(clip(' · '.join(notes), 70))}]]")
    return choose(name, values)


def _remove_strategy(rows: dict[int, Row], number: int) -> None:
    rows.pop(number, None)


def _add_strategy(prefix: str) -> None:
    name = st.session_state[prefix + "add"]
    if name is None:
        return
    rows: dict[int, Row] = st.session_state[prefix + "rows"]
    rows[max(rows, default=-1) + 1] = (name, needed(choose(name)))


# -- estimate and run ----------------------------------------------------------------------------------------------------


def _run(prefix: str, chosen: Choices, scripts: Mapping[str, Script], trouble: str) -> None:
    spec: ComparisonSpec | None = None
    try:
        spec = None if trouble else to_spec(chosen, scripts)
    except InputError as error:
        trouble = str(error)
    run_button(prefix, spec, trouble, estimate_line, of_spec)
