"""A stored comparison as a file: JSON, CSV (one row a turn) or Parquet (the same rows, typed).

All take the comparison as ``memdash.metrics`` puts it together, the object of the command line's JSON contract. What a
script or a model wrote stays text: a CSV cell that a spreadsheet would take for a formula is marked as text.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memdash.answerer import Answerer, recorded_answerer
from memdash.errors import InputError
from memdash.spec import Provider, Replies

if TYPE_CHECKING:
    from memdash.evidence import Evidence
    from memdash.metrics import ReplayResult
    from memdash.metrics.conversations import Traffic
    from memdash.store import StoredComparison
    from memdash.store.protocol import AnyStore

Comparison = Mapping[str, Any]
"""The object of ``--format json``."""

_TOGETHER = 100
"""How many replays are read and measured in one go."""


def read(store: AnyStore, comparison_id: str, traffic: Traffic | None = None) -> dict[str, Any]:
    """Return a stored comparison as the object of the JSON contract, its money at the prices of when it ran.

    ``traffic`` is what the user's own conversations are like, where that is to be priced as well.
    Raises :class:`~memdash.errors.StoreError` where it is not there or cannot be read.
    """
    from memdash.evidence import evidence_for

    stored = store.comparison(comparison_id)
    evidence = evidence_for(store, stored)
    with store.at_hand(comparison_id) as near:
        return assemble(stored, measured(near, stored), evidence, traffic)


def measured(store: AnyStore, stored: StoredComparison) -> Iterator[ReplayResult]:
    """Yield the numbers of every replay in their order, a few replays held in memory at a time: a sweep has thousands."""
    from memdash.metrics import Controls, measure

    ids = [one.id for one in stored.replays]
    controls = Controls(store.replay_outlines(stored.id, [one.id for one in stored.replays if one.controls]))
    for start in range(0, len(ids), _TOGETHER):
        for outline in store.replay_outlines(stored.id, ids[start : start + _TOGETHER]):
            yield measure(outline, stored.prices, controls)


def assemble(
    stored: StoredComparison,
    results: Iterable[ReplayResult],
    evidence: Evidence | None = None,
    traffic: Traffic | None = None,
) -> dict[str, Any]:
    """Return the object of the JSON contract for a stored comparison from the numbers of its replays.

    ``evidence`` is what is known of the simulator's error in it.
    """
    from memdash.metrics import comparison_json, settings_json
    from memdash.metrics.confirmation import confirmation_json
    from memdash.metrics.contract import Refined

    return comparison_json(
        results,
        comparison=stored.id,
        title=stored.title,
        created_at=stored.created_at,
        settings=settings_json(stored.spec),
        token_counter=token_counter(stored),
        versions={**stored.versions, "rules": basis(stored, evidence)},
        specs=stored.replays,
        prices=stored.prices,
        sweep=stored.spec.sweep,
        refined=Refined(stored.spec, stored.refinements),
        traffic=traffic,
        confirmation=confirmation_json(evidence.confirmation) if evidence and evidence.own else None,
    )


def token_counter(stored: StoredComparison) -> str:
    """How tokens were counted: ``auto`` took ctok where it was installed when the comparison was launched."""
    version = stored.versions.get("ctok")
    if stored.spec.token_counter == "estimate" or version is None:
        return "estimate"
    return f"ctok {version}"


TURN_COLUMNS = (
    "comparison", "title", "created_at", "basis", "script", "strategy", "params", "label", "model", "provider", "cache",
    "cache_marks", "repeat", "status", "turn", "prompt_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
    "input_tokens", "output_tokens", "cost_usd", "wait_ms", "cache_miss_reason", "events",
)  # fmt: skip
"""The columns of the CSV and Parquet files, in order; ``basis`` says whether the row is simulated, and by which rules."""

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def to_json(comparison: Comparison) -> bytes:
    """Return the comparison as indented JSON in UTF-8; half a surrogate pair, which UTF-8 cannot hold, stays escaped."""
    text = json.dumps(comparison, ensure_ascii=False, indent=2, allow_nan=False)
    return f"{text}\n".encode(errors="backslashreplace")


def to_csv(comparison: Comparison) -> bytes:
    """Return one row a turn in UTF-8; an empty cell is a value that is not known, several events are joined by spaces."""
    text = io.StringIO()
    writer = csv.writer(text)  # lines end in CR LF (RFC 4180), and a cell that holds either is quoted
    writer.writerow(TURN_COLUMNS)
    for row in turn_rows(comparison):
        row["events"] = " ".join(row["events"])
        writer.writerow([safe_cell(row[name]) for name in TURN_COLUMNS])
    return text.getvalue().encode(errors="backslashreplace")


def to_parquet(comparison: Comparison) -> bytes:
    """Return the rows of :func:`to_csv` as Parquet; the settings and versions stand in the file's metadata as JSON."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = dict.fromkeys(
        ("repeat", "turn", *(name for name in TURN_COLUMNS if name.endswith("_tokens"))), pa.int64()
    )
    types = whole | {"cost_usd": pa.float64(), "wait_ms": pa.float64(), "events": pa.list_(pa.string())}
    about = {
        name: comparison.get(name)
        for name in ("comparison", "title", "settings", "token_counter", "versions")
    }
    schema = pa.schema(
        [(name, types.get(name, pa.string())) for name in TURN_COLUMNS],
        metadata={"memdash": json.dumps(about, ensure_ascii=False)},
    )
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(turn_rows(comparison)), schema=schema), file)
    return file.getvalue()


