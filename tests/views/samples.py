"""Comparisons with made-up records, so that pages can be tested without a worker and with numbers known beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memdash.records import (
    Control,
    EventKind,
    EventRecord,
    FactRecord,
    MissReason,
    ProbeRecord,
    Purpose,
    Record,
    RequestRecord,
    Status,
    StatusRecord,
    Survival,
    TurnRecord,
    Usage,
)
from memdash.scripts import find_scripts
from memdash.spec import DEFAULT_MODEL, ComparisonSpec, ReplaySpec, Sweep
from memdash.store import Store
from memdash.strategies import choose, parse_family, swept

REFUSAL = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    "Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
    '"drop_block".'
)


def sample_spec(script: str = "trip-planning", title: str = "", turns: int = 12) -> ComparisonSpec:
    """Full history, a window of 4, the naive window and compaction at 2000 on a bundled script."""
    return ComparisonSpec(
        scripts=tuple(find_scripts(script)),
        strategies=(
            choose("full_history"),
            choose("window"),
            choose("window", {"thinking": "keep"}),
            choose("compaction"),
        ),
        title=title,
        turns=turns,
        check=True,
        token_counter="estimate",
    )


def sample_sweep(*written: str, **changes: Any) -> ComparisonSpec:
    """Full history and the ranges that are ``written`` (two triggers of compaction, two windows) over two bundled scripts."""
    families = tuple(parse_family(one) for one in written or ("compaction:1000|2000", "window:2|4"))
    return ComparisonSpec(
        scripts=(*find_scripts("trip-planning"), *find_scripts("trip-change")),
        strategies=swept(families, [DEFAULT_MODEL]).choices,
        turns=12,
        token_counter="estimate",
        sweep=Sweep(families),
        **{"title": "A sweep", **changes},
    )


def store_sample(
    store: Store, spec: ComparisonSpec, *, played: int | None = None, end: Status | None = Status.DONE
) -> str:
    """Store ``spec`` with ``played`` turns of each replay (all of them) and return its id.

    ``end`` is the state the replays are left in; None leaves them running.
    """
    store.save_comparison(spec)
    for replay in spec.replays():
        store.append(replay.id, list(_records(replay, replay.turns if played is None else played, end)))
    store.flush()
    return spec.id


def _records(spec: ReplaySpec, played: int, end: Status | None) -> Iterator[Record]:
    seq = 0
    clock = 0.0
    naive = spec.params.get("thinking") == "keep"
    yield StatusRecord(seq, Status.RUNNING, 0, clock)
    for turn in range(1, played + 1):
        read, write = _shares(spec.strategy, turn)
        refused = naive and turn == 5
        seq += 1
        yield RequestRecord(
            seq=seq,
            number=turn,
            purpose=Purpose.TURN,
            turn=turn,
            step=0,
            model=spec.model,
            options={},
            betas=(),
            system_block=None,
            tools_block=None,
            base_request=None,
            shared=0,
            entries=(),
            started_ms=clock,
            first_event_ms=None if refused else clock + 900,
            first_text_ms=None if refused else clock + 1_200,
            finished_ms=clock + 4_000 + 100 * turn,
            usage=Usage()
            if refused
            else Usage(
                input_tokens=4,
                cache_creation_input_tokens=write,
                ephemeral_5m_input_tokens=write,
                ephemeral_1h_input_tokens=0,
                cache_read_input_tokens=read,
                output_tokens=110,
            ),
            modelled=True,
            miss_reason=MissReason.HISTORY_EDITED if spec.strategy == "window" and turn > 4 else None,
            error_status=400 if refused else None,
            error_type="invalid_request_error" if refused else None,
            error_message=REFUSAL if refused else None,
        )
        if refused:
            seq += 1
            yield EventRecord(seq, EventKind.REJECTED, turn, clock, {"message": REFUSAL})
            seq += 1
            yield StatusRecord(seq, Status.REJECTED, turn - 1, clock, REFUSAL)
            return
        if spec.strategy == "window" and turn > 4:
            seq += 1
            yield EventRecord(seq, EventKind.TRIM, turn, clock, {"dropped_turns": [turn - 4]})
        if spec.strategy == "compaction" and turn == 8:
            seq += 1
            yield EventRecord(
                seq, EventKind.COMPACTION, turn, clock, {"before_tokens": 2_100, "after_tokens": 300}
            )
        seq += 1
        yield TurnRecord(seq, turn, clock, clock + 4_000 + 100 * turn, 4_000.0 + 100 * turn, 1_200.0)
        clock += 34_000
    if end is None:
        return
    if end is Status.DONE:
        lost = spec.strategy == "window"
        for fact in spec.script.facts:
            for control in (Control.MEMORY,):
                seq += 1
                yield ProbeRecord(
                    seq=seq,
                    fact=fact.id,
                    asked_after=played,
                    control=control,
                    question=fact.question,
                    answer="I don't know." if lost else "As you said at the start.",
                    passed=not lost,
                    stale=False,
                    visible=not lost,
                    survival=Survival.GONE if lost else Survival.VERBATIM,
                    grading="regex",
                    request=played,
                )
            seq += 1
            yield FactRecord(seq, fact.id, Survival.GONE if lost else Survival.VERBATIM)
    yield StatusRecord(seq + 1, end, played, clock)


def _shares(strategy: str, turn: int) -> tuple[int, int]:
    """Tokens read from and written to the cache in a turn."""
    size = 400 + 190 * turn
    if strategy == "window" and turn > 4:
        return 390, 800
    if strategy == "compaction" and turn > 8:
        size = 700 + 190 * (turn - 8)
    return (size - 190, 190) if turn > 1 else (0, size)
