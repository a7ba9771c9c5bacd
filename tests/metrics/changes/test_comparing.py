from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memdash.metrics.changes import Changes, Number, Verdict, changes_between, changes_json, headline
from tests.comparisons import PRICE, a_comparison, a_probe, a_replay, repeats


def between(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Changes:
    return changes_between(a_comparison(*before), a_comparison(*after))


def verdict(changes: Changes, number: Number) -> Verdict:
    (group,) = changes.groups
    return group.number(number).verdict


# -- simulated: exactly ----------------------------------------------------------------------------------------------------


def test_a_comparison_against_itself_changed_nothing() -> None:
    found = changes_between(a_comparison(), a_comparison())
    assert found.is_nothing
    assert headline(found) == "Of 1 setting on both sides, nothing changed."


def test_the_smallest_difference_of_simulated_replays_counts_and_has_a_direction() -> None:
    found = between([a_replay()], [a_replay(cost_usd=0.100001, cache_share=0.6, output_tokens=201)])
    assert verdict(found, Number.COST) is Verdict.WORSE
    assert verdict(found, Number.CACHE_SHARE) is Verdict.BETTER
    assert verdict(found, Number.OUTPUT) is Verdict.OTHER
    assert verdict(found, Number.PROMPT) is Verdict.SAME


def test_a_relative_change_is_of_what_was_before() -> None:
    change = between([a_replay(cost_usd=0.2)], [a_replay(cost_usd=0.25)]).groups[0].number(Number.COST)
    assert change.difference == 0.25 - 0.2
    assert round(change.relative or 0, 9) == 0.25
    nothing = between([a_replay(compactions=0)], [a_replay(compactions=2)]).groups[0]
    assert nothing.number(Number.COMPACTIONS).relative is None  # there is no share of nothing


def test_repeats_are_held_against_each_other_one_by_one() -> None:
    before = [a_replay("w · repeat 1", cost_usd=0.1), a_replay("w · repeat 2", repeat=2, cost_usd=0.3)]
    swapped = [a_replay("w · repeat 1", cost_usd=0.3), a_replay("w · repeat 2", repeat=2, cost_usd=0.1)]
    found = between(before, swapped)
    assert verdict(found, Number.COST) is Verdict.OTHER  # the same mean, and yet not the same replays
    assert found.groups[0].number(Number.COST).difference == 0.0


def test_what_is_unknown_on_one_side_is_not_comparable_and_on_both_it_is_the_same() -> None:
    found = between([a_replay(cost_usd=None, cache_share=None)], [a_replay(cost_usd=0.1, cache_share=None)])
    assert verdict(found, Number.COST) is Verdict.UNKNOWN
    assert verdict(found, Number.CACHE_SHARE) is Verdict.SAME


def test_replays_of_another_length_or_with_an_early_end_are_not_held_against_each_other() -> None:
    shorter = between([a_replay()], [a_replay(turns_planned=10, turns_completed=10, cost_usd=0.03)])
    assert shorter.groups[0].not_alike == "it played 30 turns before and 10 now"
    assert verdict(shorter, Number.COST) is Verdict.UNKNOWN
    assert headline(shorter) == "Of 1 setting on both sides, none can be compared."
    refused = between(
        [a_replay()], [a_replay(status="rejected", turns_completed=4, errors=["bad signature"])]
    )
    assert refused.groups[0].not_alike == "before it was done, now rejected at turn 5 of 30"
    assert refused.groups[0].outcome is not None
    assert refused.groups[0].errors == ("bad signature",)
    assert "1 ended otherwise" in headline(refused)


# -- live: by intervals ----------------------------------------------------------------------------------------------------


def test_live_repeats_differ_only_where_their_intervals_lie_apart() -> None:
    near = between(repeats([0.10, 0.12, 0.11]), repeats([0.11, 0.13, 0.12]))
    assert verdict(near, Number.COST) is Verdict.WITHIN
    far = between(repeats([0.10, 0.12, 0.11]), repeats([0.20, 0.22, 0.21]))
    assert verdict(far, Number.COST) is Verdict.WORSE
    value = far.groups[0].number(Number.COST).before
    # Student's t with two degrees of freedom: 0.11 ± 4.303 × 0.01 / √3
    assert value.low is not None
    assert round(value.low, 4) == round(0.11 - 4.303 * 0.01 / 3**0.5, 4)


def test_one_live_replay_has_no_interval_so_nothing_can_be_said() -> None:
    found = between(repeats([0.1]), repeats([0.5]))
    assert verdict(found, Number.COST) is Verdict.UNKNOWN
    assert verdict(found, Number.PROMPT) is Verdict.SAME
    assert headline(found) == "Of 1 setting on both sides, the cost of window of 4 cannot be compared."
    forgot = between(repeats([0.1], probes=[a_probe()]), repeats([0.1], probes=[a_probe(passed=False)]))
    assert headline(forgot) == "Of 1 setting on both sides, the facts of window of 4 cannot be compared."


def test_what_cannot_be_compared_is_not_said_to_be_unchanged() -> None:
    before = [a_replay("a"), a_replay("b", params={"keep": 8})]
    after = [a_replay("a"), a_replay("b", params={"keep": 8}, turns_planned=10, turns_completed=10)]
    assert headline(between(before, after)) == "Of 2 settings on both sides, b cannot be compared."
    dearer = between([a_replay(cost_usd=None)], [a_replay(cost_usd=0.1)])
    assert headline(dearer).endswith("the cost of window of 4 cannot be compared.")


def test_only_finished_live_replays_count() -> None:
    after = repeats([0.1, 0.1])
    for one in after:
        one.update(status="failed", turns_completed=3)
    found = between(repeats([0.1, 0.1]), after)
    assert found.groups[0].not_alike == "no replay finished now"
    assert (found.groups[0].replays_before, found.groups[0].replays_after) == (2, 0)
    assert found.groups[0].changed == ()  # no number of a side without replays is one that was not reported


@given(st.lists(st.floats(0.01, 10), min_size=2, max_size=6), st.randoms())
def test_live_repeats_in_another_order_are_the_same(costs: list[float], random: Any) -> None:
    shuffled = costs[:]
    random.shuffle(shuffled)
    assert verdict(between(repeats(costs), repeats(shuffled)), Number.COST) is Verdict.SAME


# -- facts -----------------------------------------------------------------------------------------------------------------


def test_a_fact_that_is_no_longer_kept_or_known_is_lost() -> None:
    before = a_replay(probes=[a_probe("name"), a_probe("budget"), a_probe("date", passed=False)])
    after = a_replay(probes=[a_probe("name"), a_probe("budget", passed=False, visible=True), a_probe("date")])
    (group,) = between([before], [after]).groups
    assert [(one.fact, one.lost) for one in group.facts] == [("budget", True), ("date", False)]
    lost = group.facts[0]
    assert (lost.kept, lost.right) == (Verdict.SAME, Verdict.WORSE)
    assert lost.answer == "I do not know."
    assert headline(between([before], [after])).startswith("Of 1 setting on both sides, 1 fact was lost")


def test_a_question_that_is_no_test_loses_nothing() -> None:
    after = a_replay(probes=[a_probe(passed=False, is_test=False)])
    assert between([a_replay(probes=[a_probe()])], [after]).groups[0].facts == ()


def test_live_facts_are_counted_over_the_repeats() -> None:
    before = repeats([0.1] * 5, probes=[a_probe()])
    after = repeats([0.1] * 5, probes=[a_probe(passed=False)])
    (fact,) = between(before, after).groups[0].facts
    assert (fact.right_before.words, fact.right_after.words) == ("5 of 5", "0 of 5")
    assert fact.lost
    after[0]["probes"] = after[1]["probes"] = after[2]["probes"] = [a_probe()]
    (unsure,) = between(before, after).groups[0].facts
    assert unsure.right is Verdict.WITHIN


# -- what else is not alike --------------------------------------------------------------------------------------------------


def test_settings_versions_and_what_one_side_alone_has_are_told() -> None:
    before, after = a_comparison(a_replay(), a_replay("window of 2", params={"keep": 2})), a_comparison()
    after["settings"] = {**after["settings"], "turns": 10, "of_a_later_version": 1}
    after["versions"] = {**after["versions"], "memdash": "0.2.0"}
    found = changes_between(before, after)
    assert [tuple(one) for one in found.settings] == [("turns", "none", "10")]
    assert [tuple(one) for one in found.versions] == [("memdash", "0.1.0", "0.2.0")]
    assert [one.label for one in found.missing] == ["window of 2"]


def test_parameters_under_the_same_label_are_told_one_by_one() -> None:
    before, after = a_comparison(), a_comparison(a_replay(params={"keep": 4, "words": 80}))
    label = "window of 4"
    before["settings"]["strategies"] = [{"name": "w", "params": {"words": 150}, "label": label}]
    after["settings"]["strategies"] = [{"name": "w", "params": {"words": 80}, "label": label}]
    assert [tuple(one) for one in changes_between(before, after).settings] == [
        ("window of 4, words", "150", "80")
    ]


def dearer() -> dict[str, Any]:
    tier = {**PRICE["tiers"][0], "input": 6.0}
    return a_comparison(a_replay(cost_usd=0.12), prices=[{**PRICE, "tiers": [tier]}])


def test_costs_at_other_prices_are_not_comparable() -> None:
    found = changes_between(a_comparison(), dearer())
    assert [tuple(one) for one in found.prices or ()] == [("claude-opus-5-5", "input", 0, 5.0, 6.0)]
    assert verdict(found, Number.COST) is Verdict.UNKNOWN
    assert "costs are not comparable" in found.notes[0]


def test_at_the_earlier_sides_prices_a_change_of_price_is_no_change_of_cost() -> None:
    found = changes_between(a_comparison(), a_comparison(), charged=dearer())
    assert verdict(found, Number.COST) is Verdict.SAME
    assert found.repriced
    assert (
        "both sides are counted at those of before (at its own prices the later side costs $0.1200)"
        in (found.notes[0])
    )


def test_an_older_file_without_prices_says_so_and_is_compared_as_it_is() -> None:
    found = changes_between(a_comparison(prices=None), a_comparison(a_replay(cost_usd=0.2)))
    assert found.prices is None
    assert verdict(found, Number.COST) is Verdict.WORSE
    assert "the earlier side does not say its prices" in found.notes[0]


def test_another_token_counter_and_a_simulation_against_the_api_are_told() -> None:
    counted = changes_between(a_comparison(), a_comparison(token_counter="ctok 1.3.0"))
    assert "counted by estimate before and by ctok 1.3.0 now" in counted.notes[0]
    assert verdict(counted, Number.COST) is Verdict.UNKNOWN  # even where the numbers happen to be alike
    assert verdict(counted, Number.KEPT) is Verdict.SAME
    assert [tuple(one) for one in counted.versions] == [("token counter", "estimate", "ctok 1.3.0")]
    live = between([a_replay()], repeats([0.1, 0.1]))
    assert "simulated before and is live now" in live.notes[0]


def test_another_recommendation_is_told() -> None:
    after = a_comparison(recommendation={"label": "window of 8"})
    told = changes_between(a_comparison(recommendation={"label": "window of 4"}), after)
    assert told.recommendation is not None
    assert "the recommendation went from window of 4 to window of 8" in headline(told)


def test_what_changed_is_one_json_object() -> None:
    before = a_comparison(a_replay(probes=[a_probe()]))
    found = changes_json(changes_between(before, a_comparison(a_replay(probes=[a_probe(passed=False)]))))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    (fact,) = found["groups"][0]["facts"]
    assert fact["kept"] == {
        "before": {"yes": 1, "of": 1},
        "after": {"yes": 0, "of": 1},
        "verdict": "worse",
    }
    assert found["groups"][0]["numbers"][0] == {
        "name": "cost_usd",
        "before": {"mean": 0.1, "low": None, "high": None},
        "after": {"mean": 0.1, "low": None, "high": None},
        "difference": 0.0,
        "relative": 0.0,
        "verdict": "same",
    }


def test_differences_are_spelled_with_their_sign_and_shares_by_points() -> None:
    assert Number.COST.spelled_difference(-0.0213876) == "−$0.0214"
    assert Number.KEPT.spelled_difference(0.25) == "+25.0 points"
    assert Number.CACHE_SHARE.spelled_difference(-0.000247) == "−0.025 points"
    assert Number.PROMPT.spelled_difference(0) == "0"
    assert Number.WAIT_P95.spelled_difference(None) == "–"
