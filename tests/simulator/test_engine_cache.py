from __future__ import annotations

import pytest

from memdash.simulator.errors import ApiError
from tests.simulator.engine_kit import (
    AUTO,
    HOUR,
    MINUTE_MS,
    Parrot,
    Talk,
    assistant,
    body,
    caller,
    new_engine,
    text,
    tool,
    usage,
    user,
    words,
)


def test_an_append_only_conversation_reads_what_was_there_and_writes_what_is_new() -> None:
    talk = Talk(new_engine(Parrot("Fine by me.")), system=words(600), cache_control=AUTO)
    # system 3 + 600, question 3 + 2 = 608 up to the mark; 3 open the reply.
    assert usage(talk.say("First question")) == (3, 608, 0)
    # New: the reply 3 + 3 and the question 3 + 3.
    assert usage(talk.say("A second question")) == (3, 12, 608)
    assert usage(talk.say("And a third")) == (3, 12, 620)


def test_without_cache_control_everything_is_plain_input() -> None:
    talk = Talk(new_engine(), system=words(600))
    talk.say("First question")
    assert usage(talk.say("A second question")) == (623, 0, 0)


def test_counting_gives_the_sum_of_the_three_buckets() -> None:
    engine = new_engine()
    talk = Talk(engine, system=words(600), cache_control=AUTO)
    talk.say("First question")
    talk.messages.append(user("A second question"))
    counted = engine.count_tokens(body(talk.messages, system=words(600), max_tokens=...), caller(), 0.0)
    assert counted == {"input_tokens": sum(usage(talk.send()))} == {"input_tokens": 623}


def test_a_prompt_below_the_minimum_is_neither_written_nor_refused() -> None:
    talk = Talk(new_engine(), cache_control=AUTO)
    # 3 + 508 = 511 tokens up to the mark; Opus 5.5 caches from 512 on.
    assert usage(talk.say(words(508))) == (514, 0, 0)
    assert usage(Talk(new_engine(), cache_control=AUTO).say(words(509))) == (3, 512, 0)


@pytest.mark.parametrize(
    ("model", "minimum"),
    [("claude-sonnet-5", 1_024), ("claude-opus-4-7", 2_048), ("claude-haiku-4-5", 4_096)],
)
def test_the_minimum_is_the_models(model: str, minimum: int) -> None:
    below = Talk(new_engine(), cache_control=AUTO, model=model).say(words(minimum - 100))
    above = Talk(new_engine(), cache_control=AUTO, model=model).say(words(minimum))
    assert (usage(below)[1], usage(above)[1] > 0) == (0, True)


def test_nothing_is_stored_at_unmarked_blocks() -> None:
    talk = Talk(new_engine())
    marked = [user([text(words(600)), text(words(100), cache_control=AUTO)])]
    talk.send(marked)
    # The same first block under another second one: only the marked position was stored, and it is gone.
    assert usage(talk.send([user([text(words(600)), text(words(90, "other"), cache_control=AUTO)])]))[2] == 0


def test_a_mark_is_not_part_of_the_content() -> None:
    talk = Talk(new_engine())
    talk.send([user([text(words(600), cache_control=AUTO)])])
    moved = [user([text(words(600)), text("more words", cache_control=AUTO)])]
    assert usage(talk.send(moved)) == (3, 2, 603)


def test_a_string_and_one_text_block_are_the_same_content() -> None:
    talk = Talk(new_engine(), cache_control=AUTO)
    talk.send([user(words(600))])
    assert usage(talk.send([user([text(words(600))])])) == (3, 0, 603)


def test_consecutive_messages_of_one_role_are_one_turn() -> None:
    talk = Talk(new_engine(), cache_control=AUTO)
    talk.send([user([text(words(600)), text("more words")])])
    assert usage(talk.send([user(words(600)), user("more words")])) == (3, 0, 605)


def blocks(count: int, mark_at: int | None = None) -> list[dict[str, object]]:
    """One user message of so many blocks; the first is long, a mark may stand on the block of that number (from 1)."""
    parts = [text(words(600) if index == 1 else f"block {index}") for index in range(1, count + 1)]
    if mark_at is not None:
        parts[mark_at - 1]["cache_control"] = AUTO
    return [user(parts)]


def test_a_read_looks_at_the_marked_block_and_nineteen_before_it() -> None:
    talk = Talk(new_engine())
    talk.send(blocks(10, mark_at=10))
    # 603 + 9 × 2 = 621 tokens up to block 10.
    assert usage(talk.send(blocks(15, mark_at=15))) == (3, 10, 621)
    # From block 35 the look reaches back to 16: the entry at 15 is out of reach.
    assert usage(talk.send(blocks(35, mark_at=35))) == (3, 671, 0)


