"""The worker: children, threads, ends, resuming and budgets. Replays are played by tests/store/fake_replay.py."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memdash.children import Children, Outcome, Task, _Child
from memdash.errors import BudgetExceeded, InputError, StoreError
from memdash.records import Record, Status
from memdash.replay import Gate
from memdash.spec import ComparisonSpec, Provider, ReplaySpec, new_id
from memdash.spending import Entry, EntryKind
from memdash.store import MEMORY, Store
from memdash.treasury import Treasury
from memdash.worker import Worker
from tests.store import fake_replay
from tests.store.fake_replay import COMMAND
from tests.store.samples import a_comparison, a_script, some_records

PATIENCE = 60.0
"""Seconds after which something has hung."""


class Watch:
    """Waits for something to become true, looking whenever the worker says that something has changed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()

    def __call__(self, _comparison_id: str) -> None:
        with self._changed:
            self._changed.notify_all()

    def until(self, condition: object) -> None:
        assert callable(condition)
        with self._changed:
            assert self._changed.wait_for(condition, timeout=PATIENCE)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(MEMORY) as opened:
        yield opened


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def worker(store: Store, watch: Watch) -> Iterator[Worker]:
    with Worker(
        store, children=Children(2, command=COMMAND), play=fake_replay.play, on_change=watch
    ) as opened:
        yield opened


def run(
    worker: Worker, *strategies: str, script: str = "chat", turns: int = 3, **settings: object
) -> ComparisonSpec:
    spec = a_comparison(*strategies, scripts=(a_script(script, turns=turns),), **settings)
    worker.submit(spec)
    assert worker.wait(spec.id, PATIENCE)
    return spec


def statuses(worker: Worker, spec: ComparisonSpec) -> list[Status]:
    return [one.status for one in worker.progress(spec.id)]


# -- simulated replays, in children --------------------------------------------------------------------------------------


def test_what_children_yield_is_stored_whole_and_in_order(worker: Worker, store: Store) -> None:
    spec = run(worker, *(f"window:{keep}" for keep in range(1, 6)), turns=40)
    for replay in spec.replays():
        assert store.journal(replay.id) == list(fake_replay.play(replay, ()))
    assert statuses(worker, spec) == [Status.DONE] * 5


def test_progress_counts_turns_tokens_and_money(worker: Worker) -> None:
    spec = run(worker, "full_history", turns=3)
    (one,) = worker.progress(spec.id)
    assert (one.label, one.status, one.turn, one.turns) == ("full history", Status.DONE, 3, 3)
    assert one.prompt_tokens == 9_000
    # three times 1,000 × $4 + 2,000 × $0.20 + 100 × $20, per million
    assert one.cost_usd == pytest.approx(0.0192)


def test_progress_without_a_price_has_no_cost(worker: Worker) -> None:
    spec = run(worker, "full_history", models=("llama-9",))
    (one,) = worker.progress(spec.id)
    assert (one.prompt_tokens, one.cost_usd) == (9_000, None)


def test_progress_is_seen_while_a_replay_runs(worker: Worker, watch: Watch) -> None:
    spec = a_comparison("full_history", scripts=(a_script("endless"),))
    worker.submit(spec)
    watch.until(lambda: worker.progress(spec.id)[0].turn > 5)
    assert statuses(worker, spec) == [Status.RUNNING]
    assert worker.running() == [spec.id]
    worker.cancel(spec.id)
    assert worker.wait(spec.id, PATIENCE)


def test_a_comparison_that_waits_says_for_which_other_one(worker: Worker, watch: Watch) -> None:
    first = a_comparison("full_history", scripts=(a_script("endless"),))
    behind = a_comparison("full_history")
    worker.submit(first)
    watch.until(lambda: statuses(worker, first) == [Status.RUNNING])
    worker.submit(behind)
    assert (worker.waits_for(first.id), worker.waits_for(behind.id)) == (None, first.id)
    worker.cancel(first.id)
    assert worker.wait(behind.id, PATIENCE)
    assert worker.waits_for(behind.id) is None


