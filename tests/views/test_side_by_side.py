"""Replays of several comparisons on one page, the baseline, and what changed between two comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from memdash.store import Store
from memdash.strategies import choose
from memdash.views.state import services
from tests.views.samples import sample_spec, sample_sweep, store_sample
from tests.views.test_links import query, unusable
from tests.views.test_pages import VIEWS, page, texts


def two(store: Store) -> tuple[str, str]:
    """Two comparisons of the same settings, the second on another model."""
    other = replace(sample_spec(title="The other"), models=("claude-sonnet-5",))
    return store_sample(store, sample_spec(title="The one")), store_sample(store, other)


def opened(name: str, **link: str | list[str]) -> AppTest:
    """Open a page that has no form, by its link."""
    at = AppTest.from_file(VIEWS / "main.py", default_timeout=30)
    at.switch_page(f"{name}.py")
    for key, value in link.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception, at.exception
    return at


def rows(at: AppTest) -> list[str]:
    return list(at.dataframe[0].value["strategy"])


def pick(at: AppTest, replays: Sequence[str], *places: int) -> None:
    """Pick rows of the table of ``replays``."""
    at.session_state[f"beside.table.{'.'.join(replays)}"] = {
        "selection": {"rows": list(places), "columns": [], "cells": []}
    }
    at.run()


# -- side by side --------------------------------------------------------------------------------------------------------


def test_replays_of_two_comparisons_stand_under_names_that_tell_them_apart(store: Store) -> None:
    one, other = two(store)
    at = opened("side_by_side", r=[f"{one}.001.002", f"{other}.001.004"])
    assert rows(at) == ["A · full history", "A · window of 4", "B · full history", "B · compaction at 2000"]
    assert len(at.get("plotly_chart")) == 6
    assert "**A** · The one" in texts(at)
    assert "**B** · The other" in texts(at)
    assert len(set(at.dataframe[0].value["look"])) == 4, "each has a look of its own"


def test_what_is_not_alike_is_told_above_the_numbers(store: Store) -> None:
    one, other = two(store)
    at = opened("side_by_side", r=[f"{one}.001", f"{other}.001"])
    assert "Model: claude-opus-5-5 (A); claude-sonnet-5 (B)." in unusable(at)
    assert [one.type for one in at.main if one.type in ("warning", "dataframe")] == ["warning", "dataframe"]


def test_replays_of_one_comparison_are_alike_and_keep_their_names(store: Store) -> None:
    one, _ = two(store)
    at = opened("side_by_side", r=f"{one}.001.002")
    assert rows(at) == ["full history", "window of 4"]
    assert not at.warning


def test_scripts_are_charted_one_at_a_time(store: Store) -> None:
    sweep = store_sample(store, sample_sweep())
    at = opened("side_by_side", r=f"{sweep}.001.006.007", script="trip-change")
    assert "Script: trip-planning" in unusable(at)
    chart = at.segmented_control(key="beside.script")
    assert chart.value == "trip-change"
    assert len(at.get("plotly_chart")) == 6
    chart.set_value("trip-planning").run()
    assert query(at) == {"r": f"{sweep}.001.006.007"}


def test_rows_that_are_picked_are_charted_alone_and_stand_in_the_link(store: Store) -> None:
    one, other = two(store)
    at = opened("side_by_side", r=[f"{one}.001", f"{other}.001.002"])
    pick(at, [f"{one}_001", f"{other}_001", f"{other}_002"], 0, 2)
    assert query(at) == {"r": [f"{one}.001", f"{other}.001.002"], "only": [f"{one}.001", f"{other}.002"]}
    assert "The charts show 2 rows." in texts(at)
    again = opened("side_by_side", **query(at))
    assert "The charts show 2 rows." in texts(again)
    again.button(key="beside.remove").click().run()
    assert rows(again) == ["full history"]
    assert query(again) == {"r": f"{other}.001"}


def test_what_is_cleared_is_gone_from_the_page_and_the_link(store: Store) -> None:
    one, other = two(store)
    at = opened("side_by_side", r=[f"{one}.001", f"{other}.001"])
    at.button(key="beside.clear").click().run()
    assert "Nothing is side by side yet" in texts(at)
    assert query(at) == {}


def test_picked_rows_of_a_comparison_are_taken_over_from_compare(store: Store) -> None:
    one, other = two(store)
    at = opened("side_by_side", r=f"{other}.001")
    at.switch_page("compare.py")
    at.query_params["c"] = one
    at.query_params["rows"] = "002"
    at.run()
    at.button(key="side_by_side").click().run()
    assert rows(at) == ["A · full history", "B · window of 4"]
    assert query(at) == {"r": [f"{other}.001", f"{one}.002"]}


def test_replays_are_found_by_search_on_the_page_and_added(store: Store) -> None:
    one, other = two(store)
    at = opened("side_by_side")
    assert "Nothing is side by side yet" in texts(at)
    at.selectbox(key="beside.comparison").set_value(other).run()
    choice = at.multiselect(key=f"beside.replays.{other}.0")
    assert choice.options == ["full history", "window of 4", "window of 4 (naive)", "compaction at 2000"]
    choice.set_value([f"{other}_002"]).run()
    at.button(key=f"beside.add.{other}").click().run()
    assert rows(at) == ["window of 4"]
    at.selectbox(key="beside.comparison").set_value(one).run()
    at.multiselect(key=f"beside.replays.{one}.1").set_value([f"{one}_002"]).run()
    at.button(key=f"beside.add.{one}").click().run()
    assert rows(at) == ["A · window of 4", "B · window of 4"]


def test_a_link_to_replays_that_are_gone_says_so_and_shows_the_rest(store: Store) -> None:
    one, other = two(store)
    store.delete(other)
    at = opened(
        "side_by_side", r=[f"{one}.001", f"{other}.001", f"{one}.099", "<b>nonsense"], only=f"{one}.007"
    )
    said = unusable(at)
    assert (
        f"{other}_001 and {one}_099 are not here" in said or f"{one}_099 and {other}_001 are not here" in said
    )
    assert "r: '<b>nonsense' names no replays" in said
    assert f"only: '{one}_007' is not one of the replays" in said
    assert str(services().store.path) not in texts(at) + said
    assert at.button(key="to_library").label == "Open the library"
    assert rows(at) == ["full history"]


def test_a_link_of_which_nothing_is_here_offers_the_library(store: Store) -> None:
    at = opened("side_by_side", r="cmp_000000000000.001")
    assert "cmp_000000000000_001 is not here" in unusable(at)
    assert at.button(key="to_library").label == "Open the library"
    assert not at.dataframe


def test_what_another_deletes_meanwhile_is_said(store: Store) -> None:
    one, other = two(store)
    at = opened("side_by_side", r=[f"{one}.001", f"{other}.001"])
    store.delete(one)
    at.run()
    assert f"{one}_001 is not here" in unusable(at)
    assert rows(at) == ["full history"]


# -- the baseline --------------------------------------------------------------------------------------------------------


def test_differences_from_the_baseline_stand_below_the_table(store: Store) -> None:
    one, other = two(store)
    store.pin_baseline(one)
    at = opened("side_by_side", r=f"{other}.001.002.003")
    assert len(at.dataframe) == 1
    at.toggle(key="beside.against").set_value(True).run()
    assert query(at) == {"r": f"{other}.001.002.003", "against": "baseline"}
    table = at.dataframe[1].value
    assert list(table["Strategy"]) == ["A · full history", "A · window of 4", "A · window of 4 (naive)"]
    assert list(table["Baseline's"]) == [
        "B · full history (other model)",
        "B · window of 4 (other model)",
        "B · window of 4 (naive) (other model; not played to the end)",
    ]
    assert list(table["Prompt tokens"][:2]) == [0.0, 0.0]
    assert table["Cost"][0] == pytest.approx(-43.8, abs=20), "sonnet costs about half of what opus does"
    again = opened("side_by_side", **query(at))
    assert len(again.dataframe) == 2


def test_a_link_against_a_baseline_that_is_gone_says_so(store: Store) -> None:
    one, _ = two(store)
    at = opened("side_by_side", r=f"{one}.001", against="baseline")
    assert "against: no baseline is pinned here" in unusable(at)


def test_the_baseline_is_pinned_and_unpinned_from_a_row_and_a_head(store: Store) -> None:
    one, other = two(store)
    at = page("compare", c=one)
    at.session_state["changes_menu"] = True
    at.run()
    at.button(key=f"pin.{one}").click().run()
    assert store.baseline() == one
    assert ":blue-badge[:material/keep: baseline]" in texts(at)
    at.switch_page("library.py").run()
    at.session_state[f"beside.{other}"] = True
    at.run()
    at.button(key=f"pin.{other}").click().run()
    assert store.baseline() == other
    at.session_state[f"beside.{other}"] = True
    at.run()
    at.button(key=f"unpin.{other}").click().run()
    assert store.baseline() is None


# -- what changed --------------------------------------------------------------------------------------------------------


def changed(store: Store) -> tuple[str, str]:
    """Full history and a window of 4; later the window's place is taken by compaction, at another pace."""
    before = replace(
        sample_spec(title="Before"), strategies=(choose("full_history"), choose("window")), pace=30.0
    )
    after = replace(before, id="cmp_later", title="Later", pace=60.0)
    after = replace(after, strategies=(choose("full_history"), choose("compaction")))
    return store_sample(store, before), store_sample(store, after)