def test_the_twentieth_block_back_is_still_found() -> None:
    talk = Talk(new_engine())
    talk.send(blocks(10, mark_at=10))
    assert usage(talk.send(blocks(29, mark_at=29)))[2] == 621
    talk = Talk(new_engine())
    talk.send(blocks(10, mark_at=10))
    assert usage(talk.send(blocks(30, mark_at=30)))[2] == 0


def test_an_entry_lives_five_minutes_from_the_start_of_the_request() -> None:
    talk = Talk(new_engine(), system=words(600), cache_control=AUTO)
    talk.say("First")
    talk.now = 5 * MINUTE_MS - 1
    assert usage(talk.say("Second"))[2] == 607
    talk.now += 5 * MINUTE_MS
    assert usage(talk.say("Third"))[2] == 0


def test_a_read_renews_what_it_read() -> None:
    talk = Talk(new_engine(), system=[text(words(600), cache_control=AUTO)])
    for _ in range(4):
        outcome = talk.send([user("Same again")])
        talk.now += 4 * MINUTE_MS
    assert usage(outcome) == (8, 0, 603)


def test_a_read_from_further_on_renews_the_entry_at_an_unmarked_block() -> None:
    talk = Talk(new_engine())
    talk.send(blocks(5, mark_at=5))
    talk.now = 4 * MINUTE_MS
    talk.send(blocks(6, mark_at=6))
    talk.now = 8 * MINUTE_MS
    # The entry at block 5 was written 8 minutes ago and read 4 minutes ago.
    assert usage(talk.send(blocks(5, mark_at=5))) == (3, 0, 611)


def test_an_hour_mark_lives_an_hour() -> None:
    talk = Talk(new_engine(), system=words(600), cache_control=HOUR)
    first = talk.say("First")
    assert first.message["usage"]["cache_creation"] == {
        "ephemeral_5m_input_tokens": 0,
        "ephemeral_1h_input_tokens": 607,
    }
    talk.now = 59 * MINUTE_MS
    assert usage(talk.say("Second"))[2] == 607
    talk.now += 61 * MINUTE_MS
    assert usage(talk.say("Third"))[2] == 0


def test_mixed_lifetimes_bill_up_to_the_last_hour_mark_at_the_hour_price() -> None:
    talk = Talk(new_engine(), system=[text(words(600), cache_control=HOUR)], cache_control=AUTO)
    first = talk.say("First question")
    # 603 up to the hour mark, 5 more up to the automatic one.
    assert first.message["usage"]["cache_creation"] == {
        "ephemeral_5m_input_tokens": 5,
        "ephemeral_1h_input_tokens": 603,
    }
    talk.now = 10 * MINUTE_MS
    second = talk.say("A second question")
    # The five-minute entry is gone, the hour's is read: reply 3 + 3, question 3 + 3, first question 5.
    assert usage(second) == (3, 17, 603)
    assert second.message["usage"]["cache_creation"]["ephemeral_5m_input_tokens"] == 17


def test_an_entry_is_readable_once_the_response_has_begun() -> None:
    engine = new_engine(latency_factor=1.0)
    request = body([user(words(600))], cache_control=AUTO)
    first = engine.create_message(request, caller(), 0.0)
    early = engine.create_message(request, caller(), first.timing.first_event_ms - 1)
    assert usage(early) == (3, 603, 0)
    assert usage(engine.create_message(request, caller(), first.timing.first_event_ms)) == (3, 0, 603)


def test_a_probe_reads_and_leaves_no_trace() -> None:
    engine = new_engine()
    request = body([user(words(600))], cache_control=AUTO)
    engine.create_message(request, caller(), 0.0, commit=False)
    assert usage(engine.create_message(request, caller(), 1.0)) == (3, 603, 0)
    late = 5 * MINUTE_MS
    assert usage(engine.create_message(request, caller(), late, commit=False)) == (3, 0, 603)
    # The probe renewed nothing: a millisecond later the entry is gone.
    assert usage(engine.create_message(request, caller(), late + 1.0)) == (3, 603, 0)


def test_taking_in_an_answered_request_leaves_the_cache_as_sending_it_would() -> None:
    sent, absorbed = new_engine(latency_factor=1.0), new_engine(latency_factor=1.0)
    request = body([user(words(600))], cache_control=AUTO)
    outcome = sent.create_message(request, caller(), 50.0)
    absorbed.absorb(request, caller(), 50.0, 50.0 + outcome.timing.first_event_ms, outcome.message)
    for now in (50.0 + outcome.timing.first_event_ms - 1, 2_000.0, 50.0 + 5 * MINUTE_MS):
        probes = [engine.create_message(request, caller(), now, commit=False) for engine in (sent, absorbed)]
        assert probes[0] == probes[1]


