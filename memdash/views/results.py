"""A comparison on the page: the same skeleton while it runs and when it is done; numbers fill in where they will stay."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeVar

import streamlit as st

from memdash import charts, numbers
from memdash.collecting import uncollected
from memdash.errors import StoreError
from memdash.metrics import Mark, ReplayResult, explain, sentences
from memdash.records import Status
from memdash.treasury import GOES_ON
from memdash.views import address, beside, replay_address
from memdash.views.chart_grid import chart_grid
from memdash.views.comparison import View, view
from memdash.views.components import plain, theme
from memdash.views.heading import head, state_line
from memdash.views.headline import cards
from memdash.views.opening import cannot_show, problems_of_link
from memdash.views.panels import OVERVIEW, Selection, choose_panel, show_panel
from memdash.views.repeats_table import repeats_table, rows_of
from memdash.views.replay_choice import most_telling
from memdash.views.state import services
from memdash.views.table import results_table
from memdash.views.verdict_line import verdict_line

T = TypeVar("T")

_POLL_SECONDS: Final = 1.5
_FIRST_POLL_SECONDS: Final = 0.4
"""While there is nothing to show yet: the first numbers are waited for."""

_BY_STRATEGY: Final = "strategy"
_BY_REPLAY: Final = "replay"
"""What a row of the table stands for, where there are repeats."""

_TELLING: Final = (Status.REJECTED, Status.FAILED, Status.STOPPED_BY_BUDGET)
"""The ends that need words of their own."""


@uncollected()
def show(comparison_id: str) -> None:
    """Show a comparison; while it runs, look for news every second or two, and only then."""
    try:
        poll = _poll(view(comparison_id))
    except StoreError as error:
        cannot_show(error, "comparison")
        return
    st.fragment(_body, run_every=poll, key="comparison")(comparison_id, poll)


def _poll(shown: View) -> float | None:
    """Seconds after which there may be news, None where nothing more will come of its own accord."""
    if shown.over:
        return None
    if any(one.turns_completed for one in shown.results) or services().worker.waits_for(shown.stored.id):
        return _POLL_SECONDS
    return _FIRST_POLL_SECONDS


@uncollected()
def _body(comparison_id: str, polling: float | None) -> None:
    try:
        shown = view(comparison_id)
    except StoreError as error:
        cannot_show(error, "comparison")
        return
    link = st.container()
    _head(shown)
    script = _choose_script(shown)
    cards(shown.summaries(script))
    above = st.container()
    with above:
        rows = _rows(shown)
    picked = _picked(shown, rows)
    panel = choose_panel(shown.stored.id)
    replays = [one for row in picked for one in rows[row]] or list(shown.results)
    if panel == OVERVIEW:
        _charts(shown, script, replays)
    with above:
        # After the charts: they take the browser longest, and the first table of a server waits for pandas.
        _table(shown, rows, picked)
        if shown.over:
            _refusals(shown.of_script(script))
            _oddities(shown.of_script(script))
        verdict_line([one for one in shown.outlines if script in (None, one.spec.script.id)])
    if panel == OVERVIEW:
        _findings(shown, script)
    else:
        show_panel(panel, Selection.of(shown, replays, script))
    with link:
        problems_of_link()  # all of them are known by now
    if _poll(shown) != polling:
        # Draw the page once more: it polls slower from the first numbers on, and not at all after the last. Not before here,
        # where whatever was pressed meanwhile has been done.
        st.rerun()


# -- head ----------------------------------------------------------------------------------------------------------------


def _head(shown: View) -> None:
    with st.container(gap="xsmall"):
        head(shown.stored)
        state_line(
            shown.stored,
            shown.progress,
            [one.status for one in shown.resumable],
            shown.basis,
        )


def _choose_script(shown: View) -> str | None:
    """Which script's numbers the cards and charts show; None where there is only one."""
    ids = shown.script_ids
    if len(ids) < 2:
        address.keep(address.SCRIPT, address.wanted(address.SCRIPT, ids, ids[0]), ids[0])
        return ids[0]
    titles = {one.id: one.title for one in shown.scripts}
    chosen = st.segmented_control(
        "Cards and charts show",
        ids,
        default=address.wanted(address.SCRIPT, ids, ids[0]),
        required=True,
        format_func=lambda one: plain(titles[one]),
        key=f"script.{shown.stored.id}",
        help="Turns of different scripts have nothing in common, so the charts show one script at a time. The table shows all.",
    )
    address.keep(address.SCRIPT, chosen, ids[0])
    return chosen


# -- table ---------------------------------------------------------------------------------------------------------------


def _table(shown: View, rows: Sequence[Sequence[ReplayResult]], picked: Sequence[int]) -> None:
    """Draw the table and keep in the address which of its rows are picked."""
    if _together(shown):
        repeats_table(rows_of(shown.results), shown.styles, theme(), _table_key(shown), picked)
    else:
        results_table(shown.results, shown.changes, shown.styles, theme(), _table_key(shown), picked)
    address.keep_all(address.ROWS, (_short(rows[row][0]) for row in picked))
    hint = (
        f"The charts show {numbers.count(len(picked), 'row')}."
        if picked
        else "Pick rows to see only them in the charts."
    )
    refused = dict.fromkeys(one.series for one in shown.results if one.status is Status.REJECTED)
    if refused and not shown.over:
        # Its message stands below the table once the run is over: until then nothing may push the charts down.
        hint += f" The API refused {numbers.listing(list(refused), limit=3)}."
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(hint))
        if st.button(
            "Side by side",
            icon=":material/splitscreen_right:",
            type="tertiary",
            key="side_by_side",
            help="Take the picked rows, or all of them, to the page where replays of other comparisons can be added.",
        ):
            beside.show(one.id for row in picked or range(len(rows)) for one in rows[row])
        if st.button(
            "Look inside",
            icon=":material/frame_inspect:",
            type="tertiary",
            key="look_inside",
            help="Open the picked row's replay turn by turn; of several, or of all, the one that forgot most.",
        ):
            replay = most_telling([one for row in picked or range(len(rows)) for one in rows[row]])
            st.switch_page(replay_address.PAGE, query_params=replay_address.query(replay.id))