FORMATS: Mapping[str, Callable[[Comparison], bytes]] = {
    ".json": to_json,
    ".csv": to_csv,
    ".parquet": to_parquet,
}
"""What each file ending is written by."""


def write(comparison: Comparison, path: Path) -> None:
    """Write the comparison to ``path`` in the format of its ending, whole or not at all; an older file is replaced.

    Raises :class:`InputError` for an unknown ending and for a place that cannot be written.
    """
    make = format_of(path)
    content = make(comparison)
    try:
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(draft, 0o666 & ~umask)  # mkstemp makes it private; an export is an ordinary file
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def format_of(path: Path) -> Callable[[Comparison], bytes]:
    """Return what writes files with the ending of ``path``; raises :class:`InputError` for an unknown one."""
    make = FORMATS.get(path.suffix.lower())
    if make is None:
        raise InputError(
            f"{path}: write to a file that ends in {', '.join(FORMATS)}, not {path.suffix or 'nothing'!r}"
        )
    return make


def turn_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the turns of every replay with what tells them apart, by :data:`TURN_COLUMNS`."""
    for replay in comparison["replays"]:
        shared = {
            "comparison": comparison["comparison"],
            "title": comparison["title"],
            "created_at": comparison["created_at"],
            "basis": comparison["versions"]["rules"],
            "params": json.dumps(replay["params"], ensure_ascii=False),
            **{
                name: replay[name]
                for name in (
                    "script", "strategy", "label", "model", "provider", "cache", "cache_marks", "repeat", "status"
                )
            },
        }  # fmt: skip
        for turn in replay["turns"]:
            yield {**shared, **turn, "events": [event["kind"] for event in turn["events"]]}


SIMULATOR_RULES = "simulator rules of 2026-11-30"
NOT_COMPARED = "not yet compared with the live API"
LIVE_BASIS = "Live API"


def basis(stored: StoredComparison, evidence: Evidence | None = None) -> str:
    """Return what the numbers of a comparison rest on; it stands wherever they are shown or exported.

    ``evidence`` is what is known of the simulator's error in them.
    """
    if stored.spec.provider is Provider.SIMULATOR:
        return simulator_basis(evidence)
    answerer = recorded_answerer(stored.versions)
    if stored.spec.replies is Replies.RECORDED:
        return (
            f"Recorded replies: tokens, cache and waits of the turns are modelled by {SIMULATOR_RULES}; summaries and "
            f"recall are those of {answerer}"
        )
    return LIVE_BASIS if answerer is Answerer.LIVE_API else f"Answered by {answerer}"


def simulator_basis(evidence: Evidence | None = None) -> str:
    """Return what must be said of anything simulated: by which rules, and how they compared with the live API.

    What a compatible server said is told as well, but the rules stay "not yet compared with the live API".
    """
    told = NOT_COMPARED
    if evidence is not None and evidence.confirmation.pairs:
        told = evidence.confirmation.told("" if evidence.own else "of another comparison")
        if evidence.confirmation.answered_by is not Answerer.LIVE_API:
            told = f"{NOT_COMPARED}; {told}"
    return f"S{SIMULATOR_RULES[1:]}, {told}"


def safe_cell(value: Any) -> Any:
    """Keep a spreadsheet from running a text as a formula."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value
