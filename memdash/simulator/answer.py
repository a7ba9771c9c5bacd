"""The JSON of an answered request: content, stop reason and usage (Messages API, messages)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memdash.simulator.reply import Ids, Reply
from memdash.simulator.request import Request
from memdash.simulator.rules import THRESHOLD_COMPACTION
from memdash.simulator.sampling import COMPACTION, MESSAGE, NOTHING, Iteration, prompt_usage


def compose(request: Request, reply: Reply, iterations: Sequence[Iteration], ids: Ids) -> dict[str, Any]:
    """Return the message.

    Its top-level usage leaves compactions out; ``usage.iterations`` is there whenever the request may compact.
    """
    message: dict[str, Any] = {
        "id": ids.draw("msg"),
        "type": "message",
        "role": "assistant",
        "model": request.body["model"],
        "content": reply.content,
        "stop_reason": reply.stop_reason,
        "stop_sequence": reply.stop_sequence,
        "stop_details": None,
        "usage": _usage(request, iterations),
    }
    if request.options.context.asked:
        message["context_management"] = {"applied_edits": list(request.placed.applied)}
    if request.transformations is not None:
        message["input_transformations"] = request.transformations
    return message


def _usage(request: Request, iterations: Sequence[Iteration]) -> dict[str, Any]:
    last = iterations[-1] if iterations[-1].kind == MESSAGE else None
    usage: dict[str, Any] = {
        **prompt_usage(NOTHING if last is None else last.bill),
        "output_tokens": 0 if last is None else last.output_tokens,
        "output_tokens_details": {"thinking_tokens": 0 if last is None else last.thinking_tokens},
        "service_tier": "standard",
        "inference_geo": request.options.inference_geo or "global",
    }
    if request.options.speed is not None:
        usage["speed"] = request.options.speed
    if request.rules.allows(THRESHOLD_COMPACTION) or any(one.kind == COMPACTION for one in iterations):
        usage["iterations"] = [one.usage() for one in iterations]
    return usage
