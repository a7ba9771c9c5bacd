"""Your conversations and what is forgotten, on the page: typed in, priced, drawn, and kept in the address."""

from __future__ import annotations

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from memdash.spec import Sweep
from memdash.store import Store
from memdash.strategies import parse_family
from tests.views.samples import sample_spec, store_sample
from tests.views.test_pages import page, texts


def priced() -> None:
    """The panel over three settings whose costs are known beforehand."""
    from memdash.metrics.conversations import cost_curves
    from memdash.records import Status
    from memdash.views.panels import conversations
    from memdash.views.sweep_view import Floored
    from tests.metrics.outcomes import outcome

    outcomes = [
        outcome("full history", [1, 1, 1, 9]),
        outcome("window of 4", [2, 1, 1, 1]),
        outcome("*naive*", [1]),
        outcome("cut short", [1], status=Status.REJECTED),
    ]
    conversations.show(cost_curves(outcomes), Floored((), None, {}), "cmp_1")


def panel(**query: str) -> AppTest:
    at = AppTest.from_function(priced, default_timeout=30)
    for key, value in query.items():
        at.session_state[key] = value
    at.run()
    assert not at.exception, at.exception
    return at


def costs(at: AppTest) -> dict[str, dict[str, object]]:
    frame = at.dataframe[0].value
    return {row["Strategy"]: dict(row) for _, row in frame.iterrows()}


def test_an_example_is_priced_until_lengths_are_typed() -> None:
    at = panel()
    assert "An example, until you say how long yours are" in texts(at)
    at.text_input[0].set_value("p0=4,p100=4").run()
    assert "An example" not in texts(at)
    found = costs(at)
    assert list(found) == ["*naive*", "window of 4", "full history"]  # the cheapest first
    assert [found[name]["Mean"] for name in found] == [1, 5, 12]
    assert found["window of 4"]["Break-even"] == "4"
    assert found["full history"]["Break-even"] == "–"
    assert "A month" not in found["full history"]
    assert "cut short is left out: 1 of 1 replays refused by the API." in texts(at)


def test_traffic_adds_the_month_and_the_peak() -> None:
    at = panel()
    at.text_input[0].set_value("p0=4,p100=4")
    day, peak, limit = at.number_input
    day.set_value(1200)
    peak.set_value(10)
    limit.set_value(1000)
    at.run()
    row = costs(at)["full history"]
    assert row["A month"] == 12 * 1200 * 30
    assert row["Peak a minute"] == 1200 * 0.1 / 60 * 400
    assert row["Of limit"] == 80
    assert "Every setting stays under the limit of 1,000 input tokens a minute" in texts(at)


def test_what_was_typed_is_in_the_address_and_read_from_it() -> None:
    at = panel()
    at.text_input[0].set_value("p0=2,p100=3")
    at.number_input[0].set_value(50)
    at.run()
    assert at.query_params["traffic"] == "lengths:p0=2,p100=3;day:50"
    again = panel(traffic="lengths:p0=2,p100=3;day:50")
    assert again.text_input[0].value == "p0=2,p100=3"
    assert again.number_input[0].value == 50
    assert panel(traffic="day:many;peak").number_input[0].value is None


def test_lengths_that_cannot_be_used_say_why_and_price_nothing() -> None:
    at = panel()
    at.text_input[0].set_value("/etc/passwd").run()
    assert "'/etc/passwd' is no quantile" in texts(at)
    assert not at.dataframe
    at.text_input[0].set_value("p100=4")
    at.number_input[1].set_value(10)
    at.run()
    assert "say how many conversations a day there are as well" in texts(at)


def test_lengths_are_read_from_a_file_and_what_is_wrong_with_it_is_told() -> None:
    at = panel()
    at.file_uploader[0].set_value(("mine.csv", b"turns,count\n4,1\n", "text/csv")).run()
    assert "mine.csv: 4.0 turns on average, 95 % have at most 4, the longest 4 turns" in texts(at)
    assert costs(at)["full history"]["Mean"] == 12
    at.file_uploader[0].set_value(("mine.csv", b"four\n", "text/csv")).run()
    assert "mine.csv:1: 'four' is not a number of turns" in texts(at)


def test_every_pair_that_changes_order_is_told() -> None:
    rows = panel().dataframe[1].value.to_dict("records")
    told = [{name: row[name] for name in row if name} for row in rows]
    assert told == [
        {
            "Strategy": "full history",
            "is cheaper at first than": "window of 4",
            "The order changes at": "4",
            "For good from turn": 4,
            "Then the cheaper one is": "window of 4",
        }
    ]


def test_the_chart_is_of_every_setting_where_they_are_few() -> None:
    at = panel()
    assert len(at.get("plotly_chart")) == 1
    assert not at.multiselect


def test_the_breakdown_is_a_panel_of_a_comparison(store: Store) -> None:
    store_sample(store, sample_spec())
    at = page("compare", view="breakdown")
    shown = texts(at)
    assert "Kept by kind of fact: window of 4 keeps 0 of 1 of kind amount" in shown
    assert "Right, stale and wrong answers (simulated): no answer holds an earlier value" in shown
    assert len(at.get("plotly_chart")) == 4
    [cut] = [one for one in at.get("button_group") if one.label == "Break down by"]
    cut.set_value("age").run()
    assert "Kept by how long ago it was said" in texts(at)


def test_without_a_finished_replay_there_is_nothing_to_break_down(store: Store) -> None:
    store_sample(store, sample_spec(), played=2, end=None)
    at = page("compare", view="breakdown")
    assert "There is nothing to break down" in texts(at)


@pytest.mark.parametrize(
    ("view", "expected"), [("conversations", "Your conversations"), ("forgotten", "Kept by kind of fact")]
)
def test_both_are_panels_of_a_sweep(store: Store, view: str, expected: str) -> None:
    families = (parse_family("full_history"), parse_family("window:4"), parse_family("compaction:2000"))
    swept = dataclasses.replace(
        sample_spec(), strategies=sample_spec().strategies[::3], sweep=Sweep(families)
    )
    store_sample(store, swept)
    at = page("thresholds", view=view)
    assert expected in texts(at)
    assert at.get("plotly_chart")
