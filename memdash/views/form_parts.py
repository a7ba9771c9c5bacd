"""What the forms of Compare and Thresholds share: who answers, scripts and models, how long, under which conditions, and Run.

Each part draws its inputs under a key prefix and returns the choices with what was chosen in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TypeVar

import streamlit as st

from memdash import numbers
from memdash.access import Act
from memdash.answerer import has_key
from memdash.errors import MemdashError
from memdash.models import MODELS
from memdash.scripts.model import Script
from memdash.spec import DEFAULT_PACE_SECONDS, CacheLifetime, CacheMarks, ComparisonSpec, Provider
from memdash.views import acts, address, people
from memdash.views.choices import COUNTERS, EFFORTS, MAX_PACE, MAX_REPEATS, MAX_TURNS, Choices
from memdash.views.components import HELP, plain
from memdash.views.own_key import own_key_input
from memdash.views.state import services

C = TypeVar("C", bound=Choices)

_CACHE_NAMES: Final = {
    CacheLifetime.FIVE_MINUTES: "5 minutes",
    CacheLifetime.ONE_HOUR: "1 hour",
    CacheLifetime.OFF: "Off",
}
_MARK_NAMES: Final = {CacheMarks.AUTO: "Automatic", CacheMarks.FIXED_AND_AUTO: "Fixed part + automatic"}


def provider_badge(prefix: str) -> None:
    """Say what will answer; the key itself is never read here, only whether there is one."""
    if st.session_state.get(prefix + "provider") == Provider.ANTHROPIC:
        st.badge("Live · real requests, real money", icon=":material/bolt:", color="orange")
    else:
        st.badge("Simulator · no key, no cost", icon=":material/science:", color="green")


def scripts_input(prefix: str, chosen: C, scripts: Mapping[str, Script]) -> C:
    """Choose the scripts."""
    found = st.multiselect(
        "Scripts",
        list(scripts),
        default=[one for one in chosen.scripts if one in scripts],
        format_func=lambda one: scripts[one].title,
        key=prefix + "scripts",
        placeholder="Choose a conversation",
        help="The scripted conversations to play. Each one is played through every strategy below.",
    )
    return replace(chosen, scripts=tuple(found))


def models_input(prefix: str, chosen: C) -> C:
    """Choose the models."""
    found = st.multiselect(
        "Models",
        list(dict.fromkeys([*MODELS, *chosen.models])),
        default=list(chosen.models),
        key=prefix + "models",
        placeholder="Choose a model",
    )
    return replace(chosen, models=tuple(found))


def length_input(prefix: str, chosen: C, scripts: Mapping[str, Script]) -> C:
    """Choose how many turns and repeats."""
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


def conditions_input(prefix: str, chosen: C) -> C:
    """Choose cache lifetimes, think time and the history check."""
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


def advanced_input(prefix: str, chosen: C) -> C:
    """Choose what few people change."""
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


def provider_input(prefix: str, chosen: C) -> C:
    """Offer the live API to runners with a key, the server's or their own, and only with a budget or an explicit "no limit"."""
    if not people.may(Act.RUN_LIVE):
        if has_key():
            st.caption("Live runs are started by runners.")
        return replace(chosen, provider=Provider.SIMULATOR, budget=None, no_limit=False)
    own_key_input(prefix)
    if not people.has_key():
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
    _say_what_is_left()
    return replace(
        chosen, provider=Provider.ANTHROPIC, budget=None if no_limit else budget, no_limit=no_limit
    )


def _say_what_is_left() -> None:
    """Say what all live runs here may still cost today, where that is limited."""
    limit = people.access().day_budget
    if limit is not None:
        spent = services().store.spent_on(datetime.now(UTC).date())
        left = f"{numbers.usd(max(limit - spent, 0.0))} of {numbers.usd(limit)}"
        st.caption(plain(f"Left today for all live runs here: {left}. The day ends at midnight UTC."))


def run_button(
    prefix: str,
    spec: ComparisonSpec | None,
    trouble: str,
    estimate: Callable[[ComparisonSpec], None],
    choices_of: Callable[[ComparisonSpec], Choices],
) -> None:
    """Draw Run with the ``estimate`` of what it takes, or with what keeps it from being pressed.

    ``choices_of`` gives the choices that the form shows once the comparison has been started.
    """
    st.button(
        "Run",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
        disabled=spec is None,
        key=prefix + "run",
        on_click=_submit,
        args=(prefix, spec, choices_of),
    )
    if spec is None:
        st.caption(f":orange[:material/info: {plain(trouble[:1].upper() + trouble[1:])}.]")
    else:
        estimate(spec)
    if failed := st.session_state.pop("submit_problem", None):
        st.error(plain(failed), icon=":material/error:")
    if st.session_state.pop("submitted", False):
        st.rerun()


def _submit(prefix: str, spec: ComparisonSpec, choices_of: Callable[[ComparisonSpec], Choices]) -> None:
    """Hand the comparison to the worker and open it; the run goes on whatever happens to this page.

    Pressed again while the same comparison runs, Run opens that one: a page that is slow to answer costs nobody the run twice.
    """
    try:
        opened = acts.start(spec)
    except MemdashError as error:
        st.session_state["submit_problem"] = str(error)
        return
    st.session_state[prefix + "title"] = ""  # the name was for this run
    st.session_state["setup"] = choices_of(spec)
    address.open_comparison(opened)
    st.session_state["submitted"] = True