def test_a_prewarming_request_writes_and_says_nothing() -> None:
    engine = new_engine()
    request = body([user(words(600))], system=[text(words(700), cache_control=AUTO)], max_tokens=0)
    outcome = engine.create_message(request, caller(), 0.0)
    assert (outcome.message["content"], outcome.message["stop_reason"]) == ([], "max_tokens")
    assert usage(outcome) == (606, 703, 0)
    assert outcome.message["usage"]["output_tokens"] == 0
    assert outcome.timing.first_text_ms is None
    later = body([user("Hello there")], system=[text(words(700), cache_control=AUTO)])
    assert usage(engine.create_message(later, caller(), 1.0)) == (8, 0, 703)


def fixed(**more: object) -> dict[str, object]:
    """A request with marks at the end of tools (286 + 12 + 600 + 1), of system (+ 603) and of the messages (+ 605)."""
    return body(
        [user(words(602))],
        **{
            "tools": [tool(description=words(600), cache_control=AUTO)],
            "system": [text(words(600), cache_control=AUTO)],
            "cache_control": AUTO,
            **more,
        },
    )


def read_after(change: dict[str, object], model: str = "claude-opus-5") -> int:
    """What a changed request reads of the unchanged one."""
    engine = new_engine()
    first = engine.create_message(fixed(model=model), caller(), 0.0)
    assert usage(first)[2] == 0
    return usage(engine.create_message(fixed(**{"model": model, **change}), caller(), 1.0))[2]


# A tool is written as JSON: {"name":"look_up","input_schema":{…},"description":"word … word"} is 600 words between its
# spaces. With the frame of 12 and the hidden prompt of 286 the tools end at 898, system at 898 + 603 = 1,501, the
# messages at 1,501 + 605 = 2,106.
TOOLS, SYSTEM, ALL = 898, 1_501, 2_106


