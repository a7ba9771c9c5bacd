"""The answer of a sweep: which setting to ship, how sure that is, and the four numbers that matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.metrics import Headline
from memdash.metrics.sweep import Basis, Estimate, Recommendation
from memdash.views import address
from memdash.views.components import HELP, badge, plain
from memdash.views.headline import card
from memdash.views.sweep_form import HELP as SWEEP_HELP
from memdash.views.sweep_view import SweepView

_WAITING: Final = "the answer stands here once full history and a setting have been played on every script"
_SAVING_HELP: Final = (
    "What a conversation costs less than with full history, as a mean over the scripts, each counting the same. "
    "The interval is of the differences, script by script and repeat by repeat."
)
_LOSS_HELP: Final = (
    "The share of the facts kept by full history that this setting lost, in the same scripts and repeats. "
    "The bound says how large it may yet be, since only so many scripts were played."
)
_MONTH_HELP: Final = (
    "The saving of a conversation times the conversations of a month. What yours would cost, with their own lengths, stands "
    "under “Your conversations”."
)


def advice(shown: SweepView) -> None:
    """Draw the answer with its limits, then the cards."""
    with st.container(border=True, gap="small", key="advice"):
        found = shown.analysis.recommendations
        for one in found:
            _answer(shown, one)
        if not found:
            why = (shown.analysis.unrecommended or _WAITING).removeprefix("No recommendation: ")
            st.markdown("#### No recommendation yet" if not shown.reading.over else "#### No recommendation")
            st.caption(plain(why[:1].upper() + why[1:]))
        _max_loss_input(shown)
    _cards(shown)


def _answer(shown: SweepView, one: Recommendation) -> None:
    """The headline's first words large, since they are the answer; then the numbers, then what limits them."""
    title, _, rest = one.headline.partition(": ")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"#### {plain(title)}", width="content")
        if one.decisive:
            badge("decisive", ":material/verified:", "green")
        else:
            badge("not decisive", ":material/help:", "orange")
        if one.setting.simulated:
            badge("simulated", ":material/science:", "gray")
        if not shown.reading.over:
            badge("so far", ":material/sync:", "blue")
    st.markdown(plain(rest[:1].upper() + rest[1:]))
    if one.caveats:
        st.caption("  \n".join(plain(caveat) for caveat in one.caveats))


def _max_loss_input(shown: SweepView) -> None:
    """The largest loss can be changed on what was measured; nothing runs again for it."""
    key = f"loss.{shown.reading.id}"
    st.session_state[key] = round(shown.analysis.max_loss * 100, 2)
    st.number_input(
        "A setting may lose, % of the facts",
        min_value=0.0,
        max_value=100.0,
        step=1.0,
        format="%.0f",
        key=key,
        help=SWEEP_HELP["max loss"],
        width=240,
        on_change=_take_loss,
        args=(shown,),
    )


def _take_loss(shown: SweepView) -> None:
    points = st.session_state[f"loss.{shown.reading.id}"]
    wanted = round(points / 100, 4)
    address.keep(address.LOSS, None if wanted == shown.reading.sweep.max_loss else f"{wanted:g}")


def _cards(shown: SweepView) -> None:
    with st.grid(4, min_column_width=172, gap="small"):
        for headline, help_text in _headlines(shown):
            card(headline, help_text)


def _headlines(shown: SweepView) -> Sequence[tuple[Headline, str]]:
    one = shown.analysis.recommendation
    noun = "Facts" if shown.analysis.basis is Basis.KEPT else "Right answers"
    if one is None:
        titles = ("Saved a conversation", "Saved a month", f"{noun} lost", "Wait p95")
        helps = (_SAVING_HELP, _MONTH_HELP, _LOSS_HELP, HELP["wait"])
        why = "no setting is recommended" if shown.reading.over else "not known yet"
        return [
            (Headline(title, numbers.NOTHING, (), why), help)
            for title, help in zip(titles, helps, strict=True)
        ]
    whose = (one.setting.series,)
    monthly = shown.analysis.conversations_per_month
    at = f"at {monthly:,.0f} conversations a month"
    if one.setting.is_full_history:
        cost = one.setting.cost_usd.mean if one.setting.cost_usd else 0.0
        return [
            (
                Headline(
                    "A conversation costs", numbers.usd(cost), whose, "nothing to save without losing more"
                ),
                HELP["cost"],
            ),
            (Headline("A month costs", numbers.usd_whole(cost * monthly), whose, at), _MONTH_HELP),
            (
                Headline(f"{noun} lost", numbers.percent(0), whose, "the others are measured against it"),
                _LOSS_HELP,
            ),
            (
                Headline("Wait p95", _seconds(one.setting.wait_p95_ms), whose, "in the slowest turns"),
                HELP["wait"],
            ),
        ]
    loss = one.setting.loss
    allowed = numbers.percent(shown.analysis.max_loss)
    bound = "not known" if loss is None else f"at most {numbers.percent(loss.high)}, {allowed} allowed"
    lost = numbers.NOTHING if loss is None else numbers.percent(loss.mean)
    full = f"full history {_seconds(one.baseline.wait_p95_ms)}"
    return [
        (
            Headline("Saved a conversation", numbers.usd(one.saving_usd.mean), whose, _on_saving(one)),
            _SAVING_HELP,
        ),
        (Headline("Saved a month", numbers.usd_whole(one.saving_per_month_usd), whose, at), _MONTH_HELP),
        (Headline(f"{noun} lost", lost, whose, bound), _LOSS_HELP),
        (Headline("Wait p95", _seconds(one.setting.wait_p95_ms), whose, full), HELP["wait"]),
    ]


def _on_saving(one: Recommendation) -> str:
    share = f"{numbers.percent(one.saving)} of full history"
    if one.saving_usd.low is None or one.saving_usd.high is None:
        return share
    return f"{share}; 95 %: {numbers.span(one.saving_usd.low, one.saving_usd.high, numbers.usd)}"


def _seconds(found: Estimate | None) -> str:
    return numbers.seconds(None if found is None else found.mean)
