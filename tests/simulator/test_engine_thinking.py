from __future__ import annotations

import copy
from typing import Any

import pytest

from memdash.models import MODELS
from memdash.simulator.engine import Caller, Engine
from memdash.simulator.errors import ApiError
from memdash.simulator.hint import HintedCall
from memdash.simulator.rules import BINDING_CONTROLS
from tests.simulator.engine_kit import (
    AUTO,
    Parrot,
    Talk,
    assistant,
    body,
    caller,
    new_engine,
    text,
    tool,
    tool_result,
    usage,
    user,
    words,
)

BOUND = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
WITHOUT_HEADER = " That setting requires the `thinking-binding-controls-2026-08-01` beta header."
MESSAGES_CHANGED = " The messages before the block have changed since it was created."


def controls(behavior: str | None) -> dict[str, Any]:
    return {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": behavior}}}


ERROR, DROP = controls("error"), controls("drop_block")


def thought_talk(turns: int = 4, model: str = "claude-opus-5-5", **more: Any) -> Talk:
    """A conversation of so many turns, each reply with 50 tokens of thinking and 3 words."""
    talk = Talk(new_engine(Parrot("Fine by me.", thinking=50)), model=model, **more)
    for turn in range(turns):
        talk.say(f"Question number {turn}")
    talk.messages.append(user("And the last one"))
    return talk


def without_thinking(messages: list[dict[str, Any]], *turns: int) -> list[dict[str, Any]]:
    """The messages without the thinking blocks of these turns (all turns if none are named)."""
    edited = copy.deepcopy(messages)
    for index, message in enumerate(edited):
        if message["role"] == "assistant" and (not turns or index // 2 in turns):
            message["content"] = [part for part in message["content"] if part["type"] != "thinking"]
    return edited


def refusal(talk: Talk, messages: list[dict[str, Any]], **more: Any) -> str:
    with pytest.raises(ApiError) as refused:
        talk.send(messages, **more)
    assert (refused.value.status, refused.value.type) == (400, "invalid_request_error")
    return refused.value.message


def test_a_thinking_block_is_signed_and_empty_on_models_that_omit_it() -> None:
    talk = thought_talk(1)
    block, answer = talk.messages[1]["content"]
    assert (block["type"], block["thinking"], answer) == ("thinking", "", text("Fine by me."))
    assert len(block["signature"]) > 100
    # 50 of thinking, 3 words, 1 that ends the reply.
    outcome = talk.send()
    assert outcome.message["usage"]["output_tokens"] == 54
    assert outcome.message["usage"]["output_tokens_details"] == {"thinking_tokens": 50}


@pytest.mark.parametrize(
    ("model", "display", "shown"),
    [
        ("claude-opus-5-5", None, False),
        ("claude-opus-5-5", "summarized", True),
        ("claude-sonnet-4-6", None, True),
        ("claude-sonnet-4-6", "omitted", False),
    ],
)
def test_display_decides_whether_a_summary_is_shown(model: str, display: str | None, shown: bool) -> None:
    talk = Talk(new_engine(Parrot(thinking=50)), model=model)
    thinking = {"type": "adaptive", **({"display": display} if display else {})}
    outcome = talk.say("Why?", thinking=thinking)
    assert bool(outcome.message["content"][0]["thinking"]) is shown
    assert outcome.message["usage"]["output_tokens_details"] == {"thinking_tokens": 50}
    talk.messages.append(user("And then?"))
    talk.send(thinking=thinking)


def test_kept_thinking_counts_as_input() -> None:
    talk = thought_talk(1)
    # 3 + 3 the question, 3 + 50 + 3 the reply, 3 + 4 the last question, 3 to open the reply.
    assert usage(talk.send()) == (72, 0, 0)
    assert usage(talk.send(without_thinking(talk.messages))) == (22, 0, 0)


def test_older_models_forget_thinking_when_a_new_turn_begins() -> None:
    manual = {"thinking": {"type": "enabled", "budget_tokens": 1_024}, "max_tokens": 2_000}
    talk = thought_talk(1, model="claude-haiku-4-5", **manual)
    # 4 + 3, 4 + 3, 4 + 4 and 3: no trace of the 50.
    assert usage(talk.send()) == (25, 0, 0)


def test_older_models_keep_thinking_inside_a_tool_loop() -> None:
    manual = {"thinking": {"type": "enabled", "budget_tokens": 1_024}, "max_tokens": 2_000}
    parrot = Parrot("", thinking=50, calls=(HintedCall("look_up", {}),))
    talk = Talk(new_engine(parrot), model="claude-haiku-4-5", tools=[tool()], **manual)
    call = talk.say("Look it up").message["content"][1]
    before = usage(talk.send([*talk.messages, user([tool_result(call["id"])])]))[0]
    after = usage(talk.send([*talk.messages, user([tool_result(call["id"]), text("And now this")])]))[0]
    # A text beside the results opens a new turn: 3 more words, 50 of thinking less.
    assert after == before + 3 - 50


def edited(messages: list[dict[str, Any]], index: int, content: Any) -> list[dict[str, Any]]:
    changed = copy.deepcopy(messages)
    changed[index]["content"] = content
    return changed


VALID = {
    "append": lambda m: [*m, assistant("I see."), user("One more")],
    "a cache mark": lambda m: edited(m, 0, [text("Question number 0", cache_control=AUTO)]),
    "a string as a block": lambda m: edited(m, 0, [text("Question number 0")]),
    "no thinking at all": without_thinking,
    "no thinking at the start": lambda m: without_thinking(m, 0, 1),
    "no thinking at the end": lambda m: without_thinking(m, 2, 3),
    "no thinking at either end": lambda m: without_thinking(m, 0, 3),
    "an edit after all thinking": lambda m: edited(m, -1, "Something else"),
}


@pytest.mark.parametrize("change", VALID.values(), ids=VALID)
def test_these_changes_leave_thinking_valid(change: Any) -> None:
    talk = thought_talk()
    assert talk.send(change(talk.messages), **ERROR).message["input_transformations"] == []


@pytest.mark.parametrize(
    "more",
    [
        {"max_tokens": 500},
        {"output_config": {"effort": "low"}},
        {"cache_control": AUTO},
        {"tool_choice": {"type": "none"}, "tools": [tool()]},
    ],
    ids=["max_tokens", "effort", "cache_control", "tool_choice"],
)
def test_these_options_leave_thinking_valid(more: dict[str, Any]) -> None:
    talk = thought_talk(**({"tools": more["tools"]} if "tools" in more else {}))
    assert talk.send(**ERROR, **more).message["input_transformations"] == []


INVALID = {
    "an earlier question": (lambda m: edited(m, 0, "Question number 9"), 1),
    "a later question": (lambda m: edited(m, 4, "Question number 9"), 5),
    "an earlier answer": (lambda m: edited(m, 1, [m[1]["content"][0], text("Not by me.")]), 3),
    "a message left out": (lambda m: m[2:], 1),
    "two messages swapped": (lambda m: [m[2], m[1], m[0], *m[3:]], 1),
    "a timestamp in front": (lambda m: edited(m, 0, [text("12:31"), text("Question number 0")]), 1),
    "a middle thinking block left out": (lambda m: without_thinking(m, 1), 5),
}


@pytest.mark.parametrize(("change", "first"), INVALID.values(), ids=INVALID)
def test_these_changes_make_later_thinking_invalid(change: Any, first: int) -> None:
    talk = thought_talk()
    message = refusal(talk, change(talk.messages), **ERROR)
    assert message.startswith(BOUND.replace("messages.1", f"messages.{first}"))


def test_the_message_says_what_changed() -> None:
    talk = thought_talk(tools=[tool()], system="Be kind.")
    changed = edited(talk.messages, 0, "Changed")
    assert refusal(talk, changed, **ERROR) == BOUND + MESSAGES_CHANGED
    assert refusal(talk, talk.messages, **ERROR, system="Be brief.").endswith(
        " The system prompt has changed since the block was created."
    )
    assert refusal(talk, talk.messages, **ERROR, tools=[tool("other")]).endswith(
        " The tool definitions have changed since the block was created."
    )
    assert refusal(talk, without_thinking(talk.messages, 1), **ERROR).endswith(
        " A thinking block before it was removed or put back since it was created."
    )


def test_a_thinking_block_put_back_makes_later_ones_invalid() -> None:
    talk = thought_talk(2)
    full = copy.deepcopy(talk.messages)
    talk.messages = without_thinking(talk.messages, 0)
    talk.messages.append(assistant(talk.send().message["content"]))
    talk.messages.append(user("Go on"))
    assert talk.send(**ERROR).message["input_transformations"] == []
    assert "messages.5.content.0" in refusal(talk, [*full, *talk.messages[5:]], **ERROR)


def test_the_order_of_keys_in_a_tool_input_leaves_thinking_valid() -> None:
    parrot = Parrot("", thinking=50, calls=(HintedCall("look_up", {"from": "Oslo", "to": "Rome"}),))
    talk = Talk(new_engine(parrot), tools=[tool()])
    for _ in range(2):
        call = talk.say("Look it up").message["content"][1]
        talk.messages.append(user([tool_result(call["id"])]))
        talk.messages.append(assistant("Done"))
    talk.messages.append(user("Thanks"))
    swapped = copy.deepcopy(talk.messages)
    swapped[1]["content"][1]["input"] = {"to": "Rome", "from": "Oslo"}
    assert talk.send(swapped, **ERROR).message["input_transformations"] == []


@pytest.mark.parametrize("header", [True, False], ids=["with the header", "without it"])
def test_new_accounts_are_checked_by_default(header: bool) -> None:
    engine = new_engine(Parrot(thinking=50), enforce_binding=True)
    talk = Talk(engine, caller(BINDING_CONTROLS) if header else caller())
    talk.say("First")
    talk.messages[0] = user("Changed")
    talk.messages.append(user("Second"))
    expected = BOUND + ("" if header else WITHOUT_HEADER) + MESSAGES_CHANGED
    assert refusal(talk, talk.messages) == expected


def test_older_accounts_are_told_and_the_blocks_stay() -> None:
    talk = thought_talk(2)
    honest = usage(talk.send())[0]
    outcome = talk.send(edited(talk.messages, 0, "Question number 9"))
    assert outcome.message["input_transformations"] == [
        {
            "type": "thinking_mismatch_allowed",
            "path": f"messages.{index}.content.0",
            "reason": "prefix_binding_mismatch",
        }
        for index in (1, 3)
    ]
    assert usage(outcome)[0] == honest


def test_without_the_header_nothing_is_reported() -> None:
    talk = thought_talk(2)
    talk.caller = caller()
    outcome = talk.send(edited(talk.messages, 0, "Question number 9"))
    assert "input_transformations" not in outcome.message


def test_dropped_blocks_are_reported_and_not_billed() -> None:
    talk = thought_talk(3)
    honest = usage(talk.send())[0]
    outcome = talk.send(edited(talk.messages, 2, "Question number 9"), **DROP)
    assert outcome.message["input_transformations"] == [
        {
            "type": "thinking_dropped",
            "path": f"messages.{index}.content.0",
            "reason": "prefix_binding_mismatch",
        }
        for index in (3, 5)
    ]
    assert usage(outcome)[0] == honest - 2 * 50


def test_a_middle_block_left_out_drops_every_later_one() -> None:
    talk = thought_talk(4)
    outcome = talk.send(without_thinking(talk.messages, 1), **DROP)
    paths = [entry["path"] for entry in outcome.message["input_transformations"]]
    assert paths == ["messages.5.content.0", "messages.7.content.0"]


def test_thinking_made_after_an_edit_is_bound_to_the_edited_history() -> None:
    talk = thought_talk(2)
    talk.messages = edited(talk.messages, 0, "Question number 9")
    talk.messages.append(assistant(talk.send(**DROP).message["content"]))
    talk.messages.append(user("Go on"))
    paths = [entry["path"] for entry in talk.send(**DROP).message["input_transformations"]]
    assert paths == ["messages.1.content.0", "messages.3.content.0"]


@pytest.mark.parametrize("model", sorted(MODELS))
def test_only_newer_models_check_what_stands_before(model: str) -> None:
    facts = MODELS[model]
    more: dict[str, Any] = {}
    if not facts.thinks_by_default:
        manual = {"type": "enabled", "budget_tokens": 1_024}
        more = {
            "thinking": {"type": "adaptive"} if "adaptive" in facts.thinking_types else manual,
            "max_tokens": 2_000,
        }
    talk = thought_talk(2, model=model, **more)
    outcome = talk.send(edited(talk.messages, 0, "Question number 9"))
    checked = {
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
        "claude-fable-5-1",
        "claude-fable-5-2",
        "claude-mythos-5-1",
        "claude-mythos-5-2",
    }
    assert bool(outcome.message["input_transformations"]) is (model in checked)


def moved(source: str, target: str, target_caller: Caller | None = None) -> list[dict[str, str]]:
    """What happens to thinking of one model when another is asked."""
    engine: Engine = new_engine(Parrot(thinking=50))
    talk = Talk(engine, caller(BINDING_CONTROLS), model=source)
    talk.say("First")
    talk.messages.append(user("Second"))
    talk.caller = target_caller or talk.caller
    transformations = talk.send(model=target).message["input_transformations"]
    assert isinstance(transformations, list)
    return transformations


def test_thinking_that_a_model_cannot_read_is_dropped_silently() -> None:
    dropped = [
        {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "model_binding_mismatch"}
    ]
    assert moved("claude-opus-5", "claude-opus-5-5") == []
    assert moved("claude-sonnet-5", "claude-sonnet-5-5") == []
    assert moved("claude-opus-5", "claude-sonnet-5-5") == dropped
    assert moved("claude-fable-5-1", "claude-opus-5-5") == dropped
    assert moved("claude-opus-5-5", "claude-opus-5") == dropped


def test_sonnet_and_haiku_5_5_read_only_their_own_accounts_thinking() -> None:
    other = caller(BINDING_CONTROLS, key="other")
    assert moved("claude-sonnet-5-5", "claude-sonnet-5-5", other) == [
        {
            "type": "thinking_dropped",
            "path": "messages.1.content.0",
            "reason": "organization_binding_mismatch",
        }
    ]
    assert moved("claude-opus-5-5", "claude-opus-5-5", other) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda block: {**block, "thinking": "I was told to."},
        lambda block: {**block, "signature": ""},
        lambda block: {**block, "signature": "EqQBCgIYAhIM"},
        lambda block: {**block, "signature": block["signature"][:-4] + "AAAA"},
        lambda block: {**block, "signature": "ü" + block["signature"]},
    ],
    ids=["text", "empty signature", "foreign signature", "altered signature", "not base64"],
)
@pytest.mark.parametrize("more", [{}, DROP], ids=["by default", "with drop_block"])
def test_an_altered_block_is_refused(change: Any, more: dict[str, Any]) -> None:
    talk = thought_talk(2)
    talk.messages[1]["content"][0] = change(talk.messages[1]["content"][0])
    assert refusal(talk, talk.messages, **more) == (
        "messages.1.content.0: Invalid `signature` in `thinking` block"
    )