@pytest.mark.parametrize(
    ("change", "read"),
    [
        pytest.param({}, ALL, id="nothing"),
        pytest.param({"max_tokens": 900}, ALL, id="max_tokens"),
        pytest.param({"stop_sequences": ["STOP"]}, ALL, id="stop_sequences"),
        pytest.param({"metadata": {"user_id": "someone"}}, ALL, id="metadata"),
        pytest.param({"stream": True}, ALL, id="stream"),
        pytest.param({"thinking": {"type": "adaptive"}}, ALL, id="an option spelled out at its default"),
        pytest.param({"output_config": {"effort": "high"}}, ALL, id="effort spelled out at its default"),
        pytest.param({"tool_choice": {"type": "auto"}}, ALL, id="tool_choice spelled out at its default"),
        pytest.param({"thinking": {"type": "adaptive", "display": "summarized"}}, ALL, id="display"),
        pytest.param({"speed": "standard"}, ALL, id="speed spelled out at its default"),
        pytest.param({"tool_choice": {"type": "none"}}, SYSTEM, id="tool_choice"),
        pytest.param({"tool_choice": {"type": "any"}}, SYSTEM, id="forced tool_choice"),
        pytest.param(
            {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, SYSTEM, id="parallel tools"
        ),
        pytest.param({"thinking": {"type": "disabled"}}, SYSTEM, id="thinking"),
        pytest.param({"output_config": {"effort": "low"}}, SYSTEM, id="effort"),
        pytest.param({"speed": "fast"}, TOOLS, id="speed"),
        pytest.param({"system": [text("Other " + words(599), cache_control=AUTO)]}, TOOLS, id="system"),
        pytest.param({"tools": [tool(description="Other " + words(599), cache_control=AUTO)]}, 0, id="tools"),
        pytest.param({"model": "claude-opus-5-5"}, 0, id="model"),
    ],
)
def test_a_change_loses_its_level_and_everything_after_it(change: dict[str, object], read: int) -> None:
    assert read_after(change) == read


def test_adding_an_image_loses_the_messages() -> None:
    engine = new_engine()
    engine.create_message(fixed(), caller(), 0.0)
    image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    with_image = {**fixed(), "messages": [user([text(words(602)), image])]}
    assert usage(engine.create_message(with_image, caller(), 1.0))[2] == SYSTEM


def test_switching_citations_on_loses_system_and_messages() -> None:
    engine = new_engine()
    source = {"type": "text", "media_type": "text/plain", "data": words(10)}

    def asking(cites: bool) -> dict[str, object]:
        document = {"type": "document", "source": source, "citations": {"enabled": cites}}
        return {**fixed(), "messages": [user([document, text(words(602))])]}

    engine.create_message(asking(False), caller(), 0.0)
    assert usage(engine.create_message(asking(True), caller(), 1.0))[2] == TOOLS


def test_another_key_reads_nothing() -> None:
    engine = new_engine()
    engine.create_message(fixed(), caller(key="mine"), 0.0)
    assert usage(engine.create_message(fixed(), caller(key="yours"), 1.0))[2] == 0


def test_the_order_of_keys_in_a_tool_input_counts() -> None:
    def turn(input: dict[str, str]) -> list[dict[str, object]]:
        call = {"type": "tool_use", "id": "a", "name": "look_up", "input": input}
        return [
            user(words(600)),
            assistant([call]),
            user([{"type": "tool_result", "tool_use_id": "a", "content": words(600)}]),
        ]

    talk = Talk(new_engine(), tools=[tool()], cache_control=AUTO)
    talk.send(turn({"from": "Oslo", "to": "Rome"}))
    # The prompt shows the input as it was written, so another order is another prompt.
    assert usage(talk.send(turn({"to": "Rome", "from": "Oslo"})))[2] == 0
    assert usage(talk.send(turn({"from": "Oslo", "to": "Rome"})))[2] > 1_200


def test_a_deferred_tool_changes_nothing() -> None:
    engine = new_engine()
    engine.create_message(fixed(), caller(), 0.0)
    tools = [
        tool(description=words(600), cache_control=AUTO),
        tool("later", description=words(50), defer_loading=True),
    ]
    assert (
        usage(engine.create_message(fixed(tools=tools), caller(), 1.0))[2]
        == usage(engine.create_message(fixed(), caller(), 2.0))[2]
    )


def test_a_warm_fixed_part_is_read_the_first_time() -> None:
    engine = new_engine(warm_fixed_part=True)
    request = body(system=[text(words(600), cache_control=AUTO)], cache_control=AUTO)
    assert usage(engine.create_message(request, caller(), 0.0)) == (3, 5, 603)
    # It is warm once, then it lives and dies like any other entry.
    assert usage(engine.create_message(request, caller(), 6 * MINUTE_MS)) == (3, 608, 0)


def test_only_a_marked_fixed_part_is_warm() -> None:
    engine = new_engine(warm_fixed_part=True)
    request = body(system=words(600), cache_control=AUTO)
    assert usage(engine.create_message(request, caller(), 0.0)) == (3, 608, 0)


def test_the_automatic_mark_passes_over_thinking_at_the_end() -> None:
    # A final assistant message can only be sent to a model that takes prefill.
    thinking = {"type": "redacted_thinking", "data": "x" * 60}
    request = body([user(words(4_100)), assistant([thinking])], model="claude-opus-4-5", cache_control=AUTO)
    # 4 + 4,100 up to the mark; the message that follows costs 4 + 11, and 3 open the reply.
    assert usage(new_engine().create_message(request, caller(), 0.0)) == (18, 4_104, 0)


def test_four_marks_are_allowed_and_a_fifth_is_refused() -> None:
    def marked(count: int) -> dict[str, object]:
        return body([user([text(f"block {index}", cache_control=AUTO) for index in range(count)])])

    new_engine().create_message(marked(4), caller(), 0.0)
    with pytest.raises(ApiError) as refused:
        new_engine().create_message(marked(5), caller(), 0.0)
    assert refused.value.message == "A maximum of 4 blocks with cache_control may be provided. Found 5."


def test_the_automatic_mark_takes_one_of_the_four_slots() -> None:
    marked = [text(f"block {index}", cache_control=AUTO) for index in range(4)]
    with pytest.raises(ApiError, match="Found 5"):
        new_engine().create_message(body([user([*marked, text("last")])], cache_control=AUTO), caller(), 0.0)
    # On a block that carries the same mark already it does nothing.
    new_engine().create_message(body([user(marked)], cache_control=AUTO), caller(), 0.0)


def test_the_automatic_mark_cannot_have_another_lifetime_than_the_mark_it_meets() -> None:
    with pytest.raises(ApiError, match="different ttl"):
        new_engine().create_message(
            body([user([text("block", cache_control=HOUR)])], cache_control=AUTO), caller(), 0.0
        )


def test_an_hour_mark_cannot_follow_a_five_minute_mark() -> None:
    with pytest.raises(ApiError) as refused:
        new_engine().create_message(
            body([user([text("a"), text("b", cache_control=HOUR)])], system=[text("s", cache_control=AUTO)]),
            caller(),
            0.0,
        )
    assert refused.value.message == (
        "messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
        "cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
    )


def test_a_changed_system_prompt_is_warm_too_under_tools_that_were_seen() -> None:
    engine = new_engine(warm_fixed_part=True)
    engine.create_message(fixed(), caller(), 0.0)
    other = [text("Other " + words(599), cache_control=AUTO)]
    assert usage(engine.create_message(fixed(system=other), caller(), 1.0)) == (3, 605, SYSTEM)
