from __future__ import annotations

import pytest

from memdash.errors import InputError
from memdash.strategies import parse
from tests.strategies.workspaces import DeskWorkspace, play, tool_exchange


def edits(text):
    options = parse(text).build().options()
    assert options.betas == ("context-management-2025-06-27",)
    return options.body["context_management"]["edits"]


def test_by_default_it_clears_tool_results_and_keeps_three():
    assert edits("context_editing") == [
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 100_000},
            "keep": {"type": "tool_uses", "value": 3},
        }
    ]


def test_every_setting_of_the_edit_is_handed_on():
    (edit,) = edits(
        "context_editing:30000,keep=4,clear_at_least=10000,exclude_tools=memory+note,clear_tool_inputs=true"
    )
    assert edit["keep"] == {"type": "tool_uses", "value": 4}
    assert edit["clear_at_least"] == {"type": "input_tokens", "value": 10_000}
    assert edit["exclude_tools"] == ["memory", "note"]
    assert edit["clear_tool_inputs"] is True


def test_thinking_comes_first_where_both_are_cleared():
    thinking, tool_uses = edits("context_editing:edits=both,keep_thinking=2")
    assert thinking == {
        "type": "clear_thinking_20251015",
        "keep": {"type": "thinking_turns", "value": 2},
    }
    assert tool_uses["type"] == "clear_tool_uses_20250919"
    assert [edit["type"] for edit in edits("context_editing:edits=thinking")] == ["clear_thinking_20251015"]


def test_the_client_sends_everything_unchanged_and_declares_nothing():
    desk, strategy = DeskWorkspace(), parse("context_editing:100").build()
    turns = [tool_exchange(turn, thinking=True) for turn in (1, 2, 3)]
    for one in turns:
        play(strategy, desk, one)
    sent = [message for one in turns for message in one.messages]
    assert all(mine is given for mine, given in zip(strategy.context(), sent, strict=True))
    assert desk.events == []


def test_an_empty_tool_name_is_refused():
    with pytest.raises(InputError, match="empty name"):
        parse("context_editing:exclude_tools=memory+")
