"""What the store keeps and what it answers."""

from __future__ import annotations

import dataclasses
import sqlite3
import threading
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings

from memdash.errors import StoreError
from memdash.prices import PriceTable
from memdash.records import EventKind, EventRecord, Record, Status, to_line
from memdash.replay_log import ReplayLog, ReplayOutline, RequestOutline
from memdash.spec import Provider, Sweep
from memdash.store import MEMORY, Store
from memdash.strategies import parse_family
from tests.store.any_records import journals
from tests.store.samples import a_comparison, a_request, a_script, some_records


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with Store.open(tmp_path / "deep" / "er" / "memdash.duckdb") as opened:
        yield opened


def reopened(store: Store) -> Store:
    assert store.path is not None
    store.close()
    return Store.open(store.path)


# -- keeping -------------------------------------------------------------------------------------------------------------


@given(records=journals())
@settings(max_examples=60)
def test_any_records_come_back_as_they_went_in(records: list[Record]) -> None:
    store = _shared()
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    (replay,) = spec.replays()
    store.append(replay.id, records)
    store.flush()
    assert store.journal(replay.id) == records
    (log,) = store.replay_logs(spec.id)
    without_texts = [dataclasses.replace(one, blocks={}) if one.kind == "request" else one for one in records]
    expected = ReplayLog.of(replay, without_texts)
    assert log == expected
    (outline,) = store.replay_outlines(spec.id)
    assert outline == ReplayOutline(
        replay,
        [
            RequestOutline(*(getattr(one, name) for name in RequestOutline._fields))
            for one in expected.requests
        ],
        *(getattr(expected, field.name) for field in dataclasses.fields(ReplayLog)[2:]),
    )


_memory: list[Store] = []


def _shared() -> Store:
    """One store for all examples: opening one takes longer than an example."""
    if not _memory:
        _memory.append(Store.open(MEMORY))
    return _memory[0]


@given(records=journals())
@settings(max_examples=30)
def test_lines_are_kept_like_the_records_they_were_made_of(records: list[Record]) -> None:
    store = _shared()
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    (replay,) = spec.replays()
    assert store.append_lines(replay.id, [to_line(record) for record in records]) == records
    store.flush()
    assert store.journal(replay.id) == records


def test_a_comparison_comes_back_with_everything_it_was_launched_with(store: Store) -> None:
    spec = a_comparison(
        "full_history",
        "compaction:trigger=2000,summary_model=claude-haiku-4-5",
        title="Which one?",
        scripts=(a_script("one"), a_script("two", turns=6)),
        models=("claude-opus-5-5", "llama-9"),
        repeats=2,
        check=True,
        pace=2.5,
        budget=1.25,
        seed=7,
    )
    store.save_comparison(spec)
    store = reopened(store)
    stored = store.comparison(spec.id)
    assert stored.spec == spec
    assert stored.replays == spec.replays()
    assert stored.title == "Which one?"
    assert stored.versions["memdash"]
    assert set(stored.prices.models) == {"claude-opus-5-5", "claude-haiku-4-5"}  # llama-9 has no price
    assert stored.prices.price("claude-opus-5-5") == PriceTable.load().price("claude-opus-5-5")
    store.close()


def test_a_block_is_kept_once_in_a_comparison(store: Store) -> None:
    spec = a_comparison("full_history", "window:2")
    store.save_comparison(spec)
    for replay in spec.replays():
        store.append(replay.id, some_records(turns=2))
    store.flush()
    assert [one.blocks for one in store.journal(spec.replays()[1].id) if one.kind == "request"] == [
        {"0" * 23 + "1": '{"type":"text","text":"hello 1"}'},
        {"0" * 23 + "2": '{"type":"text","text":"hello 2"}'},
    ]
    path = store.path
    store.close()
    with duckdb.connect(str(path)) as plain:
        assert plain.execute("select count(*) from block").fetchall() == [(4,)]
        assert plain.execute("select count(*) from block_text").fetchall() == [(2,)]


