"""The Replay page without a browser: what it opens, how one goes through the turns, and what its sections say."""

from __future__ import annotations

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from memdash.claude import connect
from memdash.records import Status, StatusRecord, TurnRecord
from memdash.replay import replay
from memdash.scripts.model import Script
from memdash.spec import ComparisonSpec
from memdash.store import Store
from memdash.strategies import parse
from memdash.views.replay_sections import SECTIONS
from tests.inspection.plays import saying
from tests.replay.scripts import budget, chat
from tests.views.test_pages import VIEWS, texts

HOSTILE = "<script>alert(1)</script> **our** budget is 2,400 euros $x$ :smile:"


def stored(
    store: Store, *strategies: str, script: Script | None = None, until: int | None = None
) -> ComparisonSpec:
    """Play a comparison of a short chat and store it; ``until`` breaks off after that many turns of each replay."""
    spec = ComparisonSpec(
        (script or chat(8, budget()),),
        tuple(map(parse, strategies or ("full_history", "window:3"))),
        title="A comparison",
        token_counter="estimate",
        relax_limits=True,
        check=any("keep" in one for one in strategies),
    )
    store.save_comparison(spec)
    for one in spec.replays():
        client, clock = connect(one)
        records = []
        for record in replay(one, client, clock):
            records.append(record)
            if isinstance(record, TurnRecord) and record.turn == until:
                break
        store.append(one.id, records)
    store.flush()
    return spec


def opened(spec: ComparisonSpec | None = None, place: int = 1, **query: str) -> AppTest:
    """Open the page, at the replay at a place of ``spec`` where that is given."""
    at = AppTest.from_file(VIEWS / "main.py", default_timeout=30)
    if spec is not None:
        query["r"] = spec.replays()[place].id
    for key, value in query.items():
        at.query_params[key] = value
    at.switch_page("replay.py").run()
    assert not at.exception, at.exception
    return at


def address(at: AppTest) -> dict[str, str]:
    return {key: at.query_params[key] for key in ("r", "turn", "show", "against") if key in at.query_params}


# -- what it opens -------------------------------------------------------------------------------------------------------


def test_an_empty_store_says_what_to_do_next() -> None:
    at = opened()
    assert "No replay yet" in texts(at)
    assert "press Run" in texts(at)


def test_without_a_link_the_replay_that_forgot_most_opens_where_something_was_first_done(
    store: Store,
) -> None:
    spec = stored(store)
    at = opened()
    assert address(at) == {"r": spec.replays()[1].id, "turn": "4"}
    shown = texts(at)
    assert "window of 3" in shown
    assert "8 of 8 turns" in shown
    assert "Simulator rules of 2026-11-30, not yet compared with the live API" in shown
    assert "Prompt per turn: at most" in shown


def test_a_link_opens_the_same_view(store: Store) -> None:
    spec = stored(store)
    at = opened(spec, 0, turn="6", show="events")
    assert address(at) == {"r": spec.replays()[0].id, "turn": "6", "show": "events"}
    assert "In turn 6" in texts(at)
    assert "Nothing was done to the conversation in this turn" in texts(at)


def test_what_a_link_has_wrong_is_said_and_the_rest_is_shown(store: Store) -> None:
    spec = stored(store)
    at = opened(spec, turn="99", show="everything", against="cmp_0_001")
    said = at.warning[0].value.replace("\\", "")
    assert "turn: this replay has turns 1 to 8; turn 99 is not among them" in said
    assert "show: there is no section 'everything'" in said
    assert address(at)["turn"] == "4"
    at = opened(spec, turn="minus one")
    assert "turn: 'minus one' is not the number of a turn" in at.warning[0].value.replace("\\", "")


def test_a_replay_to_compare_with_that_is_not_here_is_said(store: Store) -> None:
    spec = stored(store)
    at = opened(spec, show="differences", against="cmp_0_001")
    assert "against: there is no replay 'cmp_0_001' here any more" in at.warning[0].value.replace("\\", "")
    assert "against" not in address(at)
    at = opened(spec, show="differences", against=spec.replays()[0].id)
    assert not at.warning
    assert address(at)["against"] == spec.replays()[0].id