def test_what_changed_is_told_in_numbers_settings_versions_and_prices(store: Store) -> None:
    before, after = changed(store)
    at = opened("what_changed", a=before, b=after)
    shown = texts(at)
    assert "Of 1 setting on both sides, nothing changed." in shown
    assert "Only before: window of 4 on trip-planning" in shown
    assert "Only now: compaction at 2000 on trip-planning" in shown
    settings = next(table.value for table in at.dataframe if "pace" in list(table.value.iloc[:, 0]))
    assert ["pace", "30", "60"] in settings.values.tolist()
    assert shown.count("The same on both sides.") == 2, "versions and prices"


def test_facts_that_are_lost_are_told_first(store: Store) -> None:
    before = replace(sample_spec(title="Before"), strategies=(choose("full_history"), choose("window")))
    after = replace(before, id="cmp_later", title="Later")
    one = store_sample(store, before)
    other = store_sample(store, after, played=9, end=None)
    at = opened("what_changed", a=one, b=other, of="window of 4")
    assert "window of 4: not comparable, before it was done, now running at turn 10 of 12" in texts(at)
    assert at.selectbox(key=f"changes.of.{one}.{other}").value == "window of 4"


def test_the_baseline_is_the_earlier_side_where_a_link_does_not_say(store: Store) -> None:
    before, after = changed(store)
    store.pin_baseline(before)
    at = opened("what_changed", b=after)
    assert "Of 1 setting on both sides" in texts(at)
    assert query(at) == {"a": before, "b": after}
    at.button(key="swap").click().run()
    assert query(at) == {"a": after, "b": before}
    assert "Only now: window of 4 on trip-planning" in texts(at)


