"""What the fields of an event hold, of those that something is worked out from or told by.

Strategies of other people and bundles may write anything into an event; whatever else is in it is kept and shown as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from memdash.records import EventKind

_LARGEST: Final = 2**53
"""No count of turns, tokens or requests is above it, and every number below it is exact as a float."""


def misfit(kind: EventKind, data: Mapping[str, Any]) -> str | None:
    """Return the first field of an event that holds something else than it is read as; None where all is well."""
    for name, fits in _FIELDS.items():
        if data.get(name) is not None and not fits(data[name]):
            return name
    if kind is EventKind.VERDICT:
        return next((name for name in ("requests", "violated", "violations") if data.get(name) is None), None)
    return None


def _is_whole(value: object) -> bool:
    return type(value) is int and 0 <= value < _LARGEST


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LARGEST


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_turns(value: object) -> bool:
    return isinstance(value, list | tuple) and all(_is_whole(one) for one in value)


def _are_violations(value: object) -> bool:
    return isinstance(value, list | tuple) and all(_is_violation(one) for one in value)


def _is_violation(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and _is_whole(value.get("request"))
        and all(_is_text(value.get(name)) for name in ("rule", "text"))
    )


_FIELDS: Final[Mapping[str, Callable[[object], bool]]] = {
    **dict.fromkeys(("dropped_turns", "replaced_turns", "kept_turns"), _are_turns),
    **dict.fromkeys(
        ("request", "requests", "violated", "retries", "covers_through", "stale_turns", "cleared_tool_uses",
         "cleared_thinking_turns"), _is_whole,
    ),
    **dict.fromkeys(
        ("before_tokens", "after_tokens", "dropped_tokens", "cleared_input_tokens", "tokens", "budget", "elapsed_ms"),
        _is_amount,
    ),
    **dict.fromkeys(("problem", "tool_use_id", "summary"), _is_text),
    "violations": _are_violations,
}  # fmt: skip
