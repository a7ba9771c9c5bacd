"""Comparisons and records for tests of the store and the worker."""

from __future__ import annotations

from typing import Any

from memdash.records import Purpose, Record, RequestRecord, Status, StatusRecord, TurnRecord, Usage
from memdash.scripts.model import Script, Turn
from memdash.spec import ComparisonSpec
from memdash.strategies import parse


def a_script(id: str = "chat", turns: int = 4) -> Script:
    """Turns that say nothing in particular."""
    return Script(
        id,
        id.title(),
        tuple(Turn(n, ({"type": "text", "text": f"message {n}"},)) for n in range(1, turns + 1)),
    )


def a_comparison(*strategies: str, turns: int = 4, **settings: Any) -> ComparisonSpec:
    """A comparison of ``strategies`` (full history and a window) over one small script."""
    chosen = tuple(parse(one) for one in strategies or ("full_history", "window:2"))
    return ComparisonSpec(settings.pop("scripts", (a_script(turns=turns),)), chosen, **settings)


def some_records(
    turns: int = 2, *, text: str = "hello", end: Status | None = Status.DONE, model: str = "claude-opus-5-5"
) -> list[Record]:
    """What a small replay yields: a state, a request and a turn each, and an end."""
    records: list[Record] = [StatusRecord(0, Status.RUNNING, 0, 0.0)]
    for turn in range(1, turns + 1):
        records.append(a_request(len(records), turn, text=text, model=model))
        records.append(TurnRecord(len(records), turn, turn * 100.0, turn * 100.0 + 50.0, 50.0, 10.0))
    if end:
        message = None if end is Status.DONE else "no more"
        records.append(StatusRecord(len(records), end, turns, turns * 100.0 + 50.0, message))
    return records


def a_request(
    seq: int,
    turn: int,
    *,
    text: str = "hello",
    model: str = "claude-opus-5-5",
    purpose: Purpose = Purpose.TURN,
) -> RequestRecord:
    """A request of 1,000 uncached and 2,000 read prompt tokens and 100 of output."""
    block = f"{turn:024x}"
    return RequestRecord(
        seq=seq,
        number=turn - 1,
        purpose=purpose,
        turn=turn,
        step=0,
        model=model,
        options={"max_tokens": 1024},
        betas=(),
        system_block=None,
        tools_block=None,
        base_request=turn - 2 if turn > 1 else None,
        shared=turn - 1,
        entries=(f"user:{block}",),
        started_ms=turn * 100.0,
        first_event_ms=turn * 100.0 + 5.0,
        first_text_ms=turn * 100.0 + 10.0,
        finished_ms=turn * 100.0 + 50.0,
        usage=Usage(
            input_tokens=1_000,
            cache_creation_input_tokens=0,
            cache_read_input_tokens=2_000,
            output_tokens=100,
        ),
        blocks={block: f'{{"type":"text","text":"{text} {turn}"}}'},
    )
