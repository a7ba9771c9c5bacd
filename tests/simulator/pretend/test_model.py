"""What the pretend model does with a request: tool steps, recorded replies, ordinary chat, thinking."""

from __future__ import annotations

from statistics import mean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.simulator.hint import Hint, HintedCall, HintedStep
from memdash.simulator.pretend import HonestModel, replies, units
from memdash.simulator.pretend.values import Kind, values

MODEL = HonestModel()
TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("search", "read")]
SEARCH = HintedCall("search", {"q": "x"})
READ = HintedCall("read", {"path": "a"})


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def request(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "claude-opus-5-5", "max_tokens": 1024, "messages": list(messages), **fields}


def used(*ids: str) -> dict[str, Any]:
    return assistant([{"type": "tool_use", "id": one, "name": "search", "input": {}} for one in ids])


def result(*ids: str, said: str = "") -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": one, "content": "fine"} for one in ids
    ]
    return user([*blocks, {"type": "text", "text": said}] if said else blocks)


# -- tool steps ----------------------------------------------------------------------------------------------------------

STEPS = Hint(7, steps=(HintedStep((SEARCH, READ), "Let me look."), HintedStep((READ,))))


def test_the_scripted_steps_are_taken_in_turn_and_then_comes_the_final_answer() -> None:
    history = [user("Hi."), assistant("Hello."), user("Please look into it.")]
    first = MODEL.draft(request(*history, tools=TOOLS), STEPS, 7)
    assert (first.text, first.calls) == ("Let me look.", (SEARCH, READ))
    history += [used("a", "b"), result("a", "b")]
    assert MODEL.draft(request(*history, tools=TOOLS), STEPS, 7).calls == (READ,)
    history += [used("c"), result("c")]
    final = MODEL.draft(request(*history, tools=TOOLS), STEPS, 7)
    assert final.calls == ()
    assert final.text


def test_a_message_that_mixes_text_with_a_tool_result_does_not_begin_the_turn_anew() -> None:
    history = [user("Please look into it."), used("a", "b"), result("a", "b", said="Carry on.")]
    assert MODEL.draft(request(*history, tools=TOOLS), STEPS, 7).calls == (READ,)


def test_a_summary_before_the_user_message_changes_nothing() -> None:
    history = [user("Summary so far: nothing much."), user("Please look into it."), used("a"), result("a")]
    assert MODEL.draft(request(*history, tools=TOOLS), STEPS, 7).calls == (READ,)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tools": []},
        {"tools": TOOLS, "tool_choice": {"type": "none"}},
        {"tools": [{"name": "other", "input_schema": {}}]},
    ],
)
def test_no_tool_is_called_that_is_not_offered(fields: dict[str, Any]) -> None:
    draft = MODEL.draft(request(user("Please look into it."), **fields), STEPS, 7)
    assert draft.calls == ()
    assert draft.text


def test_without_a_hint_a_tool_is_called_only_when_the_request_forces_it() -> None:
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 2},
            "unit": {"enum": ["C", "F"]},
            "note": {"type": "string"},
        },
        "required": ["city", "days", "unit"],
    }
    weather = [{"name": "weather", "input_schema": schema}]
    assert MODEL.draft(request(user("Hello."), tools=weather), None, 1).calls == ()
    for choice in ({"type": "any"}, {"type": "tool", "name": "weather"}):
        (call,) = MODEL.draft(request(user("Hello."), tools=weather, tool_choice=choice), None, 1).calls
        assert call == HintedCall("weather", {"city": "example", "days": 2, "unit": "C"})


# -- replies -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["Nice day.", "What is my name?", "Summarise the conversation so far."])
def test_a_recorded_reply_is_given_as_it_is(said: str) -> None:
    assert MODEL.draft(request(user(said)), Hint(1, reply="Exactly this."), 1).text == "Exactly this."


def test_chat_depends_on_the_seed_alone() -> None:
    long = request(user("My budget is 900 euros."), assistant("Fine."), user("Is the tram worth it?"))
    short = request(user("Let us have a picnic."))
    assert MODEL.draft(long, None, 5).text == MODEL.draft(short, None, 5).text
    assert len({MODEL.draft(short, None, seed).text for seed in range(200)}) == 200


def test_replies_are_of_a_chats_length() -> None:
    lengths = [len(MODEL.draft(request(user("Nice day.")), None, seed).text.split()) for seed in range(300)]
    assert min(lengths) >= 40
    assert max(lengths) <= 80
    assert 60 <= mean(lengths) <= 75


