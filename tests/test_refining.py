"""How the worker goes on with a sweep: round by round, until there is nothing more to play. What to play is told by a fake."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memdash.children import Children
from memdash.metrics.sweep.refinement import Proposal, ProposedSetting
from memdash.records import Status
from memdash.spec import ComparisonSpec, Sweep
from memdash.store import MEMORY, Store
from memdash.store.protocol import AnyStore
from memdash.strategies import parse, parse_family, swept
from memdash.worker import Worker
from tests.store import fake_replay
from tests.store.fake_replay import COMMAND
from tests.store.samples import a_script, some_records
from tests.test_worker import stopping

PATIENCE = 60.0
"""Seconds after which something has hung."""

FAMILY = parse_family("window:2|8")


def adding(*written: str) -> Proposal:
    return Proposal(tuple(ProposedSetting(parse(one), "between two others") for one in written), ())


class Rounds:
    """Proposes what it is told, one round after another; ``meanwhile`` is called before it answers."""

    def __init__(self, *rounds: Proposal, meanwhile: Callable[[str], object] = str) -> None:
        self.rounds = rounds
        self.meanwhile = meanwhile
        self.asked = 0

    def __call__(self, store: AnyStore, comparison_id: str) -> Proposal | None:
        self.asked += 1
        self.meanwhile(comparison_id)
        known = store.comparison(comparison_id)
        assert all(log.statuses[-1].status.over for log in store.replay_logs(comparison_id))
        done = len(known.refinements)
        return self.rounds[done] if done < len(self.rounds) else None


def a_sweep(script: str = "chat", *, refine: bool = True, **settings: object) -> ComparisonSpec:
    return ComparisonSpec(
        (a_script(script, turns=2),),
        swept([FAMILY], ["claude-opus-5-5"]).choices,
        sweep=Sweep((FAMILY,), refine=refine),
        **settings,
    )


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(MEMORY) as opened:
        yield opened


def working(store: Store, rounds: Rounds) -> Worker:
    return Worker(store, children=Children(2, command=COMMAND), play=fake_replay.play, next_round=rounds)


def ends(worker: Worker, spec: ComparisonSpec) -> dict[str, Status]:
    return {one.label: one.status for one in worker.progress(spec.id)}


def test_rounds_are_played_until_there_is_nothing_more(store: Store) -> None:
    rounds = Rounds(adding("window:4", "window:5"), adding("window:3"))
    with working(store, rounds) as worker:
        spec = a_sweep()
        worker.submit(spec)
        assert worker.wait(spec.id, PATIENCE)
        assert rounds.asked == 3
        assert ends(worker, spec) == dict.fromkeys(
            ("full history", "window of 2", "window of 8", "window of 4", "window of 5", "window of 3"),
            Status.DONE,
        )
        assert store.comparison(spec.id).refinements == rounds.rounds
        assert [len(log.turns) for log in store.replay_logs(spec.id)] == [2] * 6


@pytest.mark.parametrize("spec", [a_sweep(refine=False), ComparisonSpec((a_script(),), (parse("window"),))])
def test_only_a_sweep_that_is_to_be_refined_goes_on(store: Store, spec: ComparisonSpec) -> None:
    rounds = Rounds(adding("window:4"))
    with working(store, rounds) as worker:
        worker.submit(spec)
        assert worker.wait(spec.id, PATIENCE)
    assert rounds.asked == 0


def test_while_the_next_round_is_worked_out_the_comparison_is_not_over(store: Store) -> None:
    asked, told = threading.Event(), threading.Event()

    def meanwhile(_comparison_id: str) -> None:
        asked.set()
        assert told.wait(PATIENCE)

    with working(store, Rounds(adding("window:4"), meanwhile=meanwhile)) as worker:
        spec = a_sweep()
        worker.submit(spec)
        assert asked.wait(PATIENCE)
        seen = worker.overview(spec.id)
        assert (seen.replays, seen.over, seen.rounds, seen.refining) == (3, 3, 0, True)
        assert not worker.wait(spec.id, 0)
        assert worker.running() == [spec.id]
        told.set()
        assert worker.wait(spec.id, PATIENCE)
        seen = worker.overview(spec.id)
        assert (seen.replays, seen.over, seen.turn, seen.turns, seen.refining) == (4, 4, 8, 8, False)


def test_a_cancel_while_the_next_round_is_worked_out_ends_the_comparison(store: Store) -> None:
    rounds = Rounds(adding("window:4"), meanwhile=lambda comparison_id: worker.cancel(comparison_id))
    with working(store, rounds) as worker:
        spec = a_sweep()
        worker.submit(spec)
        assert worker.wait(spec.id, PATIENCE)
    assert rounds.asked == 1
    assert store.comparison(spec.id).refinements == ()


def test_a_cancelled_sweep_is_not_refined_until_it_is_resumed(store: Store) -> None:
    rounds = Rounds(adding("window:4"))
    changed = threading.Event()
    with Worker(
        store,
        children=Children(1, command=COMMAND),
        next_round=rounds,
        on_change=lambda _id: changed.set(),
    ) as worker:
        spec = a_sweep("endless")
        worker.submit(spec)
        assert changed.wait(PATIENCE)
        worker.cancel(spec.id)
        assert worker.wait(spec.id, PATIENCE)
    assert rounds.asked == 0
    assert {log.statuses[-1].status for log in store.replay_logs(spec.id)} == {Status.CANCELLED}


def test_what_was_killed_between_two_rounds_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    spec = a_sweep()
    path = tmp_path / "memdash.duckdb"
    with Store.open(path) as store:
        store.save_comparison(spec)
        store.extend(spec.id, adding("window:4"))
        for replay in store.comparison(spec.id).replays:
            store.append(replay.id, some_records(turns=2))
    rounds = Rounds(adding("window:4"), adding("window:5"))
    with Store.open(path) as store, working(store, rounds) as worker:
        assert worker.resume(spec.id) == 0
        assert worker.wait(spec.id, PATIENCE)
        assert rounds.asked == 2
        assert ends(worker, spec)["window of 5"] is Status.DONE
        assert store.comparison(spec.id).refinements == rounds.rounds


def test_what_was_killed_within_a_round_plays_it_to_its_end_first(tmp_path: Path) -> None:
    spec = a_sweep()
    path = tmp_path / "memdash.duckdb"
    with Store.open(path) as store:
        store.save_comparison(spec)
        store.extend(spec.id, adding("window:4"))
        *others, added = store.comparison(spec.id).replays
        for replay in others:
            store.append(replay.id, some_records(turns=2))
    with Store.open(path) as store, working(store, Rounds(adding("window:4"))) as worker:
        assert worker.resume(spec.id) == 1
        assert [one.replay_id for one in worker.progress(spec.id)] == [*(one.id for one in others), added.id]
        assert worker.wait(spec.id, PATIENCE)
        assert set(ends(worker, spec).values()) == {Status.DONE}


@pytest.mark.parametrize(
    ("budget", "ended", "asked"),
    [
        # A request costs $0.0064 and can cost at most $0.026; each replay makes two.
        (0.05, {"window of 2": Status.DONE, "window of 8": Status.STOPPED_BY_BUDGET}, 0),
        (0.071, {"window of 8": Status.DONE, "window of 4": Status.DONE, "window of 5": Status.STOPPED_BY_BUDGET}, 2),
    ],
)  # fmt: skip
def test_a_budget_holds_over_all_rounds(
    store: Store, budget: float, ended: dict[str, Status], asked: int
) -> None:
    rounds = Rounds(adding("window:4"), adding("window:5"), adding("window:6"))
    with Worker(store, children=Children(1, command=COMMAND), play=stopping, next_round=rounds) as worker:
        spec = a_sweep(budget=budget)
        worker.submit(spec)
        assert worker.wait(spec.id, PATIENCE)
        found = ends(worker, spec)
    assert {label: found[label] for label in ended} == ended
    assert rounds.asked == asked


def test_a_refinement_that_fails_ends_the_comparison_and_keeps_what_was_played(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_comparison_id: str) -> None:
        raise RuntimeError("no idea")

    with working(store, Rounds(meanwhile=fails)) as worker:
        spec = a_sweep()
        worker.submit(spec)
        assert worker.wait(spec.id, PATIENCE)
        assert set(ends(worker, spec).values()) == {Status.DONE}
        assert worker.running() == []
    assert "the refinement of" in caplog.text


def test_closing_while_the_next_round_is_worked_out_leaves_nothing_running(store: Store) -> None:
    asked, told = threading.Event(), threading.Event()

    def meanwhile(_comparison_id: str) -> None:
        asked.set()
        assert told.wait(PATIENCE)

    worker = working(store, Rounds(adding("window:4"), meanwhile=meanwhile))
    spec = a_sweep()
    worker.submit(spec)
    assert asked.wait(PATIENCE)
    closing = threading.Thread(target=worker.close)
    closing.start()
    told.set()
    closing.join(PATIENCE)
    assert not closing.is_alive()
    assert worker.running() == []
    assert all(log.statuses[-1].status.over for log in store.replay_logs(spec.id))
