from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.records import EventKind
from memdash.strategies import parse
from tests.strategies.workspaces import DeskWorkspace


def result(words, **more):
    text = " ".join(f"w{number}" for number in range(words))
    return {"type": "tool_result", "tool_use_id": "t1", "content": text, **more}


def test_a_large_result_keeps_its_head_and_tail_and_says_what_was_cut():
    desk = DeskWorkspace()
    capped = parse("cap_results:100").build().admit(result(1_000, is_error=True), desk)
    assert capped["content"].startswith("w0 w1 ")
    assert capped["content"].endswith(" w998 w999")
    assert "[… 900 tokens cut here …]" in capped["content"]
    assert (capped["tool_use_id"], capped["is_error"]) == ("t1", True)
    (event,) = desk.events
    assert event[0] is EventKind.CAP
    assert (event[1]["tool_use_id"], event[1]["before_tokens"]) == ("t1", 1_000)
    assert event[1]["after_tokens"] <= 110


def test_a_result_within_the_limit_is_the_same_object():
    desk = DeskWorkspace()
    block = result(100)
    assert parse("cap_results:100").build().admit(block, desk) is block
    assert desk.events == []


def test_blocks_that_are_no_text_stay():
    image = {"type": "image", "source": {"type": "url", "url": "https://example.invalid/a.png"}}
    parts = [{"type": "text", "text": result(500)["content"]}, image]
    capped = parse("cap_results:100").build().admit(result(0, content=parts), DeskWorkspace())
    assert capped["content"][1] is image
    assert "cut here" in capped["content"][0]["text"]


@pytest.mark.parametrize(
    "written", ["window:4", "truncate:4000", "compaction:2000", "running_brief", "instant_compaction"]
)
def test_it_works_in_front_of_any_other_strategy(written):
    colon = "," if ":" in written else ":"
    strategy = parse(f"{written}{colon}cap_results=100").build()
    assert "cut here" in strategy.admit(result(1_000), DeskWorkspace())["content"]
    assert parse(written).build().admit(result(1_000), DeskWorkspace()) == result(1_000)


@given(words=st.integers(0, 3_000), limit=st.integers(50, 500))
def test_what_is_left_is_never_longer_than_what_came(words, limit):
    desk = DeskWorkspace()
    block = result(words)
    capped = parse(f"cap_results:{limit}").build().admit(block, desk)
    assert len(capped["content"]) <= max(len(block["content"]), 0)
