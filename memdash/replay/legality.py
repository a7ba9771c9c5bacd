"""Which messages the API takes: the order of roles, and tool calls with their results (Messages API, tool use)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

Block = Mapping[str, Any]


def illegality(blocks: Sequence[tuple[str, Block]], *, open_end: bool = False) -> str | None:
    """Say why the API must refuse these blocks, each with the role of its message; None where it need not.

    What precedes the latest compaction block is not read. Neighbouring messages of one role count as one; the first may be
    the assistant's.
    ``open_end``: the request asks for something other than the next message, so it may end with the assistant's; it may also
    end with a compaction, from which the model goes on.
    """
    start = max((at for at, (_, one) in enumerate(blocks) if is_compaction(one)), default=0)
    turns = [
        (role, [block for _, block in group]) for role, group in groupby(blocks[start:], lambda one: one[0])
    ]
    if not turns:
        return "there are no messages"
    if turns[0][0] == "system":
        return "the first message is a system message"
    asked: dict[str, None] = {}
    for role, content in turns:
        problem = _results(role, content, asked)
        if problem is not None:
            return problem
        asked = dict.fromkeys(block["id"] for block in content if block.get("type") == "tool_use")
        if asked and role != "assistant":
            return f"the {role} calls a tool"
    if asked:
        return _unanswered(asked)
    role, content = turns[-1]
    if role == "assistant" and not open_end and content[-1].get("type") != "compaction":
        return "the last message is the assistant's"
    return None


def is_compaction(block: Block) -> bool:
    """Whether a block closes what precedes it; one without content does not (Messages API, compaction)."""
    return block.get("type") == "compaction" and bool(block.get("content"))


def _results(role: str, content: Sequence[Block], asked: Mapping[str, None]) -> str | None:
    """Check the results in one turn against the calls in the turn before."""
    answered = [block.get("tool_use_id") for block in content if block.get("type") == "tool_result"]
    strange = [one for one in answered if one not in asked]
    if strange:
        return f"a result answers {strange[0]}, which the message before it did not call"
    if len(set(answered)) < len(answered):
        return f"{_twice(answered)} has two results"
    if answered and role != "user":
        return f"the {role} holds a tool result"
    missing = [one for one in asked if one not in answered]
    if missing:
        return _unanswered(missing)
    leading = [block.get("type") == "tool_result" for block in content[: len(answered)]]
    return None if all(leading) else "something stands before the results of tool calls"


def _unanswered(calls: Iterable[str]) -> str:
    return f"tool call {next(iter(calls))} has no result in the message after it"


def _twice(values: Sequence[Any]) -> Any:
    return next(one for one in values if values.count(one) > 1)