def test_a_block_already_in_the_file_is_not_kept_again(store: Store) -> None:
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    (replay,) = spec.replays()
    first, second, *rest = some_records(turns=2)
    store.append(replay.id, [first, second])
    store = reopened(store)
    store.append(replay.id, [dataclasses.replace(rest[1], blocks=second.blocks)])
    store.flush()
    path = store.path
    store.close()
    with duckdb.connect(str(path)) as plain:
        assert plain.execute("select count(*) from block_text").fetchall() == [(1,)]


def test_blocks_are_read_by_id(store: Store) -> None:
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    (replay,) = spec.replays()
    store.append(replay.id, some_records(turns=3))
    store.flush()
    wanted = f"{3:024x}"
    assert store.blocks(replay.id, [wanted]) == {wanted: '{"type":"text","text":"hello 3"}'}
    with pytest.raises(StoreError, match="has no block 'nope'"):
        store.blocks(replay.id, [wanted, "nope"])


def test_the_same_id_is_not_saved_twice(store: Store) -> None:
    spec = a_comparison()
    store.save_comparison(spec)
    with pytest.raises(StoreError, match="already a comparison"):
        store.save_comparison(spec)


def test_an_unknown_comparison_is_named_with_what_comes_near(store: Store) -> None:
    store.save_comparison(a_comparison(id="cmp_0123456789ab"))
    with pytest.raises(
        StoreError, match=r"no comparison 'cmp_0123456789aX'; did you mean cmp_0123456789ab\?"
    ):
        store.comparison("cmp_0123456789aX")
    with pytest.raises(StoreError, match=r"no comparison 'zzz'$"):
        store.replay_logs("zzz")
    with pytest.raises(StoreError, match="no replay 'zzz'"):
        store.journal("zzz")


def test_what_is_no_record_is_refused(store: Store) -> None:
    spec = a_comparison()
    store.save_comparison(spec)
    for line in (b"{}", b"[", b'{"kind":"turn","seq":1}', b'{"kind":"nonsense"}'):
        with pytest.raises(StoreError, match="no record"):
            store.append_lines(spec.replays()[0].id, [line])


def test_a_comparison_in_a_list_says_what_it_holds_and_where_it_stands(store: Store) -> None:
    older = a_comparison("full_history", title="older", provider=Provider.ANTHROPIC)
    newer = a_comparison("full_history", "window:2", "window:3", title="newer")
    store.save_comparison(older)
    store.save_comparison(newer)
    store.append(newer.replays()[0].id, some_records())
    store.append(newer.replays()[1].id, some_records(end=Status.REJECTED))
    store.flush()
    first, second = store.comparisons()
    assert (first.title, second.title) == ("newer", "older")
    assert first.statuses == (Status.DONE, Status.REJECTED, Status.QUEUED)
    assert first.series == ("full history", "window of 2", "window of 3")
    assert (first.scripts, first.models, first.provider) == (
        ("chat",),
        ("claude-opus-5-5",),
        Provider.SIMULATOR,
    )
    assert second.provider is Provider.ANTHROPIC
    assert first.created_at > second.created_at


def test_a_list_follows_every_change(store: Store) -> None:
    first, second = a_comparison("full_history"), a_comparison("window:2")

    def listed() -> list[tuple[str, str, tuple[Status, ...]]]:
        return [(one.id, one.title, one.statuses) for one in store.comparisons()]

    assert listed() == []
    store.save_comparison(first)
    assert listed() == [(first.id, "", (Status.QUEUED,))]
    store.save_comparison(second)
    store.rename(first.id, "renamed")
    assert listed() == [(second.id, "", (Status.QUEUED,)), (first.id, "renamed", (Status.QUEUED,))]
    (replay,) = second.replays()
    store.append(replay.id, some_records())
    store.flush()
    assert listed()[0] == (second.id, "", (Status.DONE,))
    store.delete(second.id)
    assert listed() == [(first.id, "renamed", (Status.QUEUED,))]
    with reopened(store) as again:
        assert [one.title for one in again.comparisons()] == ["renamed"]


