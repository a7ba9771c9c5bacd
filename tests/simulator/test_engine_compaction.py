"""Compaction past a threshold (``compact-2026-01-12``): when it fires, what it costs, and what is read afterwards."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from memdash.simulator.compaction import _PROMPT
from memdash.simulator.engine import Engine, Outcome, SimulatorConfig
from memdash.simulator.errors import ApiError
from memdash.simulator.pretend import HonestModel
from memdash.simulator.rules import BINDING_CONTROLS, CONTEXT_EDITING, THRESHOLD_COMPACTION
from tests.simulator.engine_kit import (
    AUTO,
    OPUS,
    Parrot,
    Talk,
    WordCounter,
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

COMPACTING = caller(BINDING_CONTROLS, THRESHOLD_COMPACTION)
ASK = len(_PROMPT.split())
"""Tokens of the instruction; in front of it stands no frame, as it joins the user's message."""


def edits(trigger: int = 200, **more: Any) -> dict[str, Any]:
    edit = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": trigger}, **more}
    return {"edits": [edit]}


def talk(parrot: Parrot | None = None, trigger: int = 200, **more: Any) -> Talk:
    asked = {name: more.pop(name) for name in ("pause_after_compaction", "instructions") if name in more}
    engine = new_engine(parrot or Parrot(words(20, "sum")), relax_limits=True, enforce_binding=True)
    return Talk(engine, COMPACTING, context_management=edits(trigger, **asked), **more)


def kinds(outcome: Outcome) -> list[str]:
    return [block["type"] for block in outcome.message["content"]]


def iterations(outcome: Outcome) -> list[tuple[str, int, int]]:
    """Kind, whole prompt and output of each iteration."""
    return [
        (
            one["type"],
            one["input_tokens"] + one["cache_creation_input_tokens"] + one["cache_read_input_tokens"],
            one["output_tokens"],
        )
        for one in outcome.message["usage"]["iterations"]
    ]


def refusal(context_management: Any, asker: Any = COMPACTING, **more: Any) -> str:
    with pytest.raises(ApiError) as caught:
        new_engine().create_message(body(context_management=context_management, **more), asker, 0.0)
    assert (caught.value.status, caught.value.type) == (400, "invalid_request_error")
    return caught.value.message


def test_below_the_trigger_nothing_happens_but_iterations_are_reported() -> None:
    conversation = talk()
    # 3 open the message, 90 words, 3 open the reply.
    first = conversation.say(words(90))
    assert kinds(first) == ["text"]
    assert iterations(first) == [("message", 96, 21)]
    # 93 + 3 + 20 + 3 + 77 + 3 = 199 tokens.
    assert iterations(conversation.say(words(77))) == [("message", 199, 21)]


def test_at_the_trigger_the_api_compacts_and_answers_behind_the_block() -> None:
    conversation = talk()
    conversation.say(words(90))
    # 200 tokens now. The block holds the summary of 20 words, a marker of 8 and the open message of 78.
    second = conversation.say(words(78))
    assert kinds(second) == ["compaction", "text"]
    assert second.message["stop_reason"] == "end_turn"
    assert second.message["content"][0]["content"].startswith(words(20, "sum"))
    block = 20 + 8 + 78
    assert iterations(second) == [("compaction", 200 + ASK, block + 1), ("message", 3 + 8 + block + 3, 21)]
    assert usage(second) == (3 + 8 + block + 3, 0, 0), "the top-level usage leaves the compaction out"
    assert second.message["usage"]["output_tokens"] == 21
    assert second.message["context_management"] == {"applied_edits": []}


@pytest.mark.parametrize("cut", [True, False], ids=["cut by the client", "all of it sent"])
def test_everything_before_the_block_is_ignored(cut: bool) -> None:
    conversation = talk()
    conversation.say(words(90))
    conversation.say(words(78))
    if cut:
        conversation.messages = conversation.messages[-1:]
    # Frame, block, answer of 20, frame, 5 words, reply.
    assert iterations(conversation.say(words(5))) == [("message", 3 + 8 + 106 + 20 + 3 + 5 + 3, 21)]


