"""A finished message as the event sequence the API streams, each event with the moment it is due.

Order (Messages API, streaming): ``message_start``, ``ping``, then per block its start, deltas and stop in index
order, ``message_delta`` with the stop reason and cumulative usage, ``message_stop``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memdash.simulator.engine import Timing

_PIECE = 24
"""Characters in one delta; the API's own pieces are a few tokens."""

_FINAL_USAGE = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "output_tokens_details",
    "server_tool_use",
    "iterations",
)
"""Usage fields that ``message_delta`` carries; the rest is final in ``message_start``."""

_KNOWN_AT_END = ("output_tokens_details", "iterations")
"""Usage fields that do not exist yet when a stream begins."""


class StreamEvent(NamedTuple):
    """One server-sent event, named by ``data["type"]``, and when it is due in ms from the request's start."""

    at_ms: float
    data: dict[str, Any]

    def encode(self) -> bytes:
        """Return the event as it goes over the wire."""
        # ASCII only: some clients split event lines at U+2028 and U+0085 too.
        payload = json.dumps(self.data, separators=(",", ":"))
        return f"event: {self.data['type']}\ndata: {payload}\n\n".encode("ascii")


class _Step(NamedTuple):
    """An event of a block and the output it stands for, in characters; what weighs nothing takes no time."""

    data: dict[str, Any]
    weight: int = 0


def stream_events(message: Mapping[str, Any], timing: Timing) -> Iterator[StreamEvent]:
    """Yield the events of ``message`` in order of time.

    The first event is due at ``timing.first_event_ms``, the first piece of text at ``first_text_ms``, the last event
    at ``total_ms``; between these, output arrives at an even rate.
    """
    yield StreamEvent(timing.first_event_ms, {"type": "message_start", "message": _opening(message)})
    yield StreamEvent(timing.first_event_ms, {"type": "ping"})

    steps = [step for index, block in enumerate(message["content"]) for step in _block_steps(index, block)]
    first_text_ms = timing.first_text_ms
    first_text = _first_text(steps)
    if first_text_ms is None or first_text is None:
        yield from _paced(steps, timing.first_event_ms, timing.total_ms)
    else:
        # the block's start comes with its first piece, which is there already when the text begins
        start, first_piece = steps[first_text - 1 : first_text + 1]
        yield from _paced(steps[: first_text - 1], timing.first_event_ms, first_text_ms)
        rest = [start, first_piece._replace(weight=0), *steps[first_text + 1 :]]
        yield from _paced(rest, first_text_ms, timing.total_ms)

    yield StreamEvent(timing.total_ms, _closing(message))
    yield StreamEvent(timing.total_ms, {"type": "message_stop"})


def _first_text(steps: list[_Step]) -> int | None:
    """Return where the first piece of text is."""
    return next(
        (i for i, step in enumerate(steps) if step.data.get("delta", {}).get("type") == "text_delta"), None
    )


def _paced(steps: list[_Step], start_ms: float, end_ms: float) -> Iterator[StreamEvent]:
    total = sum(step.weight for step in steps)
    per_character = (end_ms - start_ms) / total if total else 0.0
    sent = 0
    for step in steps:
        sent += step.weight
        # the last piece is due at the end itself, whatever floating point makes of the sum
        yield StreamEvent(end_ms if total and sent == total else start_ms + sent * per_character, step.data)


def _opening(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message as it is known when the stream begins: no content, no stop reason, hardly any
    output."""
    usage = {key: value for key, value in message["usage"].items() if key not in _KNOWN_AT_END}
    usage["output_tokens"] = min(usage["output_tokens"], 1)
    unknown_yet = {
        key: None
        for key in ("stop_reason", "stop_sequence", "stop_details", "context_management")
        if key in message
    }
    return {**message, "content": [], **unknown_yet, "usage": usage}


def _closing(message: Mapping[str, Any]) -> dict[str, Any]:
    delta = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details") if key in message}
    usage = {key: message["usage"][key] for key in _FINAL_USAGE if message["usage"].get(key) is not None}
    event = {"type": "message_delta", "delta": delta, "usage": usage}
    if message.get("context_management") is not None:
        event["context_management"] = message["context_management"]
    return event


def _block_steps(index: int, block: Mapping[str, Any]) -> Iterator[_Step]:
    opening, deltas = _opened(block)
    yield _Step({"type": "content_block_start", "index": index, "content_block": opening})
    for delta, weight in deltas:
        yield _Step({"type": "content_block_delta", "index": index, "delta": delta}, weight)
    yield _Step({"type": "content_block_stop", "index": index})


_Deltas = list[tuple[dict[str, Any], int]]


def _opened(block: Mapping[str, Any]) -> tuple[dict[str, Any], _Deltas]:
    """Split a block into what its start event carries and the deltas that complete it."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, _pieces("text_delta", "text", block["text"])
        case "thinking":
            signature = ({"type": "signature_delta", "signature": block["signature"]}, 1)
            # with display omitted the text is empty and the signature comes alone
            deltas = [*_pieces("thinking_delta", "thinking", block["thinking"]), signature]
            return {**block, "thinking": "", "signature": ""}, deltas
        case "tool_use":
            arguments = json.dumps(block["input"], ensure_ascii=False) if block["input"] else ""
            empty = ({"type": "input_json_delta", "partial_json": ""}, 0)
            return {**block, "input": {}}, [empty, *_pieces("input_json_delta", "partial_json", arguments)]
        case "compaction" if "signature" not in block:
            # threshold compaction arrives in one delta; the on-demand block is signed and comes whole in
            # its start
            delta = {"type": "compaction_delta", **{k: v for k, v in block.items() if k != "type"}}
            return {"type": "compaction", "content": None}, [(delta, len(block["content"] or "") or 1)]
        case _:
            return dict(block), []


def _pieces(kind: str, field: str, text: str) -> _Deltas:
    cuts = range(0, len(text), _PIECE)
    return [({"type": kind, field: (piece := text[cut : cut + _PIECE])}, len(piece)) for cut in cuts]