@pytest.mark.parametrize("key", ["a", "b"])
def test_a_link_to_a_comparison_that_is_gone_says_so(store: Store, key: str) -> None:
    before, after = changed(store)
    at = opened("what_changed", **{"a": before, "b": after, key: "cmp_none"})
    assert "There is no comparison 'cmp_none' here." in unusable(at)
    assert "Choose two comparisons" in texts(at)
    assert at.button(key="to_library").label == "Open the library"


# -- notes ---------------------------------------------------------------------------------------------------------------


def test_a_note_is_written_in_the_head_and_read_in_the_library(store: Store) -> None:
    one = store_sample(store, sample_spec())
    at = page("compare", c=one)
    at.session_state[f"notes_menu.{one}"] = True
    at.run()
    at.text_area(key=f"note.{one}").input("<b>wrong</b> at :turn: [9](http://x)")
    at.button(key=f"add_note.{one}").click().run()
    [note] = store.comparison(one).notes
    assert (note.text, note.who) == ("<b>wrong</b> at :turn: [9](http://x)", None)
    assert "<b>wrong</b> at :turn: [9](http://x)" in texts(at)
    assert any("\\<b\\>wrong" in str(caption.value) for caption in at.caption), "as text, never as markup"
    at.switch_page("library.py").run()
    assert "<b>wrong</b> at :turn: [9](http://x)" in texts(at)


def test_notes_are_searched_and_the_latest_stand_in_the_list(store: Store) -> None:
    one, other = two(store)
    for place in range(4):
        store.add_note(one, f"remark {place}", "ann@team.example")
    at = page("library")
    assert "remark 3" in texts(at)
    assert "ann@team.example" in texts(at)
    assert "remark 1" not in texts(at)
    assert "and 2 older notes" in texts(at)
    at.text_input(key="q").set_value("remark ann@team").run()
    assert [button.key for button in at.button if button.key.startswith("open.")] == [f"open.{one}"]
    at.text_input(key="q").set_value("remark nowhere").run()
    assert "Nothing matches" in texts(at)
    assert other


def test_an_empty_note_is_refused(store: Store) -> None:
    one = store_sample(store, sample_spec())
    at = page("compare", c=one)
    at.session_state[f"notes_menu.{one}"] = True
    at.run()
    at.button(key=f"add_note.{one}").click().run()
    assert "a note needs a text" in texts(at)
    assert store.comparison(one).notes == ()
