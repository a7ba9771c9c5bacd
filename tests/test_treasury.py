"""The budget of a day: one account for everybody, written down before it is spent. Opus 5.5, dollars per million tokens."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memdash.children import Children
from memdash.errors import DayBudgetSpent, InputError
from memdash.launch import Key, Launch
from memdash.prices import PriceTable
from memdash.records import Purpose, Record, Status, Usage
from memdash.replay import Gate, PlannedRequest
from memdash.spec import ComparisonSpec, Provider, ReplaySpec
from memdash.spending import EntryKind
from memdash.store import MEMORY, Store
from memdash.treasury import DayBudget, Treasury
from memdash.worker import Worker
from tests.store import fake_replay
from tests.store.fake_replay import COMMAND
from tests.store.samples import a_comparison, a_request, a_script

PATIENCE = 60.0
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TODAY, TOMORROW = date(2026, 11, 30), date(2026, 12, 1)
PLANNED = PlannedRequest("claude-opus-5-5", 10_000, 1_000, Purpose.TURN)
"""At most 10,000 × $8 + 1,000 × $20 = $0.10."""
ANSWER = a_request(1, 1)
"""1,000 × $4 + 2,000 × $0.20 + 100 × $20 = $0.0064."""
ANN, BEN = Launch("ann@example.com"), Launch("ben@example.com")


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(MEMORY) as opened:
        yield opened


class Moment:
    """A time that a test moves on."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


def treasury(store: Store, limit: float | None, now: Moment | None = None) -> Treasury:
    budget = None if limit is None else DayBudget(limit, store.spent_on)
    return Treasury(store, PriceTable.load(), budget, now or Moment())


# -- one request after the other -----------------------------------------------------------------------------------------


def test_two_people_draw_on_one_account(store: Store) -> None:
    shared = treasury(store, 0.25)
    shared.guard("cmp_a", ANN).reserve(PLANNED)
    shared.guard("cmp_b", BEN).reserve(PLANNED)
    told = (
        r"could cost \$0\.1000 and pass the \$0\.2500 that all live runs here may cost on 30 November 2026 \(UTC\): "
        r"\$0\.2000 is spent or set aside; it can go on once the day is over"
    )
    with pytest.raises(DayBudgetSpent, match=told):
        shared.guard("cmp_c", ANN).reserve(PLANNED)


def test_an_answer_gives_back_what_it_did_not_cost(store: Store) -> None:
    guard = treasury(store, 0.15).guard("cmp_a", ANN)
    guard.reserve(PLANNED)
    guard.settle(ANSWER)
    assert store.spent_on(TODAY) == pytest.approx(0.0064)
    guard.reserve(PLANNED)
    with pytest.raises(DayBudgetSpent):
        guard.reserve(PLANNED)


def test_an_answer_that_does_not_say_its_tokens_costs_what_was_set_aside(store: Store) -> None:
    guard = treasury(store, 1.0).guard("cmp_a", ANN)
    guard.reserve(PLANNED)
    guard.settle(dataclasses.replace(ANSWER, usage=Usage()))
    assert store.spent_on(TODAY) == pytest.approx(0.1)


def test_an_answer_that_broke_off_costs_what_was_set_aside_and_a_refusal_nothing(store: Store) -> None:
    """Its first event tells the tokens of the prompt; how many it had written by then, nobody says."""
    guard = treasury(store, 1.0).guard("cmp_a", ANN)
    guard.reserve(PLANNED)
    begun = dataclasses.replace(ANSWER, usage=Usage(1_000, output_tokens=1), error_message="Overloaded")
    guard.settle(begun)
    guard.reserve(PLANNED)
    guard.settle(dataclasses.replace(begun, usage=Usage(), error_message="Connection error."))
    assert store.spent_on(TODAY) == pytest.approx(0.2)
    guard.reserve(PLANNED)
    guard.settle(dataclasses.replace(begun, usage=Usage(), error_status=529))
    assert store.spent_on(TODAY) == pytest.approx(0.2)
    store.flush()
    (spent,) = store.expenses()
    assert (spent.requests, spent.usd, spent.unanswered) == (3, pytest.approx(0.2), 2)


