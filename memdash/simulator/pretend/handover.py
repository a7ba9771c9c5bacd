"""What a summary by the API itself hands over beside its text: the message that is still to be answered.

After a compaction the model goes on from the summary alone, so the summary has to say what it is in the middle of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_MARKER: Final = "The user's latest message, still to be answered:"
_MOST_WORDS: Final = 200


def with_open_message(summary: str, message: str) -> str:
    """Return the summary with an unanswered message of the user, if there is one, at its end, cut where it is very
    long.
    """
    words = message.split()
    if not words:
        return summary
    if len(words) > _MOST_WORDS:
        message = " ".join(words[:_MOST_WORDS])
    return f"{summary}\n\n{_MARKER}\n{message}"


def open_message(given: Sequence[Mapping[str, Any]]) -> str:
    """Return the message that the compaction the conversation begins with left to be answered, "" if none."""
    content = given[0].get("content") if given else None
    if not isinstance(content, list) or not content or content[0].get("type") != "compaction":
        return ""
    return str(content[0].get("content") or "").partition(f"{_MARKER}\n")[2]
