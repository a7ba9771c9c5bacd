"""What the API cleared from its own reading of a request (Messages API, context editing): it was sent, and no model saw it.

The answer says how many tool results were cleared and not which. By the rule they are the oldest ones, those of excluded tools
left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memdash.records import RequestRecord
from memdash.strategies.base import Message

_CLEAR_TOOL_USES = "clear_tool_uses_20250919"


class Cleared(NamedTuple):
    """The tool uses whose results were cleared, and those whose inputs were as well; by id."""

    results: frozenset[str]
    inputs: frozenset[str]

    def holds(self, block: Mapping[str, Any]) -> bool:
        """Whether what a block says was cleared."""
        match block.get("type"):
            case "tool_result":
                return block.get("tool_use_id") in self.results
            case "tool_use":
                return block.get("id") in self.inputs
        return False


NOTHING = Cleared(frozenset(), frozenset())


def cleared_from(record: RequestRecord, blocks: Iterable[Mapping[str, Any]]) -> Cleared:
    """Return what the API cleared from a request whose messages are made of ``blocks``, in their order."""
    count = sum(int(edit.get("cleared_tool_uses") or 0) for edit in record.applied_edits)
    if not count:
        return NOTHING
    asked_for = list(_asked_for(record))
    excluded = frozenset(name for edit in asked_for for name in edit.get("exclude_tools") or ())
    inputs_of = [edit["clear_tool_inputs"] for edit in asked_for if edit.get("clear_tool_inputs")]
    parts = list(blocks)
    uses = [str(one.get("tool_use_id")) for one in parts if one.get("type") == "tool_result"]
    if not excluded and not inputs_of:  # a long replay asks this of every turn
        return Cleared(frozenset(uses[:count]), frozenset())
    names = {str(one.get("id")): one.get("name") for one in parts if one.get("type") == "tool_use"}
    results = frozenset([use for use in uses if names.get(use) not in excluded][:count])
    inputs = {use for use in results for wanted in inputs_of if wanted is True or names.get(use) in wanted}
    return Cleared(results, frozenset(inputs))


def as_read(messages: Sequence[Message], record: RequestRecord) -> Sequence[Message]:
    """Return the messages of an answered request as the model read them: without the blocks that the API had cleared.

    Those that stay are the same objects.
    """
    cleared = cleared_from(record, (block for message in messages for block in message["content"]))
    if cleared is NOTHING:
        return messages
    return [
        {**message, "content": [block for block in message["content"] if not cleared.holds(block)]}
        for message in messages
    ]


def _asked_for(record: RequestRecord) -> Iterator[Mapping[str, Any]]:
    management = record.options.get("context_management") or {}
    return (edit for edit in management.get("edits", ()) if edit.get("type") == _CLEAR_TOOL_USES)
