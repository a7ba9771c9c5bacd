"""A comparison that is followed while it runs comes to the same numbers as one that is read at its end."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest

from memdash.claude import connect
from memdash.errors import StoreError
from memdash.following import Follower
from memdash.metrics import measure_all
from memdash.records import Record, Status
from memdash.replay import replay
from memdash.replay_log import ReplayLog, ReplayOutline
from memdash.spec import ComparisonSpec
from memdash.store import MEMORY, Store
from memdash.strategies import parse
from tests import builders


class Watched(Store):
    """Notes which replays are read, and of which everything is."""

    read: list[str]
    read_whole: list[str]

    def replay_outlines(self, comparison_id: str, only: Collection[str] | None = None) -> list[ReplayOutline]:
        outlines = super().replay_outlines(comparison_id, only)
        self.read = [one.spec.id for one in outlines]
        return outlines

    def replay_logs(self, comparison_id: str, only: Collection[str] | None = None) -> list[ReplayLog]:
        logs = super().replay_logs(comparison_id, only)
        self.read_whole = [log.spec.id for log in logs]
        return logs


@pytest.fixture
def store() -> Iterator[Watched]:
    with Watched.open(MEMORY) as opened:
        yield opened


def launched(store: Store) -> ComparisonSpec:
    comparison = ComparisonSpec(
        scripts=(builders.script(facts=[builders.fact()]),),
        strategies=(parse("full_history"), parse("window:1")),
    )
    store.save_comparison(comparison)
    return comparison


def played(comparison: ComparisonSpec) -> list[list[Record]]:
    return [list(replay(spec, *connect(spec))) for spec in comparison.replays()]


def test_every_look_shows_what_reading_everything_would_show(store: Watched) -> None:
    comparison = launched(store)
    follower = Follower(store, comparison.id)
    journals = played(comparison)
    for start in range(0, max(map(len, journals)), 3):
        for spec, records in zip(comparison.replays(), journals, strict=True):
            store.append(spec.id, records[start : start + 3])
        store.flush()
        standing = follower.read()
        logs = store.replay_logs(comparison.id)
        assert standing.outlines == store.replay_outlines(comparison.id)
        assert follower.logs(standing.stored.replays) == logs
        assert tuple(standing.results) == measure_all(logs, standing.stored.prices)
    assert {one.status for one in standing.results} == {Status.DONE}


def test_what_is_over_is_not_read_again(store: Watched) -> None:
    comparison = launched(store)
    full, window = comparison.replays()
    follower = Follower(store, comparison.id)
    store.append(full.id, played(comparison)[0])
    store.flush()
    follower.read()
    assert store.read == [full.id, window.id]
    follower.read()
    assert store.read == [window.id]


def test_logs_are_read_when_they_are_wanted_and_once_where_a_replay_is_over(store: Watched) -> None:
    comparison = launched(store)
    full, window = comparison.replays()
    follower = Follower(store, comparison.id)
    store.append(full.id, played(comparison)[0])
    store.flush()
    store.read_whole = []
    follower.read()
    assert store.read_whole == []
    assert [log.spec.id for log in follower.logs([full, window])] == [full.id, window.id]
    assert store.read_whole == [full.id, window.id]
    follower.logs([full, window])
    assert store.read_whole == [window.id]


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.INTERRUPTED, Status.FAILED])
def test_what_may_go_on_is_read_again(store: Watched, status: Status) -> None:
    comparison = launched(store)
    follower = Follower(store, comparison.id)
    for spec in comparison.replays():
        store.append_state(spec.id, status)
    follower.read()
    follower.read()
    assert len(store.read) == 2


def test_a_control_that_comes_late_changes_what_is_a_test_everywhere(store: Watched) -> None:
    comparison = launched(store)
    full, window = comparison.replays()
    follower = Follower(store, comparison.id)
    finished, asking = played(comparison)[1], builders.probe(control=builders.Control.WHOLE, passed=False)
    store.append(window.id, finished)
    store.flush()
    assert [one.recall_total for one in follower.read().results] == [1, 1]
    store.append(full.id, asking)
    store.flush()
    assert [one.recall_total for one in follower.read().results] == [0, 0]


def test_a_comparison_that_was_deleted_is_gone(store: Watched) -> None:
    comparison = launched(store)
    follower = Follower(store, comparison.id)
    follower.read()
    store.delete(comparison.id)
    with pytest.raises(StoreError, match="there is no comparison"):
        follower.read()
