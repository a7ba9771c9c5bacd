from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.simulator.errors import ApiError
from memdash.simulator.hint import HintedCall
from memdash.simulator.rules import BINDING_CONTROLS
from tests.simulator.engine_kit import (
    AUTO,
    HOUR,
    Parrot,
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

CHECKED = {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}}
ASKER = caller(BINDING_CONTROLS)
few = settings(max_examples=60, deadline=None)
sentences = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), min_size=1, max_size=6).map(
    " ".join
)


class Turn:
    """One exchange of a random conversation."""

    def __init__(self, question: list[str], answer: str, thinking: int, calls: int, pause: float) -> None:
        self.question = question
        self.answer = answer
        self.thinking = thinking
        self.calls = calls
        self.pause = pause

    def __repr__(self) -> str:
        return f"Turn({self.question!r}, {self.answer!r}, {self.thinking}, {self.calls}, {self.pause})"


turns = st.builds(
    Turn,
    question=st.lists(sentences, min_size=1, max_size=3),
    answer=sentences,
    thinking=st.sampled_from([0, 20, 50]),
    calls=st.integers(0, 2),
    pause=st.sampled_from([1.0, 30_000.0, 200_000.0]),
)
conversations = st.lists(turns, min_size=1, max_size=6)


def held(conversation: list[Turn], **more: Any) -> list[tuple[dict[str, Any], Any, float]]:
    """Play a conversation with tools; return every request with its outcome and time."""
    parrot = Parrot()
    engine = new_engine(parrot, latency_factor=1.0)
    messages: list[dict[str, Any]] = []
    requests = []
    now = 0.0

    def send(parrot_calls: tuple[HintedCall, ...]) -> Any:
        nonlocal now
        parrot.calls = parrot_calls
        request = body(copy.deepcopy(messages), system=words(600), tools=[tool()], **more)
        outcome = engine.create_message(request, ASKER, now)
        counted = {name: value for name, value in request.items() if name != "max_tokens"}
        assert engine.count_tokens(counted, ASKER, now)["input_tokens"] == sum(usage(outcome))
        requests.append((request, outcome, now))
        messages.append(assistant(outcome.message["content"]))
        now += outcome.timing.total_ms
        return outcome

    for turn in conversation:
        now += turn.pause
        parrot.text, parrot.thinking = turn.answer, turn.thinking
        messages.append(user([text(part) for part in turn.question]))
        outcome = send((HintedCall("look_up", {"q": turn.answer}),) * turn.calls)
        if turn.calls:
            results = [block["id"] for block in outcome.message["content"] if block["type"] == "tool_use"]
            messages.append(user([tool_result(id, turn.answer) for id in results]))
            send(())
    return requests


@given(conversations, st.sampled_from([None, AUTO, HOUR]))
@few
def test_the_buckets_add_up_and_an_append_only_conversation_reads_all_it_wrote(
    conversation: list[Turn], mark: Any
) -> None:
    requests = held(conversation, cache_control=mark)
    known = 0
    for index, (_, outcome, now) in enumerate(requests):
        plain, written, read = usage(outcome)
        if mark is None:
            assert (written, read) == (0, 0)
            continue
        idle = now - requests[index - 1][2] if index else 0.0
        if mark is AUTO and idle >= 300_000.0:
            known = 0
        assert (plain, read) == (3, known)
        known = read + written


@given(conversations)
@few
def test_removing_all_thinking_or_moving_a_mark_never_fails_the_check(conversation: list[Turn]) -> None:
    request = copy.deepcopy(held(conversation)[-1][0])
    engine = new_engine()
    for message in request["messages"]:
        if message["role"] == "assistant":
            message["content"] = [part for part in message["content"] if part["type"] != "thinking"]
    assert engine.create_message({**request, **CHECKED}, ASKER, 0.0).message["input_transformations"] == []
    request = copy.deepcopy(held(conversation)[-1][0])
    for message in request["messages"][:4]:
        if message["content"][-1]["type"] != "thinking":
            message["content"][-1]["cache_control"] = AUTO
    assert engine.create_message({**request, **CHECKED}, ASKER, 0.0).message["input_transformations"] == []


