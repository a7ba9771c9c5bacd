from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from memdash.simulator.hint import Hint, HintedCall
from tests.simulator.engine_kit import (
    OPUS,
    Parrot,
    assistant,
    body,
    caller,
    new_engine,
    text,
    tool,
    tool_result,
    tool_use,
    user,
    words,
)

CALLS = (HintedCall("look_up", {"q": "a"}), HintedCall("book", {}))
TOOLS = [tool(), tool("book")]


def reply(parrot: Parrot, messages: Any = None, **more: Any) -> dict[str, Any]:
    return new_engine(parrot).create_message(body(messages, **more), caller(), 0.0).message


def types(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


def test_a_message_has_the_fields_of_the_api() -> None:
    message = reply(Parrot("Fine by me.", thinking=20), inference_geo="us", speed="fast")
    assert message["id"].startswith("msg_01")
    signature = message["content"][0]["signature"]
    assert {**message, "id": "…"} == {
        "id": "…",
        "type": "message",
        "role": "assistant",
        "model": OPUS,
        "content": [{"type": "thinking", "thinking": "", "signature": signature}, text("Fine by me.")],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "stop_details": None,
        "usage": {
            "input_tokens": 8,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 24,
            "output_tokens_details": {"thinking_tokens": 20},
            "service_tier": "standard",
            "inference_geo": "us",
            "speed": "fast",
        },
    }


def test_calls_follow_the_text_and_end_the_message() -> None:
    message = reply(Parrot("A moment.", calls=CALLS), tools=TOOLS)
    assert types(message) == ["text", "tool_use", "tool_use"]
    assert message["stop_reason"] == "tool_use"
    first, second = message["content"][1:]
    assert (first["name"], first["input"], second["name"]) == ("look_up", {"q": "a"}, "book")
    assert first["id"].startswith("toolu_01")
    assert first["id"] != second["id"]
    # 2 words; 12 + name 1 + {"q":"a"} 1; 12 + 1 + 1; 1 that ends the message.
    assert message["usage"]["output_tokens"] == 2 + 14 + 14 + 1


def test_what_a_reply_cost_is_what_it_adds_to_the_next_prompt() -> None:
    engine = new_engine(Parrot("A moment.", thinking=20, calls=CALLS))
    asked = [user("Look it up")]
    first = engine.create_message(body(asked, tools=TOOLS), caller(), 0.0).message
    results = [tool_result(block["id"]) for block in first["content"] if block["type"] == "tool_use"]
    grown = [*asked, assistant(first["content"]), user(results)]
    before, after = (
        engine.count_tokens(body(messages, tools=TOOLS, max_tokens=...), caller(), 0.0)["input_tokens"]
        for messages in (asked, grown)
    )
    # The reply but for its last token, two frames of 3, two results of 10 + 1.
    assert after - before == first["usage"]["output_tokens"] - 1 + 6 + 22


def test_only_tools_of_the_request_can_be_called() -> None:
    assert types(reply(Parrot("A moment.", calls=CALLS), tools=[tool("book")])) == ["text", "tool_use"]
    assert types(reply(Parrot("A moment.", calls=CALLS))) == ["text"]


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ({"type": "auto"}, ["look_up", "book"]),
        ({"type": "auto", "disable_parallel_tool_use": True}, ["look_up"]),
        ({"type": "any"}, ["look_up", "book"]),
        ({"type": "tool", "name": "book"}, ["book"]),
        ({"type": "none"}, []),
    ],
)
def test_tool_choice_rules_the_calls(choice: dict[str, Any], called: list[str]) -> None:
    message = reply(Parrot("", calls=CALLS), tools=TOOLS, tool_choice=choice, model="claude-opus-5")
    assert [block["name"] for block in message["content"]] == called


def test_a_forced_choice_calls_even_where_the_model_would_not() -> None:
    message = reply(Parrot("Fine."), tools=TOOLS, tool_choice={"type": "any"}, model="claude-opus-5")
    assert [(block["name"], block["input"]) for block in message["content"][1:]] == [("look_up", {})]


def test_a_text_is_cut_at_max_tokens() -> None:
    message = reply(Parrot(words(50)), max_tokens=10)
    assert message["content"] == [text(words(10))]
    assert (message["stop_reason"], message["usage"]["output_tokens"]) == ("max_tokens", 10)


