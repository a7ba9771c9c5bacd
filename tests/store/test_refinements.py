"""What a sweep's refinement adds later: replays behind all others, in every kind of store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from memdash.errors import StoreError
from memdash.metrics.sweep.refinement import Proposal, ProposedSetting
from memdash.records import Status
from memdash.spec import ComparisonSpec, Sweep
from memdash.store import MEMORY, InboxStore, Ownership, RemoteStore, Store, open_for_command
from memdash.store.handover import comparison_lines, from_lines
from memdash.store.owner import OwnerFile
from memdash.store.remote import Owner
from memdash.strategies import parse, parse_family, swept
from tests.store.samples import a_comparison, a_script, some_records


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memdash.duckdb"


def a_sweep(scripts: int = 1) -> ComparisonSpec:
    family = parse_family("window:2|8")
    return ComparisonSpec(
        tuple(a_script(f"chat{number}") for number in range(scripts)),
        swept([family], ["claude-opus-5-5"]).choices,
        sweep=Sweep((family,), refine=True),
    )


def adding(*written: str) -> Proposal:
    return Proposal(
        tuple(ProposedSetting(parse(one), f"{one} is between") for one in written), ("window of 2",)
    )


FIRST, SECOND = adding("window:4", "window:5"), adding("window:3")


def test_what_a_refinement_added_comes_last_and_is_told_round_by_round(path: Path) -> None:
    spec = a_sweep(scripts=2)
    with Store.open(path) as store:
        store.save_comparison(spec)
        store.extend(spec.id, FIRST)
        store.extend(spec.id, SECOND)
    with Store.open(path) as store:
        found = store.comparison(spec.id)
    assert found.refinements == (FIRST, SECOND)
    assert found.spec == spec.with_refined([*FIRST.choices, *SECOND.choices])
    assert found.launched == spec
    assert found.replays == found.spec.replays()
    assert found.replays[:6] == spec.replays()
    assert [one.series for one in found.replays[6:]] == [
        "window of 4",
        "window of 4",
        "window of 5",
        "window of 5",
        "window of 3",
        "window of 3",
    ]


def test_replays_of_others_that_were_stored_in_between_are_not_among_them(path: Path) -> None:
    spec, other = a_sweep(), a_comparison("full_history", "window:2", scripts=(a_script("other"),))
    with Store.open(path) as store:
        store.save_comparison(spec)
        store.save_comparison(other)
        store.extend(spec.id, FIRST)
        for comparison in (spec.id, other.id):
            for replay in store.comparison(comparison).replays:
                store.append(replay.id, some_records(turns=2, text=comparison))
        store.flush()
        logs = store.replay_logs(spec.id)
        assert [log.spec for log in logs] == list(store.comparison(spec.id).replays)
        assert [len(log.turns) for log in logs] == [2] * 5
        assert [len(log.requests) for log in store.replay_logs(other.id)] == [2, 2]
        added = store.comparison(spec.id).replays[-1]
        assert store.journal(added.id) == some_records(turns=2, text=spec.id)
        summaries = {one.id: one for one in store.comparisons()}
        assert summaries[spec.id].series == (
            "full history",
            "window of 2",
            "window of 8",
            "window of 4",
            "window of 5",
        )
        assert summaries[other.id].statuses == (Status.DONE, Status.DONE)


def test_the_same_round_twice_is_one(path: Path) -> None:
    spec = a_sweep()
    with Store.open(path) as store:
        store.save_comparison(spec)
        store.extend(spec.id, FIRST)
        store.extend(spec.id, FIRST)
        assert len(store.comparison(spec.id).replays) == 5


def test_only_a_comparison_that_is_there_can_be_extended() -> None:
    with Store.open(MEMORY) as store, pytest.raises(StoreError, match="no comparison 'cmp_nope'"):
        store.extend("cmp_nope", FIRST)


def test_what_was_added_is_purged_with_its_comparison(path: Path) -> None:
    kept, deleted = a_sweep(), a_sweep()
    with Store.open(path) as store:
        for spec in (kept, deleted):
            store.save_comparison(spec)
            store.extend(spec.id, FIRST)
        before = store.comparison(kept.id)
        store.delete(deleted.id)
        store.purge()
        assert store.comparison(kept.id) == before
        assert [one.id for one in store.comparisons()] == [kept.id]


def test_a_whole_comparison_is_handed_on_with_what_was_added() -> None:
    spec = a_sweep()
    with Store.open(MEMORY) as store, Store.open(MEMORY) as copy:
        store.save_comparison(spec)
        store.extend(spec.id, FIRST)
        store.append(store.comparison(spec.id).replays[-1].id, some_records())
        store.flush()
        for order in from_lines(comparison_lines(store, spec.id, texts=False)):
            if hasattr(order, "comparison"):
                copy.adopt(order.comparison)
        assert copy.comparison(spec.id) == store.comparison(spec.id)


def test_a_command_beside_the_owner_extends_through_it(path: Path) -> None:
    spec = a_sweep()
    with Store.open(path) as store, Ownership(store), served(path) as remote:
        remote.save_comparison(spec)
        remote.extend(spec.id, FIRST)
        assert remote.comparison(spec.id) == store.comparison(spec.id)
        assert store.comparison(spec.id).refinements == (FIRST,)
        remote.append(store.comparison(spec.id).replays[-1].id, some_records())
        assert store.comparisons()[0].statuses[-1] is Status.DONE


def test_a_command_whose_owner_goes_away_still_knows_what_was_added(path: Path) -> None:
    spec = a_sweep()
    store = Store.open(path)
    ownership = Ownership(store)
    with served(path) as remote:
        remote.save_comparison(spec)
        remote.extend(spec.id, FIRST)
        ownership.close()
        store.close()
        path.unlink()  # nothing of it is left
        remote.extend(spec.id, SECOND)
        assert remote.comparison(spec.id).refinements == (FIRST, SECOND)
        assert len(remote.comparison(spec.id).replays) == 6


def served(path: Path) -> closing[RemoteStore]:
    file = OwnerFile.read(path)
    assert file is not None
    return closing(RemoteStore(path, Owner(file), lambda: open_for_command(path, wait=0.0)))


def test_what_was_added_is_left_in_the_inbox_too(path: Path) -> None:
    spec = a_sweep()
    with InboxStore(path) as inbox:
        inbox.save_comparison(spec)
        inbox.extend(spec.id, FIRST)
        added = inbox.comparison(spec.id).replays[-1]
        inbox.append(added.id, some_records())
    store = open_for_command(path, wait=0.0)
    assert isinstance(store, Store)
    with store:
        assert store.comparison(spec.id).refinements == (FIRST,)
        assert store.journal(added.id) == some_records()
