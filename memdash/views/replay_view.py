"""One replay on the page: what it was, its turns, and the section that is chosen, at the turn that is open."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import numbers
from memdash.charts import timeline as chart
from memdash.collecting import uncollected
from memdash.errors import NotStored, StoreError
from memdash.inspection.timeline import MarkKind, Timeline
from memdash.metrics import ReplayResult, explain
from memdash.palette import assign
from memdash.records import Status
from memdash.views import replay_address
from memdash.views.chart_card import chart_card
from memdash.views.components import Colour, badge, empty, moment, plain, problem, theme
from memdash.views.evidence import basis_of
from memdash.views.opening import COMPARE, THRESHOLDS
from memdash.views.replay_choice import choose_replay, name_of
from memdash.views.replay_data import opened, timeline_of
from memdash.views.replay_panels import Opened
from memdash.views.replay_panels.picking import opens_turn_of_point
from memdash.views.replay_sections import SECTIONS
from memdash.views.replay_stepper import stepper

_POLL_SECONDS: Final = 1.5
_ABOUT: Final = (
    "The line is what each turn's own requests sent. The lanes below say what was done to the conversation, in which turns. "
    "Click a turn to open it; P and N step to the one before and the next."
)


def show(replay_id: str) -> None:
    """Show a replay; while it runs, look for news every second or two, and only then."""
    try:
        poll = _poll(opened(replay_id))
    except StoreError as error:
        _cannot(error)
        return
    st.fragment(_body, run_every=poll, key="replay")(replay_id, poll)


def _poll(one: Opened) -> float | None:
    return None if one.result.status.over else _POLL_SECONDS


@uncollected()
def _body(replay_id: str, polling: float | None) -> None:
    try:
        one = opened(replay_id)
    except StoreError as error:
        _cannot(error)
        return
    if replay_address.place().replay != replay_id:
        st.rerun()  # another one was chosen
    link = st.container()
    _head(one)
    choose_replay(one.stored, one.log.spec)
    turns = [row.turn for row in one.result.turns]
    found = timeline_of(one)
    if turns:
        turn = _turn(turns, found)
        _timeline(one, found, turn)
        stepper(f"replay.{replay_id}", turns, turn)
        section = _choose_section()
        SECTIONS[section].draw(one, turn)
    elif one.result.status.over:
        empty(
            "No turn was answered", "The replay came to its end before its first answer.", ":material/block:"
        )
    else:
        empty(
            "Nothing has happened yet",
            "The turns stand here as soon as they are answered.",
            ":material/hourglass_empty:",
        )
    replay_address.write()
    with link:
        _problems_of_link()  # all of them are known by now
    if _poll(one) != polling:
        st.rerun()  # draw the page once more, polling from now on or no longer; what was pressed meanwhile has been done


def _head(one: Opened) -> None:
    spec, result = one.log.spec, one.result
    title, actions = st.columns([3, 1], gap="small", vertical_alignment="center")
    title.subheader(plain(name_of(spec, one.stored.replays)), anchor=False)
    with actions, st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        _state(result.status)
        if st.button("Open the comparison", icon=":material/compare_arrows:", key="to_comparison"):
            page = COMPARE if one.stored.spec.sweep is None else THRESHOLDS
            st.switch_page(page, query_params={"c": one.stored.id})
    about = [
        spec.script.title,
        spec.model,
        f"{numbers.part(result.turns_completed, result.turns_planned)} turns",
        f"{numbers.tokens(result.prompt_tokens)} prompt tokens",
        numbers.usd(result.cost_usd),
        _kept(result),
        moment(one.stored.created_at),
    ]
    st.caption(plain(" · ".join(about)))
    st.caption(plain(basis_of(one.stored)))
    _ended_early(one)


def _kept(result: ReplayResult) -> str:
    if result.kept is None:
        return numbers.count(result.facts_total, "fact") if result.facts_total else "no facts"
    return f"kept {numbers.part(result.kept, result.facts_total)} facts"


def _state(status: Status) -> None:
    colour: Colour = "green" if status is Status.DONE else "orange" if status.over else "blue"
    badge(str(status).replace("_", " "), ":material/info:" if status.over else ":material/sync:", colour)


def _ended_early(one: Opened) -> None:
    """What ended the replay before its last turn, in the words of whoever ended it."""
    result = one.result
    if result.done or not result.status.over or not result.errors:
        return
    message = result.errors[-1]
    with st.container(border=True, gap="xsmall"):
        after = (
            f"after turn {result.turns_completed}" if result.turns_completed else "before its first answer"
        )
        st.markdown(
            f":red[:material/block:] **It ended {after}**: {plain(str(result.status).replace('_', ' '))}"
        )
        st.code(message, language=None, wrap_lines=True)
        if result.status is Status.REJECTED:
            st.caption(plain(explain(message)))


def _turn(turns: list[int], found: Timeline) -> int:
    """The turn that is open: the one that is asked for, else the first in which something was done to the conversation."""
    wanted = replay_address.place().turn
    if wanted in turns:
        return wanted
    if wanted is not None:
        replay_address.complain(
            f"turn: this replay has turns {turns[0]} to {turns[-1]}; turn {wanted} is not among them"
        )
    telling = [mark.turn for mark in found.marks if mark.kind is not MarkKind.MISS and mark.turn in turns]
    turn = min(telling, default=turns[0])
    replay_address.go(turn=turn)
    return turn


def _timeline(one: Opened, found: Timeline, turn: int) -> None:
    style = assign((spec.series, spec.strategy) for spec in one.stored.replays)[one.result.series]
    key = f"timeline.{one.result.id}"
    chart_card(
        chart.replay_timeline(found, style, theme(), turn),
        chart.title(found),
        chart.alt(found),
        key=key,
        about=_ABOUT,
        on_select=opens_turn_of_point(key, replay_address.open_turn),
    )


def _choose_section() -> str:
    names = list(SECTIONS)
    wanted = replay_address.place().show

    def chosen() -> None:
        replay_address.go(show=st.session_state["replay.section"])

    st.session_state["replay.section"] = wanted if wanted in names else names[0]
    st.segmented_control(
        "Look at",
        names,
        required=True,
        format_func=lambda name: SECTIONS[name].title,
        key="replay.section",
        label_visibility="collapsed",
        on_change=chosen,
    )
    return wanted if wanted in names else names[0]


def _problems_of_link() -> None:
    if found := replay_address.problems():
        st.warning(
            "  \n".join(plain(one) for one in found),
            icon=":material/link_off:",
            title="Part of this link could not be used",
        )


def _cannot(error: StoreError) -> None:
    if not isinstance(error, NotStored):
        problem(error, "This replay cannot be shown")
        return
    empty(
        "There is no such replay here",
        "Its comparison may have been deleted, or the link is from another server. The library lists what is there.",
        ":material/link_off:",
    )
    with st.container(horizontal=True, horizontal_alignment="center"):
        if st.button("Open the library", icon=":material/folder_open:", key="to_library"):
            st.switch_page("library.py")
        if st.button("Show another replay", icon=":material/frame_inspect:", key="another_replay"):
            replay_address.go(replay=None)
            replay_address.write()
            st.rerun()