def test_thinking_counts_towards_max_tokens() -> None:
    message = reply(Parrot(words(50), thinking=30), max_tokens=40)
    assert message["content"][1] == text(words(10))
    message = reply(Parrot(words(50), thinking=30), max_tokens=20)
    assert types(message) == ["thinking"]
    assert message["usage"]["output_tokens_details"] == {"thinking_tokens": 20}
    assert (message["stop_reason"], message["usage"]["output_tokens"]) == ("max_tokens", 20)


def test_a_call_that_does_not_fit_is_left_out() -> None:
    message = reply(Parrot("A moment.", calls=CALLS), tools=TOOLS, max_tokens=20)
    assert types(message) == ["text", "tool_use"]
    assert (message["stop_reason"], message["usage"]["output_tokens"]) == ("max_tokens", 20)


def test_a_reply_stops_at_the_end_of_the_window() -> None:
    # 4 + 199,973 + 3 leave 20 tokens.
    message = reply(Parrot(words(50)), [user(words(199_973))], model="claude-haiku-4-5")
    assert message["content"] == [text(words(20))]
    assert message["stop_reason"] == "model_context_window_exceeded"


def test_a_stop_sequence_ends_the_text_before_it() -> None:
    parrot = Parrot("One two STOP three HALT four", calls=CALLS)
    message = reply(parrot, stop_sequences=["HALT", "STOP"], tools=TOOLS)
    assert message["content"] == [text("One two ")]
    assert (message["stop_reason"], message["stop_sequence"]) == ("stop_sequence", "STOP")
    assert reply(Parrot("STOP"), stop_sequences=["STOP"])["content"] == []


@pytest.mark.parametrize(
    ("model", "thinking", "thinks"),
    [
        ("claude-opus-5-5", None, True),
        ("claude-opus-5", {"type": "disabled"}, False),
        ("claude-opus-4-8", None, False),
        ("claude-opus-4-8", {"type": "adaptive"}, True),
        ("claude-haiku-4-5", None, False),
        ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 1_024}, True),
        ("claude-sonnet-5-5", {"type": "between_tools"}, False),
    ],
)
def test_the_model_thinks_where_the_request_lets_it(model: str, thinking: Any, thinks: bool) -> None:
    message = reply(Parrot(thinking=50), model=model, thinking=thinking, max_tokens=2_000)
    assert ("thinking" in types(message)) is thinks


def test_an_easy_turn_may_have_no_thinking_block() -> None:
    assert types(reply(Parrot(thinking=0))) == ["text"]


def test_thinking_stays_within_its_budget() -> None:
    manual = {"type": "enabled", "budget_tokens": 1_024}
    message = reply(Parrot(thinking=5_000), model="claude-haiku-4-5", thinking=manual, max_tokens=9_000)
    assert message["usage"]["output_tokens_details"] == {"thinking_tokens": 1_024}


LOOP = [user("Look it up"), assistant([tool_use("a")]), user([tool_result("a")])]


def test_between_tools_means_inside_a_tool_loop() -> None:
    between = {"type": "between_tools"}
    message = reply(Parrot(thinking=50), LOOP, tools=TOOLS, model="claude-sonnet-5-5", thinking=between)
    assert types(message) == ["thinking", "text"]


def test_the_newest_models_give_text_between_calls_as_thinking() -> None:
    parrot = Parrot("One more look.", thinking=50, calls=CALLS[:1])
    message = reply(parrot, LOOP, tools=TOOLS)
    assert types(message) == ["thinking", "tool_use"]
    assert message["usage"]["output_tokens_details"] == {"thinking_tokens": 53}
    assert types(reply(parrot, LOOP, tools=TOOLS, model="claude-opus-5")) == ["thinking", "text", "tool_use"]
    assert types(reply(parrot, tools=TOOLS)) == ["thinking", "text", "tool_use"]


def test_equal_requests_get_different_replies_and_a_seed_makes_them_repeatable() -> None:
    def seeds_and_ids(**config: Any) -> list[tuple[int, str]]:
        parrot = Parrot(thinking=10)
        engine = new_engine(parrot, **config)
        ids = [engine.create_message(body(), caller(), 0.0).message["id"] for _ in range(3)]
        return list(zip(parrot.seeds, ids, strict=True))

    assert len({seed for seed, _ in seeds_and_ids()}) == 3
    assert seeds_and_ids(seed=3) == seeds_and_ids(seed=3)
    assert seeds_and_ids(seed=3) != seeds_and_ids(seed=4)
    assert seeds_and_ids(seed=None) != seeds_and_ids(seed=None)


