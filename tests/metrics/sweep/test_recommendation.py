"""The setting to ship: the cheapest whose loss against full history stays within what is allowed."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.result import Mark
from memdash.metrics.sweep import Recommendation, analyse
from memdash.records import Status
from tests.metrics.sweep.outcomes import FACTS, live, on_scripts, outcome

WINDOW = "window of 4"
COMPACTION = "compaction at 2000"
ENOUGH = 59
"""Scripts without a loss that show one under 5 points."""


def advice(outcomes: Iterable[ReplayOutcome], *, max_loss: float = 0.05) -> Recommendation:
    found = analyse(list(outcomes), max_loss=max_loss).recommendation
    assert found is not None
    return found


def refusal(*outcomes: ReplayOutcome, max_loss: float = 0.05) -> str:
    analysis = analyse(outcomes, max_loss=max_loss)
    assert analysis.recommendation is None
    assert analysis.unrecommended is not None
    return analysis.unrecommended


def test_enough_scripts_without_a_loss_decide() -> None:
    it = advice([*on_scripts("full history", [0.2] * ENOUGH), *on_scripts(COMPACTION, [0.1] * ENOUGH)])
    assert (it.setting.series, it.decisive, it.caveats) == (
        COMPACTION,
        True,
        ("Ranked on the facts kept in the simulator: confirm recall live.",),
    )
    assert it.headline == (
        "Ship compaction at 2000: it saves $0.1000 a conversation against full history "
        "(50 %; 95 % interval $0.1000), $3,000 a month at 30,000 conversations; its p95 wait stays 9.0 s; "
        "it lost no fact that full history has (at most 5 % at 95 % confidence)."
    )


def test_three_scripts_without_a_loss_recommend_and_do_not_decide() -> None:
    it = advice([*on_scripts("full history", [0.2] * 3), *on_scripts(COMPACTION, [0.1] * 3)])
    assert (it.setting.series, it.decisive) == (COMPACTION, False)
    assert "(at most 63 % at 95 % confidence)" in it.headline
    assert it.caveats[0] == (
        "Not decisive: 3 scripts cannot show a 5-point loss; 59 in all would if the loss stayed as it is "
        "(more questions in the same scripts would not)."
    )


def test_the_cheapest_within_the_loss_is_taken_not_the_cheapest() -> None:
    it = advice(
        [
            *on_scripts("full history", [0.2] * 3),
            *on_scripts(COMPACTION, [0.1] * 3),
            *on_scripts("compaction at 4000", [0.15] * 3),
            *on_scripts(WINDOW, [0.05] * 3, [FACTS] * 3),
        ]
    )
    assert it.setting.series == COMPACTION
    assert it.ties == ()


def test_a_setting_whose_bound_clears_beats_a_cheaper_one_that_only_seems_to() -> None:
    one_fact_once = [FACTS[:1]]  # 0.25 of one script of 59: 0.4 % seen, more than 5 % possible
    it = advice(
        [
            *on_scripts("full history", [0.2] * ENOUGH),
            *on_scripts(COMPACTION, [0.15] * ENOUGH),
            *on_scripts(WINDOW, [0.1] * ENOUGH, one_fact_once),
        ]
    )
    assert (it.setting.series, it.decisive) == (COMPACTION, True)


def test_a_loss_of_just_what_is_allowed_is_within_it() -> None:
    twenty = [f"fact{number}" for number in range(20)]
    it = advice(
        [
            *on_scripts("full history", [0.2] * 3, facts=twenty),
            *on_scripts(WINDOW, [0.1] * 3, [twenty[:1]] * 3, facts=twenty),
        ]
    )
    assert (it.setting.series, it.setting.loss and it.setting.loss.mean) == (WINDOW, 0.05)


def test_what_it_costs_in_facts_and_in_wait_is_said() -> None:
    it = advice(
        [
            *on_scripts("full history", [0.2] * 2, wait_p95_ms=9_100.0),
            *on_scripts(WINDOW, [0.1] * 2, [FACTS[:1], FACTS[:2]], wait_p95_ms=12_400.0),
        ],
        max_loss=0.5,
    )
    assert (
        "its p95 wait is 12.4 s instead of 9.1 s; it loses 1.5 facts a conversation that full history has"
        in it.headline
    )
    assert "(38 %, at most " in it.headline


def test_a_saving_whose_interval_includes_nothing_is_a_tie() -> None:
    it = advice(
        [*on_scripts("full history", [0.2] * 3), *on_scripts(COMPACTION, [0.1, 0.1, 0.21])], max_loss=0.9
    )
    assert (it.setting.series, it.decisive) == (COMPACTION, False)
    assert it.caveats[0] == "The saving is a tie: its 95 % interval, −$0.0100 to $0.1000, includes 0."


def test_a_saving_that_may_be_chance_is_told_beside_what_it_loses() -> None:
    it = advice(
        [
            *on_scripts("full history", [0.2] * 3),
            *on_scripts(COMPACTION, [0.2, 0.2, 0.17], [(), (), FACTS[:1]]),
            *on_scripts(WINDOW, [0.1] * 3, [FACTS] * 3),
        ],
        max_loss=0.1,
    )
    assert (it.setting.series, it.decisive) == (COMPACTION, False)
    assert it.headline.startswith(
        "Provisionally ship compaction at 2000: it saves $0.0100 a conversation against full history "
        "(5 %; 95 % interval $0 to $0.0300), $300 a month at 30,000 conversations;"
    )
    assert it.caveats[0].startswith("Not decisive: 3 scripts cannot show a 10-point loss")
    assert (
        it.caveats[1]
        == "The saving is a tie: its 95 % interval, $0 to $0.0300, includes 0, and full history loses nothing."
    )


def test_one_replay_of_one_script_says_nothing_of_chance() -> None:
    it = advice([outcome(cost=0.2), outcome(COMPACTION, cost=0.1)], max_loss=1.0)
    assert not it.decisive
    assert "one replay of one script says nothing of chance" in it.sentence
    assert "interval" not in it.headline


def test_keeping_full_history_after_one_replay_accuses_no_setting_of_being_better() -> None:
    it = advice([outcome(cost=0.1), outcome(COMPACTION, cost=0.5), outcome(WINDOW, cost=0.05, lost=FACTS)])
    assert (it.setting.series, it.decisive) == ("full history", False)
    assert it.caveats[0].startswith("Not decisive: one replay of one script says nothing of chance")


def test_one_script_that_a_setting_forgets_whole_does_not_rule_it_out() -> None:
    whole = [outcome(cost=0.2), outcome(cost=0.2, repeat=2)]
    short = [outcome(WINDOW, cost=0.1, lost=FACTS, repeat=repeat) for repeat in (1, 2)]
    once = advice([whole[0], short[0]])
    assert (once.setting.series, once.decisive) == ("full history", False)
    assert once.caveats[0].startswith("Not decisive: one replay of one script says nothing of chance")
    twice = advice([*whole, *short])
    assert (twice.setting.series, twice.decisive) == ("full history", False)
    assert twice.caveats[0].startswith(
        "Not decisive: 1 script cannot rule out that window of 4 would cost less"
    )


def test_settings_that_cost_the_same_as_far_as_can_be_told_are_named() -> None:
    it = advice(
        [
            *on_scripts("full history", [0.2] * 3),
            *on_scripts(COMPACTION, [0.1, 0.1, 0.1]),
            *on_scripts("compaction at 1000", [0.09, 0.12, 0.11]),
            *on_scripts("compaction at 4000", [0.15] * 3),
        ]
    )
    assert (it.setting.series, it.ties) == (COMPACTION, ("compaction at 1000",))
    assert "As far as these replays can tell, compaction at 1000 costs the same." in it.caveats


def test_of_equally_cheap_settings_the_one_that_loses_less_is_taken() -> None:
    it = advice(
        [
            *on_scripts("full history", [0.4] * 2),
            *on_scripts(WINDOW, [0.3] * 2, [FACTS[:1]]),
            *on_scripts(COMPACTION, [0.1 + 0.2] * 2),
        ],
        max_loss=0.5,
    )
    assert it.setting.series == COMPACTION


def test_full_history_stays_where_nothing_is_cheaper() -> None:
    it = advice([*on_scripts("full history", [0.1] * 3), *on_scripts(COMPACTION, [0.2] * 3)])
    assert (it.setting.series, it.saving_usd.mean, it.saving_per_month_usd, it.decisive) == (
        "full history",
        0,
        0,
        True,
    )
    assert it.headline == (
        "Keep full history: it costs $0.1000 a conversation, and no setting that was played is cheaper."
    )


def test_full_history_stays_where_everything_cheaper_forgets_too_much() -> None:
    it = advice([*on_scripts("full history", [0.2] * 3), *on_scripts(WINDOW, [0.1] * 3, [FACTS] * 3)])
    assert (it.setting.series, it.decisive) == (
        "full history",
        True,
    )  # three total losses are no chance of 5 %
    assert it.headline == (
        "Keep full history: it costs $0.2000 a conversation, and every cheaper setting loses more than 5 % of the facts "
        "that it has (window of 4 the least, 100 %)."
    )


def test_what_comes_nearest_to_full_history_is_to_be_confirmed_beside_it() -> None:
    whole = on_scripts("full history", [0.2] * 3)
    dear = on_scripts("compaction at 4000", [0.3] * 3)
    forgetful = on_scripts("window of 2", [0.05] * 3, [FACTS] * 3)
    nearest = on_scripts(WINDOW, [0.1] * 3, [FACTS[:2]] * 3)
    assert advice([*whole, *dear, *forgetful, *nearest]).to_confirm == ("full history", WINDOW)
    assert advice([*whole, *dear]).to_confirm == ("full history", "compaction at 4000")
    assert advice(whole).to_confirm == ("full history",)
    kept = on_scripts(COMPACTION, [0.1] * 3)
    assert advice([*whole, *dear, *kept]).to_confirm == (COMPACTION,)


def test_more_scripts_than_anybody_writes_are_not_asked_for() -> None:
    twenty = [f"fact{number}" for number in range(20)]
    whole = on_scripts("full history", [0.2] * 20, facts=twenty)
    lost = [twenty[:1]] * 19 + [()]  # 19 of 20 scripts lose one fact of 20: 4.75 % of the 5 % allowed
    it = advice([*whole, *on_scripts(WINDOW, [0.1] * 20, lost, facts=twenty)])
    assert it.setting.loss is not None
    assert (it.setting.loss.scripts_needed or 0) > 10_000
    assert it.caveats[0] == (
        "Not decisive: 20 scripts cannot show a 5-point loss, and 500 would not either: the loss seen, 4.8 %, is too near to it. "
        "Allow a larger loss, or ship a setting that loses less."
    )


def test_keeping_full_history_is_not_decisive_where_a_cheaper_setting_may_lose_little() -> None:
    it = advice([*on_scripts("full history", [0.2] * 3), *on_scripts(WINDOW, [0.1] * 3, [FACTS[:1]] * 3)])
    assert (it.setting.series, it.decisive) == ("full history", False)
    assert it.caveats[0] == (
        "Not decisive: 3 scripts cannot rule out that window of 4 would cost less within a 5-point loss; more scripts would show."
    )


def test_a_threshold_that_never_fires_is_no_saving() -> None:
    it = advice(
        [
            *on_scripts("full history", [0.2] * 2),
            *on_scripts(COMPACTION, [0.2] * 2, marks=(Mark.NEVER_FIRES,)),
        ]
    )
    assert it.setting.series == "full history"


def test_scripts_on_which_the_recommended_threshold_was_never_reached_are_named() -> None:
    it = advice(
        [
            *on_scripts("full history", [0.2] * 2),
            outcome(COMPACTION, script="s0", cost=0.1),
            outcome(COMPACTION, script="s1", cost=0.1, marks=(Mark.NEVER_FIRES,)),
        ]
    )
    assert "Its threshold was never reached on s1." in it.caveats


def test_what_was_refused_or_did_not_finish_is_never_recommended() -> None:
    refused = outcome(COMPACTION, cost=0.01, status=Status.REJECTED)
    assert advice([outcome(cost=0.2), refused]).setting.series == "full history"


def test_what_exists_in_the_simulator_only_is_never_recommended() -> None:
    relaxed = outcome(COMPACTION, cost=0.01, simulator_only=True)
    assert advice([outcome(cost=0.2), relaxed]).setting.series == "full history"
    assert "limits of the API were relaxed" in refusal(outcome(simulator_only=True), relaxed)


@pytest.mark.parametrize(
    ("outcomes", "why"),
    [
        ([outcome(WINDOW)], "full history was not played"),
        ([outcome(status=Status.REJECTED), outcome(WINDOW)], "full history did not finish everywhere"),
        ([outcome(cost=None), outcome(WINDOW)], "what full history costs is not known"),
        ([outcome(facts=()), outcome(WINDOW, facts=())], "there is no fact to lose"),
        ([outcome(status=Status.RUNNING)], "no setting has finished"),
        ([], "nothing was played"),
    ],
)
def test_where_nothing_can_be_recommended_it_is_said_why(outcomes: list[ReplayOutcome], why: str) -> None:
    assert why in refusal(*outcomes)


def test_live_it_ranks_on_right_answers_and_needs_no_confirmation() -> None:
    replays = [
        outcome(cost=0.3),
        outcome(WINDOW, cost=0.1, lost=["budget"], probes=outcome().probes),  # gone, but answered right
        outcome(COMPACTION, cost=0.05, probes=outcome(lost=FACTS).probes),  # kept, but not answered
    ]
    lived, simulated = advice(live(*replays)), advice(replays)
    assert (lived.setting.series, str(lived.basis)) == (WINDOW, "recall")
    assert (simulated.setting.series, str(simulated.basis)) == (COMPACTION, "kept")
    assert "right answer" in lived.headline
    assert "confirm" not in lived.sentence
    assert "confirm recall live" in simulated.sentence


def test_each_model_has_its_own_recommendation() -> None:
    analysis = analyse(
        [
            outcome("full history · dear", cost=2.0, model="dear"),
            outcome("window of 4 · dear", cost=1.0, model="dear"),
            outcome("full history · cheap", cost=0.2, model="cheap"),
            outcome("window of 4 · cheap", cost=0.3, model="cheap"),
        ]
    )
    assert [one.setting.series for one in analysis.recommendations] == [
        "window of 4 · dear",
        "full history · cheap",
    ]
    assert analysis.recommendation is analysis.recommendations[0]


def test_a_setting_must_be_cheaper_than_full_history_with_whatever_cache() -> None:
    it = advice(
        [
            outcome("full history · 5m", cost=1.0),
            outcome("full history · off", cost=9.0, cache="off"),
            outcome("window of 4 · off", cost=5.0, cache="off", strategy="window"),
        ]
    )
    assert (it.setting.series, it.baseline.series) == ("full history · 5m", "full history · 5m")


def test_a_saving_a_month_is_told_for_the_users_conversations() -> None:
    analysis = analyse([outcome(cost=0.2), outcome(COMPACTION, cost=0.1)], conversations_per_month=1_000)
    assert analysis.recommendation is not None
    assert round(analysis.recommendation.saving_per_month_usd, 9) == 100
    assert "$100 a month at 1,000 conversations" in analysis.recommendation.headline


replays = st.lists(
    st.tuples(st.floats(0.05, 0.4), st.integers(0, 4), st.booleans(), st.booleans()), min_size=0, max_size=6
)


@settings(max_examples=100, deadline=None)
@given(replays, st.integers(1, 4), st.sampled_from([0.0, 0.05, 0.5, 1.0]))
def test_a_recommendation_keeps_its_promises(
    played: list[tuple[float, int, bool, bool]], scripts: int, max_loss: float
) -> None:
    outcomes = on_scripts("full history", [0.2] * scripts)
    for index, (cost, lost, finished, relaxed) in enumerate(played):
        outcomes += on_scripts(
            f"window of {index}",
            [cost * (1 + script / 10) for script in range(scripts)],
            [FACTS[:lost]] * scripts,
            status=Status.DONE if finished else Status.REJECTED,
            simulator_only=relaxed,
        )
    it = advice(outcomes, max_loss=max_loss)
    assert it.setting.ranked
    assert not it.setting.simulator_only
    assert it.setting.loss is not None
    assert it.setting.loss.mean <= max_loss
    assert it.saving_usd.mean >= 0
    if it.decisive:
        assert it.setting.loss.high <= max_loss
        assert it.setting.is_full_history or (it.saving_usd.low or 0) > 0
    else:
        assert "Not decisive" in it.sentence or "is a tie" in it.sentence or "can be ranked" in it.sentence