def test_only_the_last_of_several_blocks_counts() -> None:
    conversation = talk()
    for size in (90, 78, 90, 90):
        conversation.say(words(size))
    blocks = [
        index
        for index, message in enumerate(conversation.messages)
        if message["role"] == "assistant" and message["content"][0]["type"] == "compaction"
    ]
    assert len(blocks) > 1
    whole = conversation.send([*conversation.messages, user("go")])
    assert usage(whole) == usage(conversation.send([*conversation.messages[blocks[-1] :], user("go")]))


def test_thinking_behind_the_block_stays_valid_whether_or_not_the_rest_is_sent() -> None:
    conversation = talk(Parrot(words(20, "sum"), thinking=7))
    for size in (90, 78, 5, 5):
        outcome = conversation.say(words(size))
        assert outcome.message["input_transformations"] == []
    conversation.messages = conversation.messages[3:]
    assert conversation.say("go").message["input_transformations"] == []


def test_a_pause_returns_the_block_alone_and_the_next_call_goes_on() -> None:
    conversation = talk(pause_after_compaction=True)
    conversation.say(words(90))
    paused = conversation.say(words(78))
    assert (kinds(paused), paused.message["stop_reason"]) == (["compaction"], "compaction")
    assert usage(paused) == (0, 0, 0)
    assert iterations(paused) == [("compaction", 200 + ASK, 107)]
    answer = conversation.send()
    assert (kinds(answer), answer.message["stop_reason"]) == (["text"], "end_turn")
    assert iterations(answer) == [("message", 3 + 8 + 106 + 3, 21)]


def test_a_paused_conversation_goes_on_even_where_its_fixed_part_alone_is_over_the_trigger() -> None:
    conversation = talk(pause_after_compaction=True, system=words(300))
    assert conversation.say("hello").message["stop_reason"] == "compaction"
    assert conversation.send().message["stop_reason"] == "end_turn"


def test_instructions_replace_the_default_prompt() -> None:
    conversation = talk(instructions="Only the names.")
    conversation.say(words(90))
    (compaction, _) = iterations(conversation.say(words(78)))
    # "Please summarise our conversation so far." and three words.
    assert compaction == ("compaction", 200 + 6 + 3, 107)


def test_a_summary_that_does_not_fit_the_window_fails_and_the_answer_reads_the_whole_prompt() -> None:
    # 1,000,000 is the window: 10 tokens are left behind the instruction.
    size = 1_000_000 - 10 - ASK - 6
    conversation = talk()
    outcome = conversation.say(words(size))
    assert outcome.message["content"][0] == {"type": "compaction", "content": None}
    assert iterations(outcome) == [("compaction", 1_000_000 - 10, 10), ("message", size + 6, 21)]
    assert usage(outcome) == (size + 6, 0, 0)


def test_a_failed_compaction_goes_back_as_a_no_op() -> None:
    engine = new_engine()
    failed = assistant([{"type": "compaction", "content": None}, text("Fine by me.")])
    plain = assistant([text("Fine by me.")])
    sizes = [
        usage(engine.create_message(body([user("Hello there"), one, user("go")]), COMPACTING, 0.0))
        for one in (failed, plain)
    ]
    assert sizes[0] == sizes[1]


def test_a_model_without_words_fails_to_summarise() -> None:
    outcome = talk(Parrot("")).say(words(300))
    assert outcome.message["content"] == [{"type": "compaction", "content": None}]
    assert iterations(outcome)[0] == ("compaction", 306 + ASK, 1)


def test_the_cache_holds_what_the_summary_call_read_and_what_stands_behind_the_block() -> None:
    marked = [text(words(600), cache_control=AUTO)]
    conversation = talk(trigger=900, system=marked, cache_control=AUTO)
    conversation.say(words(200))  # 3 + 600 + 3 + 200 + 3 = 809
    second = conversation.say(words(100))
    compaction, message = second.message["usage"]["iterations"]
    # 806 were there; 3 + 20 + 3 + 100 are new; behind the mark are the reply's frame and the instruction.
    assert compaction["cache_read_input_tokens"] == 806
    assert compaction["cache_creation_input_tokens"] == 126
    assert compaction["input_tokens"] == 3 + ASK
    # The system prompt survives; the block of 20 + 8 + 100 words with its frames is written.
    assert message["cache_read_input_tokens"] == 603
    assert message["cache_creation_input_tokens"] == 3 + 8 + 128
    assert message["input_tokens"] == 3
    third = conversation.say(words(10))
    assert usage(third) == (3, 20 + 3 + 10, 603 + 139)