def test_one_failed_replay_takes_no_other_down(worker: Worker, store: Store) -> None:
    scripts = (
        *(a_script(one, turns=2) for one in ("chat", "raises", "rejected")),
        a_script("killed", turns=120),
    )
    spec = a_comparison("full_history", "window:2", scripts=scripts)
    worker.submit(spec)
    assert worker.wait(spec.id, PATIENCE)
    ends = {one.label: (one.status, one.message) for one in worker.progress(spec.id)}
    assert ends["full history · chat"] == (Status.DONE, None)
    assert ends["full history · raises"] == (Status.FAILED, "RuntimeError: no luck today")
    assert ends["full history · rejected"] == (Status.REJECTED, "messages: not like this")
    status, message = ends["window of 2 · killed"]
    assert status is Status.INTERRUPTED
    assert message == "the process that played it ended (signal SIGKILL): about to go"
    raised = next(one for one in spec.replays() if one.label == "full history · raises")
    assert [one.kind for one in store.journal(raised.id)] == [
        "status",
        "request",
        "turn",
    ]  # what was measured stays


def test_a_cancelled_comparison_keeps_what_was_measured(worker: Worker, watch: Watch, store: Store) -> None:
    spec = a_comparison("full_history", "window:1", "window:2", scripts=(a_script("endless", turns=400),))
    worker.submit(spec)
    watch.until(lambda: worker.progress(spec.id)[0].turn > 0)
    worker.cancel(spec.id)
    assert worker.wait(spec.id, PATIENCE)
    assert statuses(worker, spec) == [Status.CANCELLED] * 3  # the third had not started
    assert len(store.replay_logs(spec.id)[0].turns) > 0


def test_a_comparison_that_runs_is_found_by_its_settings_until_it_ends(worker: Worker, watch: Watch) -> None:
    spec = a_comparison("full_history", scripts=(a_script("endless", turns=400),))
    again = replace(spec, id=new_id("cmp"), title="By another name")
    assert worker.running_alike(again) is None
    worker.submit(spec)
    watch.until(lambda: worker.progress(spec.id)[0].turn > 0)
    assert worker.running_alike(again) == spec.id
    assert worker.running_alike(spec) == spec.id
    assert worker.running_alike(replace(again, repeats=2)) is None
    worker.cancel(spec.id)
    assert worker.running_alike(again) is None  # what is being cancelled is not what was asked for
    assert worker.wait(spec.id, PATIENCE)


def test_one_replay_can_be_cancelled_alone(worker: Worker, watch: Watch) -> None:
    spec = a_comparison("full_history", scripts=(a_script("endless", turns=400), a_script("chat")))
    worker.submit(spec)
    watch.until(lambda: worker.progress(spec.id)[1].status is Status.DONE)
    worker.cancel(spec.id, spec.replays()[0].id)
    assert worker.wait(spec.id, PATIENCE)
    assert statuses(worker, spec) == [Status.CANCELLED, Status.DONE]


def test_a_killed_replay_goes_on_from_its_journal(worker: Worker, store: Store) -> None:
    spec = run(worker, "full_history", script="killed", turns=120)
    assert statuses(worker, spec) == [Status.INTERRUPTED]
    measured = len(store.replay_logs(spec.id)[0].turns)
    assert worker.resume(spec.id) == 1
    assert worker.wait(spec.id, PATIENCE)
    (log,) = store.replay_logs(spec.id)
    assert [one.turn for one in log.turns] == list(range(1, 121))
    assert [one.seq for one in store.journal(log.spec.id)] == list(range(242))
    assert log.statuses[-1].status is Status.DONE
    assert 0 < measured <= 100
    assert worker.resume(spec.id) == 0  # nothing is left to go on


