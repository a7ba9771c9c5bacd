"""The setup form in the sidebar: what to compare, what it will cost, and Run.

The strategies' parts are drawn from their parameter declarations; no strategy has code of its own here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from memdash.errors import InputError, MemdashError
from memdash.models import MODELS
from memdash.scripts.model import Script
from memdash.spec import DEFAULT_PACE_SECONDS, CacheLifetime, CacheMarks, ComparisonSpec, Provider
from memdash.strategies import Parameter, StrategyChoice, choose, parameters, strategies, strategy
from memdash.views import address
from memdash.views.choices import (
    COUNTERS,
    EFFORTS,
    MAX_PACE,
    MAX_REPEATS,
    MAX_TURNS,
    Choices,
    needed,
    of_spec,
    read_strategy,
    spell,
    to_spec,
)
from memdash.views.components import HELP, clip, plain
from memdash.views.estimate import estimate_line
from memdash.views.state import scripts_at_hand, services

_CACHE_NAMES: Final = {
    CacheLifetime.FIVE_MINUTES: "5 minutes",
    CacheLifetime.ONE_HOUR: "1 hour",
    CacheLifetime.OFF: "Off",
}
_MARK_NAMES: Final = {CacheMarks.AUTO: "Automatic", CacheMarks.FIXED_AND_AUTO: "Fixed part + automatic"}


@st.fragment(key="setup")
def setup_form() -> None:
    """Draw the form. It reruns alone, so that choosing leaves the results beside it untouched."""
    seed: Choices = st.session_state["setup_seed"]
    prefix = f"setup.{st.session_state['setup_epoch']}."
    scripts = scripts_at_hand()

    _badge(prefix)
    top = st.container(
        gap="xsmall"
    )  # filled last: Run is in sight on a small screen too, and needs all that is chosen below
    chosen_scripts = st.multiselect(
        "Scripts",
        list(scripts),
        default=[one for one in seed.scripts if one in scripts],
        format_func=lambda one: scripts[one].title,
        key=prefix + "scripts",
        placeholder="Choose a conversation",
        help="The scripted conversations to play. Each one is played through every strategy below.",
    )
    chosen_strategies, trouble = _strategies(prefix, seed)
    models = st.multiselect(
        "Models",
        list(dict.fromkeys([*MODELS, *seed.models])),
        default=list(seed.models),
        key=prefix + "models",
        placeholder="Choose a model",
    )
    chosen = replace(seed, scripts=tuple(chosen_scripts), strategies=chosen_strategies, models=tuple(models))
    chosen = _length(prefix, chosen, scripts)
    chosen = _conditions(prefix, chosen)
    chosen = _advanced(prefix, chosen)
    chosen = _provider(prefix, chosen)

    st.session_state["setup"] = chosen
    address.write_choices(chosen)
    with top:
        _run(prefix, chosen, scripts, trouble)


def _badge(prefix: str) -> None:
    """Say what will answer; the key itself is never read here, only whether there is one."""
    if st.session_state.get(prefix + "provider") == Provider.ANTHROPIC:
        st.badge("Live · real requests, real money", icon=":material/bolt:", color="orange")
    else:
        st.badge("Simulator · no key, no cost", icon=":material/science:", color="green")


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
            values[declared[0].name] = _parameter(key, declared[0], values, hidden=True)
        if len(declared) > 1:
            with st.popover(
                "", icon=":material/tune:", type="tertiary", help="Further parameters", key=key + "more"
            ):
                st.markdown(f"**{plain(cls.title)}**")
                st.caption(plain(cls.description))
                for one in declared[1:]:
                    values[one.name] = _parameter(key, one, values)
        st.button(
            "",
            icon=":material/close:",
            type="tertiary",
            key=key + "remove",
            help=f"Remove {plain(cls.title)}",
            on_click=_remove_strategy,
            args=(rows, number),
        )
    notes = [_caption(declared[0])] if declared else [cls.description.rstrip(".")]
    notes += [
        f"{one.name.replace('_', ' ')}: {values[one.name]}"
        for one in declared[1:]
        if values[one.name] != one.default
    ]
    words.markdown(f"{plain(cls.title)}  \n:small[:gray[{plain(clip(' · '.join(notes), 70))}]]")
    return choose(name, values)


def _caption(one: Parameter) -> str:
    return f"{one.name.replace('_', ' ')}, {one.unit}" if one.unit else one.name.replace("_", " ")


def _parameter(key: str, one: Parameter, given: Mapping[str, Any], hidden: bool = False) -> Any:
    """Draw the input that fits a declared parameter and return its value."""
    value = given[one.name]
    label = _caption(one)  # an input's accessible name is its label as it stands, without Markdown
    shared: dict[str, Any] = {
        "key": key + one.name,
        "help": None if hidden else plain(one.help),
        "label_visibility": "collapsed" if hidden else "visible",
    }
    if one.choices:
        options = [*([None] if one.optional else []), *one.choices]
        return st.selectbox(
            label,
            options,
            index=options.index(value),
            format_func=lambda option: "automatic" if option is None else option.replace("_", " "),
            width=120 if hidden else "stretch",
            **shared,
        )
    if one.type is bool:
        return st.toggle(
            label, value, key=shared["key"], help=shared["help"], label_visibility=shared["label_visibility"]
        )
    if one.type is str:
        text = st.text_input(label, value or "", placeholder="default" if one.optional else None, **shared)
        return (text or None) if one.optional else text
    return _number(label, one, value, 92 if hidden else "stretch", shared)


def _number(label: str, one: Parameter, value: Any, width: Any, shared: dict[str, Any]) -> Any:
    kind: Any = one.type
    bounds: dict[str, Any] = {
        "min_value": None if one.minimum is None else kind(one.minimum),
        "max_value": None if one.maximum is None else kind(one.maximum),
        "value": None if value is None else kind(value),
        "step": _step(value, one),
    }
    return st.number_input(
        label,
        format="%d" if kind is int else "%.2f",
        placeholder="automatic" if one.optional else None,
        width=width,
        **bounds,
        **shared,
    )


def _step(value: Any, one: Parameter) -> Any:
    """A step that suits the size of the number: 1 for exchanges, 500 for thousands of tokens."""
    if one.type is float:
        return 0.05
    size = value or one.default or 1
    if size >= 1_000:
        return 500
    return 10 if size >= 50 else 1


def _remove_strategy(rows: dict[int, Row], number: int) -> None:
    rows.pop(number, None)


def _add_strategy(prefix: str) -> None:
    name = st.session_state[prefix + "add"]
    if name is None:
        return
    rows: dict[int, Row] = st.session_state[prefix + "rows"]
    rows[max(rows, default=-1) + 1] = (name, needed(choose(name)))


# -- conditions ----------------------------------------------------------------------------------------------------------


def _length(prefix: str, chosen: Choices, scripts: Mapping[str, Script]) -> Choices:
    longest = max((len(scripts[one].turns) for one in chosen.scripts if one in scripts), default=MAX_TURNS)
    left, right = st.columns(2, gap="small")
    turns = left.number_input(
        "Turns",
        min_value=1,
        max_value=MAX_TURNS,
        value=chosen.turns,
        step=1,
        placeholder=f"all ({longest})" if chosen.scripts else "all",
        key=prefix + "turns",
        help="How many turns of each script to play; empty plays it whole. Facts that are not stated by then are not asked.",
    )
    repeats = right.number_input(
        "Repeats",
        min_value=1,
        max_value=MAX_REPEATS,
        value=chosen.repeats,
        step=1,
        key=prefix + "repeats",
        help=HELP["repeats"],
    )
    return replace(chosen, turns=turns, repeats=int(repeats))


def _conditions(prefix: str, chosen: Choices) -> Choices:
    caches = st.pills(
        "Cache lifetime",
        list(CacheLifetime),
        selection_mode="multi",
        default=list(chosen.caches),
        format_func=_CACHE_NAMES.__getitem__,
        key=prefix + "caches",
        help=HELP["cache"],
        width="stretch",
    )
    pace = st.number_input(
        "Think time between turns, seconds",
        min_value=0.0,
        max_value=float(MAX_PACE),
        value=chosen.pace,
        step=10.0,
        format="%.0f",
        placeholder=f"{DEFAULT_PACE_SECONDS:.0f}, or none on the live API",
        key=prefix + "pace",
        help=HELP["pace"],
    )
    check = st.toggle("History check", chosen.check, key=prefix + "check", help=HELP["history check"])
    return replace(
        chosen,
        caches=tuple(one for one in CacheLifetime if one in caches) or chosen.caches,
        pace=pace,
        check=check,
    )


def _advanced(prefix: str, chosen: Choices) -> Choices:
    with st.expander("Advanced", icon=":material/settings:", key=prefix.replace(".", "-") + "advanced"):
        marks = st.pills(
            "Cache marks",
            list(CacheMarks),
            selection_mode="multi",
            default=list(chosen.marks),
            format_func=_MARK_NAMES.__getitem__,
            key=prefix + "marks",
            help=HELP["cache marks"],
        )
        warm = st.segmented_control(
            "First use of the fixed part",
            [False, True],
            default=chosen.warm,
            required=True,
            format_func=lambda value: "Warm" if value else "Cold",
            key=prefix + "warm",
            help=HELP["warm"],
        )
        left, right = st.columns(2, gap="small")
        effort = left.selectbox(
            "Effort",
            [None, *EFFORTS],
            index=[None, *EFFORTS].index(chosen.effort),
            format_func=lambda value: value or "script's",
            key=prefix + "effort",
            help="How much the model may think. The script's own effort, or the model's default, unless set here.",
        )
        max_tokens = right.number_input(
            "Max tokens",
            min_value=1,
            max_value=128_000,
            value=chosen.max_tokens,
            step=256,
            placeholder="script's",
            key=prefix + "max_tokens",
            help="The longest reply, thinking included. The script's own limit unless set here.",
        )
        counter = left.selectbox(
            "Token counter",
            COUNTERS,
            index=COUNTERS.index(chosen.counter),
            key=prefix + "counter",
            help="What the simulator counts tokens with. ctok is the closest to the API's own count; "
            "estimate is our approximation.",
        )
        seed = right.number_input(
            "Seed",
            min_value=0,
            max_value=2**31 - 1,
            value=chosen.seed,
            step=1,
            key=prefix + "seed",
            help="The same seed gives the same replies, lengths and waits in the simulator.",
        )
        relax = st.toggle(
            "Relax the API's floors",
            chosen.relax,
            key=prefix + "relax",
            help="Lets the simulator take thresholds that the API would refuse. "
            "Such results are marked, and not ranked with the others.",
        )
        title = st.text_input(
            "Title", chosen.title, max_chars=120, placeholder="made from the choices", key=prefix + "title"
        )
    return replace(
        chosen,
        marks=tuple(one for one in CacheMarks if one in marks) or chosen.marks,
        warm=bool(warm),
        effort=effort,
        max_tokens=max_tokens,
        counter=counter,
        seed=int(seed),
        relax=relax,
        title=title,
    )


def _provider(prefix: str, chosen: Choices) -> Choices:
    """Offer the live API where the server has a key, and only with a budget or an explicit "no limit"."""
    if not os.environ.get("ANTHROPIC_API_KEY"):
        return replace(chosen, provider=Provider.SIMULATOR, budget=None, no_limit=False)
    provider = st.segmented_control(
        "Answered by",
        list(Provider),
        default=Provider.SIMULATOR,
        required=True,
        format_func=lambda one: "Simulator" if one is Provider.SIMULATOR else "Live API",
        key=prefix + "provider",
        width="stretch",
    )
    if provider != Provider.ANTHROPIC:
        return replace(chosen, provider=Provider.SIMULATOR, budget=None, no_limit=False)
    no_limit = st.checkbox("No limit: I accept whatever it costs", False, key=prefix + "no_limit")
    budget = st.number_input(
        "Budget, US dollars",
        min_value=0.01,
        value=None,
        step=0.5,
        format="%.2f",
        placeholder="for instance 2.00",
        disabled=no_limit,
        key=prefix + "budget",
        help=HELP["budget"],
    )
    return replace(
        chosen, provider=Provider.ANTHROPIC, budget=None if no_limit else budget, no_limit=no_limit
    )


# -- estimate and run ----------------------------------------------------------------------------------------------------


def _run(prefix: str, chosen: Choices, scripts: Mapping[str, Script], trouble: str) -> None:
    spec: ComparisonSpec | None = None
    try:
        spec = None if trouble else to_spec(chosen, scripts)
    except InputError as error:
        trouble = str(error)
    st.button(
        "Run",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
        disabled=spec is None,
        key=prefix + "run",
        on_click=_submit,
        args=(prefix, spec),
    )
    if spec is None:
        st.caption(f":orange[:material/info: {plain(trouble[:1].upper() + trouble[1:])}.]")
    else:
        estimate_line(spec)
    if failed := st.session_state.pop("submit_problem", None):
        st.error(plain(failed), icon=":material/error:")
    if st.session_state.pop("submitted", False):
        st.rerun()


def _submit(prefix: str, spec: ComparisonSpec) -> None:
    """Hand the comparison to the worker and open it; the run goes on whatever happens to this page."""
    try:
        services().worker.submit(spec)
    except MemdashError as error:
        st.session_state["submit_problem"] = str(error)
        return
    st.session_state[prefix + "title"] = ""  # the name was for this run
    st.session_state["setup"] = of_spec(spec)
    address.open_comparison(spec.id)
    st.session_state["submitted"] = True