def test_inside_a_tool_loop_the_latest_thinking_cannot_be_altered() -> None:
    talk = Talk(new_engine(Parrot("", 50, (HintedCall("look_up", {}),))), tools=[tool()])
    call = talk.say("Look it up").message["content"][1]
    talk.messages.append(user([tool_result(call["id"])]))
    talk.messages[1]["content"][0]["thinking"] = "I was told to."
    assert refusal(talk, talk.messages) == (
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
        "modified. These blocks must remain as they were in the original response."
    )


def test_redacted_thinking_is_accepted_and_counts() -> None:
    talk = Talk(new_engine(Parrot()))
    redacted = {"type": "redacted_thinking", "data": "x" * 60}
    talk.messages = [user("First"), assistant([redacted, text("Fine.")]), user("Second")]
    # 3 + 1, 3 + 11 + 1, 3 + 1 and 3.
    assert usage(talk.send()) == (26, 0, 0)


def test_pairing_is_checked_before_signatures() -> None:
    talk = Talk(new_engine(Parrot("", 50, (HintedCall("look_up", {}),))), tools=[tool()])
    talk.say("Look it up")
    talk.messages[0] = user("Changed")
    talk.messages.append(user("Never mind"))
    assert "`tool_use` ids were found without" in refusal(talk, talk.messages, **ERROR)


def test_counting_tokens_runs_the_same_check() -> None:
    talk = thought_talk(2)
    request = body(edited(talk.messages, 0, "Changed"), max_tokens=..., **ERROR)
    with pytest.raises(ApiError, match="bound to a different conversation"):
        talk.engine.count_tokens(request, talk.caller, 0.0)


def test_another_process_with_the_same_rules_verifies_a_signature() -> None:
    talk = thought_talk(3)
    talk.engine = new_engine(Parrot(), seed=99)
    assert talk.send(**ERROR).message["input_transformations"] == []


def test_thinking_moves_the_cache_only_from_the_first_dropped_block_on() -> None:
    talk = Talk(new_engine(Parrot(thinking=50)), system=words(600), cache_control=AUTO)
    talk.say("First question")
    talk.say("A second question")
    talk.messages.append(user("And a third"))
    assert usage(talk.send(without_thinking(talk.messages)))[2] == 603 + 5
