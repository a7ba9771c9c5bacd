"""Bundles for tests: made, taken apart and put together again with something changed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from memdash.metrics.sweep.refinement import Proposal, ProposedSetting
from memdash.records import (
    Control,
    EventKind,
    EventRecord,
    FactRecord,
    Iteration,
    JobRecord,
    ProbeRecord,
    Survival,
    Usage,
)
from memdash.scripts.model import Expectation, Fact, Grading, Script, Value
from memdash.spec import ComparisonSpec, Sweep
from memdash.store import Store
from memdash.strategies import parse, parse_family
from tests.store.samples import a_comparison, a_script, some_records

Entries = dict[str, bytes]


def bundle_of(store: Store, *comparison_ids: str) -> bytes:
    """The bundle of some comparisons, or of all."""
    file = io.BytesIO()
    store.export_bundle(file, comparison_ids or None)
    return file.getvalue()


def entries_of(bundle: bytes | BinaryIO) -> Entries:
    """What is in a bundle, by name."""
    with zipfile.ZipFile(io.BytesIO(bundle) if isinstance(bundle, bytes) else bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(entries: Mapping[str, bytes]) -> bytes:
    """A zip of entries."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


def changed(bundle: bytes, name: str, change: Callable[[Any], Any]) -> bytes:
    """A bundle whose entry that ends in ``name`` is another: JSON data, or the rows of a Parquet file, go through ``change``."""
    entries = entries_of(bundle)
    (whole,) = [one for one in entries if one.endswith(name)]
    if whole.endswith(".json"):
        entries[whole] = json.dumps(change(json.loads(entries[whole]))).encode()
    else:
        entries[whole] = parquet(change(pq.read_table(io.BytesIO(entries[whole]))))
    return packed(entries)


def parquet(table: pa.Table, **options: Any) -> bytes:
    """A table as our bundles hold it."""
    file = io.BytesIO()
    pq.write_table(table, file, **{"compression": "none", "use_dictionary": False, **options})
    return file.getvalue()


def column(name: str, value: Any) -> Callable[[pa.Table], pa.Table]:
    """Gives a change of rows: every value of a column is another, of the same type."""

    def change(table: pa.Table) -> pa.Table:
        place = table.schema.names.index(name)
        kind = table.schema.field(name).type
        return table.set_column(place, name, pa.array([value] * table.num_rows, kind))

    return change


def a_script_with_a_fact() -> Script:
    """A script that states which gate it is, as any number of scripts do."""
    said = Expectation(Grading.REGEX, ("B12",))
    return replace(a_script(), facts=(Fact("gate", "Which gate?", (Value(1, said, said),)),))


def something_of_everything(store: Store, title: str = "Everything, “quoted” 🙂") -> ComparisonSpec:
    """Store a sweep that has been refined, renamed and noted, with a record of every kind."""
    spec = a_comparison(
        "full_history",
        "window:2",
        title=title,
        scripts=(a_script_with_a_fact(),),
        sweep=Sweep((parse_family("window:keep=2|4"),), refine=True),
        budget=1.5,
    )
    store.save_comparison(spec)
    first, *others = spec.replays()
    records = some_records(turns=3, end=None)
    records.append(
        EventRecord(len(records), EventKind.COMPACTION, 2, 1.5, {"text": "=SUM(1) <b>", "used": False})
    )
    records.append(JobRecord(len(records), 1, 2, 10.0, 20.0))
    records.append(
        ProbeRecord(
            len(records),
            "gate",
            3,
            Control.MEMORY,
            "Which gate?",
            "B12",
            True,
            False,
            True,
            Survival.VERBATIM,
            "regex",
            2,
        )
    )
    records.append(FactRecord(len(records), "gate", Survival.RESTATED))
    records.append(
        replace(
            records[1], seq=len(records), number=9, blocks={}, iterations=(Iteration("compaction", Usage(5)),)
        )
    )
    store.append(first.id, [*records, replace(some_records(turns=0)[-1], seq=len(records))])
    for replay in others:
        store.append(replay.id, some_records(turns=2))
    store.extend(spec.id, Proposal((ProposedSetting(parse("window:3"), "between"),), ("window of 2",)))
    store.append(store.comparison(spec.id).replays[-1].id, some_records(turns=1))
    store.rename(spec.id, "Renamed")
    store.add_note(spec.id, "line one\nline two", "ada@example.org")
    store.flush()
    return spec


def everything(store: Store) -> dict[str, Any]:
    """All that a store says of its comparisons, in a form that can be compared to the byte."""
    from memdash import report
    from memdash.records import to_line

    return {
        one.id: (
            one,
            stored := store.comparison(one.id),
            report.to_json(report.read(store, one.id)),
            store.replay_logs(one.id),
            [[to_line(record) for record in store.journal(replay.id)] for replay in stored.replays],
        )
        for one in store.comparisons()
    }
