"""What a strategy or the API did, in words: one name for each kind of event, and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from memdash import numbers
from memdash.records import EventKind

EDITS: Final = (EventKind.TRIM, EventKind.COMPACTION, EventKind.SWAP)
"""What takes whole messages out of what the client sends, or puts a summary in their place."""

NAMES: Final[Mapping[EventKind, str]] = {
    EventKind.TRIM: "old turns dropped",
    EventKind.STRIP_THINKING: "thinking stripped",
    EventKind.OVER_BUDGET: "over its budget",
    EventKind.COMPACTION: "compaction",
    EventKind.BACKGROUND_STARTED: "background job started",
    EventKind.BACKGROUND_READY: "background job ready",
    EventKind.SWAP: "memory swapped in",
    EventKind.BACKGROUND_DISCARDED: "background job discarded",
    EventKind.FALLBACK_INLINE: "summary made inline instead",
    EventKind.DROP_BLOCK: "thinking dropped by the API",
    EventKind.CLEAR: "context cleared by the API",
    EventKind.CAP: "tool result shortened",
    EventKind.THINKING_MISMATCH: "thinking does not fit the history",
    EventKind.UNSCRIPTED_TOOL_CALL: "tool call without a scripted result",
    EventKind.REJECTED: "refused by the API",
    EventKind.RETRY: "request repeated",
    EventKind.BRIEF_GROWING: "brief keeps growing",
    EventKind.VERDICT: "the replay's own check",
}
"""Each kind in a few words."""


def details(kind: EventKind, data: Mapping[str, Any]) -> str:
    """Return what an event says beyond its kind, in one line; empty where it says nothing more.

    Texts of models and scripts may be in it: whoever shows it takes care that they stay text.
    """
    told = [_problem(data), *(spell(data[key]) for key, spell in _SPELLED if data.get(key) is not None)]
    sizes = data.get("before_tokens"), data.get("after_tokens")
    if all(isinstance(size, int) for size in sizes):
        told.append(f"{numbers.tokens(sizes[0])} → {numbers.tokens(sizes[1])} tokens")
    if kind is EventKind.VERDICT:
        told.append(_verdict(data))
    return "; ".join(part for part in told if part)


def turns_in_words(turns: Sequence[int]) -> str:
    """Spell turns: ``turn 4``, ``turns 2 to 7``, ``turns 2, 4 and 9``."""
    if not turns:
        return "no turn"
    ordered = sorted(turns)
    if len(ordered) == 1:
        return f"turn {ordered[0]}"
    if ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"turns {ordered[0]} to {ordered[-1]}"
    return f"turns {numbers.listing([str(turn) for turn in ordered], limit=6)}"


def _problem(data: Mapping[str, Any]) -> str:
    problem = data.get("problem")
    if data.get("used") is False:
        return f"not used: {problem}" if problem else "not used"
    return str(problem or "")


def _after(words: str) -> Callable[[Any], str]:
    """Spell a list of turns behind ``words``."""
    return lambda turns: f"{words} {turns_in_words(turns)}" if turns else ""


def _tokens(words: str) -> Callable[[Any], str]:
    return lambda count: f"{numbers.tokens(count)} {words}"


_SPELLED: Final[Sequence[tuple[str, Callable[[Any], str]]]] = (
    ("message", str),
    ("dropped_turns", _after("dropped")),
    ("dropped_tokens", _tokens("tokens dropped")),
    ("replaced_turns", _after("in place of")),
    ("covers_through", lambda turn: f"covers turns up to {turn}"),
    ("held_up", lambda waited: "a turn waited for it" if waited else ""),
    ("cleared_tool_uses", lambda count: f"{numbers.count(count, 'tool use')} cleared"),
    ("cleared_thinking_turns", lambda count: f"thinking of {numbers.count(count, 'turn')} cleared"),
    ("cleared_input_tokens", _tokens("tokens cleared")),
    ("blocks", lambda count: numbers.count(count, "block") if isinstance(count, int) else ""),
    ("tokens", _tokens("tokens")),
    ("budget", lambda budget: f"budget of {numbers.tokens(budget)}"),
    ("retries", lambda count: numbers.count(count, "retry", "retries")),
    ("name", lambda name: f"{name}"),
    ("request", lambda number: f"request {number}"),
)
"""What is told of an event, by the field it is read from."""


def _verdict(data: Mapping[str, Any]) -> str:
    violated = data.get("violated") or 0
    found = numbers.count(violated, "violation") if violated else "no rule broken"
    return f"{numbers.count(data.get('requests') or 0, 'request')} checked, {found}"