def test_a_mark_may_stand_on_the_block_and_one_before_it_marks_nothing() -> None:
    engine = new_engine()
    block = {"type": "compaction", "content": words(600), "cache_control": AUTO}
    messages = [user([text(words(700), cache_control=AUTO)]), assistant([block]), user("go")]
    first = engine.create_message(body(messages), COMPACTING, 0.0)
    assert usage(first) == (3 + 1 + 3, 3 + 8 + 600, 0)
    assert usage(engine.create_message(body(messages[1:]), COMPACTING, 1.0)) == (7, 0, 611)


def test_counting_applies_a_block_and_never_compacts() -> None:
    conversation = talk()
    conversation.say(words(90))
    conversation.say(words(78))
    messages = [*conversation.messages, user(words(300))]
    count = conversation.engine.count_tokens(
        {"model": OPUS, "messages": messages, "context_management": edits()}, COMPACTING, 0.0
    )
    expected = 3 + 8 + 106 + 20 + 3 + 300 + 3
    assert count == {
        "input_tokens": expected,
        "context_management": {"original_input_tokens": expected},
    }


def test_it_fires_between_tool_calls_too_and_the_loop_goes_on() -> None:
    conversation = talk(tools=[tool()], trigger=600)
    conversation.messages = [user("Look it up."), assistant([tool_use("t1")])]
    outcome = conversation.say([tool_result("t1", words(300))])
    assert kinds(outcome) == ["compaction", "text"]
    assert "Look it up." in outcome.message["content"][0]["content"]


def test_what_is_to_be_answered_survives_a_second_compaction_in_the_same_turn() -> None:
    conversation = talk(tools=[tool()], trigger=600)
    conversation.messages = [user("Look it up."), assistant([tool_use("t1")])]
    first = conversation.say([tool_result("t1", words(300))])
    conversation.messages[-1] = assistant([first.message["content"][0], tool_use("t2")])
    second = conversation.say([tool_result("t2", words(300))])
    assert kinds(second) == ["compaction", "text"]
    assert second.message["content"][0]["content"].endswith("still to be answered:\nLook it up.")


def test_a_trial_sees_the_cache_that_the_summary_call_would_have_written_and_leaves_none_behind() -> None:
    engine = new_engine(Parrot(words(20, "sum")), relax_limits=True)
    request = body(
        [user(words(900))],
        system=[text(words(600), cache_control=AUTO)],
        context_management=edits(),
    )
    trial = engine.create_message(request, COMPACTING, 0.0, commit=False)
    assert [one["cache_read_input_tokens"] for one in trial.message["usage"]["iterations"]] == [0, 603]
    assert engine.create_message(request, COMPACTING, 0.0).message == trial.message


def test_the_clock_runs_through_both_iterations() -> None:
    engine = Engine(SimulatorConfig(seed=7, relax_limits=True), Parrot(words(20, "sum")), WordCounter())
    request = body([user(words(900))], context_management=edits())
    outcome = engine.create_message(request, COMPACTING, 0.0)
    (_, prompt, written), (_, behind, answer) = iterations(outcome)
    # Opus: 800 ms to begin, 0.16 a prompt token, 18 an output token.
    summary_ms = 800 + 0.16 * prompt + 18 * written
    answer_ms = 800 + 0.16 * behind
    assert outcome.timing.first_event_ms == pytest.approx(800 + 0.16 * prompt)
    assert outcome.timing.first_text_ms == pytest.approx(summary_ms + answer_ms + 18)
    assert outcome.timing.total_ms == pytest.approx(summary_ms + answer_ms + 18 * answer)


def test_an_absorbed_compaction_leaves_the_cache_as_an_answered_one() -> None:
    marked = {"system": [text(words(600), cache_control=AUTO)], "cache_control": AUTO}
    request = body([user(words(900))], context_management=edits(), **marked)

    def fresh() -> Engine:
        return Engine(SimulatorConfig(seed=7, relax_limits=True), Parrot(words(20, "sum")), WordCounter())

    answered, absorbed = fresh(), fresh()
    outcome = answered.create_message(request, COMPACTING, 0.0)
    absorbed.absorb(request, COMPACTING, 0.0, outcome.timing.first_event_ms, outcome.message)
    messages = [*request["messages"], assistant(outcome.message["content"]), user("go")]
    nxt = body(messages, context_management=edits(trigger=2_000), **marked)
    late = 299_000.0 + outcome.timing.first_event_ms
    expected = answered.create_message(nxt, COMPACTING, late)
    assert expected.message["usage"]["cache_read_input_tokens"] > 603
    assert absorbed.create_message(nxt, COMPACTING, late).message["usage"] == expected.message["usage"]