def test_a_list_tells_a_sweep_from_a_comparison(store: Store) -> None:
    store.save_comparison(a_comparison("window:2", title="plain"))
    store.save_comparison(a_comparison("window:2", title="swept", sweep=Sweep((parse_family("window:2|3"),))))
    store.flush()
    assert {one.title: one.sweep for one in store.comparisons()} == {"plain": False, "swept": True}


def test_states_are_in_the_order_in_which_they_came(store: Store) -> None:
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    (replay,) = spec.replays()
    records = some_records(turns=2, end=None)
    store.append(replay.id, records)
    store.append_state(replay.id, Status.CANCELLED, "by you")
    store.append_state(replay.id, Status.RUNNING)
    store.flush()
    (log,) = store.replay_logs(spec.id)
    assert [(one.status, one.turns_completed, one.message) for one in log.statuses] == [
        (Status.RUNNING, 0, None),
        (Status.CANCELLED, 2, "by you"),
        (Status.RUNNING, 2, None),
    ]
    assert store.journal(replay.id) == records  # the worker's own states are not the replay's
    assert store.comparisons()[0].statuses == (Status.RUNNING,)


# -- changes and deletes -------------------------------------------------------------------------------------------------


def test_the_latest_title_counts(store: Store) -> None:
    spec = a_comparison(title="first")
    store.save_comparison(spec)
    for title in ("second", 'it\'s the "third"'):
        store.rename(spec.id, title)
    store = reopened(store)
    assert store.comparison(spec.id).title == 'it\'s the "third"'
    assert [one.title for one in store.comparisons()] == ['it\'s the "third"']
    store.close()


def test_a_version_grows_with_every_change_of_its_comparison_alone(store: Store) -> None:
    one, other = a_comparison(), a_comparison()
    store.save_comparison(one)
    store.save_comparison(other)
    seen = [store.version(one.id)]
    untouched = store.version(other.id)
    store.append(one.replays()[0].id, some_records())
    store.flush()
    seen.append(store.version(one.id))
    store.rename(one.id, "new")
    seen.append(store.version(one.id))
    store.append_state(one.replays()[1].id, Status.CANCELLED)
    seen.append(store.version(one.id))
    store.delete(one.id)
    seen.append(store.version(one.id))
    assert seen == sorted(set(seen))
    assert store.version(other.id) == untouched


@pytest.mark.parametrize("again", [False, True], ids=["at once", "after reopening"])
def test_no_query_sees_what_was_deleted(store: Store, tmp_path: Path, again: bool) -> None:
    gone, kept = a_comparison("full_history", title="gone"), a_comparison("full_history", title="kept")
    for spec in (gone, kept):
        store.save_comparison(spec)
        store.append(spec.replays()[0].id, some_records())
    store.delete(gone.id)
    replay = gone.replays()[0].id
    if again:
        store = reopened(store)
    assert [one.title for one in store.comparisons()] == ["kept"]
    questions = [
        lambda: store.comparison(gone.id),
        lambda: store.replay_logs(gone.id),
        lambda: store.replay_outlines(gone.id),
        lambda: store.journal(replay),
        lambda: store.blocks(replay, ["a"]),
        lambda: store.rename(gone.id, "back"),
        lambda: store.delete(gone.id),
        lambda: store.append(replay, some_records()),
        lambda: store.append_state(replay, Status.DONE),
    ]
    for question in questions:
        with pytest.raises(StoreError, match="there is no"):
            question()
    store.close()