def test_what_a_turn_is_compared_with_is_always_named_in_its_box(store: Store) -> None:
    spec = stored(store)
    at = opened(spec, show="differences")
    box = at.selectbox(key=f"replay.against.{spec.replays()[1].id}")
    assert box.index is not None
    assert box.options[box.index] == "the turn before"
    box.select_index(1).run()
    assert address(at)["against"] == spec.replays()[0].id
    assert "Turn 4 against full history at the same turn" in texts(at)
    box.select_index(0).run()
    assert "against" not in address(at)
    assert "Turn 4 against turn 3, its last request" in texts(at)


@pytest.mark.parametrize("replay_id", ["cmp_0_001", "nonsense", "../../etc"])
def test_a_replay_that_is_not_here_offers_the_library_and_another_one(store: Store, replay_id: str) -> None:
    spec = stored(store)
    at = opened(r=replay_id)
    assert "There is no such replay here" in texts(at)
    assert at.button(key="to_library").label == "Open the library"
    at.button(key="another_replay").click().run()
    assert address(at)["r"] == spec.replays()[1].id


def test_a_deleted_comparison_is_no_longer_shown(store: Store) -> None:
    spec = stored(store)
    at = opened(spec)
    store.delete(spec.id)
    at.run()
    assert "There is no such replay here" in texts(at)


# -- from turn to turn ---------------------------------------------------------------------------------------------------


def test_one_steps_through_the_turns_and_the_address_follows(store: Store) -> None:
    spec = stored(store)
    at = opened(spec, turn="7", show="facts")
    key = f"replay.{spec.replays()[1].id}"
    at.button(key=f"{key}.next").click().run()
    assert address(at)["turn"] == "8"
    assert at.button(key=f"{key}.next").disabled
    at.button(key=f"{key}.previous").click().run()
    at.button(key=f"{key}.previous").click().run()
    assert address(at) == {"r": spec.replays()[1].id, "turn": "6", "show": "facts"}
    at.number_input(key=f"{key}.turn").set_value(1).run()
    assert address(at)["turn"] == "1"
    assert at.button(key=f"{key}.previous").disabled
    for typed, turn in ((99_999, 8), (0, 1), (-3, 1)):
        at.number_input(key=f"{key}.turn").set_value(typed).run()
        assert address(at)["turn"] == str(turn)
        assert at.number_input(key=f"{key}.turn").value == turn


def test_another_replay_opens_at_a_turn_of_its_own(store: Store) -> None:
    spec = stored(store)
    first, second = (one.id for one in spec.replays())
    at = opened(spec, turn="7", show="events")
    at.selectbox(key=f"replay.replay.{second}").set_value(first).run()
    assert address(at) == {"r": first, "turn": "1", "show": "events"}


def test_a_refused_replay_shows_what_the_api_said(store: Store) -> None:
    spec = stored(store, "full_history", "window:keep=2,thinking=keep")
    at = opened(spec, show="events")
    shown = texts(at)
    assert "It ended after turn 2**: rejected" in shown
    assert "Invalid `signature` in `thinking` block" in shown
    assert "of 8 turns" in shown


def test_a_running_replay_shows_the_turns_it_has(store: Store) -> None:
    spec = stored(store, until=3)
    at = opened(spec, show="facts")
    assert "running" in texts(at)
    assert "3 of 8 turns" in texts(at)
    assert "1 of 1 facts can still be read after turn 3" in texts(at)
    assert [one.value for one in at.metric] == ["1 of 1", "–", "–"]


def test_a_replay_without_an_answer_says_so(store: Store) -> None:
    spec = dataclasses.replace(stored(store), id="cmp_queued")
    store.save_comparison(spec)
    waiting, stopped = (one.id for one in spec.replays())
    store.append(stopped, [StatusRecord(0, Status.CANCELLED, 0, 0.0)])
    store.flush()
    assert "Nothing has happened yet" in texts(opened(r=waiting))
    assert "No turn was answered" in texts(opened(r=stopped))


