"""Blocks that the model did not read, although they were sent."""

from __future__ import annotations

from typing import Any

from memdash.inspection.blocks import entries_of
from memdash.inspection.left_out import CLEARED, CLOSED, OLD_THINKING, left_out
from memdash.replay.journal import Context
from tests.builders import request

TEXT = {"type": "text", "text": "Hello"}
THOUGHT = {"type": "thinking", "thinking": "", "signature": "s"}


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"id_{name}", "name": name, "input": {}}


def result(name: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"id_{name}", "content": "found"}


def unread(*messages: tuple[str, list[dict[str, Any]]], **record: Any) -> dict[str, str]:
    """What is left out of a request of these messages, by path."""
    values, written = {}, []
    for at, (role, blocks) in enumerate(messages):
        for place, block in enumerate(blocks):
            values[f"{at}-{place}"] = block
            written.append(f"+{at}-{place}" if place else f"{role}:{at}-{place}")
    entries = entries_of(Context(None, None, tuple(written)))
    found = left_out(request(**record), entries, values)
    return {entries[at].path: why for at, why in sorted(found.items())}


TALK = [("user", [TEXT]), ("assistant", [THOUGHT, TEXT]), ("user", [TEXT])]


def test_nothing_is_left_out_of_a_plain_request() -> None:
    assert unread(*TALK) == {}


def test_what_stands_before_a_compaction_is_closed_and_a_failed_one_closes_nothing() -> None:
    done = {"type": "compaction", "content": "They said hello."}
    assert unread(*TALK, ("assistant", [done, TEXT])) == {
        "messages.0.content.0": CLOSED,
        "messages.1.content.0": CLOSED,
        "messages.1.content.1": CLOSED,
        "messages.2.content.0": CLOSED,
    }
    assert unread(*TALK, ("assistant", [{**done, "content": None}])) == {}


def test_an_older_model_reads_the_thinking_of_the_present_turn_alone() -> None:
    tools = [("assistant", [THOUGHT, call("a")]), ("user", [result("a")])]
    assert unread(*TALK, *tools, model="claude-sonnet-4-5") == {"messages.1.content.0": OLD_THINKING}


def test_thinking_that_the_api_dropped_says_why_and_what_it_let_pass_was_read() -> None:
    dropped = {
        "type": "thinking_dropped",
        "path": "messages.1.content.0",
        "reason": "prefix_binding_mismatch",
    }
    found = unread(*TALK, transformations=(dropped,))
    assert found == {"messages.1.content.0": "dropped by the API: prefix binding mismatch"}
    assert unread(*TALK, transformations=({**dropped, "type": "thinking_mismatch_allowed"},)) == {}


def test_as_many_results_as_were_cleared_are_left_out_the_oldest_first_and_no_excluded_ones() -> None:
    tools = [
        ("user", [TEXT]),
        ("assistant", [call("memory"), call("a"), call("b")]),
        ("user", [result("memory"), result("a"), result("b")]),
    ]
    edits = [{"type": "clear_tool_uses_20250919", "exclude_tools": ["memory"]}]
    found = unread(
        *tools,
        options={"context_management": {"edits": edits}},
        applied_edits=({"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1},),
    )
    assert found == {"messages.2.content.1": CLEARED}


def test_thinking_is_cleared_by_whole_turns() -> None:
    tools = [("assistant", [THOUGHT, call("a")]), ("user", [result("a")]), ("assistant", [THOUGHT, TEXT])]
    cleared = {"type": "clear_thinking_20251015", "cleared_thinking_turns": 1}
    found = unread(("user", [TEXT]), *tools, *TALK, applied_edits=(cleared,))
    assert found == {"messages.1.content.0": CLEARED, "messages.3.content.0": CLEARED}
