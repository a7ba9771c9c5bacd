"""Bundles: what goes out of one store comes into another as it was, once, or not at all."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.errors import InputError, MemdashError, NotStored
from memdash.records import Record, RequestRecord, Status, StatusRecord
from memdash.store import (
    MEMORY,
    SCHEMA_VERSION,
    Arrival,
    Store,
)
from memdash.store.bundle import all_shapes, archive
from memdash.store.bundle.layout import DOCUMENT_TABLES, JSON_COLUMNS, LEFT_OUT, RECORD_KEYS
from memdash.store.bundle.tables import check_json, read_parquet
from tests.store.any_records import journals
from tests.store.bundles import (
    bundle_of,
    changed,
    column,
    entries_of,
    everything,
    packed,
    parquet,
    something_of_everything,
)
from tests.store.samples import a_comparison, a_script, some_records

NAME = "given.zip"


@pytest.fixture(scope="module")
def source() -> Iterator[Store]:
    """A store with something of everything."""
    with Store.open(MEMORY) as store:
        something_of_everything(store)
        yield store


@pytest.fixture(scope="module")
def bundle(source: Store) -> bytes:
    return bundle_of(source)


@pytest.fixture
def target() -> Iterator[Store]:
    """An empty store."""
    with Store.open(MEMORY) as store:
        yield store


def given_to(store: Store, content: bytes) -> list[Arrival]:
    """Import a bundle and say what became of its comparisons."""
    return [one.arrival for one in store.import_bundle(io.BytesIO(content), NAME)]


def refusal(store: Store, content: bytes) -> str:
    """Import what must be refused, with one line, and leave the store as it was."""
    before = everything(store)
    with pytest.raises(InputError) as refused:
        store.import_bundle(io.BytesIO(content), NAME)
    assert everything(store) == before
    text = str(refused.value)
    assert text.startswith(f"{NAME}: ")
    assert "\n" not in text
    return text.removeprefix(f"{NAME}: ")


# -- there and back ------------------------------------------------------------------------------------------------------


def test_everything_of_a_comparison_arrives_as_it_was(source: Store, bundle: bytes, target: Store) -> None:
    assert given_to(target, bundle) == [Arrival.NEW]
    assert everything(target) == everything(source)
    (one,) = target.comparisons()
    assert (one.title, [note.text for note in one.notes]) == ("Renamed", ["line one\nline two"])
    assert target.comparison(one.id).refinements == source.comparison(one.id).refinements != ()


def test_a_bundle_of_what_arrived_is_the_bundle_it_came_from(bundle: bytes, target: Store) -> None:
    given_to(target, bundle)
    first, second = entries_of(bundle), entries_of(bundle_of(target))
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] in (
        [],
        ["bundle.json"],
    )  # it says when it was made


def test_the_same_bundle_twice_is_there_once(source: Store, bundle: bytes, target: Store) -> None:
    given_to(target, bundle)
    assert given_to(target, bundle) == [Arrival.KNOWN]
    assert given_to(source, bundle) == [Arrival.KNOWN]  # nor does it double where it came from
    assert everything(target) == everything(source)


_stores: list[Store] = []


def _two_stores() -> list[Store]:
    """Two stores for all examples: opening one takes longer than an example."""
    if not _stores:
        _stores.extend(Store.open(MEMORY) for _ in range(2))
    return _stores


@pytest.mark.long
@given(records=journals())
@settings(max_examples=12)
def test_any_records_come_through(records: list[Record]) -> None:
    source, target = _two_stores()
    spec = a_comparison("full_history", turns=3)
    source.save_comparison(spec)
    (replay,) = spec.replays()
    fitting = [
        _fitting(one) for one in records if one.kind not in ("probe", "fact")
    ]  # those are of facts of no script
    source.append(replay.id, fitting)
    source.flush()
    assert given_to(target, bundle_of(source, spec.id)) == [Arrival.NEW]
    assert target.journal(replay.id) == source.journal(replay.id) == fitting
    if isinstance(fitting[-1] if fitting else None, StatusRecord) and fitting[-1].status.over:
        assert target.replay_logs(spec.id) == source.replay_logs(spec.id)


def _fitting(record: Record) -> Record:
    """The record, about a turn that the replay has, and with texts that are JSON."""
    changes = {
        name: getattr(record, name) % 4 for name in ("turn", "turns_completed") if hasattr(record, name)
    }
    if isinstance(record, RequestRecord):
        changes["shared"] = max(1, record.shared)  # else its first entry would have to begin a message
        changes["blocks"] = {block: json.dumps(text) for block, text in record.blocks.items()}
    return replace(record, **changes)


def test_a_whole_library_arrives_comparison_by_comparison(target: Store) -> None:
    shared = a_script("shared")
    with Store.open(MEMORY) as source:
        specs = [a_comparison("window:2", title=f"number {n}", scripts=(shared,)) for n in range(3)]
        for spec in specs:
            source.save_comparison(spec)
            source.append(spec.replays()[0].id, some_records(text=spec.title))
        source.flush()
        told: list[tuple[int, int]] = []
        file = io.BytesIO()
        source.export_bundle(file, told=lambda done, of: told.append((done, of)))
        assert told == [(1, 3), (2, 3), (3, 3)]
        target.import_bundle(io.BytesIO(bundle_of(source, specs[1].id)), NAME)
        told.clear()
        arrived = target.import_bundle(file, NAME, told=lambda done, of: told.append((done, of)))
        assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
        assert {one.id: one.arrival for one in arrived} == {
            specs[0].id: Arrival.NEW,
            specs[1].id: Arrival.KNOWN,
            specs[2].id: Arrival.NEW,
        }
        assert {one.title for one in arrived} == {"number 0", "number 1", "number 2"}
        assert everything(target) == everything(source)


def test_replays_get_numbers_that_are_free_here(target: Store, bundle: bytes, source: Store) -> None:
    own = a_comparison("full_history", "window:2")
    target.save_comparison(own)
    given_to(target, bundle)
    later = a_comparison("full_history")
    target.save_comparison(later)
    for spec in (own, later):
        target.append(spec.replays()[0].id, some_records(text=spec.id))
    target.flush()
    assert [len(target.journal(spec.replays()[0].id)) for spec in (own, later)] == [6, 6]
    (comparison_id,) = (one.id for one in source.comparisons())
    assert target.replay_logs(comparison_id) == source.replay_logs(comparison_id)


def test_only_what_is_there_can_be_exported(source: Store, target: Store) -> None:
    with pytest.raises(NotStored, match="no comparison 'nope'"):
        source.export_bundle(io.BytesIO(), ["nope"])
    with pytest.raises(InputError, match="no comparison to export"):
        target.export_bundle(io.BytesIO())


def test_where_somebody_keeps_their_strategies_is_not_told(target: Store) -> None:
    """Their files would run as code here, and say how folders are called there."""
    with Store.open(MEMORY) as source:
        spec = a_comparison("window:2", "window:3")
        own = replace(
            spec, strategies=(replace(spec.strategies[0], file="/home/ada/mine.py"), spec.strategies[1])
        )
        source.save_comparison(own)
        source.append(own.replays()[0].id, some_records())
        source.flush()
        content = bundle_of(source)
        assert not [name for name, one in entries_of(content).items() if b"/home/ada" in one]
        assert given_to(source, content) == [Arrival.KNOWN]

        def with_files(document: dict[str, Any]) -> dict[str, Any]:
            settings = json.loads(document["comparison"][0]["settings"])
            inner = json.loads(settings["spec"])
            for one in inner["strategies"]:
                one["file"] = "/tmp/evil.py"
            settings["spec"] = json.dumps(inner)
            document["comparison"][0]["settings"] = json.dumps(settings)
            for one in document["replay"]:
                one["strategy_file"] = "/tmp/evil.py"
            return document

        given_to(target, changed(content, "comparison.json", with_files))
    stored = target.comparison(own.id)
    assert [one.file for one in stored.spec.strategies] == [None, None]
    assert [one.strategy_file for one in stored.replays] == [None, None]


# -- once more, later ----------------------------------------------------------------------------------------------------


def test_what_a_later_bundle_knows_more_is_added(target: Store) -> None:
    with Store.open(MEMORY) as source:
        spec = a_comparison("full_history", "window:2")
        source.save_comparison(spec)
        first, second = (replay.id for replay in spec.replays())
        records = some_records(turns=3)
        source.append(first, records[:3])
        early = bundle_of(source)
        source.append(first, records[3:])
        source.append(second, some_records(turns=1))
        source.add_note(spec.id, "later", None)
        late = bundle_of(source)
    assert given_to(target, early) == [Arrival.NEW]
    assert [log.statuses[-1].status for log in target.replay_logs(spec.id)] == [Status.INTERRUPTED] * 2
    assert given_to(target, late) == [Arrival.MORE]
    assert target.journal(first) == records
    assert [log.statuses[-1].status for log in target.replay_logs(spec.id)] == [Status.DONE] * 2
    assert [note.text for note in target.comparison(spec.id).notes] == ["later"]
    assert given_to(target, late) == given_to(target, early) == [Arrival.KNOWN]


def test_what_was_added_here_stays(target: Store, bundle: bytes) -> None:
    given_to(target, bundle)
    (one,) = target.comparisons()
    target.rename(one.id, "my own title")
    target.add_note(one.id, "my own note", "bob")
    target.pin_baseline(one.id)
    assert given_to(target, bundle) == [Arrival.KNOWN]
    (one,) = target.comparisons()
    assert (one.title, len(one.notes), one.baseline) == ("my own title", 2, True)


def test_somebody_elses_baseline_does_not_replace_ours(target: Store) -> None:
    with Store.open(MEMORY) as source:
        theirs = a_comparison("full_history")
        source.save_comparison(theirs)
        source.pin_baseline(theirs.id)
        content = bundle_of(source)
    ours = a_comparison("full_history")
    target.save_comparison(ours)
    target.pin_baseline(ours.id)
    given_to(target, content)
    assert target.baseline() == ours.id
    assert [one.id for one in target.comparisons() if one.baseline] == [ours.id]
    with Store.open(MEMORY) as empty:
        given_to(empty, content)
        assert empty.baseline() == theirs.id


def test_the_same_id_with_other_content_is_refused(target: Store, bundle: bytes) -> None:
    given_to(target, bundle)
    for name, change in (
        ("event.parquet", column("at_ms", 99.0)),
        ("block_text.parquet", column("body", '"other"')),
        ("comparison.json", lambda document: document | {"price": []}),
    ):
        assert "another comparison has the id cmp_" in refusal(target, changed(bundle, name, change))


def test_what_was_deleted_here_comes_back_only_after_a_purge(
    target: Store, bundle: bytes, source: Store
) -> None:
    given_to(target, bundle)
    (one,) = target.comparisons()
    target.delete(one.id)
    assert "was deleted here; run memdash purge" in refusal(target, bundle)
    target.purge()
    assert given_to(target, bundle) == [Arrival.NEW]
    assert everything(target) == everything(source)
    target.append_state(target.comparison(one.id).replays[0].id, Status.CANCELLED)  # and can go on


def test_what_is_being_played_here_is_left_alone(target: Store) -> None:
    spec = a_comparison("full_history")
    target.save_comparison(spec)
    target.append(spec.replays()[0].id, some_records(turns=3)[:3])
    assert given_to(target, bundle_of(target)) == [Arrival.KNOWN]
    with Store.open(MEMORY) as elsewhere:
        given_to(elsewhere, bundle_of(target))
        elsewhere.append(spec.replays()[0].id, some_records(turns=3)[3:])
        later = bundle_of(elsewhere)
    assert "is being played here" in refusal(target, later)


# -- versions ------------------------------------------------------------------------------------------------------------


def test_every_table_travels_or_is_known_not_to() -> None:
    with Store.open(MEMORY) as store, store._database.cursor() as cursor:
        tables = cursor.execute(
            "select table_name from information_schema.tables where table_type = 'BASE TABLE'"
        ).fetchall()
    assert {one for (one,) in tables} == {"comparison", *DOCUMENT_TABLES, *RECORD_KEYS, *LEFT_OUT}
    assert JSON_COLUMNS.keys() <= RECORD_KEYS.keys()


def test_a_bundle_of_an_earlier_schema_lacks_the_columns_that_came_later(
    target: Store, source: Store, bundle: bytes
) -> None:
    earlier = changed(bundle, "request.parquet", lambda table: table.drop_columns(["diagnosis"]))
    earlier = changed(
        earlier,
        "comparison.json",
        lambda document: (
            document
            | {
                "replay": [
                    {k: v for k, v in row.items() if k != "strategy_file"} for row in document["replay"]
                ]
            }
        ),
    )
    assert "row of replay without 'strategy_file'" in refusal(target, earlier)
    given_to(target, changed(earlier, "bundle.json", lambda manifest: manifest | {"schema": 1}))
    assert everything(target) == everything(source)


@pytest.mark.parametrize(
    "newer", [{"schema": SCHEMA_VERSION + 1}, {"version": 2}, {"version": 2, "comparisons": 7}]
)
def test_a_newer_bundle_says_by_whom_it_was_written(
    target: Store, bundle: bytes, newer: dict[str, Any]
) -> None:
    content = changed(bundle, "bundle.json", lambda manifest: manifest | newer | {"memdash": "9.9"})
    assert "was written by memdash 9.9" in refusal(target, content)
    assert "upgrade memdash" in refusal(target, content)


def test_a_database_of_the_first_schema_is_exported_like_any_other(tmp_path: Path, target: Store) -> None:
    path = tmp_path / "old.duckdb"
    spec = a_comparison()
    with Store.open(path) as store:
        store.save_comparison(spec)
        store.append(spec.replays()[0].id, some_records())
    with duckdb.connect(str(path)) as plain:
        plain.execute("alter table request drop column diagnosis")
        plain.execute("alter table replay drop column strategy_file")
        plain.execute("drop table ledger")
        plain.execute("update schema_version set version = 1")
    with Store.open(path) as store:
        given_to(target, bundle_of(store))
        assert everything(target) == everything(store)


# -- damaged and hostile -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"hello" * 100, b"PK\x03\x04" + bytes(200), b"PK\x05\x06" + bytes(18)],
    ids=range(5),
)
def test_what_is_no_bundle_is_refused(target: Store, content: bytes) -> None:
    assert "no zip" in (told := refusal(target, content)) or "no memdash bundle" in told


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
def test_a_part_of_a_bundle_is_refused(target: Store, bundle: bytes, kept: float) -> None:
    assert "only a part of one" in refusal(target, bundle[: int(len(bundle) * kept)])


def test_a_wrong_checksum_is_refused(target: Store, bundle: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(bundle)) as opened:
        entry = opened.getinfo(next(name for name in opened.namelist() if name.endswith("turn.parquet")))
    place = bundle.rfind(entry.CRC.to_bytes(4, "little"))  # in the directory
    content = bundle[:place] + b"\0\0\0\0" + bundle[place + 4 :]
    assert "is damaged (Bad CRC-32" in refusal(target, content)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../../etc/passwd", "points out of it"),
        ("/etc/passwd", "points out of it"),
        ("comparisons/../bundle.json", "points out of it"),
        ("C:\\windows\\system.ini", "points out of it"),
        ("\\\\server\\share", "points out of it"),
        ("folder/", "is no file"),
        ("readme.txt", "is no part of a bundle"),
        ("comparisons/cmp_other/comparison.json", "is no part of a bundle"),
    ],
)
def test_a_name_that_has_no_business_there_is_refused(
    target: Store, bundle: bytes, name: str, told: str
) -> None:
    assert told in refusal(target, packed(entries_of(bundle) | {name: b"x"}))


def test_links_are_refused(target: Store, bundle: bytes) -> None:
    def as_link(info: zipfile.ZipInfo) -> None:
        info.external_attr = 0o120777 << 16

    assert "holds a link" in refusal(target, _repacked(bundle, as_link))


def test_other_packings_are_refused(target: Store, bundle: bytes) -> None:
    def in_another_way(info: zipfile.ZipInfo) -> None:
        info.compress_type = zipfile.ZIP_BZIP2

    assert "packed in a way" in refusal(target, _repacked(bundle, in_another_way))


def _repacked(bundle: bytes, change: Callable[[zipfile.ZipInfo], None]) -> bytes:
    """The same entries, each told of in another way."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in entries_of(bundle).items():
            info = zipfile.ZipInfo(name)
            change(info)
            made.writestr(info, content)
    return file.getvalue()


