"""The Spending page: what was spent live, by whom and on which day, against the budget of a day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.charts import spending as chart
from memdash.spending import DAYS_OF_MONTH, Account, Expense, Started, by_comparison, by_day, by_person
from memdash.store import ComparisonSummary
from memdash.views.chart_card import chart_card
from memdash.views.components import clip, empty, plain, theme
from memdash.views.people import access
from memdash.views.state import services

_NOBODY: Final = "not signed in"
_ABOUT: Final = (
    "What live requests cost, counted for the day (UTC) on which each was let through. Deleting a comparison gives nothing back. "
    "Simulated requests cost nothing and are not here."
)
_UNANSWERED_HELP: Final = (
    "Requests that were let through and have no answer, or not yet. "
    "Nobody knows what they cost, so they count at the most they can."
)


def page(today: date) -> None:
    """Draw the page as of a day."""
    st.header("Spending", anchor=False)
    st.caption(_ABOUT)
    store, limit = services().store, access().day_budget
    expenses, started = store.expenses(), store.started()
    _cards(Account.of(expenses, today), limit, today)
    if not expenses and not started:
        empty(
            "Nothing has been spent live",
            "A live run is started on the Compare page, where it has a key.",
            ":material/savings:",
        )
        return
    days = [today - timedelta(days=DAYS_OF_MONTH - 1 - place) for place in range(DAYS_OF_MONTH)]
    spent = {person or _NOBODY: amounts for person, amounts in by_day(expenses, today).items()}
    chart_card(
        chart.spent_per_day(days, spent, limit, theme()),
        chart.title(days, spent),
        chart.alt(days, spent, limit),
        key="spending.chart",
    )
    _people(expenses, today)
    _runs(expenses, started, store.comparisons(), today)


def _cards(account: Account, limit: float | None, today: date) -> None:
    with st.container(horizontal=True, gap="small"):
        of = "" if limit is None else f" of {numbers.usd(limit)}"
        st.metric(
            plain(f"Today, {today:%-d %b} (UTC)"), plain(f"{numbers.usd(account.today)}{of}"), border=True
        )
        if limit is not None:
            left = max(limit - account.today, 0.0)
            st.metric(
                "Left today",
                plain(numbers.usd(left)),
                border=True,
                help="What all live runs here may still cost together.",
            )
        st.metric(f"Last {DAYS_OF_MONTH} days", plain(numbers.usd(account.month)), border=True)
        st.metric("In all", plain(numbers.usd(account.total)), border=True)
    notes = []
    if limit is None:
        notes.append("No budget of a day is set (memdash.day_budget in .streamlit/secrets.toml)")
    if account.unpriced:
        notes.append(
            f"{numbers.count(account.unpriced, 'request')} of models without a known price are not in these sums"
        )
    if notes:
        st.caption(plain(". ".join(notes) + "."))


def _people(expenses: Sequence[Expense], today: date) -> None:
    st.markdown("**By person**")
    accounts = by_person(expenses, today)
    st.dataframe(
        {
            "Person": [person or _NOBODY for person in accounts],
            "Today": [one.today for one in accounts.values()],
            f"Last {DAYS_OF_MONTH} days": [one.month for one in accounts.values()],
            "In all": [one.total for one in accounts.values()],
            "With own key": [one.own_key for one in accounts.values()],
            "Requests": [one.requests for one in accounts.values()],
            "Without answer": [one.unanswered for one in accounts.values()],
        },
        hide_index=True,
        key="spending.people",
        alt="Dollars spent live by each person",
        column_config={
            "Person": st.column_config.TextColumn("Person", pinned=True, width=240),
            **{
                name: st.column_config.NumberColumn(name, format="$%.4f", width=120)
                for name in ("Today", f"Last {DAYS_OF_MONTH} days", "In all", "With own key")
            },
            "Requests": st.column_config.NumberColumn("Requests", width=90),
            "Without answer": st.column_config.NumberColumn(
                "Without answer", width=120, help=_UNANSWERED_HELP
            ),
        },
    )


def _runs(
    expenses: Sequence[Expense],
    started: Sequence[Started],
    present: Sequence[ComparisonSummary],
    today: date,
) -> None:
    """Draw a row for each live comparison, the newest first: who started it, when for the first time, and what it cost."""
    st.markdown("**By live run**")
    titles = {one.id: one.title or one.id for one in present}
    accounts = by_comparison(expenses, today)
    first: dict[str, Started] = {}
    people: dict[str, dict[str, None]] = {}
    for one in started:
        first.setdefault(one.comparison_id, one)
        people.setdefault(one.comparison_id, {})[one.person or _NOBODY] = None
    newest_first = sorted(first, key=lambda one: first[one].at, reverse=True)
    ids = [*newest_first, *(one for one in accounts if one not in first)]
    shown = [accounts.get(one, Account()) for one in ids]
    st.dataframe(
        {
            "Comparison": [clip(titles.get(one, f"{one} (deleted)"), 110) for one in ids],
            "Started by": [numbers.listing(list(people.get(one, {}))) or None for one in ids],
            "Started (UTC)": [first[one].at.replace(tzinfo=None) if one in first else None for one in ids],
            "Cost": [one.total for one in shown],
            "Requests": [one.requests for one in shown],
            "Without answer": [one.unanswered for one in shown],
        },
        hide_index=True,
        key="spending.runs",
        alt="Live runs with who started them and what they cost, probes included",
        placeholder="–",
        column_config={
            "Comparison": st.column_config.TextColumn("Comparison", pinned=True, width=360),
            "Started by": st.column_config.TextColumn("Started by", width=240),
            "Started (UTC)": st.column_config.DatetimeColumn(
                "Started (UTC)", format="D MMM YYYY, HH:mm", width=150
            ),
            "Cost": st.column_config.NumberColumn(
                "Cost", format="$%.4f", width=110, help="Everything that was paid for, probes included."
            ),
            "Requests": st.column_config.NumberColumn("Requests", width=90),
            "Without answer": st.column_config.NumberColumn(
                "Without answer", width=120, help=_UNANSWERED_HELP
            ),
        },
    )


page(datetime.now(UTC).date())
