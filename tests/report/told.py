"""Comparisons whose every text is known, and reports as a reader has them."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import io
import re
from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq

from memdash.records import EventKind, MissReason, Record, RequestRecord, Status, StatusRecord
from memdash.scripts.model import Expectation, Fact, Grading, Script, Turn, Value
from memdash.spec import ComparisonSpec, ReplaySpec, Sweep
from memdash.store import Store
from memdash.strategies import choose, parse_family, swept
from tests.builders import event, kept, probe, request, status, turn

MARK = "Quokka"
"""Stands in every text that a person, a script or a model wrote."""


def a_script(id: str = f"{MARK}-script", *, mark: str = MARK, facts: int = 2) -> Script:
    """Two turns with facts; every text holds the mark."""
    return Script(
        id=id,
        title=f"{mark} title",
        description=f"{mark} description",
        system=f"{mark} system",
        turns=tuple(
            Turn(n, ({"type": "text", "text": f"{mark} says {n}"},), reply=f"{mark} reply") for n in (1, 2)
        ),
        facts=tuple(_fact(f"{mark} fact {n}", mark) for n in range(1, facts + 1)),
    )


def _fact(id: str, mark: str) -> Fact:
    expected = Expectation(Grading.REGEX, (f"{mark} value",))
    return Fact(id, f"{mark} question?", (Value(1, expected, expected),), kind=f"{mark} kind")


def a_comparison(*scripts: Script, mark: str = MARK, **changes: Any) -> ComparisonSpec:
    """Full history, a window and a compaction with instructions of the person's own."""
    return ComparisonSpec(
        scripts=scripts or (a_script(mark=mark),),
        strategies=(
            choose("full_history"),
            choose("window"),
            choose("compaction", {"instructions": f"{mark} instructions"}),
        ),
        **{"title": f"{mark} comparison", "token_counter": "estimate", "check": True, **changes},
    )


def a_sweep(mark: str = MARK) -> ComparisonSpec:
    """Windows, and compactions with instructions of the person's own, over two scripts."""
    written = ("window:2|4", f"compaction:trigger=1000|2000,instructions={mark} one|{mark} two")
    families = tuple(parse_family(one) for one in written)
    return ComparisonSpec(
        scripts=(a_script(mark=mark), a_script(f"{mark}-other", mark=mark)),
        strategies=swept(families, ["claude-opus-5-5"]).choices,
        sweep=Sweep(families),
        title=f"{mark} sweep",
        token_counter="estimate",
    )


def stored(store: Store, spec: ComparisonSpec, mark: str = MARK) -> str:
    """Store a comparison with made-up records and return its id: the window is refused, the others are done."""
    store.save_comparison(spec)
    for one in spec.replays():
        store.append(one.id, list(_numbered(_records(one, mark))))
    store.flush()
    return spec.id


def _records(spec: ReplaySpec, mark: str) -> Iterator[Record | list[Record]]:
    whole = spec.strategy == "full_history"
    yield StatusRecord(0, Status.RUNNING, 0, 0.0)
    yield turn(1, input=500, write=1500, output=100, miss=MissReason.FIRST_REQUEST)
    if spec.strategy == "window":
        yield event(EventKind.TRIM, 2, dropped_turns=[1], note=f"{mark} note")
        yield request(2, error=f"messages.0: {mark} text")
        yield status(Status.REJECTED, 1, f"messages.0: {mark} text")
        return
    if not whole:
        yield event(
            EventKind.COMPACTION, 1, used=True, before_tokens=9, summary=f"{mark} summary", by="server"
        )
        yield event(EventKind.UNSCRIPTED_TOOL_CALL, 1, name=f"{mark} tool", input={f"{mark} key": [mark, 1]})
    yield turn(2, input=3, write=300, read=1500, output=100)
    for number, fact in enumerate(spec.script.facts):
        for one in probe(fact.id, 2, passed=whole):
            if isinstance(one, RequestRecord):
                yield one
            else:
                yield dataclasses.replace(one, question=fact.question, answer=f"{mark} answer {number}")
        yield kept(fact.id)
    yield status(Status.DONE, 2)


def _numbered(parts: Iterator[Record | list[Record]]) -> Iterator[Record]:
    requests = 0
    flat = [one for part in parts for one in (part if isinstance(part, list) else [part])]
    for seq, one in enumerate(flat):
        if isinstance(one, RequestRecord):
            one, requests = dataclasses.replace(one, number=requests), requests + 1
        yield dataclasses.replace(one, seq=seq)


def readable(content: bytes, ending: str) -> str:
    """Everything that a file holds, unpacked."""
    if ending == ".parquet":
        table = pq.read_table(io.BytesIO(content))
        return f"{table.to_pylist()} {table.schema.metadata}"
    text = content.decode()
    return text + figures_of(text) if ending == ".html" else text


def figures_of(html: str) -> str:
    """The figures that a report carries, as JSON."""
    found = re.search(r'<script type="text/plain" id="figures">([^<]+)</script>', html)
    assert found
    return gzip.decompress(base64.b64decode(found[1])).decode()