@given(conversations, st.data())
@few
def test_one_changed_character_limits_the_read_and_kills_later_thinking(
    conversation: list[Turn], data: st.DataObject
) -> None:
    *_, (request, _, now) = held(conversation, cache_control=AUTO)
    places = [
        (index, at)
        for index, message in enumerate(request["messages"])
        for at, part in enumerate(message["content"])
        if part["type"] == "text"
    ]
    index, at = data.draw(st.sampled_from(places))
    changed = copy.deepcopy(request)
    part = changed["messages"][index]["content"][at]
    part["text"] = "X" + part["text"][1:]
    engine = new_engine()
    engine.create_message(request, ASKER, now)
    before = _tokens_before(request, index, at)
    assert usage(engine.create_message(changed, ASKER, now))[2] <= before
    later = [
        (later_index, later_at)
        for later_index, message in enumerate(changed["messages"])
        for later_at, block in enumerate(message["content"])
        if block["type"] == "thinking" and (later_index, later_at) > (index, at)
    ]
    if not later:
        engine.create_message({**changed, **CHECKED}, ASKER, now)
        return
    with pytest.raises(ApiError) as refused:
        engine.create_message({**changed, **CHECKED}, ASKER, now)
    assert refused.value.message.startswith("messages.{}.content.{}: Invalid `signature`".format(*later[0]))


def _tokens_before(request: dict[str, Any], index: int, at: int) -> int:
    """Tokens of the prompt before a block, counted on a request that ends there."""
    engine = new_engine()
    cut = copy.deepcopy(request["messages"][: index + 1])
    cut[-1]["content"] = cut[-1]["content"][:at]
    if cut[-1]["role"] == "assistant" or not cut[-1]["content"]:
        # A request cannot end there: replace the rest by a message of one word and take it off again.
        cut = [message for message in cut if message["content"]]
        answers = [
            tool_result(block["id"])
            for block in (cut[-1]["content"] if cut else [])
            if block["type"] == "tool_use"
        ]
        extra = user([*answers, text("x")])
        counted = body([*cut, extra], system=words(600), tools=[tool()], max_tokens=...)
        return engine.count_tokens(counted, ASKER, 0.0)["input_tokens"]
    counted = body(cut, system=words(600), tools=[tool()], max_tokens=...)
    return engine.count_tokens(counted, ASKER, 0.0)["input_tokens"] - 3


@given(conversations)
@few
def test_taking_in_a_conversation_leaves_the_cache_as_having_it_does(conversation: list[Turn]) -> None:
    requests = held(conversation, cache_control=AUTO)
    sent, absorbed = (new_engine(Parrot(), latency_factor=1.0) for _ in range(2))
    for request, outcome, now in requests:
        sent.create_message(request, ASKER, now)
        absorbed.absorb(request, ASKER, now, now + outcome.timing.first_event_ms, outcome.message)
    *_, (last, _, now) = requests
    for later in (0.0, 100.0, 5_000.0, 299_999.0, 300_000.0):
        for request, _, _ in requests:
            answers = [
                engine.create_message(request, ASKER, now + later, commit=False)
                for engine in (sent, absorbed)
            ]
            assert usage(answers[0]) == usage(answers[1])
    assert last is requests[-1][0]


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([1.0, 40_000.0, 310_000.0])), max_size=12))
@few
def test_a_long_lived_reader_forgets_nothing_that_matters(visits: list[tuple[int, float]]) -> None:
    """The tree of what was read is only there for speed: an engine that starts it anew each time bills the same."""
    kept, forgetful = new_engine(), new_engine()
    now = 0.0
    for number, pause in visits:
        now += pause
        request = body([user(words(600)), assistant("Fine"), user(f"Visit {number}")], cache_control=AUTO)
        forgetful._reader._conversations.clear()
        forgetful._reader._openings.clear()
        assert usage(kept.create_message(request, ASKER, now)) == usage(
            forgetful.create_message(request, ASKER, now)
        )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
