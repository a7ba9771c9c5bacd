"""What a strategy broke, one card a loss: the fact, its question and answer, what removed it, and the way to that turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.charts.survival import LOOKS, cause_in_words
from memdash.inspection.events import details
from memdash.inspection.losses import Loss, LossKind
from memdash.views.components import Colour, badge, clip, plain
from memdash.views.replay_address import PAGE, query

_PAGE: Final = 8
"""Losses on a page of the list."""
_LONGEST: Final = 260

_COLOURS: Final[Mapping[LossKind, Colour]] = {
    LossKind.OUTDATED: "red",
    LossKind.WRONG: "red",
    LossKind.UNUSED: "orange",
    LossKind.GONE: "gray",
}
_ABOUT: Final = (
    "Worst first: answers with an outdated value, which nobody notices; wrong answers about a fact whose text is gone; wrong "
    "answers although it was in sight; facts whose text is gone without a wrong answer. Questions that are not a test count for "
    "nothing."
)


def losses_list(losses: Sequence[Loss], key: str, *, simulated: bool, scripts: bool = False) -> None:
    """Draw losses, the worst first, a page at a time; ``scripts`` says that the replays looked at are of several scripts."""
    with st.container(border=True, gap="small"):
        st.markdown(f"**{plain(headline(losses))}**", help=_ABOUT)
        if simulated:
            st.caption(
                "Simulated recall: the pretend model answered. Whether a text is gone is measured by us."
            )
    pages, page = -(-len(losses) // _PAGE), 1
    cards = st.container()
    if pages > 1:
        page = st.pagination(pages, key=f"{key}.page", bind="query-params")
    with cards:
        for place, loss in enumerate(losses[(page - 1) * _PAGE : page * _PAGE]):
            _card(loss, f"{key}.{page}.{place}", scripts=scripts)


def headline(losses: Sequence[Loss]) -> str:
    """Say how much was lost, by its kinds."""
    told = [
        f"{found} {kind.value}" for kind in LossKind if (found := sum(one.kind is kind for one in losses))
    ]
    return f"{numbers.count(len(losses), 'loss', 'losses')}: {'; '.join(told)}"


def _card(loss: Loss, key: str, *, scripts: bool) -> None:
    with st.container(border=True, gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            where = f" · {loss.script}" if scripts else ""
            st.markdown(f"**{plain(clip(loss.fact, 60))}** · {plain(loss.series + where)}", width="stretch")
            badge(loss.kind.value, ":material/heart_broken:", _COLOURS[loss.kind])
            if st.button(
                f"Turn {loss.turn}",
                key=f"open.{key}",
                icon=":material/frame_inspect:",
                help="Open it in this turn",
            ):
                st.switch_page(PAGE, query_params=query(loss.replay, loss.turn, "facts"))
        st.markdown(f":gray[Asked] {plain(clip(loss.question, _LONGEST))}")
        st.markdown(f":gray[Answered] {plain(_answer(loss))}")
        st.markdown(f":gray[Removed by] {plain(_removed(loss))}")


def _answer(loss: Loss) -> str:
    if loss.answer is None:
        return "not asked"
    often = f" ({loss.replays} of {loss.of} repeats)" if loss.of > 1 else ""
    return f"{clip(loss.answer, _LONGEST) or 'nothing'} (after turn {loss.asked_after}){often}"


def _removed(loss: Loss) -> str:
    if loss.removed is None:
        return f"nothing: it was there, {LOOKS[loss.whereabouts].words}"
    since = f"{LOOKS[loss.whereabouts].words} since turn {min(loss.removed.turn, loss.turn)}"
    event = loss.removed.event
    told = clip(details(event.event, event.data), 120) if event is not None else ""
    return f"{cause_in_words(loss.removed)}: {since}" + (f" ({told})" if told else "")
