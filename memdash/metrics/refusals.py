"""What a refusal by the Messages API means, in a sentence for someone who meets it for the first time."""

from __future__ import annotations

import re
from typing import NamedTuple


class _Known(NamedTuple):
    pattern: re.Pattern[str]
    meaning: str


_KNOWN: tuple[_Known, ...] = tuple(
    _Known(re.compile(pattern, re.IGNORECASE | re.DOTALL), meaning)
    for pattern, meaning in (
        (
            r"bound to a different conversation.*(tool definitions|system prompt) ha",
            "Each thinking block is signed over everything before it, tools and system prompt included; the script changed those "
            "and blocks from before were sent again. Strip thinking when they change, or let the API drop the blocks.",
        ),
        (
            r"bound to a different conversation",
            "Each thinking block is signed over everything before it; this strategy changed what came before and sent the block "
            "again, so its signature no longer fits. Strip thinking when you edit history, or let the API drop the blocks.",
        ),
        (
            r"invalid .{0,3}signature",
            "A thinking block came back other than the model wrote it, so its signature does not verify.",
        ),
        (
            r"blocks in the latest assistant message cannot be modified",
            "Inside a tool loop the model's latest thinking must be sent back exactly as it came.",
        ),
        (
            r"unexpected .{0,3}tool_use_id|tool_result.{0,20}blocks?.*must have a corresponding .{0,3}tool_use",
            "The history was cut between a tool call and its result: a result was sent whose call is gone.",
        ),
        (
            r"tool_use.{0,3} ids were found without",
            "The history was cut between a tool call and its result: a call was sent whose result is missing.",
        ),
        (
            r"prompt is too long",
            "The request no longer fits the model's context window; nothing in this strategy made it shorter in time.",
        ),
        (
            r"at least one message is required",
            "The strategy dropped every message, so nothing was left to send.",
        ),
        (
            r"does not support assistant message prefill|must end with a user message",
            "The request ended with an assistant message; this model answers user messages only.",
        ),
        (
            r"must be non-empty|must have non-empty content",
            "The strategy sent a message or a text block with nothing in it.",
        ),
        (
            r"maximum of 4 blocks with cache_control",
            "The request carried more than the four cache marks that the API takes.",
        ),
        (
            r"extra inputs are not permitted",
            "The request carried a field the API does not know, or one whose beta header is missing.",
        ),
        (
            r"rate.?limit|overloaded",
            "The API was too busy or your rate limit was reached; running it again later should work.",
        ),
    )
)

_UNKNOWN = "The API refused the request; its own message says what it found wrong."
_MEANINGS = frozenset((_UNKNOWN, *(known.meaning for known in _KNOWN)))


def explain(message: str) -> str:
    """Return what the API's ``message`` means for the strategy that met it; an explanation is returned as it is."""
    if message in _MEANINGS:
        return message
    return next((known.meaning for known in _KNOWN if known.pattern.search(message)), _UNKNOWN)
