"""The page Side by side: replays of any comparisons in one table and in the same charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from memdash import charts, numbers
from memdash.collecting import uncollected
from memdash.errors import StoreError
from memdash.metrics import ReplayResult
from memdash.palette import HUES
from memdash.store import ComparisonSummary, StoredComparison
from memdash.views import beside, replay_address
from memdash.views.baseline import pinned, show_changes
from memdash.views.chart_grid import chart_grid
from memdash.views.chosen_view import ChosenView, chosen_view
from memdash.views.components import badge, clip, empty, moment, plain, problem, theme
from memdash.views.delta_table import delta_table
from memdash.views.evidence import basis_of
from memdash.views.opening import COMPARE, open_library
from memdash.views.replay_picker import pick_any
from memdash.views.table import results_table

_POLL_SECONDS: Final = 2.0
_MOST_LINES: Final = len(HUES)
_AGAINST: Final = "beside.against"
_SCRIPT: Final = "beside.script"


def _page() -> None:
    beside.take_in()
    head, add = st.columns([3, 1], vertical_alignment="bottom")
    with head:
        st.header("Side by side", anchor=False)
        st.caption("Replays of any comparisons in one table and in the same charts.")
    with add.popover("Add replays", icon=":material/add:", width="stretch"):
        pick_any("beside")
    replays = beside.present().replays
    if not replays:
        beside.write()
        _problems()
        _nothing()
        return
    try:
        shown = _read(replays)
    except StoreError as error:
        problem(error)
        return
    if not shown.chosen:
        beside.write()
        _problems()
        _missing(shown.missing)
        return
    st.fragment(_body, run_every=None if shown.over else _POLL_SECONDS, key="beside")(shown.over)


def _nothing() -> None:
    empty(
        "Nothing is side by side yet",
        "Add replays above, take rows over from a comparison with its “Side by side”, or from the menu of a row in the library.",
        ":material/splitscreen_right:",
    )


def _missing(missing: Sequence[str]) -> None:
    """Say which replays of a link are not here, and offer the library."""
    names = numbers.listing([clip(one, 40) for one in missing], limit=4)
    verb = "is" if len(missing) == 1 else "are"
    st.warning(
        plain(
            f"{names} {verb} not here. Their comparison may have been deleted, or the link is from another server."
        ),
        icon=":material/link_off:",
        title=f"{numbers.count(len(missing), 'replay')} of this link {verb} not here",
    )
    open_library()


def _problems() -> None:
    if found := beside.problems():
        st.warning(
            "  \n".join(plain(one) for one in found),
            icon=":material/link_off:",
            title="Part of this link could not be used",
        )


def _read(replays: Sequence[str]) -> ChosenView:
    base = pinned() if beside.present().against_baseline else None
    return chosen_view(replays, base.id if base is not None else None)


@uncollected()
def _body(over: bool) -> None:
    link = st.container()
    base = pinned()
    _against(base)
    try:
        shown = _read(beside.present().replays)
    except StoreError as error:
        problem(error)
        return
    if shown.over != over or not shown.chosen:
        st.rerun()  # draw the page once more: polling from now on or no longer, or with nothing to show
    if shown.missing:
        with link:
            _missing(shown.missing)
    _comparisons(shown, base)
    _unlike(shown)
    picked = _table(shown)
    if shown.deltas:
        with st.container(border=True, gap="small"):
            st.markdown("**Against the baseline**")
            delta_table(shown.deltas, shown.styles, _key(shown))
    _charts(shown, picked)
    beside.write()
    with link:
        _problems()


def _against(base: ComparisonSummary | None) -> None:
    """Offer the differences from the baseline, where there is one."""
    if base is None:
        st.caption(
            "No baseline is pinned; pin one in the library or at the head of a comparison to see differences."
        )
        now = beside.present()
        if now.against_baseline:
            beside.not_used("against", "no baseline is pinned here")
            beside.change(replace(now, against_baseline=False))
        return
    st.session_state[_AGAINST] = beside.present().against_baseline
    st.toggle(
        f"Differences from the baseline: {plain(clip(base.title or base.id, 70))}",
        key=_AGAINST,
        on_change=_take_against,
    )


def _take_against() -> None:
    beside.change(replace(beside.present(), against_baseline=st.session_state[_AGAINST]))


def _key(shown: ChosenView) -> str:
    """What tells one choice of replays from another; Streamlit keeps a table's picked rows by it."""
    return ".".join(one.spec.id for one in shown.chosen)


# -- what is shown -------------------------------------------------------------------------------------------------------