def _picked(shown: View, rows: Sequence[Sequence[ReplayResult]]) -> list[int]:
    """The rows that are picked in the table, which need not be drawn yet; a link names each row by its first replay."""
    held = st.session_state.get(_table_key(shown))
    if held is not None:
        return [row for row in held["selection"]["rows"] if 0 <= row < len(rows)]
    places = {_short(one): place for place, replays in enumerate(rows) for one in replays}
    return list(dict.fromkeys(places[one] for one in address.all_wanted(address.ROWS, places, "replay")))


def _table_key(shown: View) -> str:
    return f"{'repeats' if _together(shown) else 'table'}.{shown.stored.id}"


def _together(shown: View) -> bool:
    """Whether a row of the table stands for all repeats."""
    return shown.stored.spec.repeats > 1 and st.session_state.get(address.BY) != _BY_REPLAY


def _rows(shown: View) -> list[Sequence[ReplayResult]]:
    """The replays of each row: with repeats, a row stands for all of them unless the person wants to see each."""
    repeats = shown.stored.spec.repeats
    if repeats < 2:
        return [[one] for one in shown.results]
    chosen = st.segmented_control(
        "One row for",
        [_BY_STRATEGY, _BY_REPLAY],
        default=address.wanted(address.BY, [_BY_STRATEGY, _BY_REPLAY], _BY_STRATEGY),
        required=True,
        format_func={_BY_STRATEGY: f"{repeats} repeats together", _BY_REPLAY: "Each replay"}.__getitem__,
        key=f"by.{shown.stored.id}",
        label_visibility="collapsed",
    )
    address.keep(address.BY, chosen, _BY_STRATEGY)
    if chosen == _BY_REPLAY:
        return [[one] for one in shown.results]
    return [row.summary.results for row in rows_of(shown.results)]


def _short(one: ReplayResult) -> str:
    """What names a replay within its comparison."""
    return one.id.rsplit("_", 1)[-1]


def _refusals(results: Sequence[ReplayResult]) -> None:
    """What ended replays early, in the API's own words, each with a sentence of explanation; repeats are told once."""
    told: dict[tuple[str, str], list[ReplayResult]] = {}
    for one in results:
        if one.errors and (one.status in _TELLING or _is_withheld(one)):
            told.setdefault((one.series, one.errors[-1]), []).append(one)
    for (series, message), group in told.items():
        with st.container(border=True, gap="xsmall"):
            st.markdown(f":red[:material/block:] **{plain(series)}**: {plain(_ended(group))}")
            st.code(message, language=None, wrap_lines=True)
            if group[0].status is Status.REJECTED:
                st.caption(plain(explain(message)))


def _is_withheld(one: ReplayResult) -> bool:
    """Whether what all live runs may cost in a day stopped it; any other interruption has no reason worth a card."""
    return one.status is Status.INTERRUPTED and GOES_ON in one.errors[-1]


def _oddities(results: Sequence[ReplayResult]) -> None:
    """What is odd about replays without being an error, a line for each kind."""
    for mark in Mark:
        marked = list(dict.fromkeys(one.series for one in results if mark in one.marks))
        if marked:
            st.caption(f":material/flag: {plain(numbers.listing(marked, limit=12))}: {plain(mark.words)}")
    if any(one.simulator_only for one in results):
        st.caption(
            ":material/flag: Simulator only: thresholds below the API's floors were allowed here, so these replays are not "
            "ranked with such as can run live"
        )


def _ended(group: list[ReplayResult]) -> str:
    turns = sorted({one.turns_completed + 1 for one in group})
    where = f"turn {turns[0]}" if len(turns) == 1 else f"turns {turns[0]} to {turns[-1]}"
    what = {
        Status.REJECTED: f"the API refused {where}",
        Status.STOPPED_BY_BUDGET: f"the budget ended it in {where}",
        Status.INTERRUPTED: f"the budget of the day stopped it before {where}",
    }
    often = f" in {len(group)} replays" if len(group) > 1 else ""
    return what.get(group[0].status, f"failed in {where}") + often


# -- charts --------------------------------------------------------------------------------------------------------------


def _charts(shown: View, script: str | None, picked: list[ReplayResult]) -> None:
    drawn = [one for one in picked if script in (None, one.script)]

    def keep(name: Hashable, make: Callable[[], T]) -> T:
        return shown.keep((tuple(one.id for one in drawn), name), make)

    series = keep("series", lambda: charts.turn_series(drawn))
    if not series:
        st.caption("None of the picked rows belongs to this script.")
        return
    chart_grid(series, shown.styles, keep=keep)


def _findings(shown: View, script: str | None) -> None:
    with st.container(border=True, gap="small"):
        st.markdown("**What this says**")
        told = sentences(shown.summaries(script))
        for sentence in told:
            st.markdown(plain(sentence))
        if not told:
            st.caption("The findings stand here once a strategy has finished.")
        st.caption(plain(shown.basis) + ".")
