from __future__ import annotations

from typing import Any

from memdash.metrics.changes import pair, series_of
from tests.comparisons import a_comparison, a_replay


def paired(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The labels of the groups that pair."""
    found = pair(a_comparison(*before), a_comparison(*after))
    return [(then.label, now.label) for then, now in found.both]


def test_settings_pair_by_parameters_whatever_they_are_called() -> None:
    before = [a_replay("the old name", params={"keep": 4}), a_replay("other", params={"keep": 8})]
    after = [a_replay("window of 8", params={"keep": 8}), a_replay("window of 4", params={"keep": 4})]
    assert paired(before, after) == [("other", "window of 8"), ("the old name", "window of 4")]


def test_a_parameter_that_another_version_does_not_know_keeps_nothing_apart() -> None:
    before = [a_replay("a", params={"keep": 4}), a_replay("b", params={"keep": 8})]
    after = [
        a_replay("c", params={"keep": 8, "trim_at": 8}),
        a_replay("d", params={"keep": 4, "trim_at": 4}),
    ]
    assert paired(before, after) == [("b", "c"), ("a", "d")]


def test_a_setting_with_other_parameters_pairs_by_its_label() -> None:
    before = [
        a_replay("summary", params={"words": 150}),
        a_replay("brief", params={"words": 99}),
    ]
    after = [a_replay("summary", params={"words": 80}), a_replay("new", params={"words": 70})]
    assert ("summary", "summary") in paired(before, after)


def test_the_single_setting_of_a_strategy_pairs_though_its_threshold_changed() -> None:
    before = [a_replay("compaction at 2000", strategy="compaction", params={"trigger": 2000}), a_replay()]
    after = [a_replay(), a_replay("compaction at 1500", strategy="compaction", params={"trigger": 1500})]
    assert paired(before, after) == [
        ("window of 4", "window of 4"),
        ("compaction at 2000", "compaction at 1500"),
    ]


def test_what_could_be_two_settings_pairs_with_neither() -> None:
    before = [a_replay("window of 2", params={"keep": 2}), a_replay("window of 3", params={"keep": 3})]
    found = pair(a_comparison(*before), a_comparison(a_replay("window of 8", params={"keep": 8})))
    assert found.both == ()
    assert [one.label for one in found.missing] == ["window of 2", "window of 3"]
    assert [one.label for one in found.new] == ["window of 8"]


def test_one_model_for_another_is_a_change_of_settings_and_several_keep_groups_apart() -> None:
    other = a_replay(model="claude-haiku-4-5")
    assert paired([a_replay()], [other]) == [("window of 4", "window of 4")]
    both = [
        a_replay("window of 4 · claude-opus-5-5"),
        a_replay("window of 4 · claude-haiku-4-5", model="claude-haiku-4-5"),
    ]
    assert paired([other], both) == [("window of 4", "window of 4 · claude-haiku-4-5")]


def test_scripts_never_pair_with_each_other() -> None:
    assert paired([a_replay(script="trip")], [a_replay(script="support")]) == []


def test_a_series_is_a_label_without_its_script_and_repeat() -> None:
    assert series_of(a_replay("window of 4 · trip · repeat 2", repeat=2)) == "window of 4"
    assert series_of(a_replay("window of 4 · claude-x · repeat 12", repeat=12)) == "window of 4 · claude-x"
    assert series_of(a_replay("window of 4")) == "window of 4"