def test_a_request_that_the_simulator_answered_after_all_costs_nothing(store: Store) -> None:
    guard = treasury(store, 0.1).guard("cmp_a", ANN)
    guard.reserve(PLANNED)
    guard.settle(dataclasses.replace(ANSWER, modelled=True))
    assert store.spent_on(TODAY) == 0.0
    guard.reserve(PLANNED)


def test_the_next_day_in_utc_has_a_budget_of_its_own(store: Store) -> None:
    time = Moment()
    guard = treasury(store, 0.1, time).guard("cmp_a", ANN)
    guard.reserve(PLANNED)
    time.now = NOON + timedelta(hours=12)
    guard.reserve(PLANNED)
    assert (store.spent_on(TODAY), store.spent_on(TOMORROW)) == (0.1, 0.1)


def test_without_a_price_nothing_is_let_through_but_only_where_there_is_a_budget(store: Store) -> None:
    unpriced = dataclasses.replace(PLANNED, model="llama-9")
    with pytest.raises(DayBudgetSpent, match="no price is known for the model 'llama-9'"):
        treasury(store, 100.0).guard("cmp_a", ANN).reserve(unpriced)
    treasury(store, None).guard("cmp_a", ANN).reserve(unpriced)
    store.flush()
    (spent,) = store.expenses()
    assert (spent.requests, spent.usd, spent.unpriced) == (1, 0.0, 1)


def test_without_a_budget_it_is_written_down_all_the_same(store: Store) -> None:
    guard = treasury(store, None).guard("cmp_a", Launch("ann@example.com", Key("sk-ant-of-ann")))
    guard.reserve(PLANNED)
    guard.settle(ANSWER)
    store.flush()
    (spent,) = store.expenses()
    assert (spent.person, spent.comparison_id, spent.own_key) == ("ann@example.com", "cmp_a", True)
    assert (spent.requests, spent.usd, spent.unanswered) == (1, pytest.approx(0.0064), 0)


# -- many at once, and after a restart -----------------------------------------------------------------------------------