# -- the sections --------------------------------------------------------------------------------------------------------


def test_the_facts_say_where_each_is_what_removed_it_and_what_a_surviving_one_cost(store: Store) -> None:
    spec = stored(store)
    at = opened(spec, turn="3", show="facts")
    assert [(one.label, one.value) for one in at.metric] == [
        ("Visible in turn 3", "1 of 1"),
        ("Kept in the end", "0 of 1"),
        ("Cost per surviving fact", "–"),
    ]
    row = at.dataframe[0].value.iloc[0]
    assert row["What became of it"] == (
        "word for word from turn 1 (stated); gone from turn 4 (old turns dropped, turn 4)"
    )
    assert row["Asked"].startswith("after turn 8, wrong: ")
    at = opened(spec, 0, turn="3", show="facts")
    cost = (
        next(one for one in at.caption if "prompt tokens" in one.value)
        .value.replace("\\", "")
        .split(" · ")[4]
    )
    assert [one.value for one in at.metric] == ["1 of 1", "1 of 1", cost]


def test_what_it_broke_leads_to_the_turn(store: Store) -> None:
    spec = stored(store)
    at = opened(spec, turn="8", show="broke")
    shown = texts(at)
    assert "1 loss: 1 answered wrong, text gone" in shown
    assert "Asked] What is our budget?" in shown
    assert "old turns dropped, turn 4: gone since turn 4" in shown
    next(one for one in at.button if one.label == "Turn 4").click().run()
    assert address(at) == {"r": spec.replays()[1].id, "turn": "4", "show": "facts"}
    assert "Nothing is broken here" in texts(opened(spec, 0, show="broke"))


def test_compare_shows_what_it_broke_and_leads_there(store: Store) -> None:
    spec = stored(store)
    at = AppTest.from_file(VIEWS / "main.py", default_timeout=30)
    at.query_params["c"], at.query_params["view"] = spec.id, "broke"
    at.run()
    assert not at.exception, at.exception
    assert "budget** · window of 3" in texts(at)
    next(one for one in at.button if one.label == "Turn 4").click().run()
    assert not at.exception, at.exception
    assert address(at) == {"r": spec.replays()[1].id, "turn": "4", "show": "facts"}


def test_the_events_of_a_turn_are_told_in_full_and_a_summary_stays_text(store: Store) -> None:
    script = saying(chat(14, budget()), t1=HOSTILE)
    spec = stored(store, "compaction:trigger=600,words=80", script=script)
    (compacted, *_) = [
        event.turn for event in store.replay_logs(spec.id)[0].events if event.event == "compaction"
    ]
    at = opened(spec, 0, turn=str(compacted), show="events")
    assert f"compaction**: in place of turns 1 to {compacted}" in texts(at)
    assert "<script>alert(1)</script>" not in "".join(one.value for one in at.markdown)
    frame = at.dataframe[0].value
    assert list(frame["Event"])[-1] == "the replay's own check"


def test_every_section_can_be_opened_by_its_link(store: Store) -> None:
    spec = stored(store)
    for section in SECTIONS:
        at = opened(spec, turn="5", show=section)
        assert address(at)["show"] == section
        assert not at.error


def test_nothing_of_a_section_is_drawn_that_is_not_shown(store: Store) -> None:
    spec = stored(store)
    assert len(opened(spec, show="events").get("plotly_chart")) == 1
    assert len(opened(spec, show="facts").get("plotly_chart")) == 2


def test_one_looks_inside_from_compare_and_from_the_library(store: Store) -> None:
    spec = stored(store)
    at = AppTest.from_file(VIEWS / "main.py", default_timeout=30).run()
    at.button(key="look_inside").click().run()
    assert not at.exception, at.exception
    assert address(at)["r"] == spec.replays()[1].id
    at.query_params.clear()
    at.switch_page("library.py").run()
    at.button(key=f"inside.{spec.id}").click().run()
    assert not at.exception, at.exception
    assert address(at) == {"r": spec.replays()[1].id, "turn": "4"}
