"""The budget: what is spent, what is under way, and what the next request can cost. Opus 5.5, dollars per million tokens."""

from __future__ import annotations

import dataclasses

import pytest

from memdash.budget import Budget
from memdash.errors import BudgetExceeded
from memdash.prices import PriceTable
from memdash.records import Iteration, Purpose, Usage
from memdash.replay import PlannedRequest
from tests.store.samples import a_request

PLANNED = PlannedRequest("claude-opus-5-5", 10_000, 1_000, Purpose.TURN)
"""At most 10,000 × $8 + 1,000 × $20 = $0.10."""


def budget(limit: float) -> Budget:
    return Budget(limit, PriceTable.load())


def test_a_request_that_just_fits_is_let_through() -> None:
    budget(0.1).reserve("a", PLANNED)
    with pytest.raises(
        BudgetExceeded, match=r"could cost \$0\.1000 and pass the budget of \$0\.0999: \$0\.0000 is spent"
    ):
        budget(0.0999).reserve("a", PLANNED)


def test_requests_under_way_count_at_their_worst_whatever_replay_they_are_of() -> None:
    shared = budget(0.25)
    shared.reserve("a", PLANNED)
    shared.reserve("b", PLANNED)
    with pytest.raises(BudgetExceeded, match=r"\$0\.2000 is set aside"):
        shared.reserve("a", PLANNED)


def test_an_answer_frees_what_was_set_aside_and_counts_what_it_cost() -> None:
    shared = budget(0.2)
    shared.reserve("a", PLANNED)
    shared.settle("a", a_request(1, 1))  # 1,000 × $4 + 2,000 × $0.20 + 100 × $20 = $0.0064
    assert shared.spent == pytest.approx(0.0064)
    shared.reserve("a", PLANNED)
    with pytest.raises(BudgetExceeded):
        shared.reserve("a", PLANNED)


def test_iterations_and_probes_are_paid_from_the_budget_too() -> None:
    shared = budget(1.0)
    compacting = dataclasses.replace(
        a_request(1, 1), iterations=(Iteration("compaction", Usage(100_000, output_tokens=0)),)
    )
    shared.settle("a", compacting)
    shared.settle("a", a_request(2, 1, purpose=Purpose.PROBE))
    assert shared.spent == pytest.approx(0.4 + 0.0064)  # 100,000 × $4


def test_an_answer_without_usage_costs_what_was_set_aside_for_it() -> None:
    shared = budget(0.15)
    shared.reserve("a", PLANNED)
    shared.settle("a", dataclasses.replace(a_request(1, 1), usage=Usage()))
    assert shared.spent == pytest.approx(0.1)


def test_an_answer_that_broke_off_costs_what_was_set_aside_for_it() -> None:
    shared = budget(0.15)
    shared.reserve("a", PLANNED)
    begun = dataclasses.replace(
        a_request(1, 1), usage=Usage(1_000, output_tokens=1), error_message="Overloaded"
    )
    shared.settle("a", begun)
    assert shared.spent == pytest.approx(0.1)


def test_a_replay_that_has_ended_holds_nothing_back() -> None:
    shared = budget(0.1)
    shared.reserve("a", PLANNED)
    shared.release("a")
    shared.reserve("b", PLANNED)


def test_without_a_price_nothing_is_let_through() -> None:
    with pytest.raises(BudgetExceeded, match="no price is known for the model 'llama-9'"):
        budget(100.0).reserve("a", dataclasses.replace(PLANNED, model="llama-9"))
