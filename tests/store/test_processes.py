"""Several processes and one database: locks, the owner's route, the inbox, and processes that are killed."""

from __future__ import annotations

import http.client
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memdash.errors import StoreError
from memdash.records import Status
from memdash.store import InboxStore, Ownership, RemoteStore, Store, StoreLocked, open_for_command
from memdash.store.handover import from_lines
from memdash.store.inbox import inbox_of
from memdash.store.owner import OwnerFile, owner_path
from tests.store.samples import a_comparison, some_records

pytestmark = pytest.mark.long


class Helper:
    """Another process that does what it is told (tests/store/other_process.py)."""

    def __init__(self, *words: str | Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.other_process", *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def hears(self) -> str:
        """What it says next."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        """Let it go on to its end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    def kill(self) -> None:
        self.process.kill()
        self.end()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memdash.duckdb"


@pytest.fixture
def helpers() -> Iterator[list[Helper]]:
    started: list[Helper] = []
    yield started
    for one in started:
        one.kill()


def start(helpers: list[Helper], *words: str | Path) -> Helper:
    helpers.append(Helper(*words))
    return helpers[-1]


def one_stored(store: Store | RemoteStore | InboxStore, **settings: object) -> str:
    spec = a_comparison("full_history", "window:2", **settings)
    store.save_comparison(spec)
    for replay in spec.replays():
        store.append(replay.id, some_records(turns=3))
    store.flush()
    return spec.id


# -- locked --------------------------------------------------------------------------------------------------------------


def test_a_locked_file_names_the_process_that_has_it(path: Path, helpers: list[Helper]) -> None:
    other = start(helpers, "hold", path)
    assert other.hears() == "open"
    with pytest.raises(StoreLocked) as refused:
        Store.open(path)
    assert refused.value.pid == other.process.pid
    assert f"process {other.process.pid} (" in str(refused.value)
    assert "other_process" in str(refused.value)
    other.end()
    Store.open(path).close()


def test_acknowledged_rows_survive_the_kill_of_their_writer(path: Path, helpers: list[Helper]) -> None:
    other = start(helpers, "write", path)
    comparison_id = other.hears()
    acknowledged = [int(other.hears()) for _ in range(30)]
    other.kill()
    with Store.open(path) as store:
        (log,) = store.replay_logs(comparison_id)
        stored = [one.turn for one in log.turns]
        assert stored == list(range(1, len(stored) + 1))
        assert len(stored) >= acknowledged[-1]
        assert [one.turn for one in log.requests][: len(stored)] == stored
        assert log.statuses[-1].status is Status.INTERRUPTED
        seqs = [record.seq for record in store.journal(log.spec.id)]
        assert seqs == list(range(len(seqs)))


@pytest.mark.parametrize(
    ("where", "message"), [("fill_log", "Failed to commit"), ("fill_file", "checkpoint")]
)
def test_a_full_disk_loses_nothing_and_is_told(
    path: Path, helpers: list[Helper], where: str, message: str
) -> None:
    other = start(helpers, where, path)
    told, later = other.hears(), other.hears()
    assert f"{path}: " in told
    assert message in told
    assert later == "written after all"
    other.end()
    with Store.open(path) as store:
        (log,) = store.replay_logs(store.comparisons()[0].id)
        assert [one.turn for one in log.turns] == list(range(1, 401))
        assert [one.seq for one in store.journal(log.spec.id)] == list(range(801))


# -- the owner's route ---------------------------------------------------------------------------------------------------


def test_a_command_beside_the_owner_works_through_it(path: Path, helpers: list[Helper]) -> None:
    with Store.open(path) as store, Ownership(store):
        mine = one_stored(store, title="mine")
        other = start(helpers, "command", path)
        assert other.hears() == "RemoteStore"
        theirs = other.hears()
        assert json.loads(other.hears()) == {mine: "mine", theirs: "theirs"}
        assert json.loads(other.hears()) == ["done", 3, 3]
        other.end()
        assert other.process.returncode == 0
        logs = store.replay_logs(theirs)
        assert [log.statuses[-1].status for log in logs] == [Status.DONE, Status.CANCELLED]
        assert store.journal(logs[0].spec.id) == some_records(turns=3)
        assert store.comparison(theirs).title == "theirs"


def test_what_the_owner_gives_back_is_what_it_has(path: Path, tmp_path: Path) -> None:
    with Store.open(path) as store, Ownership(store), served(path) as remote:
        mine = one_stored(store, title="first", seed=9)
        replay = store.comparison(mine).replays[1].id
        store.append_state(replay, Status.CANCELLED, "later")
        remote.rename(mine, "it's new")
        assert remote.comparisons() == store.comparisons()
        assert remote.comparison(mine) == store.comparison(mine)
        assert remote.comparison(mine).title == "it's new"
        assert remote.replay_logs(mine) == store.replay_logs(mine)
        assert remote.journal(replay) == store.journal(replay)
        block = next(iter(store.journal(replay)[1].blocks))  # type: ignore[union-attr]
        assert remote.blocks(replay, [block]) == store.blocks(replay, [block])
        with pytest.raises(StoreError, match="no comparison 'cmp_nope'"):
            remote.comparison("cmp_nope")
        with pytest.raises(StoreError, match="no record"):
            remote.append_lines(replay, [b"{}"])
        remote.delete(mine)
        remote.purge()
        assert store.comparisons() == remote.comparisons() == []


def served(path: Path) -> RemoteStore:
    """A store through the owner, as a command of another process would have it."""
    from contextlib import closing

    from memdash.store.remote import Owner

    file = OwnerFile.read(path)
    assert file is not None
    return closing(RemoteStore(path, Owner(file), lambda: open_for_command(path, wait=0.0)))  # type: ignore[return-value]


def test_a_command_whose_owner_goes_away_goes_on_by_itself(path: Path) -> None:
    store = Store.open(path)
    ownership = Ownership(store)
    with served(path) as remote:
        spec = a_comparison("full_history")
        remote.save_comparison(spec)
        (replay,) = spec.replays()
        records = some_records(turns=4)
        remote.append(replay.id, records[:4])
        ownership.close()
        store.close()
        remote.append(replay.id, records[4:7])
        assert [one.status for one in remote.replay_logs(spec.id)[0].statuses][-2:] == [
            Status.INTERRUPTED,
            Status.RUNNING,
        ]
        remote.append(replay.id, records[7:])
        assert remote.journal(replay.id) == records
    with Store.open(path) as again:
        assert again.journal(replay.id) == records
        assert again.comparisons()[0].statuses == (Status.DONE,)


def test_what_a_killed_command_had_begun_is_marked_by_the_owner(path: Path, helpers: list[Helper]) -> None:
    with Store.open(path) as store, Ownership(store) as ownership:
        other = start(helpers, "begin", path)
        comparison_id = other.hears()
        ownership.care()
        assert store.comparisons()[0].statuses == (Status.RUNNING,)  # it is alive
        other.kill()
        ownership.care()
        (log,) = store.replay_logs(comparison_id)
        assert log.statuses[-1].status is Status.INTERRUPTED
        assert len(log.turns) == 1


def test_the_owner_file_is_for_its_user_alone_and_goes_with_the_owner(path: Path) -> None:
    with Store.open(path) as store:
        with Ownership(store):
            assert stat.S_IMODE(owner_path(path).stat().st_mode) == 0o600
            file = OwnerFile.read(path)
            assert file is not None
            assert file.pid == os.getpid()
            assert len(file.token) >= 40
        assert not owner_path(path).exists()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Authorization": "Bearer wrong"}, 403),
        ({"Authorization": ""}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "localhost:1"}, 403),
        ({"Origin": "http://127.0.0.1:8501"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_only_a_command_of_this_machine_that_knows_the_token_is_answered(
    path: Path, headers: dict[str, str], status: int
) -> None:
    with Store.open(path) as store, Ownership(store):
        file = OwnerFile.read(path)
        assert file is not None
        given = {"Authorization": f"Bearer {file.token}", "Host": f"127.0.0.1:{file.port}", **headers}
        for method, address in (("GET", "/comparisons"), ("POST", "/orders")):
            connection = http.client.HTTPConnection("127.0.0.1", file.port, timeout=30)
            connection.request(method, address, body=b"" if method == "POST" else None, headers=given)
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
            assert answer.status == status
            assert status == 200 or body == b""


@pytest.mark.parametrize(
    "body",
    [b"nonsense", b'{"op":"explode"}', b'{"op":"delete","comparison":7}', b'{"op":"comparison"}', b"\xff"],
)
def test_what_the_owner_cannot_read_changes_nothing(path: Path, body: bytes) -> None:
    with Store.open(path) as store, Ownership(store):
        one_stored(store)
        before = store.library_version()
        file = OwnerFile.read(path)
        assert file is not None
        connection = http.client.HTTPConnection("127.0.0.1", file.port, timeout=30)
        connection.request("POST", "/orders", body=body, headers={"Authorization": f"Bearer {file.token}"})
        answer = connection.getresponse()
        assert answer.status == 400
        assert b"cannot be read" in answer.read()
        connection.close()
        assert store.library_version() == before


@pytest.mark.parametrize(
    "content",
    [
        b'{"pid": 4194304, "port": 1, "token": "x"}',  # a process that is gone (above the highest number there is)
        b'{"pid": %d, "port": 9, "token": "x"}' % os.getpid(),  # one that listens no more
        b"{", b"", b"[]", b'{"pid": "me"}',
    ],
    ids=["gone", "listens no more", "cut off", "empty", "no object", "no number"],
)  # fmt: skip
def test_what_an_owner_that_is_gone_left_behind_does_not_matter(path: Path, content: bytes) -> None:
    owner_path(path).write_bytes(content)
    store = open_for_command(path, wait=0.0)
    assert isinstance(store, Store)
    with store, Ownership(store):
        file = OwnerFile.read(path)
        assert file is not None
        assert file.port != 9


def test_a_stale_owner_file_beside_a_lock_leads_to_the_inbox(path: Path, helpers: list[Helper]) -> None:
    other = start(helpers, "hold", path)
    assert other.hears() == "open"
    owner_path(path).write_text(json.dumps({"pid": other.process.pid, "port": 9, "token": "x"}))
    store = open_for_command(path, wait=0.0)
    assert isinstance(store, InboxStore)
    store.close()


# -- the inbox -----------------------------------------------------------------------------------------------------------


def test_two_commands_at_once_both_succeed(path: Path, helpers: list[Helper]) -> None:
    first = start(helpers, "hold", path)
    assert first.hears() == "open"
    second = open_for_command(path, wait=0.2)
    assert isinstance(second, InboxStore)
    theirs = one_stored(second, title="left in the inbox")
    assert second.comparison(theirs).title == "left in the inbox"  # as if stored
    assert [len(log.turns) for log in second.replay_logs(theirs)] == [3, 3]
    second.close()
    assert [one.suffix for one in inbox_of(path).iterdir()] == [".jsonl"]
    first.end()
    third = open_for_command(path, wait=0.0)
    assert isinstance(third, Store)
    with third:
        assert [one.title for one in third.comparisons()] == ["left in the inbox"]
        (replay, _other) = third.comparison(theirs).replays
        assert third.journal(replay.id) == some_records(turns=3)
    assert list(inbox_of(path).iterdir()) == []


def test_a_second_command_waits_for_the_first(path: Path, helpers: list[Helper]) -> None:
    first = start(helpers, "hold", path)
    assert first.hears() == "open"
    second = start(helpers, "command", path)
    first.end()
    assert second.hears() == "Store"
    second.end()
    assert second.process.returncode == 0


def test_the_owner_takes_in_what_is_finished_and_leaves_what_is_being_written(path: Path) -> None:
    with Store.open(path) as store, Ownership(store) as ownership:
        finished, going_on = InboxStore(path), InboxStore(path)
        done, begun = one_stored(finished), one_stored(going_on)
        finished.close()
        ownership.care()
        assert [one.id for one in store.comparisons()] == [done]
        going_on.close()
        ownership.care()
        assert {one.id for one in store.comparisons()} == {done, begun}


def test_what_a_killed_command_left_in_the_inbox_is_taken_in_as_interrupted(
    path: Path, helpers: list[Helper]
) -> None:
    holder = start(helpers, "hold", path)
    assert holder.hears() == "open"
    other = start(helpers, "leave", path)
    comparison_id = other.hears()
    other.kill()
    holder.end()
    (part,) = inbox_of(path).iterdir()
    assert part.suffix == ".part"
    with part.open("ab") as file:
        file.write(b'{"seq":99,"kind":"tu')  # it was killed in the middle of a line
    with open_for_command(path) as store:  # type: ignore[union-attr]
        (log,) = store.replay_logs(comparison_id)
        assert [len(log.turns), log.statuses[-1].status] == [1, Status.INTERRUPTED]
    assert list(inbox_of(path).iterdir()) == []


@pytest.mark.parametrize("damage", ["cut in the middle", "no JSON", "not ours", "bytes", "a purge"])
def test_a_damaged_file_is_set_aside_and_the_others_are_taken_in(
    path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = InboxStore(path), InboxStore(path)
    one_stored(bad)
    kept = one_stored(good)
    bad_file = next(one for one in inbox_of(path).iterdir() if kept not in one.name)
    bad.close()
    good.close()
    bad_file = bad_file.with_suffix(".jsonl")
    lines = bad_file.read_bytes().split(b"\n")
    lines[3] = {
        "cut in the middle": lines[3][:40],
        "no JSON": b"hello",
        "not ours": b'{"op":"something else"}',
        "bytes": b"\xff\xfe\x00",
        "a purge": b'{"op":"purge"}',
    }[damage]
    content = b"\n".join(lines)
    bad_file.write_bytes(content)
    with open_for_command(path) as store:  # type: ignore[union-attr]
        assert [one.id for one in store.comparisons()] == [kept]
        (aside,) = inbox_of(path).iterdir()
        assert aside.read_bytes() == content
        assert aside.name == f"{bad_file.name}.damaged"
        assert f"set aside as {aside.name}" in caplog.text
        caplog.clear()
        Ownership(store).close()
        assert caplog.text == ""  # said once


def test_taking_the_same_file_in_twice_does_no_harm(path: Path) -> None:
    left = InboxStore(path)
    comparison_id = one_stored(left)
    left.close()
    (file,) = inbox_of(path).iterdir()
    content = file.read_bytes()
    with open_for_command(path) as store:  # type: ignore[union-attr]
        file.write_bytes(content)
        before = store.replay_logs(comparison_id)
        Ownership(store).close()
        assert not file.exists()
        assert store.replay_logs(comparison_id) == before


def test_what_is_left_in_the_inbox_can_be_read_line_by_line(path: Path) -> None:
    left = InboxStore(path)
    one_stored(left)
    left.close()
    (file,) = inbox_of(path).iterdir()
    assert [type(order).__name__ for order in from_lines(file.read_bytes().splitlines())] == [
        "Adopt",
        "Append",
        "Append",
    ]
