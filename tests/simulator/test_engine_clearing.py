"""Context editing (``context-management-2025-06-27``): what is cleared when, what is reported, and what it does to the cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.simulator.clearing import PLACEHOLDER
from memdash.simulator.engine import Engine
from memdash.simulator.errors import ApiError
from memdash.simulator.pretend import HonestModel
from memdash.simulator.rules import BINDING_CONTROLS, CONTEXT_EDITING, THRESHOLD_COMPACTION
from tests.simulator.engine_kit import (
    AUTO,
    OPUS,
    Parrot,
    Talk,
    assistant,
    body,
    caller,
    new_engine,
    text,
    tool,
    tool_result,
    tool_use,
    usage,
    user,
    words,
)

EDITING = caller(BINDING_CONTROLS, CONTEXT_EDITING)
FIXED = 3 + 3 + 286 + 12 + 6
"""Frames around a first message, the hidden prompt of tools, one tool definition of 6 words' worth."""
GONE = len(PLACEHOLDER.split())
TOOLS = [tool(), tool("note")]


def clear(trigger: int = 1, *, uses: bool = False, keep: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "tool_uses" if uses else "input_tokens", "value": trigger},
        "keep": {"type": "tool_uses", "value": keep},
        **more,
    }


def clear_thinking(keep: Any = None) -> dict[str, Any]:
    edit: dict[str, Any] = {"type": "clear_thinking_20251015"}
    return edit if keep is None else {**edit, "keep": keep}


