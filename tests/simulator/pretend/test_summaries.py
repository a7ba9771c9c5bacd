"""Summaries by the pretend model: recognised however they are asked for, extractive, within their limit."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.simulator.pretend import HonestModel
from memdash.simulator.pretend.limits import named
from memdash.simulator.pretend.orders import summary_order
from memdash.simulator.pretend.transcripts import divide

MODEL = HonestModel()
ORDER = "Write a session memory of this conversation for the next turn. At most {} words, no pleasantries."
FACTS = (
    "Hello! My name is Ottilie Brandt and I could use a hand with a trip.",
    "All in all, our budget for the week is 1,850 euros.",
    "Before you suggest restaurants: I am allergic to hazelnuts.",
    "Our flight lands on 23 September at 16:25.",
)
VALUES = ("Ottilie", "1,850", "hazelnuts", "23 September at 16:25")
QUESTIONS = ("What is my name?", "How much can we spend?", "What am I allergic to?", "When do we arrive?")
SMALL_TALK = (
    "Is the tram worth it?",
    "Thanks, that helps a lot!",
    "Which pastry should I try first?",
    "Sounds lovely, let's do that.",
    "Tell me something about the old bridge.",
    "Are the hills hard to walk?",
    "Could you recommend a quiet beach?",
    "What would you pack for a week?",
    "I would rather walk than ride.",
    "How do people greet each other there?",
    "Great, thank you.",
    "What else is there to see across the river?",
    "My brother draws a lot.",
)


def chat(
    said: Sequence[str], order: str, system: str = "You help people to plan.", **fields: Any
) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for number, text in enumerate(said):
        reply = MODEL.draft({"messages": [{"role": "user", "content": "Nice."}]}, None, number).text
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": reply}]
    return {
        "system": system,
        "max_tokens": 1024,
        "messages": [*messages, {"role": "user", "content": order}],
        **fields,
    }


def text(request: dict[str, Any]) -> str:
    return MODEL.draft(request, None, 1).text


def is_order(request: dict[str, Any]) -> bool:
    return summary_order(request, request["messages"]) is not None


# -- recognising ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "order",
    [
        "Summarize the conversation so far in at most 150 words.",
        "Condense the transcript below into a brief.\n\nUser: hi, my name is Ana\nAssistant: hello",
        "Create a session memory from this conversation.",
        "Write a handover note of this conversation.",
        "Compact this conversation.",
        "Recap our discussion for continuing later.",
        "You have been working on the task described above but have not yet completed it. Write a continuation summary that "
        "will allow another instance of yourself to resume work. Wrap your summary in <summary></summary> tags.",
        "Your task is to create a detailed summary of the conversation so far, with attention to the user's requests.",
        "Extract the key facts so that another assistant can continue.",
        "Progressively summarize the lines provided, adding onto the previous summary.\n\nCurrent summary:\nThe human asks about "
        "tea.\n\nNew lines of conversation:\nHuman: why?\nAI: because\n\nNew summary:",
        "Distill the above chat messages into a single summary message.",
        "Update the running brief with the exchanges below.\n\n"
        "<brief>\n- a b c d\n</brief>\n<exchanges>\nUser: hello there\n</exchanges>",
        "Please write a summary of everything we have discussed.",
        "TL;DR of the conversation above, please.",
        "Sum up our plan so far in one line.",
        "Write down everything the next assistant needs to know to carry on.",
        "Here is the conversation so far. Please compress it into under 100 words:\n\nuser: I like tea\nassistant: ok",
        "Compress the messages above into notes for yourself; they will replace the history.",
        "Produce a concise memory of this session.",
        "Make a short record of this session for the next turn: goals, decisions, values.",
        "Revise the brief so that it also covers the exchanges that follow.",
        "Can you summarize what we've talked about so far?",
        "Shorten the conversation, keeping names and numbers.",
    ],
)
def test_a_summary_is_recognised_in_any_wording(order: str) -> None:
    assert is_order(chat(["My name is Ana."], order))


@pytest.mark.parametrize(
    "message",
    [
        "Can you summarise what a pastel de nata is?",
        "Please write a brief note to the hotel.",
        "Give me a brief overview of the old town.",
        "Make a brief packing list for our trip.",
        "Here is a summary of the conversation so far:\n- Budget 2,400 euros\n\nWhat is my budget?",
        "Here is the handover note from the last session:\n- my name is Ana\nPlease continue with the next step.",
        "What did the summary say about the budget?",
        "Write me a brief message for the group chat.",
        "The transcript of the interview is 40 pages long. How long will reading take?",
        "Thanks for the recap!",
        "Keep it brief, please.",
        "Please compress the images before upload.",
        "Draft a short email to the customer explaining the delay.",
        "Record the error in the tracker.",
        "Can you note that I prefer aisle seats?",
    ],
)
def test_chat_that_mentions_such_words_is_no_order(message: str) -> None:
    assert not is_order(chat(["My name is Ana."], message))


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("You are a summariser. Condense conversations to at most 90 words.", True),
        ("You compress conversations into session memories.", True),
        ("Your task is to condense transcripts of chats.", True),
        ("You are a travel assistant. Keep replies brief, at most 80 words.", False),
        ("You are a support agent. When asked, summarise the conversation.", False),
        ("You are a planner; if the conversation gets long you may be given a summary of it.", False),
    ],
)
def test_a_system_prompt_can_order_a_summary(system: str, expected: bool) -> None:
    assert is_order(chat(["My name is Ana."], "Go on.", system)) is expected


# -- limits --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wording", "words"),
    [
        ("at most 150 words", 150),
        ("in under 150 words", 149),
        ("no more than 12 words", 12),
        ("150 words or fewer", 150),
        ("a maximum of 1,200 words", 1200),
        ("limit: 120 words", 120),
        ("≤ 100 words", 100),
        ("one hundred and fifty words", 150),
        ("twelve words at most", 12),
        ("80-100 words", 100),
        ("a word limit of 90", 90),
        ("max_words: 70", 70),
        ("a 60-word summary", 60),
        ("at most 100 tokens", 45),
    ],
)
def test_a_limit_is_read_however_it_is_worded(wording: str, words: int) -> None:
    limit = named(f"Summarise the conversation, {wording}.")
    assert limit is not None
    assert limit.words == words


def test_a_lower_bound_is_no_limit() -> None:
    assert named("Use at least 40 words.") is None


@pytest.mark.parametrize("words", [5, 12, 30, 60, 150])
def test_a_summary_never_exceeds_its_word_limit(words: int) -> None:
    summary = text(chat([*FACTS, *SMALL_TALK], ORDER.format(words)))
    assert 0 < len(summary.split()) <= words


def test_a_limit_inside_the_transcript_is_the_users_business() -> None:
    summary = text(
        {
            "max_tokens": 1024,
            "messages": [
                {
                    "role": "user",
                    "content": "Condense the transcript below, at most 60 words.\n\n"
                    "User: My name is Ana Duarte.\nAssistant: Hello Ana.\n"
                    "User: Answer in at most 3 words, please. I live in Braga.",
                }
            ],
        }
    )
    assert "Ana Duarte" in summary
    assert "Braga" in summary


def test_without_a_word_limit_the_answer_fits_max_tokens() -> None:
    said = [f"Item {n}: crate {n} holds {n * 3} lamps." for n in range(200)]
    summary = text(chat(said, "Summarise the conversation so far.", max_tokens=100))
    # Codes and numbers take up to 2.5 tokens a word.
    assert 20 <= len(summary.split()) <= 40


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=120),
        max_size=8,
    ),
    st.integers(1, 200),
)
def test_any_conversation_is_summarised_within_the_limit(said: list[str], words: int) -> None:
    messages = [{"role": ("user", "assistant")[at % 2], "content": one} for at, one in enumerate(said)]
    order = f"Summarise the conversation so far in at most {words} words."
    summary = text({"max_tokens": 900, "messages": [*messages, {"role": "user", "content": order}]})
    assert 0 < len(summary.split()) <= words


# -- what is kept --------------------------------------------------------------------------------------------------------


def test_facts_are_kept_before_chat() -> None:
    summary = text(chat([*FACTS, *SMALL_TALK, *SMALL_TALK[:9]], ORDER.format(60)))
    assert all(value in summary for value in VALUES)


def test_facts_in_the_middle_are_kept_as_well() -> None:
    summary = text(chat([*SMALL_TALK[:10], *FACTS, *SMALL_TALK[3:]], ORDER.format(150)))
    assert all(value in summary for value in VALUES)


def test_a_tight_limit_loses_facts() -> None:
    summary = text(chat([*FACTS, *SMALL_TALK], ORDER.format(12)))
    assert sum(value in summary for value in VALUES) < len(VALUES)


def test_of_sixty_equal_statements_some_are_lost() -> None:
    said = [f"The code of locker {number} is K-{400 + number}." for number in range(1, 61)]
    summary = text(chat(said, ORDER.format(150)))
    kept = [number for number in range(1, 61) if f"K-{400 + number}." in summary]
    # A statement takes 7 words and its bullet one: 150 // 8 = 18, the oldest first.
    assert kept == list(range(1, 19))


def test_nothing_is_invented() -> None:
    summary = text(chat([*FACTS, *SMALL_TALK], ORDER.format(150)))
    said = " ".join([*FACTS, *SMALL_TALK])
    for line in summary.splitlines():
        assert line.removeprefix("- ")[1:] in said


def test_the_newer_value_replaces_the_older() -> None:
    said = ["Our total budget is 2,400 euros.", *SMALL_TALK[:5], "Our total budget is now 3,100 euros."]
    summary = text(chat(said, ORDER.format(150)))
    assert "3,100" in summary
    assert "2,400" not in summary


def test_a_previous_brief_is_revised_not_forgotten() -> None:
    order = (
        "Revise the brief so that it covers the new exchanges. At most 100 words.\n\n"
        "<brief>\n- My name is Ottilie Brandt.\n"
        "- I am allergic to hazelnuts.\n</brief>\n\n<exchanges>\n"
        "User: Our budget is 1,850 euros.\nAssistant: Gladly, carry on.\n</exchanges>"
    )
    summary = text({"max_tokens": 900, "messages": [{"role": "user", "content": order}]})
    assert all(value in summary for value in ("Ottilie", "hazelnuts", "1,850"))
    assert "carry on" not in summary


def test_summaries_of_summaries_keep_the_facts() -> None:
    said: list[str] = list(FACTS)
    for round_ in range(4):
        summary = text(chat([*said, *SMALL_TALK[round_ * 2 : round_ * 2 + 6]], ORDER.format(150)))
        said = [f"Summary of the conversation so far:\n\n{summary}"]
    assert all(value in said[0] for value in VALUES)


def test_questions_are_answered_from_our_own_summary() -> None:
    summary = text(chat([*FACTS, *SMALL_TALK, *SMALL_TALK], ORDER.format(150)))
    for question, value in zip(QUESTIONS, VALUES, strict=True):
        messages = [
            {"role": "user", "content": f"Summary so far:\n\n{summary}"},
            {"role": "user", "content": question},
        ]
        assert value in text({"max_tokens": 900, "messages": messages})


def test_what_a_tool_found_is_kept_with_the_call_that_found_it() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "get_orders", "input": {"customer": "C-77"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": "order KX-20981 failed: card refused\nall else fine",
    }
    messages = [
        {"role": "user", "content": "Please look up my orders."},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "I had a look."},
        {"role": "user", "content": ORDER.format(60)},
    ]
    assert "get_orders(C-77): order KX-20981 failed: card refused" in text(
        {"max_tokens": 900, "messages": messages}
    )


def test_tags_are_used_where_they_are_asked_for() -> None:
    order = (
        "Summarise the conversation so far. Think in <analysis> tags first, then put the summary in <summary> tags. "
        "At most 100 words."
    )
    summary = text(chat(FACTS, order))
    assert summary.startswith("<analysis>")
    assert "<summary>" in summary
    assert summary.endswith("</summary>")
    assert len(summary.split()) <= 100


# -- what there is to summarise ------------------------------------------------------------------------------------------


def test_a_pasted_transcript_is_told_from_the_instructions() -> None:
    instructions, pasted = divide(
        "Condense the transcript into a brief.\nKeep:\n- decisions\n- values\n\nTranscript:\n"
        "User: I live in Braga.\nAssistant: Nice."
        "\n\nUse at most 50 words."
    )
    assert "I live in Braga." in pasted
    assert "decisions" in instructions
    assert "at most 50 words" in instructions
    assert "Braga" not in instructions


def test_a_list_of_what_to_keep_is_no_transcript() -> None:
    order = (
        "Summarise the conversation so far. Include the following:\n- decisions and why\n- values\n- open work\n\n"
        "At most 90 words."
    )
    assert divide(order)[1] == ""
    assert "Ottilie" in text(chat(FACTS, order))


def test_without_anything_said_the_summary_says_so() -> None:
    assert (
        text(
            {
                "max_tokens": 100,
                "messages": [{"role": "user", "content": "Summarise the conversation so far."}],
            }
        )
        == "Nothing was said yet."
    )


def test_calls_and_results_in_a_transcript_are_no_words_of_the_user() -> None:
    body = (
        "Summarise the conversation in at most 60 words.\n\n<transcript>\nUser: Please look up my orders.\n\n"
        'Assistant called get_orders: {"customer": "C-77"}\n\nResult of the call: order KX-20981 failed: card refused\n\n'
        "Assistant: Gladly.\n</transcript>"
    )
    summary = text({"max_tokens": 900, "messages": [{"role": "user", "content": body}]})
    assert "get_orders(C-77): order KX-20981 failed: card refused" in summary


def test_a_line_that_a_log_repeats_is_noise() -> None:
    lines = [
        f"10:00:{second:02d} ERROR gateway answered 502 to request {second * 37}" for second in range(30)
    ]
    lines.insert(11, "10:00:10 ERROR disk full on host vault-3")
    call = {"type": "tool_use", "id": "t1", "name": "logs", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "\n".join(lines)}
    messages = [
        {"role": "user", "content": "What happened? My ticket is T-118."},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "I had a look."},
        {"role": "user", "content": ORDER.format(30)},
    ]
    summary = text({"max_tokens": 900, "messages": messages})
    assert "disk full on host vault-3" in summary
    assert "T-118" in summary
    assert "502" not in summary


def _as_tags(said: Sequence[tuple[str, str]]) -> str:
    return "\n\n".join(f"<{role}>{text}</{role}>" for role, text in said)


def _as_attributes(said: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f'<message role="{role}">\n{text}\n</message>' for role, text in said)


def _as_json(said: Sequence[tuple[str, str]]) -> str:
    return json.dumps([{"role": role, "content": text} for role, text in said], indent=1)


def _as_json_lines(said: Sequence[tuple[str, str]]) -> str:
    return "\n".join(json.dumps({"role": role, "content": text}) for role, text in said)


def _in_brackets(said: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"[{role}] {text}" for role, text in said)


def _under_headings(said: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"### {role.title()}\n{text}" for role, text in said)


@pytest.mark.parametrize(
    "write", [_as_tags, _as_attributes, _as_json, _as_json_lines, _in_brackets, _under_headings]
)
@pytest.mark.parametrize(
    "order",
    [
        "Summarise this conversation in under 60 words so that it can be continued:\n\n{}",
        "{}\n\nWrite a brief of the above, 60 words at most.",
    ],
)
def test_a_transcript_is_read_in_any_common_form(
    write: Callable[[Sequence[tuple[str, str]]], str], order: str
) -> None:
    said = [pair for fact in FACTS for pair in (("user", fact), ("assistant", "Good to know."))]
    summary = text({"messages": [{"role": "user", "content": order.format(write(said))}]})
    assert all(value in summary for value in VALUES)
    # The statements themselves, without the form they came in.
    assert not any(mark in summary for mark in ("user", "role", "Good to know", "{", "<"))


@pytest.mark.parametrize(
    "pasted",
    [
        '[{"role": "user"}, {"role": "assistant", "content": null}, {"role": "user", "content": "My name is Bo Li."}]',
        '[{"role": "user", "content": ["x", {"type": 1}]}, {"role": "tool", "content": "My name is Bo Li."}]',
    ],
)
def test_a_pasted_message_without_content_is_passed_over(pasted: str) -> None:
    summary = text({"messages": [{"role": "user", "content": f"Summarise this conversation:\n{pasted}"}]})
    assert summary == "- My name is Bo Li."