def test_a_purge_erases_the_text_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "memdash.duckdb"
    store = Store.open(path)
    secret, other = "orchid-fjord-774", "plain-words-552"
    gone = a_comparison("full_history", scripts=(a_script("private-script"),), title="private title 9931")
    kept = a_comparison("full_history", scripts=(a_script("public-script"),), title="kept title 1207")
    for spec, text in ((gone, secret), (kept, other)):
        store.save_comparison(spec)
        records = some_records(turns=3, text=text)
        records.append(EventRecord(len(records), EventKind.COMPACTION, 1, 1.0, {"text": f"{text} summary"}))
        store.append(spec.replays()[0].id, records)
    store.close()
    traces = [secret.encode(), b"private-script", b"private title 9931", gone.id.encode()]
    assert all(one in path.read_bytes() for one in traces)

    store = Store.open(path)
    before = store.journal(kept.replays()[0].id)
    store.delete(gone.id)
    store.purge()
    assert store.journal(kept.replays()[0].id) == before
    assert store.comparison(kept.id).spec == kept
    more = a_comparison("full_history")
    store.save_comparison(more)  # it goes on as before
    store.append(more.replays()[0].id, some_records())
    store.close()
    left = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert [one for one in traces if one in left] == []
    assert other.encode() in left
    with Store.open(path) as again:
        assert {one.id for one in again.comparisons()} == {kept.id, more.id}
        assert len(again.replay_logs(more.id)[0].turns) == 2


def test_a_purge_in_memory_forgets_too() -> None:
    with Store.open(MEMORY) as store:
        gone, kept = a_comparison("full_history"), a_comparison("full_history")
        for spec in (gone, kept):
            store.save_comparison(spec)
            store.append(spec.replays()[0].id, some_records())
        store.delete(gone.id)
        store.purge()
        assert [one.id for one in store.comparisons()] == [kept.id]
        assert len(store.replay_logs(kept.id)[0].turns) == 2


# -- many at once --------------------------------------------------------------------------------------------------------


def test_readers_never_see_part_of_what_was_handed_in_together(store: Store) -> None:
    spec = a_comparison("full_history")
    store.save_comparison(spec)
    (replay,) = spec.replays()
    writing = threading.Event()
    torn: list[int] = []

    def read() -> None:
        while not writing.is_set():
            (log,) = store.replay_logs(spec.id)
            if len(log.requests) < len(log.turns):
                torn.append(len(log.turns))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(1, 60):
        store.append(replay.id, [a_request(2 * turn, turn), some_records(turns=1)[2]])
        store.flush()
    writing.set()
    for reader in readers:
        reader.join()
    assert torn == []
    assert len(store.replay_logs(spec.id)[0].requests) == 59


def test_replays_may_hand_in_from_many_threads(store: Store) -> None:
    spec = a_comparison(*(f"window:{keep}" for keep in range(1, 9)))
    store.save_comparison(spec)

    def hand_in(replay: str) -> None:
        for record in some_records(turns=30):
            store.append(replay, [record])

    threads = [threading.Thread(target=hand_in, args=(replay.id,)) for replay in spec.replays()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.flush()
    assert [store.journal(replay.id) for replay in spec.replays()] == [some_records(turns=30)] * 8


# -- opening -------------------------------------------------------------------------------------------------------------


def test_what_ran_when_its_process_went_away_is_interrupted_and_nothing_is_lost(store: Store) -> None:
    spec = a_comparison("full_history", "window:2", "window:3")
    store.save_comparison(spec)
    whole, half, none = spec.replays()
    store.append(whole.id, some_records())
    store.append(half.id, some_records(end=None))
    store = reopened(store)
    assert store.comparisons()[0].statuses == (Status.DONE, Status.INTERRUPTED, Status.INTERRUPTED)
    assert store.journal(half.id) == some_records(end=None)
    assert store.journal(none.id) == []
    last = store.replay_logs(spec.id)[1].statuses[-1]
    assert (last.turns_completed, last.message) == (2, "the program that ran it ended")
    store = reopened(store)
    assert len(store.replay_logs(spec.id)[2].statuses) == 1  # said once
    store.close()


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database " * 500)
    with pytest.raises(StoreError, match=r"notes\.txt: is no memdash database"):
        Store.open(path)
    assert path.read_text().startswith("not a database")
    with sqlite3.connect(path.with_name("other.db")) as other:
        other.execute("create table t (x)")
    other.close()
    with pytest.raises(StoreError, match=r"other\.db"):
        Store.open(path.with_name("other.db"))


def test_another_duckdb_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as other:
        other.execute("create table t as select 1 as x")
    with pytest.raises(StoreError, match="is a DuckDB database, but not memdash's"):
        Store.open(path)
    with duckdb.connect(str(path)) as other:
        assert other.execute("show tables").fetchall() == [("t",)]


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (99, r"written by memdash 7\.0 \(schema 99\).*upgrade memdash"),
        (0, r"\(schema 0\), which this version no longer reads"),
    ],
)
def test_a_file_of_another_schema_says_by_whom_it_was_written(
    tmp_path: Path, version: int, message: str
) -> None:
    path = tmp_path / "memdash.duckdb"
    Store.open(path).close()
    with duckdb.connect(str(path)) as plain:
        plain.execute("update schema_version set version = ?, memdash = '7.0'", [version])
    with pytest.raises(StoreError, match=message):
        Store.open(path)