def loop(sizes: Sequence[int], names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A user message and one tool call after the other, with results of so many words."""
    messages = [user("Look around.")]
    for number, size in enumerate(sizes):
        name = names[number] if names else "look_up"
        messages.append(assistant([tool_use(f"t{number}", name, {"at": "here and there"})]))
        messages.append(user([tool_result(f"t{number}", words(size))]))
    return messages


def send(messages: list[dict[str, Any]], *edits: Any, engine: Engine | None = None, **more: Any) -> Any:
    request = body(messages, tools=TOOLS, **more)
    if edits:
        request["context_management"] = {"edits": list(edits)}
    return (engine or new_engine()).create_message(request, EDITING, 0.0)


def applied(outcome: Any) -> list[tuple[str, int, int]]:
    found = []
    for edit in outcome.message["context_management"]["applied_edits"]:
        kind, tokens = edit["type"], edit["cleared_input_tokens"]
        count = edit["cleared_tool_uses" if "tool" in kind else "cleared_thinking_turns"]
        found.append((kind, count, tokens))
    return found


TOOL_USES, THINKING = "clear_tool_uses_20250919", "clear_thinking_20251015"


def test_the_oldest_results_go_and_the_newest_stay() -> None:
    messages = loop([100, 200, 300])
    plain = usage(send(messages))[0]
    edited = send(messages, clear(keep=1))
    saved = 100 + 200 - 2 * GONE
    assert applied(edited) == [(TOOL_USES, 2, saved)]
    assert usage(edited) == (plain - saved, 0, 0), "usage counts what is left"


def test_below_the_trigger_nothing_is_cleared_and_the_report_is_empty() -> None:
    messages = loop([100, 200])
    total = usage(send(messages))[0]
    assert applied(send(messages, clear(total))) == []
    assert applied(send(messages, clear(total - 1))) == [(TOOL_USES, 1, 100 - GONE)]


def test_the_trigger_may_be_a_number_of_tool_uses() -> None:
    assert applied(send(loop([50, 50]), clear(2, uses=True, keep=0))) == []
    assert applied(send(loop([50, 50, 50]), clear(2, uses=True, keep=0))) == [(TOOL_USES, 3, 150 - 3 * GONE)]


def test_nothing_is_cleared_unless_enough_can_go() -> None:
    messages = loop([100, 100, 100])
    least = 200 - 2 * GONE
    for value, count in ((least, 2), (least + 1, 0)):
        edit = clear(keep=1, clear_at_least={"type": "input_tokens", "value": value})
        # Gone through as it was said: when the second result came, one alone was too little.
        assert sum(one[1] for one in applied(send(messages, edit))) == count


def test_excluded_tools_keep_their_results() -> None:
    messages = loop([100, 100, 100], ["note", "look_up", "look_up"])
    assert applied(send(messages, clear(keep=1, exclude_tools=["note"]))) == [(TOOL_USES, 1, 100 - GONE)]


@pytest.mark.parametrize(("inputs", "count"), [(False, 0), (True, 2), (["note"], 1), ([], 0)])
def test_inputs_go_where_that_is_asked(inputs: Any, count: int) -> None:
    messages = loop([100, 100, 100], ["note", "look_up", "look_up"])
    saved = 200 - 2 * GONE
    # {"at":"here and there"} is three words, {} is one.
    assert applied(send(messages, clear(keep=1, clear_tool_inputs=inputs))) == [
        (TOOL_USES, 2, saved + 2 * count)
    ]


def test_the_report_comes_anew_with_every_request() -> None:
    messages = loop([100, 100])
    engine = new_engine()
    first = send(messages, clear(keep=1), engine=engine)
    later = [*messages, assistant("Done."), user("Thanks.")]
    assert applied(send(later, clear(keep=1), engine=engine)) == applied(first)


def test_the_cache_is_lost_from_the_first_cleared_position_and_holds_until_the_boundary_moves() -> None:
    engine = new_engine()
    edit = clear(2_000, keep=1)
    marks = {"system": [text(words(600), cache_control=AUTO)], "cache_control": AUTO}
    sizes = [500, 500, 500, 100, 100, 900]
    reads, counts = [], []
    for number in range(1, len(sizes) + 1):
        outcome = send(loop(sizes[:number]), edit, engine=engine, **marks)
        reads.append((usage(outcome)[2], usage(outcome)[1]))
        counts.append(sum(one[1] for one in applied(outcome)))
    # Past 2,000 tokens with the third result: two are cleared, then the boundary stays until the sixth.
    assert counts == [0, 0, 2, 2, 2, 5]
    for before, now, moved in zip(reads, reads[1:], (False, True, False, False, True), strict=False):
        if moved:
            assert now[0] < sum(before)
        else:
            assert now[0] == sum(before)
    assert reads[2][0] >= 600, "what stands before the first cleared result is still read"


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 400), min_size=1, max_size=12),
    trigger=st.integers(300, 3_000),
    keep=st.integers(0, 4),
    least=st.sampled_from([0, 100, 600]),
)
def test_clearing_only_ever_grows_and_one_engine_agrees_with_another(
    sizes: list[int], trigger: int, keep: int, least: int
) -> None:
    edit = clear(trigger, keep=keep, clear_at_least={"type": "input_tokens", "value": least})
    engine = new_engine()
    before = 0
    for number in range(1, len(sizes) + 1):
        messages = loop(sizes[:number])
        outcome = send(messages, edit, engine=engine)
        count = sum(one[1] for one in applied(outcome))
        assert before <= count <= max(0, number - keep)
        assert outcome.message["usage"] == send(messages, edit).message["usage"]
        before = count


def thoughtful(turns: int, **more: Any) -> Talk:
    conversation = Talk(new_engine(Parrot("Fine by me.", thinking=10)), EDITING, **more)
    for turn in range(turns):
        conversation.say(f"turn {turn}")
    return conversation


@pytest.mark.parametrize(
    ("keep", "turns"),
    [
        (None, 3),
        ({"type": "thinking_turns", "value": 1}, 3),
        ({"type": "thinking_turns", "value": 3}, 1),
        ({"type": "thinking_turns", "value": 9}, 0),
        ("all", 0),
        ({"type": "all"}, 0),
    ],
)
def test_old_thinking_goes(keep: Any, turns: int) -> None:
    conversation = thoughtful(4)
    conversation.messages.append(user("go"))
    plain = usage(conversation.send())[0]
    outcome = conversation.send(context_management={"edits": [clear_thinking(keep)]})
    assert applied(outcome) == ([(THINKING, turns, 10 * turns)] if turns else [])
    assert usage(outcome)[0] == plain - 10 * turns


def test_thinking_of_a_running_tool_loop_is_one_turn_and_stays() -> None:
    engine = new_engine(Parrot("Fine by me.", thinking=10))
    conversation = Talk(engine, EDITING, tools=TOOLS, context_management={"edits": [clear_thinking()]})
    thought = conversation.say("first").message["content"][0]
    conversation.messages.append(user("second"))
    inner = conversation.send().message["content"][0]
    conversation.messages += [
        assistant([inner, tool_use("t1")]),
        user([tool_result("t1")]),
    ]
    again = conversation.send().message
    assert thought["type"] == inner["type"] == "thinking"
    (edit,) = again["context_management"]["applied_edits"]
    assert (edit["cleared_thinking_turns"], edit["cleared_input_tokens"]) == (1, 10)
    assert again["input_transformations"] == []


@pytest.mark.parametrize(
    "edits", [[clear_thinking()], [clear(keep=0)], [clear_thinking(), clear(keep=0, clear_tool_inputs=True)]]
)
def test_thinking_stays_valid_with_the_edits_and_without_them_again(edits: list[Any]) -> None:
    engine = new_engine(Parrot("Fine by me.", thinking=10), enforce_binding=True)
    conversation = Talk(engine, EDITING, tools=TOOLS)
    conversation.messages = loop([100, 100])
    conversation.messages.append(assistant(conversation.send().message["content"]))
    for more in ({"context_management": {"edits": edits}}, {}, {"context_management": {"edits": edits}}):
        outcome = conversation.say("go on", **more)
        assert outcome.message["input_transformations"] == []


def test_thinking_first_then_tool_results_and_both_are_told_apart() -> None:
    conversation = thoughtful(2, tools=TOOLS)
    conversation.messages += loop([100, 100])
    outcome = conversation.send(context_management={"edits": [clear_thinking(), clear(keep=0)]})
    assert applied(outcome) == [(THINKING, 1, 10), (TOOL_USES, 2, 200 - 2 * GONE)]


def test_clearing_runs_before_compaction_which_sees_what_remains() -> None:
    engine = new_engine(relax_limits=True)
    both = caller(CONTEXT_EDITING, THRESHOLD_COMPACTION)
    messages = loop([300, 300, 300])
    compact = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 1_000}}
    request = body(messages, tools=TOOLS, context_management={"edits": [clear(keep=0), compact]})
    outcome = engine.create_message(request, both, 0.0)
    assert applied(outcome) == [(TOOL_USES, 3, 900 - 3 * GONE)]
    assert [one["type"] for one in outcome.message["usage"]["iterations"]] == ["message"]
    request["context_management"]["edits"][0] = clear(keep=2)
    outcome = engine.create_message(request, both, 0.0)
    assert [one["type"] for one in outcome.message["usage"]["iterations"]] == ["compaction", "message"]
    assert applied(outcome) == [(TOOL_USES, 1, 300 - GONE)]


def test_counting_gives_the_size_after_and_before() -> None:
    messages = loop([100, 200, 300])
    engine = new_engine()
    count = {"model": OPUS, "messages": messages, "tools": TOOLS}
    plain = engine.count_tokens(count, EDITING, 0.0)["input_tokens"]
    edited = engine.count_tokens({**count, "context_management": {"edits": [clear(keep=1)]}}, EDITING, 0.0)
    assert edited == {
        "input_tokens": plain - 300 + 2 * GONE,
        "context_management": {"original_input_tokens": plain},
    }


def test_the_pretend_model_does_not_see_what_was_cleared() -> None:
    messages = [
        user("Look it up."),
        assistant([tool_use("t1")]),
        user([tool_result("t1", "The gate code is K-4471. It was changed last week by the team on duty.")]),
        assistant("Done."),
        user("What is the gate code?"),
    ]
    engine = new_engine(HonestModel())  # type: ignore[arg-type]
    said = [
        send(messages, *edits, engine=engine).message["content"][-1]["text"]
        for edits in ((), (clear(keep=0),))
    ]
    assert ["K-4471" in one for one in said] == [True, False]


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([clear(), clear_thinking()], ".1.clear_thinking_20251015: `clear_thinking_20251015` must be the first edit"),
        ([clear(keep=-1)], ".0.clear_tool_uses_20250919.keep.tool_uses.value: Input should be greater than or equal to 0"),
        ([clear(trigger="many")], ".0.clear_tool_uses_20250919.trigger.input_tokens.value: Input should be a valid integer"),
        ([clear(clear_tool_inputs=[1])], ".0.clear_tool_uses_20250919.clear_tool_inputs.0: Input should be a valid string"),
        ([clear(more=1)], ".0.clear_tool_uses_20250919.more: Extra inputs are not permitted"),
    ],
)  # fmt: skip
def test_what_is_refused(edits: list[Mapping[str, Any]], message: str) -> None:
    with pytest.raises(ApiError) as caught:
        send(loop([1]), *edits)
    assert caught.value.message == f"context_management.edits{message}"


def test_a_request_without_edits_reports_none_and_one_without_the_field_says_nothing() -> None:
    assert "context_management" not in send(loop([1])).message
    request = body(context_management={})
    assert new_engine().create_message(request, EDITING, 0.0).message["context_management"] == {
        "applied_edits": []
    }


def test_on_a_model_that_strips_old_thinking_the_edit_can_keep_it() -> None:
    model = {
        "model": "claude-sonnet-4-5",
        "thinking": {"type": "enabled", "budget_tokens": 1_024},
        "max_tokens": 2_000,
    }
    conversation = thoughtful(3, **model)
    conversation.messages.append(user("go"))
    stripped = usage(conversation.send())[0]
    kept = conversation.send(context_management={"edits": [clear_thinking("all")]})
    assert usage(kept)[0] == stripped + 30