def test_the_pretend_model_answers_from_the_summary_alone() -> None:
    engine = Engine(SimulatorConfig(seed=7, relax_limits=True), HonestModel(), WordCounter())
    said = [
        user("Our budget is 2,400 euros for everything."),
        assistant("Noted."),
        user("What is our budget?"),
    ]
    outcome = engine.create_message(body(said, context_management=edits(20)), COMPACTING, 0.0)
    block, *rest = outcome.message["content"]
    assert "2,400" in block["content"]
    assert "What is our budget?" in block["content"]
    assert "2,400" in rest[-1]["text"]


LOW = "context_management.edits.0.compact_20260112.trigger.input_tokens.value"


@pytest.mark.parametrize(
    ("management", "message"),
    [
        (edits(49_999), f"{LOW}: Input should be greater than or equal to 50000"),
        (
            edits(50_000, pause_after_compaction="yes"),
            "context_management.edits.0.compact_20260112.pause_after_compaction: Input should be a valid boolean",
        ),
        (
            {"edits": [*edits(50_000)["edits"] * 2]},
            "context_management.edits.1.compact_20260112: each kind of edit may be given once",
        ),
        (
            {"edits": [{"type": "compact"}]},
            "context_management.edits.0: Input tag 'compact' found using 'type' does not match any of the expected tags: "
            "'compact_20260112'",
        ),
        ({"edits": [], "more": 1}, "context_management.more: Extra inputs are not permitted"),
    ],
)
def test_what_is_refused(management: Any, message: str) -> None:
    assert refusal(management) == message


def test_the_default_trigger_is_150_000() -> None:
    engine = new_engine()
    management = {"edits": [{"type": "compact_20260112"}]}
    for size, expected in ((149_993, ["text"]), (149_994, ["compaction", "text"])):
        request = body([user(words(size))], context_management=management)
        assert kinds(engine.create_message(request, COMPACTING, 0.0)) == expected


def test_without_its_header_the_field_does_not_exist() -> None:
    assert refusal(edits(50_000), caller()) == "context_management: Extra inputs are not permitted"
    assert refusal(edits(50_000), caller(CONTEXT_EDITING)).startswith(
        "context_management.edits.0: Input tag 'compact_20260112' found"
    )


def test_the_4_5_generation_cannot_compact() -> None:
    assert refusal(edits(50_000), model="claude-sonnet-4-5") == (
        "context_management.edits.0.compact_20260112: `compact_20260112` is not supported for claude-sonnet-4-5"
    )


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"type": "compaction", "content": ""}, "content: compaction content must be non-empty"),
        ({"type": "compaction"}, "content: Field required"),
        ({"type": "compaction", "content": "a", "extra": 1}, "extra: Extra inputs are not permitted"),
        ({"type": "compaction", "content": 7}, "content: Input should be a valid string"),
    ],
)
def test_a_block_of_the_wrong_shape_is_refused(block: Any, message: str) -> None:
    request = body([user("Hello"), assistant([block]), user("go")])
    with pytest.raises(ApiError, match=r"messages\.1\.content\.0\.compaction") as caught:
        new_engine().create_message(copy.deepcopy(request), COMPACTING, 0.0)
    assert caught.value.message == f"messages.1.content.0.compaction.{message}"


def test_a_block_comes_from_the_assistant_and_needs_the_header() -> None:
    block = {"type": "compaction", "content": "a"}
    with pytest.raises(
        ApiError, match=r"messages.0: `compaction` blocks can only be in `assistant` messages"
    ):
        new_engine().create_message(body([user([block])]), COMPACTING, 0.0)
    with pytest.raises(ApiError, match="Input tag 'compaction' found"):
        new_engine().create_message(body([assistant([block]), user("go")]), caller(), 0.0)
