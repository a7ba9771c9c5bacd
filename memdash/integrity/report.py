"""A checked log as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memdash.integrity.check import Conversation, Edit, LogCheck, Totals


def as_json(path: Path, checked: LogCheck) -> dict[str, Any]:
    """Return what ``memdash check --format json`` prints::

        {"file": …, "requests", "conversations", "edits", "tokens_lost", "cost_lost_usd", "thinking_lost", "errors",
         "by_conversation": [
           {"conversation": 1, "model", "lines": [1, 2, …], "requests", "edits", "tokens_lost", "cost_lost_usd",
            "thinking_lost", "errors",
            "edited": [{"line", "previous_line", "part": "tools" | "system" | "messages" | "answer",
                        "change": "changed" | "removed" | "inserted", "blocks", "path_before", "path_after", "before", "after",
                        "tokens_lost", "cost_lost_usd", "thinking_lost", "thinking_path",
                        "thinking_fate": null | "refused" | "dropped" | "refused_for_new_accounts"}],
            "failed": [{"line", "message"}]}]}

    Counts are of the whole file at the top, else of the conversation. Lines are counted from 1. A path is null where the block is
    not in that request. ``tokens_lost``, ``cost_lost_usd`` and ``thinking_lost`` are null where the log does not say: no usage,
    no price, or a model whose rules are not known.
    """
    return {
        "file": str(path),
        **totals_json(checked.totals, len(checked.conversations)),
        "by_conversation": [_conversation(one) for one in checked.conversations],
    }


def totals_json(totals: Totals, conversations: int) -> dict[str, Any]:
    """Return the numbers of a whole file; these are what an assertion can speak of."""
    counted = asdict(totals)
    return {"requests": counted.pop("requests"), "conversations": conversations, **counted}


def _conversation(one: Conversation) -> Mapping[str, Any]:
    return {
        "conversation": one.number,
        "model": one.model,
        "lines": one.lines,
        **asdict(one.totals),
        "edited": [_edit(edit) for edit in one.edits],
        "failed": [{"line": line, "message": message} for line, message in one.errors],
    }


def _edit(edit: Edit) -> Mapping[str, Any]:
    return {
        "line": edit.line,
        "previous_line": edit.previous_line,
        **asdict(edit.difference),
        "tokens_lost": edit.tokens_lost,
        "cost_lost_usd": edit.cost_lost_usd,
        "thinking_lost": edit.thinking_lost,
        "thinking_path": edit.thinking_path,
        "thinking_fate": edit.thinking_fate,
    }