def test_however_many_ask_at_once_no_more_than_the_budget_is_let_through(store: Store) -> None:
    shared = treasury(store, 2.05)  # room for twenty
    start, let_through = threading.Barrier(8), []

    def ask(launch: Launch) -> None:
        guard = shared.guard("cmp_a", launch)
        start.wait(PATIENCE)
        for _ in range(10):
            try:
                guard.reserve(PLANNED)
            except DayBudgetSpent:
                return
            let_through.append(launch.person)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # every step of one thread is followed by one of another
    try:
        threads = [threading.Thread(target=ask, args=(launch,)) for launch in (ANN, BEN) * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    finally:
        sys.setswitchinterval(interval)
    assert len(let_through) == 20
    assert store.spent_on(TODAY) == pytest.approx(2.0)


@pytest.mark.parametrize(("day_budget", "limited"), [(0.25, False), (None, True), (0.25, True)])
def test_what_was_set_aside_is_in_the_file_before_the_request_is_sent(
    tmp_path: Path, day_budget: float | None, limited: bool
) -> None:
    with Store.open(tmp_path / "memdash.duckdb") as store:
        treasury(store, day_budget).guard("cmp_a", ANN, limited=limited).reserve(PLANNED)
        found = store.expenses()  # reads the file, which nobody flushed
        assert [(one.usd, one.unanswered) for one in found] == [(0.1, 1)]


def live(*strategies: str, turns: int = 40) -> ComparisonSpec:
    return a_comparison(*strategies, scripts=(a_script(turns=turns),), provider=Provider.ANTHROPIC)


def worker(store: Store, limit: float, play: object = fake_replay.play) -> Worker:
    budget = DayBudget(limit, store.spent_on)
    return Worker(store, children=Children(1, command=COMMAND), play=play, day_budget=budget)  # type: ignore[arg-type]


def test_two_people_who_start_at_once_cannot_overspend_together(tmp_path: Path) -> None:
    """A request can cost at most $0.026 and costs $0.0064; forty turns of six replays would be $1.536."""
    highest = 0.0
    with Store.open(tmp_path / "memdash.duckdb") as store:

        def watching(
            spec: ReplaySpec, journal: Sequence[Record], gate: Gate, key: object
        ) -> Iterator[Record]:
            nonlocal highest
            for record in fake_replay.play(spec, journal, gate):
                highest = max(highest, store.spent_on(datetime.now(UTC).date()))
                yield record

        with worker(store, 0.4, watching) as both:
            ids = [both.submit(live("full_history", "window:1", "window:2"), who) for who in (ANN, BEN)]
            assert all(both.wait(one, PATIENCE) for one in ids)
            ends = [end for one in ids for end in both.progress(one)]
        expenses = store.expenses()
        started = store.started()
    assert {end.status for end in ends} == {Status.INTERRUPTED}  # each can go on another day
    assert all("it can go on once the day is over" in (end.message or "") for end in ends)
    spent = sum(one.usd for one in expenses)
    assert spent == pytest.approx(sum(end.cost_usd or 0.0 for end in ends))
    assert 0.4 - 0.026 < spent <= highest <= 0.4
    assert {one.person for one in started} == {ANN.person, BEN.person}


def test_a_day_that_is_spent_stays_spent_after_a_restart_and_what_stopped_goes_on_when_there_is_money(
    tmp_path: Path,
) -> None:
    path, spec = tmp_path / "memdash.duckdb", live("full_history", turns=10)
    with Store.open(path) as store, worker(store, 0.05) as first:
        first.submit(spec, ANN)
        assert first.wait(spec.id, PATIENCE)
        turns = first.progress(spec.id)[0].turn
        assert 0 < turns < 10
    with Store.open(path) as store:
        with worker(store, 0.05) as again:
            assert again.resume(spec.id, BEN) == 1
            assert again.wait(spec.id, PATIENCE)
            assert again.progress(spec.id)[0].turn == turns
        with worker(store, 1.0) as richer:
            richer.resume(spec.id, BEN)
            assert richer.wait(spec.id, PATIENCE)
            (end,) = richer.progress(spec.id)
            assert (end.status, end.turn) == (Status.DONE, 10)
        assert [one.person for one in store.started()] == [ANN.person, BEN.person, BEN.person]
        assert sum(one.usd for one in store.expenses()) == pytest.approx(10 * 0.0064)


def test_simulated_runs_cost_the_day_nothing(store: Store) -> None:
    spec = a_comparison("full_history", budget=1.0)  # played in this process, under a budget of its own
    with worker(store, 0.001) as one:
        one.submit(spec)
        assert one.wait(spec.id, PATIENCE)
        assert [end.status for end in one.progress(spec.id)] == [Status.DONE]
    assert (store.expenses(), store.started()) == ([], [])


def test_a_live_run_of_a_model_without_a_price_does_not_even_start_under_a_days_budget(store: Store) -> None:
    spec = dataclasses.replace(live("full_history"), models=("llama-9",))
    with worker(store, 5.0) as one, pytest.raises(InputError, match="no price is known for llama-9"):
        one.submit(spec)
    assert store.comparisons() == []


def test_a_ledger_entry_says_when_it_was_let_through_and_by_whom(store: Store) -> None:
    shared = treasury(store, None)
    entry = shared.reserve("cmp_a", BEN, "claude-opus-5-5", 0.1)
    assert (entry.kind, entry.at, entry.person, entry.day) == (
        EntryKind.SET_ASIDE,
        NOON,
        "ben@example.com",
        TODAY,
    )
