"""Links: what a person looks at stands in the address, and the same address shows the same to somebody else."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from memdash.store import Store
from memdash.views.state import services
from tests.views.samples import sample_spec, sample_sweep, store_sample
from tests.views.test_pages import page, texts


def query(at: AppTest) -> Mapping[str, str | list[str]]:
    """The address of the page as it stands: a value of a single one, a list of several."""
    return {key: at.query_params[key] for key in at.query_params}


def unusable(at: AppTest) -> str:
    """What the page says of the link that cannot be used."""
    return "\n".join(str(one.value) for one in at.warning).replace("\\", "").replace("\u2060", "")


# -- what is chosen is in the link, and the link shows it ----------------------------------------------------------------


def test_what_a_breakdown_is_cut_by_is_in_the_link(store: Store) -> None:
    one = store_sample(store, sample_spec())
    at = page("compare", c=one, view="breakdown", cut="age")
    assert at.segmented_control(key=f"breakdown.cut.{one}").value == "age"
    at.segmented_control(key=f"breakdown.cut.{one}").set_value("compactions").run()
    assert query(at) == {"c": one, "view": "breakdown", "cut": "compactions"}
    again = page("compare", **query(at))
    assert again.segmented_control(key=f"breakdown.cut.{one}").value == "compactions"
    assert not unusable(again)


def test_which_settings_of_many_are_shown_is_in_the_link(store: Store) -> None:
    one = store_sample(store, sample_sweep("window:2..12/1"))
    at = page("thresholds", c=one, view="forgotten")
    shown = at.multiselect(key=f"picked.breakdown.{one}")
    assert len(shown.value) == 8
    shown.set_value(["window of 11", "window of 12"]).run()
    assert query(at) == {"c": one, "view": "forgotten", "pick": ["window of 11", "window of 12"]}
    again = page("thresholds", **query(at))
    assert again.multiselect(key=f"picked.breakdown.{one}").value == ["window of 11", "window of 12"]
    assert not unusable(again)


def test_the_link_to_share_is_of_what_is_seen(store: Store) -> None:
    one = store_sample(store, sample_spec())
    at = page("compare", c=one, view="misses", rows=["002", "004"], turns="7")
    at.session_state["share_menu"] = True
    at.run()
    [link] = [code.value for code in at.code if "?" in str(code.value)]
    assert parse_qs(urlsplit(link).query) == {
        "c": [one],
        "view": ["misses"],
        "rows": ["002", "004"],
        "turns": ["7"],
    }
    assert urlsplit(link).path == "/"


# -- what cannot be used of it is said -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("view", "nonsense", "view: 'nonsense' is not one of overview"),
        ("show", "another-script", "show: 'another-script' is not one of trip-planning"),
        ("rows", "099", "rows: there is no replay '099' here"),
        ("turns", "many", "turns: 'many' is not a whole number"),
    ],
)
def test_a_part_of_a_link_that_cannot_be_used_is_named(store: Store, key: str, value: str, said: str) -> None:
    one = store_sample(store, sample_spec())
    at = page("compare", **{"c": one, key: value})
    assert said in unusable(at)
    assert "full history" in list(at.dataframe[0].value["strategy"]), "the rest of the link is shown"


def test_a_cut_by_another_word_is_named(store: Store) -> None:
    one = store_sample(store, sample_spec())
    at = page("compare", c=one, view="breakdown", cut="colour")
    assert "cut: 'colour' is not one of type, age and compactions" in unusable(at)


@pytest.mark.parametrize(
    ("traffic", "said"),
    [
        ("day:lots", "traffic: 'lots' is no number for day"),
        ("nights:3", "traffic: 'nights:3' is none of lengths, day, peak, limit"),
    ],
)
def test_conversations_that_make_no_sense_are_named(store: Store, traffic: str, said: str) -> None:
    one = store_sample(store, sample_sweep())
    at = page("thresholds", c=one, view="conversations", traffic=traffic)
    assert said in unusable(at)


def test_a_link_to_what_is_gone_names_no_file_of_the_server(store: Store) -> None:
    store_sample(store, sample_spec())
    at = page("compare", c="cmp_000000000000")
    assert "there is no comparison 'cmp_000000000000'" in unusable(at)
    assert str(services().store.path) not in texts(at)
    assert at.button(key="to_library").label == "Open the library"


@pytest.mark.parametrize("name", ["compare", "thresholds"])
def test_what_somebody_else_deletes_meanwhile_leads_to_the_library(store: Store, name: str) -> None:
    one = store_sample(store, sample_spec() if name == "compare" else sample_sweep())
    at = page(name, c=one)
    store.delete(one)
    at.run()
    assert "There is no such comparison here" in texts(at)
    assert str(services().store.path) not in texts(at)
    assert at.button(key="to_library").label == "Open the library"
