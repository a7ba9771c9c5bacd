"""The chart of what was spent day by day."""

from __future__ import annotations

from datetime import date, timedelta
from html import unescape

from memdash.charts.spending import alt, spent_per_day, title

DAYS = [date(2026, 11, 28) + timedelta(days=place) for place in range(3)]
SPENT = {"ann@example.com": [0.0, 2.0, 0.5], "<b>ben</b>": [0.25, 0.125, 0.0]}


def test_the_title_names_the_dearest_day() -> None:
    assert title(DAYS, SPENT) == "Spent live: most on 29 Nov, $2.12"
    assert (
        title(DAYS, {}) == title(DAYS, {"ann": [0.0, 0.0, 0.0]}) == "Spent live: nothing in the last 3 days"
    )


def test_it_stacks_people_and_draws_the_budget_as_a_line() -> None:
    figure = spent_per_day(DAYS, SPENT, 5.0, "light")
    assert figure.layout.barmode == "stack"
    assert [one.name for one in figure.data] == ["ann@example.com", "&lt;b&gt;ben&lt;/b&gt;"]
    assert list(figure.data[0].x) == ["2026-11-28", "2026-11-29", "2026-11-30"]
    assert list(figure.data[0].y) == [0.0, 2.0, 0.5]
    assert (
        len({one.marker.color for one in figure.data})
        == len({one.marker.pattern.shape for one in figure.data})
        == 2
    )
    assert [one.y0 for one in figure.layout.shapes] == [5.0]
    assert unescape(figure.layout.annotations[0].text) == "budget of a day, $5.00"
    assert not spent_per_day(DAYS, SPENT, None, "dark").layout.shapes


def test_many_people_are_drawn_together_and_nothing_is_lost() -> None:
    spent = {f"person {place}": [float(place), 0.0, 1.0] for place in range(12)}
    figure = spent_per_day(DAYS, spent, None, "light")
    assert [one.name for one in figure.data][-1] == "5 others"
    assert sum(sum(one.y) for one in figure.data) == sum(sum(amounts) for amounts in spent.values())


def test_without_a_request_it_says_so() -> None:
    assert spent_per_day(DAYS, {}, 5.0, "light").layout.annotations[0].text == "No live request in these days"


def test_it_can_be_read_without_being_seen() -> None:
    assert alt(DAYS, SPENT, 5.0) == (
        "Stacked bar chart. Spent live: most on 29 Nov, $2.12. "
        "ann@example.com $2.50; <b>ben</b> $0.3750; the budget of a day is $5.00."
    )