def test_encrypted_entries_are_refused(target: Store, bundle: bytes) -> None:
    content = bytearray(bundle)
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[bundle.find(mark) + flags] |= 1
    assert "is encrypted" in refusal(target, bytes(content))


def test_the_same_name_twice_is_refused(target: Store, bundle: bytes) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in [*entries_of(bundle).items(), *entries_of(bundle).items()]:
            made.writestr(name, content)
    assert "twice" in refusal(target, file.getvalue())


def test_a_missing_entry_is_refused(target: Store, bundle: bytes) -> None:
    entries = entries_of(bundle)
    for name in list(entries):
        told = refusal(target, packed({one: content for one, content in entries.items() if one != name}))
        assert "lacks" in told or "is no memdash bundle" in told


def test_a_bomb_is_refused_while_it_unpacks(
    target: Store, bundle: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its headers say of its size: what comes out is counted."""
    monkeypatch.setattr(archive, "_FREE", 2**20)
    monkeypatch.setattr(archive, "_MOST_RATIO", 10)
    name = next(one for one in entries_of(bundle) if one.endswith("turn.parquet"))
    assert "unpacks to more than" in refusal(target, packed(entries_of(bundle) | {name: bytes(5_000_000)}))
    monkeypatch.setattr(archive, "_MOST_ENTRIES", 5)
    assert "has 12 entries" in refusal(target, bundle)
    monkeypatch.setattr(archive, "_MOST_DIRECTORY", 500)
    assert "its directory is too large" in refusal(target, bundle)


def test_bundles_of_ours_are_far_from_what_counts_as_a_bomb(bundle: bytes) -> None:
    unpacked = sum(map(len, entries_of(bundle).values()))
    assert unpacked / len(bundle) < archive._MOST_RATIO / 20


def test_a_bomb_within_parquet_is_refused(target: Store, bundle: bytes) -> None:
    """Thousands of times the same long text are a few bytes where Parquet may use dictionaries or compress."""
    rows = 5_000
    table = pa.table({"id": [f"{n:024x}" for n in range(rows)], "body": ['"' + "x" * 4_000 + '"'] * rows})

    def instead(**options: Any) -> bytes:
        entries = entries_of(bundle)
        name = next(one for one in entries if one.endswith("block_text.parquet"))
        entries[name] = parquet(table, row_group_size=rows, **options)
        content = packed(entries)
        return changed(
            content,
            "bundle.json",
            lambda manifest: {
                **manifest,
                "comparisons": [
                    one | {"rows": one["rows"] | {"block_text": rows}} for one in manifest["comparisons"]
                ],
            },
        )

    assert "holds more than its bytes can be" in refusal(target, instead(use_dictionary=True))
    assert "is compressed within itself" in refusal(target, instead(compression="zstd"))


WRONG_ROWS: dict[str, tuple[str, Callable[[pa.Table], pa.Table], str]] = {
    "a column of another type": (
        "turn.parquet",
        lambda table: table.set_column(2, "turn", table.column("turn").cast("string")),
        "has string in the column 'turn', not int32",
    ),
    "a column too many": ("turn.parquet", lambda table: table.append_column("more", table.column(0)), "'more'"),
    "a column too few": ("turn.parquet", lambda table: table.drop_columns(["wait_ms"]), "lacks the column 'wait_ms'"),
    "no value": ("turn.parquet", column("wait_ms", None), "no value in 'wait_ms'"),
    "no number": ("turn.parquet", column("wait_ms", float("nan")), "no number in 'wait_ms'"),
    "a negative number": ("request.parquet", column("input_tokens", -5), "a negative number in 'input_tokens'"),
    "a replay that is not there": ("turn.parquet", column("replay", 77), "belong to no replay"),
    "a turn that is not there": ("turn.parquet", column("turn", 2**30), "a turn that its replay does not have"),
    "a fact that is not there": ("fact.parquet", column("fact", "x"), "a fact that its script does not have"),
    "fewer rows than it says": ("turn.parquet", lambda table: table.slice(1), "rows of turn, not"),
    "a state nobody knows": ("replay_state.parquet", column("status", "gone fishing"), "gone fishing"),
    "a purpose nobody knows": ("request.parquet", column("purpose", "fun"), "cannot be read"),
    "an event nobody knows": ("event.parquet", column("event", "party"), "cannot be read"),
    "a verdict that says nothing": ("event.parquet", column("event", "verdict"), "whose 'requests' is of another"),
    "turns that are a number": ("event.parquet", column("data", '{"dropped_turns": 4}'), "whose 'dropped_turns' is of"),
    "a request that is a list": ("event.parquet", column("data", '{"request": [1]}'), "whose 'request' is of another"),
    "parts that are not there": ("request.parquet", column("iterations", 3), "cannot be read"),
    "options that are no JSON": ("request.parquet", column("options", "{"), "no JSON in 'options'"),
    "options of another kind": ("request.parquet", column("options", "[]"), "JSON of another kind in 'options'"),
    "edits of another kind": ("request.parquet", column("applied_edits", "[1]"), "another kind in 'applied_edits'"),
    "data with no number": ("event.parquet", column("data", '{"a": NaN}'), "NaN is no JSON"),
    "JSON without an end": ("event.parquet", column("data", '{"a":' * 100_000), "in 'data'"),
    "a text that is no JSON": ("block_text.parquet", column("body", "hello"), "no JSON in 'body'"),
    "a message without a beginning": ("request.parquet", column("entries", ["+" + "0" * 24]), "never began"),
    "a block that is no object": ("block_text.parquet", column("body", "5"), "of another kind than stands there"),
    "a block of texts": ("block_text.parquet", column("body", '["a"]'), "JSON of another kind in 'body'"),
    "a result of no call": ("block_text.parquet", column("body", '{"tool_use_id": [1]}'), "with a name that is none"),
    "a tool without a name": ("block_text.parquet", column("body", '[{"name": {}}]'), "with a name that is none"),
    "an edit of no type": ("request.parquet", column("applied_edits", '[{"type": []}]'), "with a name that is none"),
    "no text": ("block_text.parquet", column("id", "f" * 24), "lacks the text of block"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_ROWS)
def test_rows_that_are_none_of_ours_are_refused(target: Store, bundle: bytes, wrong: str) -> None:
    name, change, told = WRONG_ROWS[wrong]
    text = refusal(target, changed(bundle, name, change))
    assert told in text
    assert "cmp_" in text


def test_what_is_no_parquet_or_no_utf_8_is_refused(target: Store, bundle: bytes) -> None:
    entries = entries_of(bundle)
    name = next(one for one in entries if one.endswith("event.parquet"))
    assert "no Parquet file of ours" in refusal(target, packed(entries | {name: b"PAR1 hello PAR1"}))
    assert "no Parquet file of ours" in refusal(target, packed(entries | {name: b""}))
    spoilt = entries[name].replace(b"compaction", b"compactio\xff")
    assert spoilt != entries[name]
    assert "is no Parquet file of ours" in refusal(target, packed(entries | {name: spoilt}))


def _first(table: str, **values: Any) -> Callable[[Any], Any]:
    """Gives a change of a document: the first row of a table says something else."""

    def change(document: dict[str, Any]) -> dict[str, Any]:
        rows = document[table]
        return document | {table: [{**rows[0], **values}, *rows[1:]]}

    return change


WRONG_DOCUMENTS: dict[str, Callable[[Any], Any]] = {
    "no object": lambda document: [document],
    "a table too few": lambda document: {k: v for k, v in document.items() if k != "price"},
    "a table that is no list": lambda document: document | {"price": {}},
    "a row that is no object": lambda document: document | {"price": [1]},
    "a column too many": _first("price", more=1),
    "a column too few": lambda document: document | {"price": [{"model": "x"}]},
    "a number that is a text": _first("price", input="1.0"),
    "a number that is a truth": _first("price", above=True),
    "a number too large": _first("price", above=2**70),
    "a moment that is none": _first("comparison", created_at="yesterday"),
    "another id": _first("comparison", id="cmp_other"),
    "two of it": lambda document: document | {"comparison": document["comparison"] * 2},
    "settings that are none": _first("comparison", settings="{}"),
    "settings without an end": _first("comparison", settings="[" * 100_000),
    "versions that are none": _first("comparison", versions="x"),
    "versions that are a list": _first("comparison", versions="[]"),
    "a version that is no text": _first("comparison", versions='{"memdash": {}}'),
    "a provider nobody knows": _first("comparison", provider="x" * 3),
    "replays that another answers": lambda document: document
    | {"replay": [{**one, "provider": "anthropic"} for one in document["replay"]]},
    "a list that says another answers": _first("comparison", provider="anthropic"),
    "half a character": _first("comparison", title="\ud800"),
    "another script": _first("script", body='{"id":"x","title":"x","turns":[]}'),
    "a script that is none": _first("script", body="{}", hash="44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    "no replays": lambda document: document | {"replay": []},
    "a replay of another": _first("replay", id="cmp_other_001"),
    "a replay twice": lambda document: document | {"replay": [*document["replay"], document["replay"][0]]},
    "a replay without its script": _first("replay", script_hash="0" * 64),
    "a cache nobody knows": _first("replay", cache="2h"),
    "parameters that are none": _first("replay", params="nothing"),
    "parameters that are a list": _first("replay", params="[]"),
    "a parameter of parts": _first("replay", params='{"keep": [4]}'),
    "a token counter nobody knows": _first("replay", token_counter="abacus"),
    "a note that is none": _first("comparison_change", kind="note", value="{}"),
    "a round that is none": _first("comparison_change", kind="refinement", value="{}"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_DOCUMENTS)
def test_a_launch_that_is_none_is_refused(target: Store, bundle: bytes, wrong: str) -> None:
    assert "cmp_" in refusal(target, changed(bundle, "comparison.json", WRONG_DOCUMENTS[wrong]))


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: [],
        lambda manifest: manifest | {"format": "something else"},
        lambda manifest: manifest | {"version": "1"},
        lambda manifest: manifest | {"comparisons": []},
        lambda manifest: manifest | {"comparisons": [1]},
        lambda manifest: manifest | {"comparisons": manifest["comparisons"] * 2},
        lambda manifest: manifest | {"comparisons": [manifest["comparisons"][0] | {"id": "../x"}]},
        lambda manifest: (
            manifest | {"comparisons": [manifest["comparisons"][0] | {"rows": {"tombstone": 1}}]}
        ),
        lambda manifest: manifest | {"comparisons": [manifest["comparisons"][0] | {"rows": {"turn": True}}]},
    ],
)
def test_a_manifest_that_is_none_is_refused(
    target: Store, bundle: bytes, change: Callable[[Any], Any]
) -> None:
    assert "is no memdash bundle" in refusal(target, changed(bundle, "bundle.json", change))


def test_a_script_cannot_take_the_place_of_another_comparisons(target: Store, bundle: bytes) -> None:
    with Store.open(MEMORY) as source:
        victim = a_comparison("full_history")
        source.save_comparison(victim)
        (row,) = json.loads(entries_of(bundle_of(source))[f"comparisons/{victim.id}/comparison.json"])[
            "script"
        ]
    assert "is not the one it was" in refusal(
        target, changed(bundle, "comparison.json", _first("script", hash=row["hash"]))
    )


def test_comparisons_before_the_one_that_is_refused_stay(target: Store) -> None:
    with Store.open(MEMORY) as source:
        for title in ("older", "newer"):
            spec = a_comparison("full_history", title=title)
            source.save_comparison(spec)
            source.append(spec.replays()[0].id, some_records())
        newer, older = (one.id for one in source.comparisons())
        entries = entries_of(bundle_of(source))
        name = f"comparisons/{older}/comparison.json"
        document = json.loads(entries[name])
        entries[name] = json.dumps(_first("replay", cache="2h")(document)).encode()
    with pytest.raises(InputError, match=rf"{older} .*\(1 comparison before it imported\)$"):
        given_to(target, packed(entries))
    assert [one.id for one in target.comparisons()] == [newer]


@pytest.mark.long
@given(data=st.data())
@settings(max_examples=50)
def test_a_bundle_with_other_bytes_is_refused_or_the_same(
    bundle: bytes, source: Store, data: st.DataObject
) -> None:
    content = bytearray(bundle)
    how = data.draw(st.sampled_from(["flip", "cut", "drop", "insert", "swap"]))
    place = data.draw(st.integers(0, len(content) - 1))
    if how == "cut":
        del content[place:]
    elif how == "drop":
        del content[place : place + data.draw(st.integers(1, 64))]
    elif how == "insert":
        content[place:place] = data.draw(st.binary(min_size=1, max_size=16))
    elif how == "swap":
        other = data.draw(st.integers(0, len(content) - 1))
        content[place], content[other] = content[other], content[place]
    else:
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    with Store.open(MEMORY) as target:
        refused = ""
        try:
            target.import_bundle(io.BytesIO(bytes(content)), NAME)
        except MemdashError as error:
            refused = str(error)
        if not refused:
            assert everything(target) == everything(source)
            return
        assert "\n" not in refused
        with target._database.cursor() as cursor:
            for table in ("comparison", "script", "replay", "request", "block_text"):
                assert cursor.execute(f"select count(*) from {table}").fetchall() == [(0,)]


@pytest.mark.long
@given(data=st.data())
@settings(max_examples=150)
def test_rows_with_other_bytes_and_the_right_checksum_are_refused_or_read(
    bundle: bytes, source: Store, data: st.DataObject
) -> None:
    """A checksum keeps nobody out who means it: a broken Parquet file must not end the process."""
    entries = {name: one for name, one in entries_of(bundle).items() if name.endswith(".parquet")}
    name = data.draw(st.sampled_from(sorted(entries)))
    table = Path(name).stem
    content = bytearray(entries[name])
    footer = int.from_bytes(content[-8:-4], "little") + 8
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, footer - 1) | st.integers(0, len(content) - 1))
        content[len(content) - 1 - place] = data.draw(
            st.sampled_from([0, 1, 127, 128, 255]) | st.integers(0, 255)
        )
    with source._database.cursor() as cursor:
        shape = all_shapes(cursor)[table]
    with suppress(ValueError):
        for batch in read_parquet(io.BytesIO(bytes(content)), shape, older=False):
            check_json(batch, JSON_COLUMNS.get(table, {}))
