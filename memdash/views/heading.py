"""The head of a comparison and of a sweep: its title with what can be done to it, how it was run, and whether it still runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable

import streamlit as st

from memdash import numbers, report
from memdash.access import Act
from memdash.errors import MemdashError
from memdash.progress import RunProgress
from memdash.records import Status
from memdash.spec import Provider
from memdash.store import StoredComparison
from memdash.views import acts, address, people
from memdash.views.baseline import baseline_menu
from memdash.views.components import badge, clip, moment, plain, problem
from memdash.views.confirm import confirm_menu
from memdash.views.downloads import downloads
from memdash.views.notes import latest_notes, notes_menu
from memdash.views.state import services


def head(stored: StoredComparison, to_confirm: Callable[[], Collection[str]] = tuple) -> None:
    """Draw the title, with what can be done to it beside it, and how it was run.

    ``to_confirm`` is asked for the settings that a live run should confirm, where that is needed.
    """
    # While it runs, what was read of it may be a moment old; a note or a pin is seen at once.
    added = services().store.additions(stored.id)
    title, actions = st.columns([2, 1], gap="small", vertical_alignment="top")
    title.subheader(plain(stored.title or stored.id), anchor=False)
    with actions, st.container(horizontal=True, horizontal_alignment="right", gap="xsmall"):
        confirm_menu(stored, to_confirm)
        _rename(stored)
        notes_menu(stored.id, added.notes)
        _changes(stored)
        _share(stored)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if added.baseline:
            badge("baseline", ":material/keep:", "blue")
        st.caption(plain(" · ".join(_about(stored))))
    latest_notes(added.notes)


def _about(stored: StoredComparison) -> list[str]:
    """What it was run with, in a few words each."""
    spec = stored.spec
    live = spec.provider is Provider.ANTHROPIC
    return [
        "live" if live else "simulated",
        numbers.listing(spec.models, limit=2),
        "tokens as the API counts them" if live else f"tokens counted with {report.token_counter(stored)}",
        "history check on" if spec.check else "history check off",
        f"{stored.replays[0].pace:g} s of think time",
        moment(stored.created_at),
    ]


def _rename(stored: StoredComparison) -> None:
    menu = st.popover(
        "", icon=":material/edit:", help="Rename", type="tertiary", key="rename_menu", on_change="rerun"
    )
    if not menu.open:
        return
    with menu:
        title = st.text_input("Title", stored.title or stored.id, max_chars=200, key=f"new_title.{stored.id}")
        if st.button("Rename", key="rename", type="primary", disabled=not title.strip()):
            try:
                services().store.rename(stored.id, title.strip())
            except MemdashError as error:
                problem(error)
                return
            st.rerun()


def _changes(stored: StoredComparison) -> None:
    menu = st.popover(
        "",
        icon=":material/difference:",
        help="Baseline and changes",
        type="tertiary",
        key="changes_menu",
        on_change="rerun",
    )
    if menu.open:
        with menu:
            baseline_menu(stored.id)


def _share(stored: StoredComparison) -> None:
    menu = st.popover(
        "",
        icon=":material/ios_share:",
        help="Link and downloads",
        type="tertiary",
        key="share_menu",
        on_change="rerun",
    )
    if not menu.open:
        return
    with menu:
        st.caption("A link to what you see here, for anyone who can reach this server")
        st.code(address.link(), language=None, wrap_lines=True)
        downloads(stored.id)


def state_line(
    stored: StoredComparison, progress: RunProgress, resumable: Iterable[Status], basis: str
) -> None:
    """One line of fixed height: what is going on and what can be done about it, or what the numbers rest on.

    ``resumable`` are the ends of the replays that can go on.
    """
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", height=44, border=False, key="state_line"
    ):
        if progress.over < progress.replays or progress.refining:
            _running(stored, progress)
        elif stopped := list(resumable):
            _stopped(stored, stopped)
        else:
            st.caption(plain(basis), width="stretch")


def _running(stored: StoredComparison, progress: RunProgress) -> None:
    live = stored.spec.provider is Provider.ANTHROPIC
    parts = [
        f"{progress.over:,} of {numbers.count(progress.replays, 'replay')}",
        f"turn {progress.turn:,} of {progress.turns:,}",
        f"{numbers.tokens_short(progress.prompt_tokens)} tokens",
        f"{numbers.usd(progress.cost_usd)} {'so far' if live else 'simulated'}",
    ]
    if progress.rounds or progress.refining:
        parts.append(
            "choosing what to play next" if progress.refining else f"round {progress.rounds} of refinement"
        )
    if ahead := services().worker.waits_for(stored.id):
        parts = [f"Waits for {_called(ahead)} to be played first", numbers.count(progress.replays, "replay")]
    share = progress.turn / progress.turns if progress.turns else 0.0
    st.progress(min(share, 1.0), text=plain(" · ".join(parts)), width="stretch")
    cancelling = st.session_state.get("cancelling") == stored.id
    st.button(
        "Cancelling…" if cancelling else "Cancel",
        icon=":material/stop_circle:",
        key="cancel",
        disabled=cancelling,
        on_click=_cancel,
        args=(stored.id,),
    )


def _called(comparison_id: str) -> str:
    """The title of another comparison."""
    listed = next((one for one in services().store.comparisons() if one.id == comparison_id), None)
    return f"“{clip(listed.title or listed.id, 60)}”" if listed is not None else "another comparison"


def _cancel(comparison_id: str) -> None:
    """Stop every replay before its next record. With many of them that takes a moment, and the page does not wait for it."""
    st.session_state["cancelling"] = comparison_id
    threading.Thread(target=services().worker.cancel, args=(comparison_id,), name="memdash-cancel").start()


def _stopped(stored: StoredComparison, ends: list[Status]) -> None:
    """Say that part of it stopped early, and offer to go on."""
    states = dict.fromkeys(str(one) for one in ends)
    count = numbers.count(len(ends), "replay")
    may_go_on = stored.spec.provider is not Provider.ANTHROPIC or people.may(Act.RUN_LIVE)
    next_step = "and resuming goes on from there" if may_go_on else "and a runner can let it go on from there"
    st.markdown(
        f":orange[:material/pause_circle: {count} {numbers.listing(list(states))}.] "
        f"What was measured is kept, {next_step}.",
        width="stretch",
    )
    if may_go_on and st.button("Resume", icon=":material/play_arrow:", type="primary", key="resume"):
        st.session_state.pop("cancelling", None)
        try:
            acts.go_on(stored.id)
        except MemdashError as error:
            problem(error)
            return
        st.rerun()