def test_a_hint_alone_decides_the_seed() -> None:
    parrot = Parrot(thinking=10)
    hinted = caller(hint=Hint(seed=1234))
    messages = [
        new_engine(parrot, seed=seed).create_message(body(), hinted, 0.0).message for seed in (None, None, 3)
    ]
    assert parrot.seeds == [1234] * 3
    assert messages[0] == messages[1] == messages[2]
    new_engine(parrot).create_message(body([user("Something else")]), hinted, 0.0)
    assert parrot.seeds[-1] == 1234


def test_a_probe_does_not_change_the_replies_that_follow() -> None:
    ids = []
    for probes in (0, 2):
        engine = new_engine()
        for _ in range(probes):
            engine.create_message(body(), caller(), 0.0, commit=False)
        ids.append(engine.create_message(body(), caller(), 0.0).message["id"])
    assert ids[0] == ids[1]


def test_latency_grows_with_what_is_worked_through_and_written() -> None:
    def timing(parrot: Parrot, **more: Any) -> Any:
        engine = new_engine(parrot, latency_factor=1.0)
        return engine.create_message(body([user(words(10_000))], **more), caller(), 0.0).timing

    plain = timing(Parrot(words(100)))
    # Opus: 800 ms, 0.16 ms a prompt token (10,006), 18 ms an output token (101); the first text one token after the start.
    assert plain.first_event_ms == pytest.approx(800 + 0.16 * 10_006)
    assert plain.first_text_ms == pytest.approx(plain.first_event_ms + 18)
    assert plain.total_ms == pytest.approx(plain.first_event_ms + 18 * 101)
    thoughtful = timing(Parrot(words(100), thinking=50))
    assert thoughtful.first_text_ms == pytest.approx(plain.first_text_ms + 18 * 50)
    assert thoughtful.first_event_ms == plain.first_event_ms
    assert timing(Parrot(words(100)), speed="fast").total_ms < plain.total_ms
    assert timing(Parrot("", calls=CALLS), tools=TOOLS).first_text_ms is None


def test_a_cached_prompt_is_answered_sooner() -> None:
    engine = new_engine(latency_factor=1.0)
    request = body([user(words(10_000))], cache_control={"type": "ephemeral"})
    first = engine.create_message(request, caller(), 0.0).timing.first_event_ms
    second = engine.create_message(request, caller(), 60_000.0).timing.first_event_ms
    # 10,003 tokens read at 0.008 ms instead of worked through at 0.16 ms.
    assert first - second == pytest.approx(10_003 * 0.152)


def test_the_latency_factor_scales_every_time() -> None:
    whole, half, none = (
        new_engine(latency_factor=factor).create_message(body(), caller(), 0.0).timing
        for factor in (1.0, 0.5, 0.0)
    )
    assert half.total_ms == pytest.approx(whole.total_ms / 2)
    assert (none.first_event_ms, none.first_text_ms, none.total_ms) == (0.0, 0.0, 0.0)


def test_the_default_model_answers() -> None:
    from memdash.simulator.engine import Engine, SimulatorConfig

    engine = Engine(SimulatorConfig(seed=1, token_counter="estimate"))
    message = engine.create_message(body(), caller(), 0.0).message
    assert message["content"][-1]["text"]
    assert engine.token_counter.name == "estimate"


def test_several_threads_can_ask_at_once() -> None:
    engine = new_engine()

    def talk(number: int) -> int:
        messages: list[dict[str, Any]] = []
        for turn in range(10):
            messages.append(user(f"Question {turn} of {number}"))
            answer = engine.create_message(body(messages), caller(), 0.0).message
            messages.append(assistant(answer["content"]))
        return int(answer["usage"]["input_tokens"])

    with ThreadPoolExecutor(4) as pool:
        # Ten questions of 4 words and nine answers of 3, each in a frame of 3, and 3 for the reply.
        assert set(pool.map(talk, range(8))) == {10 * 7 + 9 * 6 + 3}
