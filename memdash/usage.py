"""Reading the usage of an answer: the one place that knows where the Messages API keeps its token counts.

It stands apart from :mod:`memdash.claude`, whose import brings the SDK, so that a log can be read without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memdash.records import Iteration, Usage


def read_usage(usage: Mapping[str, Any] | None) -> Usage:
    """Read a usage object; what the server left out or sent as null is None, never 0.

    Where the split of cache writes by lifetime is given without its sum, the sum is taken from it.
    """
    if not isinstance(usage, Mapping):
        return Usage()
    split = usage.get("cache_creation")
    split = split if isinstance(split, Mapping) else {}
    details = usage.get("output_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    five, hour = (
        read_count(split, "ephemeral_5m_input_tokens"),
        read_count(split, "ephemeral_1h_input_tokens"),
    )
    written = read_count(usage, "cache_creation_input_tokens")
    if written is None and (five is not None or hour is not None):
        written = (five or 0) + (hour or 0)
    return Usage(
        input_tokens=read_count(usage, "input_tokens"),
        cache_creation_input_tokens=written,
        ephemeral_5m_input_tokens=five,
        ephemeral_1h_input_tokens=hour,
        cache_read_input_tokens=read_count(usage, "cache_read_input_tokens"),
        output_tokens=read_count(usage, "output_tokens"),
        thinking_tokens=read_count(details, "thinking_tokens"),
    )


def read_iterations(usage: Mapping[str, Any] | None) -> tuple[Iteration, ...]:
    """Read ``usage.iterations``, empty where there is none.

    With a compaction, the top-level usage leaves its tokens out, so cost is the sum over these (Messages API, compaction).
    """
    entries = usage.get("iterations") if isinstance(usage, Mapping) else None
    return tuple(
        Iteration(str(entry.get("type")), read_usage(entry), entry.get("model"))
        for entry in (entries if isinstance(entries, list | tuple) else ())
        if isinstance(entry, Mapping)
    )


def read_count(fields: Mapping[str, Any], name: str) -> int | None:
    """Return a token count among ``fields``; None where it is missing or no number."""
    value = fields.get(name)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
