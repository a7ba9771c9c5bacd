"""Confirming a simulated comparison live: which settings, at what cost, and only after a second question."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.access import Act
from memdash.answerer import present_answerer
from memdash.confirmation import check_confirmable, confirmable, confirmation_spec, default_settings
from memdash.errors import InputError, MemdashError, NotAllowed
from memdash.records import Status
from memdash.spec import ComparisonSpec, Provider
from memdash.store import StoredComparison
from memdash.views import acts, people
from memdash.views.components import HELP, plain, problem
from memdash.views.estimate import estimate_line
from memdash.views.opening import COMPARE
from memdash.views.state import services

_ABOUT: Final = (
    "Plays the same conversations against the live API, within a budget, and shows the simulator's error in every number. "
    "Two settings are enough: the one to ship and full history, or what comes nearest to it."
)


def confirm_menu(stored: StoredComparison, to_confirm: Callable[[], Collection[str]]) -> None:
    """Draw the button of a simulated comparison, and while its menu is open what would be played.

    ``to_confirm`` is asked for the settings that matter most once the menu is open.
    """
    if stored.spec.provider is not Provider.SIMULATOR:
        return
    menu = st.popover(
        "Confirm live", icon=":material/bolt:", type="tertiary", key="confirm_menu", on_change="rerun"
    )
    if not menu.open:
        return
    with menu:
        st.caption(_ABOUT)
        try:
            check_confirmable(stored.spec)
            people.require(Act.RUN_LIVE)
            people.check_key("a confirmation")
            done = _finished(stored)
            settings = default_settings(stored.replays, done, to_confirm())
        except (InputError, NotAllowed) as error:
            _refuse(str(error))
            return
        except MemdashError as error:
            problem(error)
            return
        _form(stored, done, settings)


def _refuse(sentence: str) -> None:
    st.markdown(f":orange[:material/info: {plain(sentence[:1].upper() + sentence[1:])}.]")


def _finished(stored: StoredComparison) -> set[str]:
    """The ids of the replays that are done. Raises :class:`InputError` while any is going on."""
    listed = next((one for one in services().store.comparisons() if one.id == stored.id), None)
    statuses = listed.statuses if listed else ()
    if not all(status.over for status in statuses):
        raise InputError("it still runs; once it is over, its settings can be played live")
    return {one.id for one, status in zip(stored.replays, statuses, strict=False) if status is Status.DONE}


def _form(stored: StoredComparison, done: Collection[str], settings: tuple[str, ...]) -> None:
    chosen = st.multiselect(
        "Settings to play live",
        confirmable(stored.replays, done),
        default=settings,
        key=f"confirm_settings.{stored.id}",
    )
    budget = st.number_input(
        "Budget, US dollars",
        min_value=0.01,
        value=None,
        step=0.5,
        format="%.2f",
        placeholder="for instance 2.00",
        key=f"confirm_budget.{stored.id}",
        help=HELP["budget"],
    )
    try:
        spec = confirmation_spec(stored, chosen, budget or 1.0)
        st.caption(plain(f"{numbers.count(len(spec.replays()), 'replay')}, answered by {present_answerer()}"))
    except InputError as error:
        _refuse(str(error))
        return
    estimate_line(spec)
    _play(stored.id, spec, limited=budget is not None)


def _play(comparison_id: str, spec: ComparisonSpec, *, limited: bool) -> None:
    """Offer to play, and ask once more before money is spent: of just these settings and this budget, and no others.

    The button can be pressed without a budget, which it then asks for: one that waits for a number to be taken in would lose the
    press that follows on typing it.
    """
    key = f"confirm_asked.{comparison_id}"
    asked_for = ([one.series for one in spec.replays()], spec.budget)
    if not limited or st.session_state.get(key) != asked_for:
        offer = st.empty()
        if not offer.button(
            "Play live…", icon=":material/bolt:", type="primary", key="confirm_play", width="stretch"
        ):
            return
        if not limited:
            _refuse("give a budget first: it stops before the request that could pass it")
            return
        st.session_state[key] = asked_for
        offer.empty()
    st.markdown(
        f"**Spend up to {plain(numbers.usd(spec.budget))} on this?** "
        "It stops before the request that could pass it; what was measured by then is kept."
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button("Not now", key="confirm_not_now", on_click=st.session_state.pop, args=(key, None))
        spend = st.button("Spend and play", type="primary", icon=":material/bolt:", key="confirm_spend")
    if not spend:
        return
    st.session_state.pop(key, None)
    try:
        opened = acts.start(spec)
    except MemdashError as error:
        problem(error)
        return
    st.switch_page(COMPARE, query_params={"c": opened})
