"""What can be asserted of a replay and of a group, by the names of the JSON contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Any

GROUP_FIELDS: Mapping[str, tuple[str, str]] = {
    f"{name}_{part}": (name, part)
    for name in ("cost_usd", "prompt_tokens", "cache_share", "wait_p95_ms", "kept", "recall", "loss")
    for part in ("mean", "low", "high", "worst")
}
"""What can be asserted of a group, the repeats of one setting on one script, and where the JSON contract has it."""


class Kind(Enum):
    """What a field holds."""

    NUMBER = "a number"
    TEXT = "text"
    FLAG = "true or false"
    LIST = "a list"
    ANY = "a value"


FIELDS: Mapping[str, Kind] = {
    **dict.fromkeys(
        (
            "id", "script", "strategy", "label", "model", "effort", "provider", "cache", "cache_marks", "status",
        ),
        Kind.TEXT,
    ),
    **dict.fromkeys(("simulator_only", "recall_simulated"), Kind.FLAG),
    **dict.fromkeys(
        (
            "repeat", "turns_planned", "turns_completed", "requests",
            "prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
            "output_tokens", "cache_share", "cost_usd",
            "cost_by_purpose_usd.turn", "cost_by_purpose_usd.tool", "cost_by_purpose_usd.summary",
            "probe_requests", "probe_cost_usd", "recall", "recall_passed", "recall_total", "kept", "facts_total",
            "wait_ms.p50", "wait_ms.p95", "wait_ms.max", "wait_ms.total", "ttft_ms.p50", "ttft_ms.p95",
            "compactions",
        ),
        Kind.NUMBER,
    ),
    **dict.fromkeys(("marks", "errors", "turns", "probes"), Kind.LIST),
}  # fmt: skip
"""The fields of a replay in the JSON contract; ``params.NAME`` comes on top, as strategies declare them."""


def look_up(replay: Mapping[str, Any], field: str) -> Any:
    """Return what a field holds, None where there is no such thing."""
    found: Any = replay
    for part in field.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def near(wrong: str, known: Iterable[str]) -> str:
    """Say what comes near ``wrong``, else all there is."""
    known = list(dict.fromkeys(known))
    close = get_close_matches(wrong, known, n=3, cutoff=0.5)
    if close:
        return f"; did you mean {' or '.join(repr(one) for one in close)}?"
    return f"; known are: {', '.join(known)}"