def _comparisons(shown: ChosenView, base: ComparisonSummary | None) -> None:
    """Say which letter stands for which comparison, and what its numbers rest on."""
    origins = {one.origin.comparison: one.origin for one in shown.chosen}
    with st.container(border=True, gap="xsmall"):
        for comparison, letter in shown.letters.items():
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                _comparison(shown.comparisons[comparison], letter if len(shown.letters) > 1 else "", base)
        if len(origins) == 2:
            before, after = origins
            if st.button(
                f"What changed from {shown.letters[before]} to {shown.letters[after]}",
                icon=":material/difference:",
                type="tertiary",
                key="beside.changes",
            ):
                show_changes(before, after)


def _comparison(stored: StoredComparison, letter: str, base: ComparisonSummary | None) -> None:
    title = plain(clip(stored.title or stored.id, 90))
    st.markdown(f"**{letter}** · {title}" if letter else title, width="content")
    if base is not None and base.id == stored.id:
        badge("baseline", ":material/keep:", "blue")
    st.caption(plain(f"{moment(stored.created_at)} · {basis_of(stored)}"), width="stretch")
    if st.button("Open", icon=":material/open_in_full:", key=f"beside.open.{stored.id}", type="tertiary"):
        st.switch_page(COMPARE, query_params={"c": stored.id})


def _unlike(shown: ChosenView) -> None:
    if shown.unlike:
        st.warning(
            "\n".join(f"- {plain(one.sentence)}" for one in shown.unlike),
            icon=":material/warning:",
            title="These replays are not alike, so a difference need not be the strategy's",
        )


def _table(shown: ChosenView) -> list[ReplayResult]:
    """Draw the table; returns the replays whose rows are picked, all where none is."""
    key = f"beside.table.{_key(shown)}"
    ids = [one.id for one in shown.results]
    held = st.session_state.get(key)
    wanted = beside.present().rows
    picked = (
        [row for row in held["selection"]["rows"] if row < len(ids)]
        if held is not None
        else [ids.index(one) for one in wanted if one in ids]
    )
    for one in wanted:
        if one not in ids:
            beside.not_used("only", f"{clip(one, 60)!r} is not one of the replays")
    results_table(shown.results, shown.changes, shown.styles, theme(), key, picked)
    beside.change(replace(beside.present(), rows=tuple(ids[row] for row in picked)))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            f"The charts show {numbers.count(len(picked), 'row')}."
            if picked
            else "Pick rows to see only them in the charts, or to remove them."
        )
        if st.button(
            "Look inside",
            icon=":material/frame_inspect:",
            type="tertiary",
            key="beside.inside",
            disabled=not 1 <= len(picked) <= 2,
            help="Open the picked row's replay turn by turn; of two picked rows, what differs in each turn.",
        ):
            _look_inside([shown.results[row] for row in picked])
        st.button(
            "Remove the picked rows",
            icon=":material/remove:",
            type="tertiary",
            key="beside.remove",
            disabled=not picked,
            on_click=_choose,
            args=([one for row, one in enumerate(ids) if row not in picked],),
        )
        st.button(
            "Clear",
            icon=":material/clear_all:",
            type="tertiary",
            key="beside.clear",
            on_click=_choose,
            args=([],),
        )
    return [shown.results[row] for row in picked] or list(shown.results)


def _look_inside(picked: Sequence[ReplayResult]) -> None:
    """Open one replay, or where two are picked the first against the second."""
    show = "differences" if len(picked) > 1 else None
    query = replay_address.query(picked[0].id, show=show)
    against = {replay_address.AGAINST: picked[1].id} if len(picked) > 1 else {}
    st.switch_page(replay_address.PAGE, query_params={**query, **against})


def _choose(replay_ids: Sequence[str]) -> None:
    now = replace(beside.present(), replays=tuple(replay_ids), rows=())
    beside.change(now if replay_ids else beside.Beside())


def _take_script() -> None:
    beside.change(replace(beside.present(), script=st.session_state[_SCRIPT]))


def _charts(shown: ChosenView, picked: Sequence[ReplayResult]) -> None:
    scripts = shown.scripts
    first = next(iter(scripts))
    script = beside.script_wanted(scripts, first)
    if len(scripts) > 1:
        st.session_state[_SCRIPT] = script
        st.segmented_control(
            "Charts show",
            list(scripts),
            required=True,
            format_func=lambda one: plain(scripts[one]),
            key=_SCRIPT,
            on_change=_take_script,
            help="Turns of different scripts have nothing in common, so the charts show one script at a time.",
        )
    beside.change(replace(beside.present(), script=script if script != first else None))
    series = charts.turn_series(one for one in picked if one.script == script)
    if not series:
        st.caption("None of the picked rows belongs to this script.")
        return
    if len(series) > _MOST_LINES:
        st.caption(f"{len(series)} lines are hard to tell apart; pick some rows to see only them.")
    chart_grid(series, shown.styles, "beside.chart")


_page()
