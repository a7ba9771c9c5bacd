"""The pages without a browser: what they show of a store, and what their controls do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from memdash.records import Status
from memdash.spec import Provider
from memdash.store import Store
from memdash.views import chart_grid, replay_address, results, setup_form
from memdash.views.choices import DEMO, of_spec
from memdash.views.comparison import file_of
from memdash.views.state import services
from tests.views.samples import REFUSAL, sample_spec, sample_sweep, store_sample

VIEWS = Path(__file__).resolve().parents[2] / "memdash" / "views"


def page(name: str, **query: str | list[str]) -> AppTest:
    """Open a page by its address, as the server does."""
    at = AppTest.from_file(VIEWS / "main.py", default_timeout=30)
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    if name != "compare":
        at.switch_page(f"{name}.py").run()
    assert not at.exception, at.exception
    return at


def texts(at: AppTest) -> str:
    """Everything a person can read on the page, unescaped."""
    kinds = (
        at.markdown,
        at.caption,
        at.text,
        at.subheader,
        at.header,
        at.code,
        at.warning,
        at.error,
        at.success,
        at.info,
    )
    return "\n".join(str(one.value) for kind in kinds for one in kind).replace("\\", "").replace("\u2060", "")


def setup_value(at: AppTest, name: str) -> object:
    return at.session_state[f"setup.{at.session_state['setup_epoch']}.{name}"]


# -- compare -------------------------------------------------------------------------------------------------------------


def test_an_empty_store_says_what_to_do_next() -> None:
    at = page("compare")
    assert "No comparison yet" in texts(at)
    assert "press Run" in texts(at)


def test_the_newest_comparison_is_shown_with_its_numbers_and_charts(store: Store) -> None:
    store_sample(store, sample_spec(title="An older one"))
    newest = store_sample(store, sample_spec(title="The newest"))
    at = page("compare")
    shown = texts(at)
    assert "The newest" in shown
    assert "Simulator rules of 2026-11-30, not yet compared with the live API" in shown
    assert len(at.get("plotly_chart")) == 6
    frame = at.dataframe[0].value
    assert list(frame["strategy"]) == [
        "full history",
        "window of 4",
        "window of 4 (naive)",
        "compaction at 2000",
    ]
    assert list(frame["status"]) == ["done", "done", "rejected", "done"]
    assert list(frame["kept"]) == ["4 of 4", "0 of 4", "–", "4 of 4"]
    assert REFUSAL in shown
    assert "**window of 4 (naive)**: the API refused turn 5" in shown
    assert at.session_state["comparison"] == newest


def test_the_form_hears_a_press_first_and_charts_are_sent_before_the_table_above_them(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def noting(name: str, draw: Callable[..., object]) -> Callable[..., object]:
        return lambda *args, **options: (sent.append(name), draw(*args, **options))[1]

    monkeypatch.setattr(chart_grid, "kept_chart_card", noting("chart", chart_grid.kept_chart_card))
    monkeypatch.setattr(results, "results_table", noting("table", results.results_table))
    monkeypatch.setattr(setup_form, "provider_badge", noting("form", setup_form.provider_badge))
    store_sample(store, sample_spec())
    at = page("compare")
    assert sent == ["form"] + ["chart"] * 6 + ["table"]
    shown = [one.type for one in at.main if one.type in ("dataframe", "plotly_chart")]
    assert shown == ["dataframe"] + ["plotly_chart"] * 6


def test_the_form_shows_the_settings_of_the_comparison_that_is_open(store: Store) -> None:
    store_sample(store, sample_spec(turns=12))
    at = page("compare")
    assert setup_value(at, "turns") == 12
    assert at.session_state["setup"] == of_spec(
        services().store.comparison(at.session_state["comparison"]).spec
    )


def test_a_link_opens_its_comparison_with_what_it_changes(store: Store) -> None:
    old = store_sample(store, sample_spec(title="An older one"))
    store_sample(store, sample_spec(title="The newest"))
    at = page("compare", c=old, turns="7", s=["full_history", "window:keep=9"])
    assert "An older one" in texts(at)
    assert at.session_state["setup"].turns == 7
    assert at.session_state["setup"].strategies == ("full_history", "window:keep=9")


def test_a_link_to_what_is_not_there_says_so_and_offers_the_library(store: Store) -> None:
    kept = store_sample(store, sample_spec())
    at = page("compare", c=kept[:-1] + "x", repeats="1000")
    assert "there is no comparison" in texts(at)
    assert f"did you mean {kept}?" in texts(at)
    assert "repeats: 1000 is not between 1 and 20" in texts(at)
    assert at.button(key="to_library").label == "Open the library"
    at.run()
    assert "There is no such comparison here" in texts(at), "it stays until something else is opened"


def test_a_running_comparison_shows_how_far_it_is_and_can_be_cancelled(store: Store) -> None:
    store_sample(store, sample_spec(turns=12), played=4, end=None)
    at = page("compare")
    assert at.button(key="cancel").label == "Cancel"
    assert list(at.dataframe[0].value["status"]) == ["turn 5 of 12"] * 4
    assert "The findings stand here once a strategy has finished." in texts(at)


def test_an_interrupted_comparison_offers_to_resume(store: Store) -> None:
    store_sample(store, sample_spec(turns=12), played=4, end=Status.INTERRUPTED)
    at = page("compare")
    assert "4 replays interrupted" in texts(at)
    assert at.button(key="resume").label == "Resume"


def test_picked_rows_filter_the_charts_and_stand_in_the_link(store: Store) -> None:
    one = store_sample(store, sample_spec())
    at = page("compare", c=one, rows=["002", "004"])
    assert "The charts show 2 rows." in texts(at)
    figure = at.get("plotly_chart")[0].proto.spec
    assert "window of 4" in figure
    assert "full history" not in figure
    at.session_state[f"table.{one}"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    at.run()
    assert at.session_state["rows"] == ["001"]


def test_with_several_scripts_one_is_chosen_for_the_charts_and_the_table_shows_all(store: Store) -> None:
    spec = sample_spec()
    spec = replace(spec, scripts=(*spec.scripts, *sample_spec("trip-change").scripts))
    one = store_sample(store, spec)
    at = page("compare", c=one, show="trip-change")
    assert len(at.dataframe[0].value) == 8
    chosen = at.get("button_group")
    assert "trip-change" in str([group.value for group in chosen])


def test_repeats_are_one_row_with_their_range_until_each_is_asked_for(store: Store) -> None:
    one = store_sample(store, replace(sample_spec(), repeats=3))
    at = page("compare", c=one)
    frame = at.dataframe[0].value
    assert list(frame["Strategy"]) == [
        "full history",
        "window of 4",
        "window of 4 (naive)",
        "compaction at 2000",
    ]
    assert list(frame["Kept"]) == ["12 of 12", "0 of 12", "–", "12 of 12"]
    assert list(frame["Kept, range"]) == ["4", "0", "–", "4"]
    assert list(frame["Status"]) == ["done", "done", "rejected", "done"]
    against = [
        None if one != one else round(one) for one in frame["Against full"]
    ]  # what is not known is NaN
    assert against == [None, 51, None, -2]
    assert round(100 * (frame["Cost"][1] / frame["Cost"][0] - 1)) == 51
    figure = at.get("plotly_chart")[0].proto.spec
    assert "mean of 3 repeats" in texts(at)
    assert "toself" in figure
    each = page("compare", c=one, by="replay")
    assert len(each.dataframe[0].value) == 12


def test_a_picked_row_of_repeats_shows_all_of_them_in_the_charts(store: Store) -> None:
    one = store_sample(store, replace(sample_spec(), repeats=2))
    at = page("compare", c=one, rows=["002"])
    assert "The charts show 1 row." in texts(at)
    figure = at.get("plotly_chart")[0].proto.spec
    assert "window of 4" in figure
    assert "full history" not in figure
    assert "mean of 2 repeats" in texts(at)


# -- the form ------------------------------------------------------------------------------------------------------------


def test_every_strategy_gets_its_form_from_its_declaration() -> None:
    from memdash.strategies import parameters, strategies

    names = [cls.name for cls in strategies()]
    at = page("compare", s=names)
    epoch = at.session_state["setup_epoch"]
    for number, cls in enumerate(strategies()):
        for one in parameters(cls.Params):
            assert f"setup.{epoch}.row.{number}.{one.name}" in at.session_state


def test_a_threshold_is_changed_and_the_choice_stands_in_the_setup() -> None:
    at = page("compare")
    epoch = at.session_state["setup_epoch"]
    at.number_input(key=f"setup.{epoch}.row.1.keep").set_value(6).run()
    assert at.session_state["setup"].strategies[1] == "window:keep=6"
    assert at.session_state["setup"].strategies[2] == "window:keep=4,thinking=keep"


def test_an_impossible_choice_says_what_is_wrong_and_cannot_be_run() -> None:
    at = page("compare", s=["window:keep=4"])
    epoch = at.session_state["setup_epoch"]
    at.number_input(key=f"setup.{epoch}.row.0.trim_at").set_value(2).run()
    assert "trim_at: 2 is below keep (4)" in texts(at)
    assert at.button(key=f"setup.{epoch}.run").disabled
    at.number_input(key=f"setup.{epoch}.row.0.trim_at").set_value(9).run()
    assert not at.button(key=f"setup.{epoch}.run").disabled


def test_a_strategy_is_removed() -> None:
    at = page("compare")
    epoch = at.session_state["setup_epoch"]
    at.button(key=f"setup.{epoch}.row.0.remove").click().run()
    assert at.session_state["setup"].strategies == DEMO.strategies[1:]


def test_the_live_api_is_offered_only_with_a_key_and_needs_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    at = page("compare")
    epoch = at.session_state["setup_epoch"]
    assert f"setup.{epoch}.provider" not in at.session_state

    secret = "sk-ant-not-a-real-key"
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret)
    at = page("compare")
    epoch = at.session_state["setup_epoch"]
    at.session_state[f"setup.{epoch}.provider"] = Provider.ANTHROPIC
    at.run()
    assert "a live run spends real money" in texts(at).lower()
    assert at.button(key=f"setup.{epoch}.run").disabled
    at.number_input(key=f"setup.{epoch}.budget").set_value(2.0).run()
    assert not at.button(key=f"setup.{epoch}.run").disabled
    assert at.session_state["setup"].budget == 2.0
    assert secret not in texts(at)
    assert secret not in repr(at)


# -- library -------------------------------------------------------------------------------------------------------------


def test_an_empty_library_says_what_to_do_next() -> None:
    assert "Nothing has been run yet" in texts(page("library"))


def test_the_library_lists_the_newest_first_and_finds_by_word(store: Store) -> None:
    store_sample(store, sample_spec(title="About windows"))
    store_sample(store, sample_spec("trip-change", title="About changes"))
    at = page("library")
    assert texts(at).index("About changes") < texts(at).index("About windows")
    at.text_input(key="q").set_value("WINDOWS trip-planning").run()
    assert "About windows" in texts(at)
    assert "About changes" not in texts(at)
    at.text_input(key="q").set_value("nowhere").run()
    assert "Nothing matches" in texts(at)


def test_a_title_with_markup_is_shown_as_text(store: Store) -> None:
    hostile = "**x** [a](javascript:..) :material/x: $x$ <img>"
    store_sample(store, sample_spec(title=hostile))
    for name in ("compare", "library"):
        at = page(name)
        assert hostile in texts(at)
        raw = "\n".join(str(one.value) for kind in (at.markdown, at.caption, at.subheader) for one in kind)
        assert "**x**" not in raw
        assert r"\<img\>" in raw


@pytest.mark.parametrize(
    ("ending", "start"), [(".json", b"{"), (".csv", b"comparison,title"), (".parquet", b"PAR1")]
)
def test_a_comparison_is_downloaded_in_each_format(store: Store, ending: str, start: bytes) -> None:
    one = store_sample(store, sample_spec(title="A file"))
    content = file_of(one, ending)
    assert content.startswith(start)
    if ending != ".parquet":
        assert b"A file" in content


# -- scripts and prices --------------------------------------------------------------------------------------------------


def test_a_script_is_read_with_its_facts_and_its_fixed_part() -> None:
    at = page("scripts", script="support-tools")
    assert "Turn 1" in texts(at)
    assert at.radio(key="script").value == "support-tools"
    at.session_state["script_view"] = "Facts and probes"
    at.run()
    assert "A right answer" in texts(at)
    at.session_state["script_view"] = "Fixed part"
    at.run()
    assert "What every request of the conversation starts with" in texts(at)


def test_a_link_to_a_script_that_is_not_there_says_so() -> None:
    at = page("scripts", script="no-such-script")
    assert "There is no script 'no-such-script' here." in texts(at)
    assert at.radio(key="script").value == "trip-planning"


def test_a_wrong_script_is_refused_with_line_and_field() -> None:
    at = page("scripts")
    at.file_uploader(key="script_file").set_value(
        ("mine.yaml", b"id: mine\nturns:\n  - usr: hello\n", "text/yaml")
    ).run()
    assert (
        "One problem in this file" in [one.proto.title for one in at.error] or "problem" in texts(at).lower()
    )
    assert "line 3 · turns[0]" in texts(at)
    assert "uploads" not in at.session_state


def test_a_valid_script_joins_the_list_and_the_form() -> None:
    at = page("scripts")
    content = b"id: mine\ntitle: My own\nturns:\n  - Hello there\n  - And again\n"
    at.file_uploader(key="script_file").set_value(("mine.yaml", content, "text/yaml")).run()
    assert "mine" in at.session_state["uploads"]
    at.switch_page("compare.py").run()
    epoch = at.session_state["setup_epoch"]
    assert "My own" in at.multiselect(key=f"setup.{epoch}.scripts").options


def test_prices_show_five_prices_a_model_with_their_source() -> None:
    at = page("prices")
    frame = at.dataframe[0].value
    row = frame[frame["Model"] == "claude-opus-5-5"].iloc[0]
    assert [row[name] for name in ("Input", "Write, 5 min", "Write, 1 h", "Read", "Output")] == [
        4,
        5,
        8,
        0.2,
        20,
    ]
    assert row["Source"]
    assert (frame["Model"] == "claude-haiku-5-5, prompt > 100k").sum() == 1


# -- trouble -------------------------------------------------------------------------------------------------------------


def test_a_database_that_cannot_be_opened_is_a_page_and_not_a_traceback(database: Path) -> None:
    database.write_bytes(b"this is no database" * 100)
    at = page("compare")
    assert "The database cannot be opened" in texts(at)
    assert str(database) in texts(at)
    assert at.button(key="try_again").label == "Try again now"


# -- presses that come when a run ends -----------------------------------------------------------------------------------


def _body_when_polling_ends(view: str, shown: str) -> None:
    """The part of a page that is drawn again by itself, first as if it were still looking for news of what is over."""
    import importlib

    import streamlit as st

    body = importlib.import_module(f"memdash.views.{view}")._body
    body(shown, st.session_state.pop("polling", False if view == "sweep_results" else None))


@pytest.mark.parametrize(
    ("view", "press"),
    [("results", "Side by side"), ("sweep_results", "Turn 1"), ("replay_view", "Open the comparison")],
)
def test_a_press_that_comes_when_polling_ends_is_not_lost(
    store: Store, monkeypatch: pytest.MonkeyPatch, view: str, press: str
) -> None:
    shown = store_sample(store, sample_sweep() if view == "sweep_results" else sample_spec())
    if view == "replay_view":
        shown = store.comparison(shown).replays[0].id
        monkeypatch.setattr(replay_address, "place", lambda: replay_address.Place(shown))
    went: list[object] = []
    monkeypatch.setattr("streamlit.switch_page", lambda page, **_: went.append(page))
    at = AppTest.from_function(_body_when_polling_ends, args=(view, shown), default_timeout=30)
    at.session_state["view"], at.session_state["setting"] = "broke", "window of 4"
    at.run()
    at.session_state["polling"] = 1.5
    next(one for one in at.button if one.label == press).click().run()
    assert not at.exception
    assert len(went) == 1