def test_resuming_takes_only_what_has_not_ended(worker: Worker, store: Store) -> None:
    spec = a_comparison(
        "full_history", "window:1", "window:2", "window:3", scripts=(a_script("asks", turns=4),)
    )
    store.save_comparison(spec)
    done, half, rejected, _fresh = spec.replays()
    store.append(done.id, some_records(turns=4))
    store.append(half.id, list(fake_replay.play(half, ()))[:5])  # two turns
    store.append(rejected.id, some_records(turns=1, end=Status.REJECTED))
    store.flush()
    store.mark_interrupted()
    assert worker.resume(spec.id) == 2
    assert worker.wait(spec.id, PATIENCE)
    ends = [(one.status, one.turn, one.message) for one in worker.progress(spec.id)]
    assert ends[0][:2] == (Status.DONE, 4)
    assert ends[1] == (Status.DONE, 4, "2 taken, []")
    assert ends[2][:2] == (Status.REJECTED, 1)
    assert ends[3] == (Status.DONE, 4, "0 taken, []")
    assert store.journal(half.id)[:5] == list(fake_replay.play(half, ()))[:5]


def test_a_child_is_given_no_keys(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SOME_OTHER_API_KEY", "secret")
    spec = run(worker, "full_history", script="asks")
    assert worker.progress(spec.id)[0].message == "0 taken, []"


def test_what_the_store_refuses_ends_the_replay_and_not_the_worker(
    worker: Worker, watch: Watch, store: Store
) -> None:
    spec = a_comparison("full_history", scripts=(a_script("endless"),))
    worker.submit(spec)
    watch.until(lambda: worker.progress(spec.id)[0].turn > 0)
    store.delete(spec.id)
    assert worker.wait(spec.id, PATIENCE)
    assert statuses(worker, run(worker, "full_history")) == [Status.DONE]


def test_closing_leaves_no_process_and_marks_what_ran(watch: Watch, store: Store) -> None:
    worker = Worker(store, children=Children(1, command=COMMAND), on_change=watch)
    spec = a_comparison("full_history", "window:2", scripts=(a_script("endless"),))
    worker.submit(spec)
    watch.until(lambda: worker.progress(spec.id)[0].turn > 0)
    worker.close()
    assert [one.statuses[-1].status for one in store.replay_logs(spec.id)] == [Status.INTERRUPTED] * 2
    assert [one.name for one in threading.enumerate() if one.name.startswith("memdash-child")] == []
    with pytest.raises(StoreError, match="worker is closed"):
        worker.submit(a_comparison())


def test_a_child_without_work_ends_and_the_next_task_starts_another() -> None:
    children = Children(1, command=COMMAND, idle_seconds=0.05)
    (replay,) = a_comparison("full_history").replays()
    for _ in range(2):
        ended = threading.Event()
        outcomes: list[tuple[Outcome, str | None]] = []

        def end(outcome: Outcome, error: str | None, outcomes=outcomes, ended=ended) -> None:  # type: ignore[no-untyped-def]
            outcomes.append((outcome, error))
            ended.set()

        children.submit([Task(replay, list, lambda lines: None, end)])
        assert ended.wait(PATIENCE)
        assert outcomes == [(Outcome.FINISHED, None)]
        for thread in [one for one in threading.enumerate() if one.name == "memdash-child"]:
            thread.join(PATIENCE)
            assert not thread.is_alive()
    children.close()


def test_a_child_is_started_before_its_replays_are_known() -> None:
    pool = Children(2, command=COMMAND)
    pool.warm_up_one()
    pool.warm_up_one()
    (child,) = (one for one in threading.enumerate() if one.name == "memdash-child")
    (replay,) = a_comparison("full_history").replays()
    played_by: list[str] = []
    ended = threading.Event()
    pool.submit(
        [
            Task(
                replay,
                list,
                lambda lines: played_by.append(str(threading.current_thread().ident)),
                lambda outcome, error: ended.set(),
            )
        ]
    )
    assert ended.wait(PATIENCE)
    assert set(played_by) == {str(child.ident)}
    pool.close()
    assert not child.is_alive()


@pytest.mark.parametrize(("turns", "children"), [(3, 1), (400, 2)])
def test_another_child_is_started_only_for_work_that_is_worth_one(turns: int, children: int) -> None:
    pool = Children(2, command=COMMAND)
    first, second = a_comparison(
        "full_history", "window:1", scripts=(a_script("plays", turns=turns),), turns=turns
    ).replays()
    begun, go_on = threading.Event(), threading.Event()

    def start() -> list[Record]:
        begun.set()
        assert go_on.wait(PATIENCE)
        return []

    pool.submit([Task(first, start, lambda lines: None, lambda outcome, error: None)])
    assert begun.wait(PATIENCE)
    pool.submit([Task(second, list, lambda lines: None, lambda outcome, error: None)])
    assert sum(one.name == "memdash-child" for one in threading.enumerate()) == children
    go_on.set()
    pool.close()


# -- live replays, in threads --------------------------------------------------------------------------------------------


def test_live_replays_run_at_the_same_time_in_threads_of_this_process(store: Store) -> None:
    together = threading.Barrier(4, timeout=PATIENCE)

    def play(spec: ReplaySpec, journal: Sequence[Record], gate: Gate, key: object) -> Iterator[Record]:
        together.wait()  # passes only if all four are here at once
        yield from fake_replay.play(spec, journal, gate)

    with Worker(store, children=Children(1, command=COMMAND), play=play) as worker:
        spec = run(worker, *(f"window:{keep}" for keep in range(1, 5)), provider=Provider.ANTHROPIC)
        assert statuses(worker, spec) == [Status.DONE] * 4


def test_no_more_than_twelve_live_replays_run_at_once(store: Store) -> None:
    lock, at_once, most = threading.Lock(), 0, 0

    def play(spec: ReplaySpec, journal: Sequence[Record], gate: Gate, key: object) -> Iterator[Record]:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        yield from fake_replay.play(spec, journal, gate)
        with lock:
            at_once -= 1

    with Worker(store, children=Children(1, command=COMMAND), play=play) as worker:
        spec = run(worker, *(f"window:{keep}" for keep in range(1, 31)), provider=Provider.ANTHROPIC)
        assert statuses(worker, spec) == [Status.DONE] * 30
    assert most <= 12


def test_a_paid_answer_is_in_the_file_before_the_next_request(tmp_path: Path) -> None:
    stored: list[int] = []
    with Store.open(tmp_path / "memdash.duckdb") as store:

        def play(spec: ReplaySpec, journal: Sequence[Record], gate: Gate, key: object) -> Iterator[Record]:
            def watching(planned: object) -> None:
                stored.append(len(store.replay_logs(spec.comparison_id)[0].requests))

            yield from fake_replay.play(spec, journal, watching)

        with Worker(store, children=Children(1), play=play) as worker:
            run(worker, "full_history", turns=4, provider=Provider.ANTHROPIC)
    assert stored == [0, 1, 2, 3]


def test_a_live_replay_is_cancelled_before_its_next_request(worker: Worker, watch: Watch) -> None:
    spec = a_comparison("full_history", scripts=(a_script("endless"),), provider=Provider.ANTHROPIC)
    worker.submit(spec)
    watch.until(lambda: worker.progress(spec.id)[0].turn > 0)
    worker.cancel(spec.id)
    assert worker.wait(spec.id, PATIENCE)
    assert statuses(worker, spec) == [Status.CANCELLED]


def test_a_live_replay_that_raises_has_failed(worker: Worker) -> None:
    spec = run(worker, "full_history", script="raises", provider=Provider.ANTHROPIC)
    (one,) = worker.progress(spec.id)
    assert (one.status, one.message) == (Status.FAILED, "RuntimeError: no luck today")


def test_a_replay_that_hangs_on_the_network_does_not_hold_up_the_end(store: Store, watch: Watch) -> None:
    answer, reached = threading.Event(), threading.Event()

    def play(spec: ReplaySpec, journal: Sequence[Record], gate: Gate, key: object) -> Iterator[Record]:
        for record in fake_replay.play(spec, journal, gate):
            yield record
            if record.kind == "turn":
                reached.set()
                answer.wait(PATIENCE)

    worker = Worker(store, children=Children(1), play=play, on_change=watch)
    spec = a_comparison("full_history", provider=Provider.ANTHROPIC)
    worker.submit(spec)
    assert reached.wait(PATIENCE)
    worker.close()
    (log,) = store.replay_logs(spec.id)
    assert (log.statuses[-1].status, len(log.turns)) == (Status.INTERRUPTED, 1)
    answer.set()


# -- budgets -------------------------------------------------------------------------------------------------------------


def stopping(spec: ReplaySpec, journal: Sequence[Record], gate: Gate, key: object) -> Iterator[Record]:
    """Ends as the real replay does where the gate lets a request through no more."""
    from memdash.records import StatusRecord

    seq = len(journal)
    try:
        for record in fake_replay.play(spec, journal, gate):
            seq = record.seq + 1
            yield record
    except BudgetExceeded as over:
        yield StatusRecord(seq, Status.STOPPED_BY_BUDGET, 0, 0.0, str(over))


@pytest.mark.parametrize("provider", [Provider.ANTHROPIC, Provider.SIMULATOR])
def test_a_budget_holds_over_all_replays_of_a_comparison(store: Store, provider: Provider) -> None:
    # A request costs $0.0064 and can cost at most 3,000 × $8 + 100 × $20 = $0.026.
    with Worker(store, children=Children(1, command=COMMAND), play=stopping) as worker:
        spec = run(worker, "full_history", "window:1", "window:2", turns=20, provider=provider, budget=0.1)
        ends = worker.progress(spec.id)
    assert {one.status for one in ends} == {Status.STOPPED_BY_BUDGET}
    spent = sum(one.cost_usd or 0.0 for one in ends)
    # It stops only where less than one worst case is left: $0.1 - $0.026 = $0.074, so after 12 requests ($0.0768) at the latest.
    assert 0.0 < spent <= 0.1
    assert "pass the budget of $0.1000" in (ends[0].message or "")


def test_a_budget_that_is_enough_stops_nothing(store: Store) -> None:
    with Worker(store, children=Children(1, command=COMMAND), play=stopping) as worker:
        spec = run(worker, "full_history", turns=3, provider=Provider.ANTHROPIC, budget=0.05)
        assert statuses(worker, spec) == [Status.DONE]  # 2 × $0.0064 + $0.026 = $0.0388


def test_replays_that_another_answers_than_the_settings_say_never_go_on(worker: Worker, store: Store) -> None:
    """Who may start a run is decided by its settings: live replays under simulated settings would be nobody's to pay."""
    spec = a_comparison("full_history", budget=5.0)
    store.save_comparison(spec)
    stored = store.comparison(spec.id)
    renamed = replace(stored.spec, id="cmp_posing")
    live = [
        replace(one, id=f"cmp_posing_{place:03}", comparison_id="cmp_posing", provider=Provider.ANTHROPIC)
        for place, one in enumerate(stored.replays)
    ]
    store.adopt(replace(stored, spec=renamed, replays=tuple(live)))
    for replay in live:
        store.append_state(replay.id, Status.INTERRUPTED)
    with pytest.raises(InputError, match="not answered by what its settings say"):
        worker.resume("cmp_posing")
    assert worker.running() == []


def test_what_was_spent_before_counts_after_a_resume(store: Store) -> None:
    spec = a_comparison(
        "full_history", scripts=(a_script("chat", turns=20),), provider=Provider.ANTHROPIC, budget=0.1
    )
    store.save_comparison(spec)
    (replay,) = spec.replays()
    store.append(replay.id, list(fake_replay.play(replay, ()))[: 1 + 2 * 11])  # eleven answers, $0.0704
    store.flush()
    store.mark_interrupted()
    with Worker(store, children=Children(1), play=stopping) as worker:
        assert worker.resume(spec.id) == 1
        assert worker.wait(spec.id, PATIENCE)
    (log,) = store.replay_logs(spec.id)
    assert len(log.requests) == 12  # $0.0704 + $0.026 fits, $0.0768 + $0.026 does not
    assert log.statuses[-1].status is Status.STOPPED_BY_BUDGET


@pytest.mark.parametrize(("budget", "limited"), [(1.0, True), (None, False)])
def test_the_treasury_is_told_whether_a_budget_rests_on_what_it_writes_down(
    store: Store, monkeypatch: pytest.MonkeyPatch, budget: float | None, limited: bool
) -> None:
    told: list[object] = []
    reserve = Treasury.reserve

    def watched(self: Treasury, *args: Any, **options: Any) -> Entry:
        told.append(options["limited"])
        return reserve(self, *args, **options)

    monkeypatch.setattr(Treasury, "reserve", watched)
    with Worker(store, children=Children(1), play=stopping) as worker:
        run(worker, "full_history", turns=3, provider=Provider.ANTHROPIC, budget=budget)
    assert told == [limited] * 3


def test_a_request_whose_answer_never_came_counts_after_a_resume(store: Store) -> None:
    """What it cost is not known: the server may have answered, and billed, what never arrived."""
    spec = a_comparison(
        "full_history", scripts=(a_script("chat", turns=20),), provider=Provider.ANTHROPIC, budget=0.1
    )
    store.save_comparison(spec)
    (replay,) = spec.replays()
    lost = Entry(EntryKind.SET_ASIDE, datetime.now(UTC), spec.id, model="claude-opus-5-5", usd=0.07)
    elsewhere = replace(lost, comparison_id="cmp_other", ticket="other", usd=5.0)
    store.note_entries([lost, elsewhere])
    store.append(replay.id, list(fake_replay.play(replay, ()))[:1])
    store.flush()
    store.mark_interrupted()
    with Worker(store, children=Children(1), play=stopping, spent_in=store.spent_in) as worker:
        assert worker.resume(spec.id) == 1
        assert worker.wait(spec.id, PATIENCE)
    (log,) = store.replay_logs(spec.id)
    # $0.07 + $0.026 fits, with one answer $0.0764 + $0.026 does not
    assert len(log.requests) == 1
    assert log.statuses[-1].status is Status.STOPPED_BY_BUDGET


def test_a_budget_needs_a_price_for_every_model(worker: Worker, store: Store) -> None:
    for spec in (
        a_comparison("full_history", models=("llama-9",), budget=1.0),
        a_comparison("compaction:trigger=2000,summary_model=llama-9", budget=1.0),
    ):
        with pytest.raises(InputError, match="no price is known for llama-9"):
            worker.submit(spec)
    assert store.comparisons() == []


# -- estimates -----------------------------------------------------------------------------------------------------------


def test_an_estimate_is_rehearsed_and_leaves_nothing_behind(worker: Worker, store: Store) -> None:
    spec = a_comparison(
        "full_history",
        "window:2",
        scripts=(a_script("chat", turns=3),),
        repeats=5,
        provider=Provider.ANTHROPIC,
    )
    assert worker.estimate(spec) is None
    estimate = worker.estimate_now(spec)
    # two replays of three requests, five times over
    assert (estimate.requests, estimate.prompt_tokens, estimate.output_tokens) == (30, 90_000, 3_000)
    assert estimate.cost_usd == pytest.approx(30 * 0.0064)
    assert estimate.total_usd == pytest.approx(30 * 0.0064)
    assert [one.label for one in estimate.replays] == ["full history", "window of 2"]
    assert store.comparisons() == []
    assert (
        worker.estimate(
            a_comparison(
                "full_history", "window:2", scripts=spec.scripts, repeats=5, provider=Provider.ANTHROPIC
            )
        )
        == estimate
    )


def test_an_estimate_grows_with_the_repeats_that_are_asked_for(worker: Worker) -> None:
    scripts = (a_script("chat", turns=3),)
    once = worker.estimate_now(a_comparison("full_history", scripts=scripts, repeats=1))
    often = worker.estimate_now(a_comparison("full_history", scripts=scripts, repeats=4))
    assert (once.requests, often.requests) == (3, 12)


def test_an_estimate_says_where_the_rehearsal_stopped(worker: Worker) -> None:
    scripts = (a_script("rejected"), a_script("raises"))
    first, second = worker.estimate_now(a_comparison("full_history", scripts=scripts)).replays
    assert first.problem == "messages: not like this"
    assert second.problem == "RuntimeError: no luck today"


def test_an_estimate_that_cannot_be_run_is_refused_at_once(worker: Worker) -> None:
    for _ in range(2):  # and again when it is asked for again
        with pytest.raises(InputError, match="chosen twice"):
            worker.estimate(a_comparison("window:2", "window:2"))


def test_an_estimate_nobody_waits_for_any_more_makes_room_for_the_next(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = a_comparison("full_history", "window:1", "window:2", scripts=(a_script("endless", turns=400),))
    assert worker.estimate(busy) is None  # both children have enough to do
    monkeypatch.setattr("memdash.estimate._FORGOTTEN_SECONDS", -1.0)
    assert worker.estimate_now(a_comparison("full_history", turns=2)).requests == 2


# -- hundreds of replays -------------------------------------------------------------------------------------------------


def test_hundreds_of_queued_replays_are_cancelled_in_one_go(
    worker: Worker, watch: Watch, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[int] = []
    append_states = store.append_states

    def counted(replay_ids: Sequence[str], status: Status, message: str | None = None) -> None:
        noted.append(len(replay_ids))
        append_states(replay_ids, status, message)

    monkeypatch.setattr(store, "append_states", counted)
    spec = a_comparison(*(f"window:{keep}" for keep in range(1, 401)), scripts=(a_script("endless"),))
    worker.submit(spec)
    watch.until(lambda: sum(one.status is Status.RUNNING for one in worker.progress(spec.id)) == 2)
    worker.cancel(spec.id)
    assert worker.wait(spec.id, PATIENCE)
    assert sorted(noted) == [1, 1, 398]
    assert set(statuses(worker, spec)) == {Status.CANCELLED}


def test_closing_with_hundreds_of_queued_replays_marks_them_in_one_go(
    watch: Watch, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[int] = []
    append_states = store.append_states

    def counted(replay_ids: Sequence[str], status: Status, message: str | None = None) -> None:
        noted.append(len(replay_ids))
        append_states(replay_ids, status, message)

    monkeypatch.setattr(store, "append_states", counted)
    spec = a_comparison(*(f"window:{keep}" for keep in range(1, 201)), scripts=(a_script("endless"),))
    with Worker(store, children=Children(1, command=COMMAND), on_change=watch) as worker:
        worker.submit(spec)
        watch.until(lambda: worker.progress(spec.id)[0].turn > 0)
    assert sorted(noted) == [1, 199]
    assert {log.statuses[-1].status for log in store.replay_logs(spec.id)} == {Status.INTERRUPTED}


def test_progress_of_what_runs_is_not_read_from_the_file(
    worker: Worker, watch: Watch, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = run(worker, "full_history", "window:2", turns=3)
    for replay in spec.replays():
        store.append_state(replay.id, Status.INTERRUPTED)
    worker.resume(spec.id)
    assert worker.wait(spec.id, PATIENCE)
    again = a_comparison("full_history", scripts=(a_script("endless"),))
    worker.submit(again)
    worker.cancel(again.id)
    assert worker.wait(again.id, PATIENCE)
    worker.resume(again.id)
    monkeypatch.delattr(store.__class__, "replay_logs")
    watch.until(lambda: worker.progress(again.id)[0].turn > 3)
    assert worker.overview(again.id).replays == 1
    worker.cancel(again.id)
    assert worker.wait(again.id, PATIENCE)


def test_a_child_that_was_killed_plays_nothing_more_however_long_it_takes_to_be_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = _Child(COMMAND)
    try:
        monkeypatch.setattr(child._process, "kill", lambda: None)  # the signal has not arrived yet
        child.kill()
        assert not child.alive
    finally:
        monkeypatch.undo()
        child.end()
