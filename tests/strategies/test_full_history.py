from __future__ import annotations

from memdash.records import Usage
from memdash.strategies import parse
from tests.strategies.workspaces import DeskWorkspace, exchange, tool_exchange, user


def test_everything_is_sent_unchanged_block_by_block():
    desk = DeskWorkspace()
    strategy = parse("full_history").build()
    whole = [exchange(1, thinking=True), tool_exchange(2, thinking=True), exchange(3, thinking=True)]
    for one in whole:
        strategy.open(user("next"), desk)
        strategy.close(one, Usage(input_tokens=10**6), desk)
    sent = list(strategy.context())
    expected = [message for one in whole for message in one.messages]
    assert all(one is other for one, other in zip(sent, expected, strict=True))
    assert desk.events == []
