"""Shortening a tool result when it is added, which edits no history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memdash.records import EventKind

if TYPE_CHECKING:
    from memdash.strategies.base import Workspace

CAP_HELP = (
    "Shorten a tool result of more tokens than this when it is added, before anything else is done with it"
)

CUT_NOTICE = "[… {tokens} tokens cut here …]"
"""Says in a shortened tool result where it was cut, and by how much."""


def cap_result(result: Mapping[str, Any], limit: int, workspace: Workspace) -> Mapping[str, Any]:
    """Shorten a tool result of more than ``limit`` tokens by estimate: its head and tail stay, and the cut is said.

    Only text is shortened; a result with other blocks keeps them.
    """
    text = _result_text(result.get("content"))
    before = workspace.estimate([{"role": "user", "content": [result]}])
    if before <= limit or not text:
        return result
    kept = max(0, int(len(text) * limit / before) - len(CUT_NOTICE) - 8)
    head = (kept + 1) // 2
    tail = kept - head
    notice = CUT_NOTICE.format(tokens=before - limit)
    shortened = f"{text[:head]}\n{notice}\n{text[len(text) - tail :] if tail else ''}"
    others = [part for part in _parts(result.get("content")) if part.get("type") != "text"]
    content = [{"type": "text", "text": shortened}, *others] if others else shortened
    capped = {**result, "content": content}
    after = workspace.estimate([{"role": "user", "content": [capped]}])
    workspace.note(
        EventKind.CAP, tool_use_id=result.get("tool_use_id"), before_tokens=before, after_tokens=after
    )
    return capped


def _parts(content: Any) -> Sequence[Mapping[str, Any]]:
    return content if isinstance(content, list | tuple) else ()


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in _parts(content) if part.get("type") == "text")