def test_a_file_of_the_first_schema_is_brought_up_to_date_and_keeps_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "memdash.duckdb"
    spec = a_comparison()
    with Store.open(path) as store:
        store.save_comparison(spec)
        (replay, *_) = spec.replays()
        store.append(replay.id, some_records())
    with duckdb.connect(str(path)) as plain:
        plain.execute("alter table request drop column diagnosis")
        plain.execute("alter table replay drop column strategy_file")
        plain.execute("drop table ledger")
        plain.execute("update schema_version set version = 1")
    for _ in range(2):  # the second time there is nothing left to do
        with Store.open(path) as store:
            assert store.journal(replay.id) == some_records()
    with Store.open(path) as store:
        store.append(replay.id, [dataclasses.replace(a_request(100, 3), diagnosis={"type": "tools_changed"})])
        store.flush()
        assert store.journal(replay.id)[-1].diagnosis == {"type": "tools_changed"}
        assert store.expenses() == []
        store.purge()
        assert store.journal(replay.id)[-1].diagnosis == {"type": "tools_changed"}


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        Store.open(tmp_path)


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"/proc/none/memdash\.duckdb: its folder cannot be used"):
        Store.open("/proc/none/memdash.duckdb")
    with pytest.raises(StoreError, match=r"/proc/memdash\.duckdb: cannot be"):
        Store.open("/proc/memdash.duckdb")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="its folder cannot be used"):
        Store.open(tmp_path / "file" / "memdash.duckdb")


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "memdash.duckdb")
    spec = a_comparison()
    store.save_comparison(spec)
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.comparisons()
    with pytest.raises(StoreError, match="is closed"):
        store.append(spec.replays()[0].id, some_records())


def test_a_state_of_many_replays_is_noted_at_once(store: Store) -> None:
    spec = a_comparison(*(f"window:{keep}" for keep in range(1, 5)))
    store.save_comparison(spec)
    first, *others = [replay.id for replay in spec.replays()]
    store.append(others[0], some_records(turns=2, end=None))
    store.append_states(others, Status.CANCELLED, "cancelled")
    logs = {log.spec.id: log for log in store.replay_logs(spec.id)}
    assert logs[first].statuses == []
    assert [logs[one].statuses[-1].turns_completed for one in others] == [2, 0, 0]
    assert {logs[one].statuses[-1].message for one in others} == {"cancelled"}
    with pytest.raises(StoreError, match="no replay 'nope'"):
        store.append_states([first, "nope"], Status.CANCELLED)
    assert store.replay_logs(spec.id)[0].statuses == []
