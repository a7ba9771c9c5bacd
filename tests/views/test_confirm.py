"""Confirming a comparison live from its page: what is asked before money is spent, and what is shown of the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from memdash.answerer import Answerer
from memdash.confirmation import confirmation_spec
from memdash.records import Status
from memdash.store import Store
from memdash.views.state import services
from tests.claude.test_live import TEXT, Server, stream
from tests.views.samples import sample_spec, sample_sweep, store_sample
from tests.views.test_pages import page, texts
from tests.views.test_thresholds import thresholds

RULES = "Simulator rules of 2026-11-30"
KEY = "sk-ant-very-secret"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    answering = Server()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", answering.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    answering.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    yield answering
    answering.close()


def store_confirmation(
    store: Store, simulated: str, settings: list[str], *, end: Status = Status.DONE
) -> str:
    """Store the live replays of some settings: the same records as the simulated ones, so that nothing is off."""
    spec = confirmation_spec(store.comparison(simulated), settings, 2.0)
    return store_sample(store, spec, end=end)


def opened_menu(at: AppTest) -> AppTest:
    """Open the menu of the button; AppTest cannot click a popover, but knows its state."""
    at.session_state["confirm_menu"] = True
    return at.run()


def test_without_a_key_it_says_in_one_sentence_what_to_do(store: Store) -> None:
    store_sample(store, sample_spec())
    at = opened_menu(page("compare"))
    assert "A confirmation needs a key: set ANTHROPIC_API_KEY" in texts(at)
    assert not [one for one in at.button if one.key == "confirm_play"]


def test_what_ran_under_relaxed_limits_cannot_be_confirmed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    store_sample(store, replace(sample_spec(), relax_limits=True))
    assert "relaxed the API's limits" in texts(opened_menu(page("compare")))


def test_while_it_runs_nothing_is_proposed(store: Store, server: Server) -> None:
    store_sample(store, sample_spec(), played=3, end=None)
    assert "It still runs; once it is over, its settings can be played live" in texts(
        opened_menu(page("compare"))
    )


def test_it_proposes_settings_that_finished_and_wants_a_budget(store: Store, server: Server) -> None:
    shown = store_sample(store, sample_spec())
    at = opened_menu(page("compare"))
    settings = at.multiselect(key=f"confirm_settings.{shown}")
    assert settings.value == ["full history", "window of 4", "compaction at 2000"]
    assert "window of 4 (naive)" not in settings.options  # it was refused: there is nothing to compare
    assert "3 replays, answered by a compatible server" in texts(at)
    at.button(key="confirm_play").click().run()
    assert "Give a budget first" in texts(at)
    assert not [one for one in at.button if one.key == "confirm_spend"]
    settings.set_value([]).run()
    assert "Choose at least one setting to confirm" in texts(at)


def test_it_asks_before_it_spends_and_plays_within_the_budget(store: Store, server: Server) -> None:
    shown = store_sample(store, sample_spec(turns=2))
    at = opened_menu(page("compare"))
    at.multiselect(key=f"confirm_settings.{shown}").set_value(["full history"])
    at.number_input(key=f"confirm_budget.{shown}").set_value(3.0).run()
    assert not [one for one in at.button if one.key == "confirm_spend"]
    at.button(key="confirm_play").click().run()
    assert "Spend up to $3.00 on this?" in texts(at)
    at.button(key="confirm_not_now").click().run()
    at.button(key="confirm_play").click().run()
    at.number_input(key=f"confirm_budget.{shown}").set_value(2.0).run()
    assert not [one for one in at.button if one.key == "confirm_spend"]  # another budget is another question
    at.button(key="confirm_play").click().run()
    assert not server.bodies
    at.button(key="confirm_spend").click().run()
    (live,) = [one for one in store.comparisons() if one.confirms == shown]
    assert services().worker.wait(live.id, 30)
    spec = store.comparison(live.id).spec
    assert (spec.budget, spec.confirms) == (2.0, shown)
    assert [one.series for one in spec.replays()] == ["full history"]
    assert server.bodies
    assert KEY not in texts(at)


def test_a_live_comparison_has_no_such_button(store: Store) -> None:
    simulated = store_sample(store, sample_spec())
    live = store_confirmation(store, simulated, ["full history"])
    at = opened_menu(page("compare", c=live))
    assert not [one for one in at.button if (one.key or "").startswith("confirm_")]
    assert "needs a key" not in texts(at)


def test_the_caption_and_the_panel_tell_the_result_on_both_pages(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memdash.answerer.present_answerer", lambda: Answerer.LIVE_API)
    simulated = store_sample(store, sample_spec())
    assert f"{RULES}, not yet compared with the live API" in texts(page("compare", c=simulated))
    live = store_confirmation(store, simulated, ["full history", "window of 4"])
    for shown in (simulated, live):
        at = page("compare", c=shown, view="live")
        assert "Simulator compared with the live API on" in texts(at)
        errors = at.dataframe[-1].value
        assert list(errors.columns) == ["Number", "Simulated", "Live", "Difference", "Error"]
        known = errors[errors["Number"] == "prompt tokens"].iloc[0]
        assert known["Simulated"] == known["Live"]
        assert (known["Difference"], known["Error"]) == ("0", "±0 %")
    told = texts(page("compare", c=simulated))
    assert f"{RULES}, compared with the live API on" in told
    assert "cost within ±0 %, prompt tokens within ±0 %" in told


def test_another_comparison_tells_it_as_of_another_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memdash.answerer.present_answerer", lambda: Answerer.LIVE_API)
    simulated = store_sample(store, sample_spec())
    other = store_sample(store, sample_spec(title="Another one"))
    live = store_confirmation(store, simulated, ["full history"])
    at = page("compare", c=other, view="live")
    assert "Not played live yet" in texts(at)
    assert "of another comparison): cost within" in texts(at)
    store.delete(live)
    assert f"{RULES}, not yet compared with the live API" in texts(page("compare", c=other))


def test_what_did_not_finish_is_named_and_lifts_nothing(store: Store) -> None:
    simulated = store_sample(store, sample_spec())
    store_confirmation(store, simulated, ["full history"], end=Status.STOPPED_BY_BUDGET)
    told = texts(page("compare", c=simulated, view="live"))
    assert "No replay finished on both sides yet" in told
    assert "Not counted: full history, simulated done, live stopped by budget" in told
    assert f"{RULES}, not yet compared with the live API" in told


def test_each_setting_has_its_own_errors(store: Store) -> None:
    simulated = store_sample(store, sample_spec())
    live = store_confirmation(store, simulated, ["full history", "window of 4"])
    at = page("compare", c=live, view="live")
    choice = at.selectbox(key=f"confirmed.{live}")
    assert choice.options == ["all settings together", "full history", "window of 4"]
    together = at.dataframe[-1].value
    choice.set_value("full history").run()
    alone = at.dataframe[-1].value
    assert list(together["Number"]) == list(alone["Number"])
    assert list(together["Simulated"]) != list(alone["Simulated"])


def test_a_live_comparison_that_checks_nothing_says_so(store: Store) -> None:
    live = store_sample(store, replace(sample_spec(), provider="anthropic", budget=1.0))
    assert "Nothing to hold it against" in texts(page("compare", c=live, view="live"))


def test_a_sweep_proposes_what_it_recommends_and_its_full_history(store: Store, server: Server) -> None:
    sweep = store_sample(store, sample_sweep())
    at = opened_menu(thresholds(c=sweep))
    settings = at.multiselect(key=f"confirm_settings.{sweep}")
    assert settings.value == ["full history", "compaction at 1000"]
    assert "4 replays, answered by a compatible server" in texts(at)
    live = store_confirmation(store, sweep, list(settings.value))
    at = thresholds(c=sweep, view="live")
    assert at.selectbox(key=f"confirmed.{live}").options[1:] == ["full history", "compaction at 1000"]
    assert "compared with" in texts(at)