field_names = st.sampled_from(
    [
        *(
            "type",
            "role",
            "content",
            "text",
            "thinking",
            "signature",
            "data",
            "id",
            "name",
            "input",
            "tool_use_id",
        ),
        *("is_error", "source", "media_type", "url", "title", "citations", "cache_control", "ttl", "tools"),
        *("system", "messages", "max_tokens", "tool_choice", "output_config", "effort", "format", "schema"),
        *("input_schema", "description", "budget_tokens", "block_binding", "display", "stop_sequences"),
    ]
)
words_of_the_api = st.sampled_from(
    [
        *(
            "text",
            "thinking",
            "redacted_thinking",
            "tool_use",
            "tool_result",
            "image",
            "document",
            "base64",
            "url",
        ),
        *("user", "assistant", "system", "ephemeral", "5m", "1h", "auto", "any", "tool", "none", "adaptive"),
        *(
            "enabled",
            "disabled",
            "between_tools",
            "custom",
            "memory_20250818",
            "object",
            "claude-opus-5-5",
            "",
            "a",
        ),
    ]
)
api_like = st.recursive(
    words_of_the_api | json_values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(field_names, inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(field_names | st.text(max_size=5), api_like, max_size=6))
@settings(max_examples=100, deadline=None)
def test_any_body_is_answered_or_refused(anything: dict[str, Any]) -> None:
    _answer_or_refuse(anything)
    _answer_or_refuse({**body(), **anything})


@given(st.lists(st.dictionaries(field_names, api_like, max_size=4) | api_like, max_size=4))
@settings(max_examples=100, deadline=None)
def test_any_blocks_are_answered_or_refused(blocks: list[Any]) -> None:
    _answer_or_refuse(body([user(blocks)]))
    _answer_or_refuse(body([user("x"), assistant(blocks), user("y")]))
    _answer_or_refuse(body(tools=blocks))
    _answer_or_refuse(body(system=blocks))


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_valid_request_with_one_odd_value_is_answered_or_refused(data: st.DataObject) -> None:
    request = copy.deepcopy(_full_request())
    holders: list[tuple[Any, Any]] = []

    def collect(value: Any) -> None:
        parts = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for key, part in list(parts):
            holders.append((value, key))
            collect(part)

    collect(request)
    holder, key = data.draw(st.sampled_from(holders))
    holder[key] = data.draw(api_like)
    _answer_or_refuse(request)


def _full_request() -> dict[str, Any]:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    document = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "x"},
        "title": "t",
    }
    call = {"type": "tool_use", "id": "a", "name": "look_up", "input": {"q": "x", "n": 1}}
    return body(
        [
            user([text("x", cache_control=HOUR), image, document]),
            assistant([{"type": "redacted_thinking", "data": "x"}, text("y"), call]),
            user([tool_result("a", [text("z", cache_control=AUTO)])]),
        ],
        system=[text("s", cache_control=HOUR)],
        tools=[tool(description="d", strict=True)],
        thinking={"type": "adaptive", "display": "omitted"},
        output_config={"effort": "low"},
        metadata={"user_id": "u"},
        cache_control=AUTO,
        stop_sequences=["STOP"],
        tool_choice={"type": "auto"},
    )


def _answer_or_refuse(request: Any) -> None:
    engine = new_engine()
    for asker in (caller(), caller(BINDING_CONTROLS, version="2023-06-01")):
        try:
            answer: dict[str, Any] | ApiError = engine.create_message(request, asker, 0.0).message
        except ApiError as error:
            answer = error
        if isinstance(answer, ApiError):
            assert answer.status in (400, 404)
            assert answer.message
        else:
            json.dumps(answer)


def test_the_full_request_is_valid() -> None:
    new_engine().create_message(_full_request(), caller(), 0.0)
