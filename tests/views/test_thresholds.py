"""The Thresholds page without a browser: what it says of a sweep, how one is set up, and where its links lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from memdash.records import Status
from memdash.store import Store
from memdash.views.choices import SWEEP, of_sweep, to_sweep
from memdash.views.state import scripts_on_disk, services
from memdash.views.sweep_panels import broke
from memdash.worker import Worker
from tests.views.samples import sample_spec, sample_sweep, store_sample
from tests.views.test_pages import VIEWS, page, texts


def thresholds(**query: str | list[str]) -> AppTest:
    """Open the page by a link, as a person does."""
    at = AppTest.from_file(VIEWS / "main.py", default_timeout=60)
    at.switch_page("thresholds.py")
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception, at.exception
    return at


def widget(at: AppTest, name: str) -> str:
    return f"setup.{at.session_state['setup_epoch']}.{name}"


def headings(at: AppTest) -> list[str]:
    return [str(one.value) for one in at.markdown if str(one.value).startswith("#### ")]


# -- states --------------------------------------------------------------------------------------------------------------


def test_a_first_visit_has_a_sweep_ready_that_one_press_runs() -> None:
    at = thresholds()
    assert "At which threshold should it run?" in texts(at)
    assert "compaction from 500 to 8,000 tokens" in texts(at)
    assert "compaction from 500 to 8,000 tokens" not in texts(thresholds(repeats="5"))
    assert not at.button(key=widget(at, "run")).disabled
    chosen = at.session_state["setup"]
    assert chosen == SWEEP
    spec = to_sweep(chosen, scripts_on_disk())
    assert [one.id for one in spec.scripts] == ["trip-planning", "trip-change", "support-tools"]
    assert spec.sweep is not None
    assert [str(one) for one in spec.sweep.families] == list(SWEEP.families)
    assert (
        spec.title
        == "Compaction at 500 to 8000, window of 2 to 24 and window of 4, trimmed at 8 to 24: 3 scripts"
    )


def test_the_answer_stands_first_with_what_limits_it(store: Store) -> None:
    store_sample(store, sample_sweep())
    at = thresholds()
    assert headings(at) == ["#### Provisionally ship compaction at 1000"]
    shown = texts(at)
    assert "It saves $0.00098 a conversation against full history (2 %" in shown
    assert "2 scripts cannot show a 5-point loss" in shown
    assert "compaction at 2000 costs the same" in shown
    assert "confirm recall live" in shown
    assert "Simulator rules of 2026-11-30, not yet compared with the live API" in shown
    assert "not decisive" in str([one.proto.body for one in at.get("badge")] or shown)
    assert len(at.get("plotly_chart")) == 6
    assert [one.value for one in at.metric] == ["$0.00098", "$29.28", "0 %", "5.2 s"]


def test_the_largest_loss_is_changed_on_what_was_measured(store: Store) -> None:
    one = store_sample(store, sample_sweep())
    at = thresholds()
    assert at.number_input(key=f"loss.{one}").value == 5
    at.number_input(key=f"loss.{one}").set_value(80.0).run()
    assert "cannot show" not in texts(at)
    assert "80 % allowed" in texts(at)
    assert at.session_state["loss"] == "0.8"
    again = thresholds(c=one, loss="0.8")
    assert again.number_input(key=f"loss.{one}").value == 80
    assert "80 % allowed" in texts(again)


def test_the_table_holds_every_setting_with_its_place_its_interval_and_the_floor(store: Store) -> None:
    store_sample(store, sample_sweep(repeats=2))
    frame = thresholds(view="settings").dataframe[0].value
    assert list(frame["Setting"]) == [
        "compaction at 1000",
        "full history",
        "compaction at 2000",
        "window of 2",
        "window of 4",
    ]
    assert list(frame["Place"]) == ["recommended", "full history", "as cheap", "dominated", "dominated"]
    assert list(frame["Kept"]) == [100, 100, 100, 0, 0]
    assert list(frame["Replays"]) == ["4 of 4"] * 5
    assert list(frame["Cost"]) == pytest.approx([0.042404, 0.04338, 0.042404, 0.065484, 0.065484])
    assert frame["× floor"].notna().all()


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ("worth", ["never pays", "window of 2"]),
        ("ties", ["2 of 10 pairs are ties.", "window of 4"]),
        ("refinement", ["played the ranges that were written and nothing else"]),
        ("conversations", []),
        ("forgotten", []),
        ("broke", ["compaction at 1000 broke nothing", "No question was answered wrong"]),
        ("live", []),
    ],
)
def test_every_panel_is_drawn_when_it_is_chosen_and_not_before(
    store: Store, view: str, said: Sequence[str]
) -> None:
    one = store_sample(store, sample_sweep())
    at = thresholds(c=one, view=view)
    shown = texts(at) + "\n".join(frame.value.to_string() for frame in at.dataframe)
    for words in said:
        assert words in shown
    assert "Cost against facts kept" not in shown


def test_what_a_setting_broke_is_told_fact_by_fact_with_the_way_to_its_turn(store: Store) -> None:
    one = store_sample(store, sample_sweep(repeats=2))
    at = thresholds(c=one, view="broke")
    choice = at.selectbox(key=f"broke.setting.{one}")
    assert choice.options == [
        "compaction at 1000",
        "compaction at 2000",
        "window of 2",
        "window of 4",
        "full history",
    ]
    choice.set_value("window of 4").run()
    assert at.session_state["setting"] == "window of 4"
    shown = texts(at)
    assert "**8 losses: 8 answered wrong, text gone**" in shown
    assert "**allergy** · window of 4 · trip-change" in shown
    assert "I don't know. (after turn 12) (2 of 2 repeats)" in shown
    assert "compaction at 1000 broke nothing" not in shown
    again = thresholds(c=one, view="broke", setting="window of 4")
    assert again.selectbox(key=f"broke.setting.{one}").value == "window of 4"
    assert texts(again) == shown
    wrong = thresholds(c=one, view="broke", setting="window of 9")
    assert "there is no" in texts(wrong) or "is not one of" in texts(wrong)


def test_of_many_repeats_the_first_are_followed_and_the_panel_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = store_sample(store, sample_sweep(repeats=3))
    assert "repeats." not in texts(thresholds(c=one, view="broke", setting="window of 4"))
    monkeypatch.setattr(broke, "_MOST_REPLAYS", 4)
    other = store_sample(store, sample_sweep(repeats=3))
    few = texts(thresholds(c=other, view="broke", setting="window of 4"))
    assert "(after turn 12) (2 of 2 repeats)" in few
    assert "Of each script the first 2 of 3 repeats." in few
    assert "Of each script the first 2 of 3 repeats." in texts(thresholds(c=other, view="broke"))


def test_what_a_sweep_broke_can_be_looked_at_before_its_first_turn(store: Store) -> None:
    one = store_sample(store, sample_sweep(), played=0, end=None)
    assert "No question has been answered wrong so far." in texts(thresholds(c=one, view="broke"))


def test_what_is_still_running_says_how_far_it_is(store: Store) -> None:
    store_sample(store, sample_sweep(), played=4, end=None)
    at = thresholds()
    assert headings(at) == ["#### No recommendation yet"]
    assert "No setting has finished every script and repeat." in texts(at)
    assert at.button(key="cancel").label == "Cancel"
    assert [one.value for one in at.metric] == ["–"] * 4
    assert len(at.get("plotly_chart")) == 6, "the same skeleton as when it is done"


def test_a_sweep_that_is_over_without_an_answer_does_not_promise_one(store: Store) -> None:
    store_sample(store, sample_sweep(relax_limits=True))
    at = thresholds()
    assert headings(at) == ["#### No recommendation"]
    assert "No setting is recommended" in texts(at)
    assert "Not known yet" not in texts(at)


def test_what_was_interrupted_offers_to_resume(store: Store) -> None:
    store_sample(store, sample_sweep(), played=4, end=Status.INTERRUPTED)
    at = thresholds()
    assert "10 replays interrupted" in texts(at)
    assert at.button(key="resume").label == "Resume"


def test_a_refinement_that_was_interrupted_between_two_rounds_can_go_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    resumed: list[str] = []
    monkeypatch.setattr(
        Worker, "resume", lambda _worker, comparison_id, _launch: resumed.append(comparison_id)
    )
    spec = sample_sweep()
    assert spec.sweep is not None
    one = store_sample(store, replace(spec, sweep=replace(spec.sweep, refine=True)))
    at = thresholds(c=one, view="refinement")
    assert "It was interrupted while the next settings were being chosen." in texts(at)
    at.button(key="refine_on").click().run()
    assert resumed == [one]


def test_a_refinement_that_has_stopped_says_why(store: Store) -> None:
    spec = sample_sweep()
    assert spec.sweep is not None
    one = store_sample(store, replace(spec, sweep=replace(spec.sweep, refine=True, limit=2)))
    at = thresholds(c=one, view="refinement")
    assert "Stopped: the limit of 2 replays is reached." in texts(at)
    assert "refine_on" not in {button.key for button in at.button}


def test_a_grid_has_heat_maps_of_cost_and_kept(store: Store) -> None:
    store_sample(store, sample_sweep("compaction:trigger=1000|2000,words=50|100"))
    at = thresholds()
    assert len(at.get("plotly_chart")) == 8
    assert "Cost of compaction: cheapest at" in texts(at)


# -- links ---------------------------------------------------------------------------------------------------------------


def test_a_sweep_opened_on_compare_leads_to_thresholds(store: Store) -> None:
    one = store_sample(store, sample_sweep())
    at = AppTest.from_file(VIEWS / "main.py", default_timeout=60)
    at.query_params["c"] = one
    at.run()
    assert not at.exception, at.exception
    assert headings(at) == ["#### Provisionally ship compaction at 1000"]


def test_a_comparison_opened_on_thresholds_leads_to_compare(store: Store) -> None:
    one = store_sample(store, sample_spec(title="No sweep"))
    at = thresholds(c=one)
    assert "No sweep" in texts(at)
    assert "Pick rows to see only them in the charts." in texts(at)


def test_each_page_shows_the_newest_of_its_kind(store: Store) -> None:
    store_sample(store, sample_spec(title="A comparison"))
    store_sample(store, sample_sweep(title="A sweep"))
    assert "A comparison" in texts(page("compare"))
    assert "A sweep" in texts(thresholds())


def test_going_to_another_page_and_back_loses_nothing(store: Store) -> None:
    store_sample(store, sample_spec(title="A comparison"))
    one = store_sample(store, sample_sweep(title="A sweep"))
    at = thresholds(c=one, loss="0.8", repeats="7")
    at.query_params.clear()  # as the browser does
    at.switch_page("compare.py").run()
    assert "A comparison" in texts(at)
    assert at.session_state["setup"].repeats == 1
    at.query_params.clear()
    at.switch_page("thresholds.py").run()
    assert "A sweep" in texts(at)
    assert "80 % allowed" in texts(at)
    assert at.session_state["setup"].repeats == 7


def test_the_library_marks_a_sweep(store: Store) -> None:
    store_sample(store, sample_sweep(title="A sweep"))
    at = page("library")
    assert "sweep" in "\n".join(str(one.value) for one in at.markdown)


def test_what_a_link_says_wrong_is_told_and_the_rest_is_used(store: Store) -> None:
    one = store_sample(store, sample_sweep())
    at = thresholds(c=one, f=["compaction:1000..10/2"], loss="much", max_loss="2", repeats="3")
    shown = texts(at)
    assert "loss: 'much' is not a share from 0 to 1" in shown
    assert "max_loss: 2 is not between 0 and 1" in shown
    assert "f: " in shown
    assert at.session_state["setup"].repeats == 3
    assert at.session_state["setup"].families == of_sweep(services().store.comparison(one).spec).families


def test_a_link_to_a_sweep_that_is_not_there_says_so_and_offers_the_library(store: Store) -> None:
    at = thresholds(c="cmp_000000000000")
    assert "there is no comparison 'cmp_000000000000'" in texts(at)
    assert at.button(key="to_library").label == "Open the library"


# -- the form ------------------------------------------------------------------------------------------------------------


def test_the_form_shows_the_ranges_of_the_sweep_that_is_open(store: Store) -> None:
    store_sample(store, sample_sweep())
    at = thresholds()
    assert at.session_state["setup"].families == ("compaction:1000|2000", "window:2|4")
    assert at.text_input(key=widget(at, "row.0.trigger.range.list")).value == "1000, 2000"


def test_a_range_is_changed_to_steps_of_a_factor_and_shown_as_it_will_run() -> None:
    at = thresholds(f=["compaction:1000|2000"])
    at.session_state[widget(at, "row.0.trigger.range.kind")] = "factor"
    at.run()
    at.text_input(key=widget(at, "row.0.trigger.range.from")).set_value("250").run()
    at.text_input(key=widget(at, "row.0.trigger.range.to")).set_value("4000").run()
    at.text_input(key=widget(at, "row.0.trigger.range.factor")).set_value("4").run()
    assert at.session_state["setup"].families == ("compaction:250..4000*4",)
    assert "Runs at 250, 1,000, 4,000" in texts(at)


def test_a_second_swept_parameter_makes_a_grid() -> None:
    at = thresholds(f=["compaction:1000|2000"])
    at.selectbox(key=widget(at, "row.0.second")).set_value("words").run()
    at.text_input(key=widget(at, "row.0.words.range.list")).set_value("50, 100 200").run()
    assert at.session_state["setup"].families == ("compaction:trigger=1000|2000,words=50|100|200",)


def test_a_share_of_the_models_window_is_a_value() -> None:
    at = thresholds(f=["compaction:1000|2000"])
    at.text_input(key=widget(at, "row.0.trigger.range.list")).set_value("1%, 2%").run()
    assert at.session_state["setup"].families == ("compaction:1%|2%",)
    assert not at.button(key=widget(at, "run")).disabled


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("many", "trigger: 'many' is not a whole number"),
        ("", "trigger: give at least one value"),
        ("5", "trigger: 5 is below the smallest value"),
    ],
)
def test_a_range_that_cannot_be_read_says_what_is_wrong_and_cannot_be_run(written: str, problem: str) -> None:
    at = thresholds(f=["compaction:1000|2000"])
    at.text_input(key=widget(at, "row.0.trigger.range.list")).set_value(written).run()
    assert problem in texts(at)
    assert at.button(key=widget(at, "run")).disabled


def test_what_no_strategy_takes_is_left_out_and_told() -> None:
    at = thresholds(f=["window:keep=4|16,trim_at=8|24"])
    assert "1 combination left out: window:keep=16, trim_at=8" in texts(at)
    assert not at.button(key=widget(at, "run")).disabled


def test_what_is_fixed_in_a_family_stays_in_its_spelling() -> None:
    at = thresholds(f=["window:keep=4,trim_at=8|12"])
    assert at.session_state["setup"].families == ("window:keep=4,trim_at=8|12",)
    assert "keep 4" in texts(at)


def test_a_sweep_without_a_strategy_cannot_be_run() -> None:
    at = thresholds(f=["compaction:1000|2000"])
    at.button(key=widget(at, "row.0.remove")).click().run()
    assert at.session_state["setup"].families == ()
    assert "choose at least one strategy" in texts(at).lower()


def test_a_closer_look_has_a_limit_and_a_loss_and_they_stand_in_the_choices() -> None:
    at = thresholds()
    at.number_input(key=widget(at, "max_loss")).set_value(12.0).run()
    at.toggle(key=widget(at, "refine")).set_value(True).run()
    at.number_input(key=widget(at, "limit")).set_value(300).run()
    chosen = at.session_state["setup"]
    assert (chosen.max_loss, chosen.refine, chosen.limit) == (0.12, True, 300)


def test_pressing_run_hands_the_sweep_to_the_worker_and_opens_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worker, "submit", lambda _worker, spec, _launch: store.save_comparison(spec))
    at = thresholds(f=["window:2|4"], scripts="trip-planning", turns="2")
    at.button(key=widget(at, "run")).click().run()
    assert not at.exception, at.exception
    spec = store.comparison(at.session_state["comparison"]).spec
    assert spec.sweep is not None
    assert [str(one) for one in spec.sweep.families] == ["window:2|4"]
    assert [choice.label for choice in spec.strategies] == ["full history", "window of 2", "window of 4"]
    assert headings(at) == ["#### No recommendation yet"]
    assert at.session_state["setup"] == replace(
        SWEEP, scripts=("trip-planning",), families=("window:2|4",), turns=2
    )


def test_pressing_run_again_while_the_same_runs_opens_what_runs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = store_sample(store, sample_sweep(), played=4, end=None)
    started: list[str] = []
    monkeypatch.setattr(Worker, "running_alike", lambda _worker, _spec: running)
    monkeypatch.setattr(Worker, "submit", lambda _worker, spec, _launch: started.append(spec.id))
    at = thresholds(f=["window:2|4"], scripts="trip-planning", turns="2")
    at.button(key=widget(at, "run")).click().run()
    assert not at.exception, at.exception
    assert (at.session_state["comparison"], started) == (running, [])
