"""Compaction on demand (``compact-2026-09-04``): one signed block, where it may stand, and what stays valid behind it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import pytest

from memdash.simulator.compaction import _PROMPT, MOST_TOOLS
from memdash.simulator.engine import Outcome
from memdash.simulator.errors import ApiError
from memdash.simulator.hint import Hint
from memdash.simulator.pretend import Draft, Overloaded
from memdash.simulator.rules import BINDING_CONTROLS, COMPACTION_ON_DEMAND, THRESHOLD_COMPACTION
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

ON_DEMAND = caller(BINDING_CONTROLS, COMPACTION_ON_DEMAND)
SUMMARIZE = {"type": "summarize"}
ASK = len(_PROMPT.split()) + 3
"""Tokens of the instruction, with what opens its message."""
ERROR = {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}}


def talk(turns: int = 3, *, thought: int = 0, model: str = OPUS, **more: Any) -> Talk:
    """A conversation of so many turns of 60 and 20 words."""
    engine = new_engine(Parrot(words(20, "sum"), thinking=thought))
    conversation = Talk(engine, ON_DEMAND, model=model, **more)
    for turn in range(turns):
        conversation.say(words(60, f"w{turn}"))
    return conversation


def compact(conversation: Talk, messages: Any = None, **more: Any) -> Outcome:
    return conversation.send(messages, compaction=SUMMARIZE, **more)


def error(messages: Any, asker: Any = ON_DEMAND, **more: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        new_engine().create_message(body(messages, **more), asker, 0.0)
    return caught.value


def refused(messages: Any, code: str, **more: Any) -> None:
    found = error(messages, **more)
    assert (found.status, found.type, found.error_code) == (400, "invalid_request_error", code)


@pytest.fixture(scope="module")
def block() -> Mapping[str, Any]:
    """A block as it was returned."""
    found: Mapping[str, Any] = compact(talk()).message["content"][0]
    return found


def test_the_response_is_one_signed_block_and_bills_one_iteration() -> None:
    outcome = compact(talk())
    message = outcome.message
    (block,) = message["content"]
    assert set(block) == {"type", "content", "signature", "tool_changes"}
    assert (block["content"], block["tool_changes"]) == (words(20, "sum"), [])
    assert message["stop_reason"] == "compaction"
    assert usage(outcome) == (0, 0, 0)
    assert message["usage"]["output_tokens"] == 0
    # Three turns of 3 + 60 + 3 + 20 tokens, 3 open the reply.
    (iteration,) = message["usage"]["iterations"]
    assert (iteration["type"], iteration["input_tokens"], iteration["output_tokens"]) == (
        "compaction",
        3 * 86 + 3 + ASK,
        21,
    )
    assert outcome.timing.first_text_ms is None


def test_it_reads_the_cache_of_the_conversation() -> None:
    conversation = talk(cache_control=AUTO, system=words(600))
    (iteration,) = compact(conversation).message["usage"]["iterations"]
    # The last turn wrote up to its question; its answer is new, and behind the mark stand the reply's frame and the ask.
    last = 3 + 600 + 2 * 86 + 63
    assert iteration["cache_read_input_tokens"] == last
    assert iteration["cache_creation_input_tokens"] == 23
    assert iteration["input_tokens"] == 3 + ASK


def test_instructions_replace_the_prompt_and_blank_ones_do_not() -> None:
    conversation = talk(1)
    sizes = [
        conversation.send(compaction={**SUMMARIZE, "instructions": given}).message["usage"]["iterations"][0][
            "input_tokens"
        ]
        for given in ("Names only.", "  ", None)
    ]
    assert sizes == [86 + 3 + 3 + 6 + 2, 86 + 3 + ASK, 86 + 3 + ASK]


def test_the_block_stands_for_what_it_summarised() -> None:
    conversation = talk()
    block = compact(conversation).message["content"][0]
    # 8 around the block, 20 in it.
    assert usage(conversation.send([assistant([block]), user("go")])) == (3 + 8 + 20 + 3 + 1 + 3, 0, 0)
    # First block of the first message is the other allowed place.
    assert usage(conversation.send([user([block, text("go")])])) == (3 + 8 + 20 + 1 + 3, 0, 0)


def test_messages_left_behind_the_block_are_simply_read() -> None:
    conversation = talk(1)
    block = compact(conversation).message["content"][0]
    sent = [assistant([block]), *conversation.messages, user("go")]
    assert usage(conversation.send(sent)) == (3 + 28 + 86 + 3 + 1 + 3, 0, 0)


def test_compacting_again_supersedes_the_block() -> None:
    conversation = talk()
    conversation.messages = [assistant(compact(conversation).message["content"])]
    conversation.say("go")
    conversation.messages = [assistant(compact(conversation).message["content"])]
    assert conversation.say("go").message["stop_reason"] == "end_turn"


def test_a_kept_tail_keeps_its_thinking() -> None:
    conversation = talk(4, thought=9, **ERROR)
    tail = conversation.messages[4:]
    block = compact(conversation, conversation.messages[:4]).message["content"][0]
    conversation.messages = [assistant([block]), *tail]
    for _ in range(3):
        assert conversation.say("go on").message["input_transformations"] == []


def test_thinking_made_while_it_ran_in_the_background_stays_valid() -> None:
    conversation = talk(3, thought=9, **ERROR)
    block = compact(conversation).message["content"][0]
    covered = len(conversation.messages)
    conversation.say("meanwhile")
    conversation.messages = [assistant([block]), *conversation.messages[covered:]]
    conversation.say("behind the first")
    second = compact(conversation, conversation.messages[:3]).message["content"][0]
    conversation.messages = [assistant([second]), *conversation.messages[3:]]
    assert conversation.say("behind the second").message["input_transformations"] == []


BREAKS = {
    "a turn left out of the tail": lambda block, m: [assistant([block]), *m[6:]],
    "a tail that begins with the role the summarised part ended with": lambda block, m: [
        assistant([block]),
        *m[5:],
    ],
    "an edited tail": lambda block, m: [assistant([block]), user("other"), *m[5:]],
}


@pytest.mark.parametrize("edit", BREAKS.values(), ids=BREAKS)
def test_a_tail_that_does_not_follow_loses_its_thinking(edit: Any) -> None:
    conversation = talk(4, thought=9)
    block = compact(conversation, conversation.messages[:4]).message["content"][0]
    outcome = conversation.send([*edit(block, conversation.messages), user("go")])
    assert outcome.message["input_transformations"] != []


@pytest.mark.parametrize("change", [{"system": "Other."}, {"tools": [tool()]}])
def test_a_tail_under_another_fixed_part_loses_its_thinking(change: Mapping[str, Any]) -> None:
    conversation = talk(4, thought=9)
    block = compact(conversation, conversation.messages[:4]).message["content"][0]
    sent = [assistant([block]), *conversation.messages[4:], user("go")]
    assert conversation.send(sent).message["input_transformations"] == []
    assert conversation.send(sent, **change).message["input_transformations"] != []


def test_a_block_of_a_model_that_binds_nothing_does_not_keep_a_tail_valid() -> None:
    conversation = talk(4, thought=9)
    block = compact(conversation, conversation.messages[:4], model="claude-opus-5").message["content"][0]
    sent = [assistant([block]), *conversation.messages[4:], user("go")]
    assert conversation.send(sent).message["input_transformations"] != []


def test_a_failure_is_an_empty_answer_that_is_billed() -> None:
    outcome = compact(talk(), max_tokens=20)
    assert (outcome.message["content"], outcome.message["stop_reason"]) == ([], "max_tokens")
    (iteration,) = outcome.message["usage"]["iterations"]
    assert (iteration["input_tokens"], iteration["output_tokens"]) == (261 + ASK, 20)
    assert usage(outcome) == (0, 0, 0)
    full = [user(words(1_000_000 - 6 - ASK + 3 - 5))]
    outcome = new_engine(Parrot(words(20))).create_message(body(full, compaction=SUMMARIZE), ON_DEMAND, 0.0)
    assert (outcome.message["content"], outcome.message["stop_reason"]) == (
        [],
        "model_context_window_exceeded",
    )
    silent = new_engine(Parrot("")).create_message(body(compaction=SUMMARIZE), ON_DEMAND, 0.0)
    assert (silent.message["content"], silent.message["stop_reason"]) == ([], "end_turn")


def test_an_unanswered_message_is_handed_over() -> None:
    conversation = talk(1)
    conversation.messages.append(user("And what about the tram?"))
    assert compact(conversation).message["content"][0]["content"].endswith("And what about the tram?")


def test_a_model_that_cannot_answer_now_is_529() -> None:
    class Busy:
        def draft(self, request: Mapping[str, Any], hint: Hint | None, seed: int) -> Draft:
            raise Overloaded

    engine = new_engine(Busy())  # type: ignore[arg-type]
    with pytest.raises(ApiError) as caught:
        engine.create_message(body(compaction=SUMMARIZE), ON_DEMAND, 0.0)
    found = caught.value
    assert (found.status, found.type, found.error_code) == (529, "overloaded_error", "compaction_unavailable")
    with pytest.raises(ApiError) as caught:
        engine.create_message(body(), ON_DEMAND, 0.0)
    assert (caught.value.status, caught.value.error_code) == (529, None)


def test_two_blocks_with_content_are_ambiguous(block: Mapping[str, Any]) -> None:
    refused([assistant([block]), user("a"), assistant([block]), user("b")], "compaction_block_ambiguous")
    refused([assistant([block, block]), user("b")], "compaction_block_ambiguous")


def test_a_block_that_does_not_open_the_conversation_is_misplaced(block: Mapping[str, Any]) -> None:
    refused([user("a"), assistant([block]), user("b")], "compaction_block_misplaced")
    refused([assistant([text("a"), block]), user("b")], "compaction_block_misplaced")
    refused([user("a"), {"role": "system", "content": [block]}], "compaction_block_misplaced")


def test_an_altered_block_is_refused(block: Mapping[str, Any]) -> None:
    def sent(**changes: Any) -> list[Any]:
        return [assistant([{**block, **changes}]), user("go")]

    refused(sent(content="other words"), "compaction_content_mismatch")
    refused(sent(tool_changes=[{"type": "tool_removal", "tool": {}}]), "compaction_tool_changes_mismatch")
    refused(
        [assistant([{name: value for name, value in block.items() if name != "tool_changes"}]), user("go")],
        "compaction_tool_changes_mismatch",
    )
    raw = bytearray(base64.b64decode(block["signature"]))
    raw[-1] ^= 1
    for signature in ("nonsense!", "QUJD", base64.b64encode(raw).decode()):
        refused(sent(signature=signature), "compaction_signature_invalid")
    refused(
        [assistant([{"type": "compaction", "content": "forged"}]), user("go")], "compaction_signature_invalid"
    )


@pytest.mark.parametrize("extra", [{"encrypted_content": None}, {"tool_changes": None}, {"more": 1}])
def test_null_and_unknown_fields_are_refused(block: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
    found = error([assistant([{**block, **extra}]), user("go")])
    assert (
        found.message
        == f"messages.0.content.0.compaction.{next(iter(extra))}: Extra inputs are not permitted"
    )


def test_an_unanswered_tool_call_is_an_unfinished_turn() -> None:
    messages = [user("a"), assistant([tool_use("t1")])]
    refused(messages, "compaction_incomplete_turn", compaction=SUMMARIZE, tools=[tool()])
    answered = [*messages, user([tool_result("t1")])]
    outcome = new_engine().create_message(
        body(answered, compaction=SUMMARIZE, tools=[tool()]), ON_DEMAND, 0.0
    )
    assert outcome.message["stop_reason"] == "compaction"


def test_there_must_be_something_to_summarise() -> None:
    for nothing in ([assistant([])], [assistant([{"type": "compaction", "content": None}])]):
        refused(nothing, "compaction_nothing_to_summarize", compaction=SUMMARIZE)


def test_a_block_records_so_many_tools_only() -> None:
    calls = [tool_use(f"t{n}", f"tool_{n}") for n in range(MOST_TOOLS + 1)]
    messages = [user("a"), assistant(calls), user([tool_result(f"t{n}") for n in range(MOST_TOOLS + 1)])]
    refused(messages, "compaction_too_many_tool_references", compaction=SUMMARIZE)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"context_management": {"edits": []}}, "context_management"),
        ({"stop_sequences": ["END"]}, "stop_sequences"),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
            "output_config.format",
        ),
        (
            {"tool_choice": {"type": "any"}, "tools": [tool()], "model": "claude-opus-5"},
            'tool_choice of type "any"',
        ),
        ({"max_tokens": 0}, "max_tokens: 0"),
    ],
)
def test_what_shapes_a_reply_cannot_be_combined_with_it(more: Mapping[str, Any], message: str) -> None:
    both = caller(COMPACTION_ON_DEMAND, THRESHOLD_COMPACTION)
    found = error(None, both, compaction=SUMMARIZE, **more)
    assert found.message == f"compaction: cannot be combined with {message}"


def test_a_signed_block_and_a_compaction_edit_do_not_meet(block: Mapping[str, Any]) -> None:
    both = caller(COMPACTION_ON_DEMAND, THRESHOLD_COMPACTION)
    management = {"edits": [{"type": "compact_20260112"}]}
    found = error([assistant([block]), user("go")], both, context_management=management)
    assert "cannot be combined with a compaction edit" in found.message


def test_the_header_goes_out_with_every_request(block: Mapping[str, Any]) -> None:
    for found in (
        error(None, caller(), compaction=SUMMARIZE),
        error([assistant([block]), user("go")], caller()),
        error([assistant([block]), user("go")], caller(THRESHOLD_COMPACTION)),
    ):
        assert "requires anthropic-beta: compact-2026-09-04" in found.message


@pytest.mark.parametrize(
    ("compaction", "message"),
    [
        ({}, "compaction.type: Field required"),
        (
            {"type": "drop"},
            "compaction: Input tag 'drop' found using 'type' does not match any of the expected tags: 'summarize'",
        ),
        ({**SUMMARIZE, "trigger": 1}, "compaction.summarize.trigger: Extra inputs are not permitted"),
        (
            {**SUMMARIZE, "instructions": "a" * 16_385},
            "compaction.summarize.instructions: String should have at most 16384 characters",
        ),
    ],
)
def test_a_wrong_shape_is_refused(compaction: Any, message: str) -> None:
    assert error(None, compaction=compaction).message == message


def test_counting_ignores_the_parameter() -> None:
    conversation = talk(1)
    request = {"model": OPUS, "messages": conversation.messages, "compaction": SUMMARIZE}
    assert conversation.engine.count_tokens(request, ON_DEMAND, 0.0) == {"input_tokens": 89}
