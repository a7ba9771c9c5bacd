"""What forgetting is worth, in words."""

from __future__ import annotations

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep import Worth, analyse
from memdash.records import Status
from tests.metrics.sweep.outcomes import FACTS, live, on_scripts, outcome

WINDOW = "window of 4"


def worth(*outcomes: ReplayOutcome) -> Worth:
    (found,) = analyse(outcomes).worth
    return found


def test_a_cheaper_setting_pays_while_a_lost_fact_costs_less_than_its_share_of_the_saving() -> None:
    lost = [FACTS[:1], FACTS[:1], FACTS[:2]]  # 4 facts on 3 scripts
    it = worth(*on_scripts("full history", [0.10] * 3), *on_scripts(WINDOW, [0.06] * 3, lost))
    assert (round(it.facts_lost, 6), it.break_even_usd) == (1.333333, it.saving_usd.mean / it.facts_lost)
    assert it.sentence == (
        "window of 4 saves $0.0400 a conversation and loses 1.3 more facts: "
        "it pays only if a lost fact costs you less than $0.0300."
    )


def test_one_fact_is_one_fact() -> None:
    assert (
        "loses 1 more fact:" in worth(outcome(cost=0.2), outcome(WINDOW, cost=0.1, lost=["budget"])).sentence
    )


def test_live_it_is_right_answers_that_are_lost() -> None:
    it = worth(*live(outcome(cost=0.2), outcome(WINDOW, cost=0.1, lost=FACTS)))
    assert it.sentence.endswith(
        "loses 4 more right answers: it pays only if a lost right answer costs you less than $0.0250."
    )


def test_what_costs_more_and_forgets_never_pays() -> None:
    it = worth(outcome(cost=0.1), outcome(WINDOW, cost=0.12, lost=["budget"]))
    assert it.break_even_usd is None
    assert (
        it.sentence
        == "window of 4 costs $0.0200 more a conversation and loses 1 more fact: it costs more and forgets."
    )


def test_a_saving_that_may_be_chance_has_no_price() -> None:
    it = worth(
        *on_scripts("full history", [1.0, 1.0, 1.0]), *on_scripts(WINDOW, [0.5, 0.5, 1.1], [FACTS[:1]] * 3)
    )
    assert it.saving_usd.mean > 0
    assert it.break_even_usd is None
    assert it.sentence == (
        "window of 4 loses 1 more fact and may not be cheaper: what it saves a conversation is −$0.1000 to $0.5000 "
        "with 95 % confidence."
    )


def test_what_forgets_nothing_or_is_not_ranked_has_no_such_price() -> None:
    assert analyse([outcome(), outcome(WINDOW, cost=0.5)]).worth == ()
    assert analyse([outcome(), outcome(WINDOW, lost=["budget"], status=Status.FAILED)]).worth == ()