@pytest.mark.parametrize(
    ("wording", "most"), [("at most 40 words", 40), ("under 25 words", 24), ("five words or fewer", 5)]
)
def test_a_word_limit_for_replies_is_obeyed(wording: str, most: int) -> None:
    for seed in range(40):
        reply = MODEL.draft(request(user("Nice day."), system=f"Answer in {wording}."), None, seed).text
        assert 0 < len(reply.split()) <= most


STOCK = [
    *replies._OPENERS,
    *replies._BODIES,
    *replies._CLOSERS,
    *replies._SHORT,
    *replies._BEFORE_CALLS,
]


@pytest.mark.parametrize("sentence", STOCK)
def test_what_it_chats_can_never_answer_a_question(sentence: str) -> None:
    assert not [unit for unit in units.units(sentence) if units.is_attribute(unit) or units.is_entity(unit)]
    assert not [kind for kind in Kind if values(sentence, kind)]


# -- thinking ------------------------------------------------------------------------------------------------------------


def thinking(seed: int, **fields: Any) -> int:
    return MODEL.draft(request(user("Nice day."), **fields), None, seed).thinking_tokens


def test_it_thinks_thirty_to_120_tokens_at_the_default_effort() -> None:
    tokens = [thinking(seed) for seed in range(300)]
    assert min(tokens) >= 30
    assert max(tokens) <= 120
    assert len(set(tokens)) > 50


def test_effort_scales_thinking() -> None:
    low, high, most = (
        mean(thinking(seed, output_config={"effort": one}) for seed in range(50))
        for one in ("low", "high", "max")
    )
    assert low < high < most
    assert high == mean(thinking(seed) for seed in range(50))


def test_it_does_not_think_where_thinking_is_off() -> None:
    assert thinking(1, thinking={"type": "disabled"}) == 0
    assert thinking(1, thinking={"type": "between_tools"}) == 0
    assert thinking(1, thinking={"type": "between_tools"}, tools=TOOLS) > 0


# -- any request ---------------------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=60) | st.sampled_from(
    [
        "What is my name?",
        "My name is Ana.",
        "Summarise the conversation.",
        "Which code opens locker 17?",
        "{}",
        '[{"a": 1}]',
        "<summary>",
        "3,100",
    ]
)
BLOCK = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": TEXT, "signature": TEXT}),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_use"),
            "id": TEXT,
            "name": TEXT,
            "input": st.dictionaries(TEXT, TEXT, max_size=2),
        }
    ),
    st.fixed_dictionaries(
        {"type": st.just("tool_result"), "tool_use_id": TEXT},
        optional={"content": TEXT | st.just([{"type": "text", "text": "x"}])},
    ),
    st.fixed_dictionaries({"type": st.just("compaction"), "content": TEXT | st.none()}),
    st.just({"type": "image", "source": {"type": "base64", "data": "x"}}),
    st.just({"type": "document", "source": {"type": "text", "data": "My name is Ana."}}),
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system"]), "content": TEXT | st.lists(BLOCK, max_size=3)}
)
SYSTEM = TEXT | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}), max_size=2)


@settings(max_examples=100, deadline=None)
@given(st.lists(MESSAGE, min_size=1, max_size=6), SYSTEM, st.integers(), st.integers(1, 5000))
def test_no_request_is_too_odd(
    messages: list[dict[str, Any]], system: Any, seed: int, max_tokens: int
) -> None:
    draft = MODEL.draft({"messages": messages, "system": system, "max_tokens": max_tokens}, None, seed)
    assert draft.text
    assert draft == MODEL.draft(
        {"messages": messages, "system": system, "max_tokens": max_tokens}, None, seed
    )


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1_000, 9_999),
    st.integers(0, 6),
    st.sampled_from(["What is the code of the safe?", "Which code opens the safe?", "What's our safe code?"]),
)
def test_the_value_of_an_answer_stands_in_the_request(value: int, place: int, question: str) -> None:
    said = ["Nice.", "Lovely.", "The tram is slow.", "I like walks.", "Hm.", "Well."]
    said.insert(place, f"The code of the safe is {value}.")
    answer = MODEL.draft(request(*(user(one) for one in said), user(question)), None, 1).text
    assert str(value) in answer
