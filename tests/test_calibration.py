"""Which blocks are counted, with how many calls, and what the counter's error is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from memdash.calibration import MOST_CALLS, Kind, Plan, calibrate, plan
from memdash.claude.counting import simulated_counter
from memdash.scripts import find_scripts
from memdash.scripts.model import Script, Step, ToolCall, Turn

MODEL = "claude-opus-5-5"
TOOLS = ({"name": "look", "description": "Look.", "input_schema": {"type": "object"}},)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/q842iQAAAABJRU5ErkJggg=="


def characters(body: Mapping[str, Any]) -> int:
    """A server that takes every character of every text for a token, and 100 for what frames a request."""
    texts: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if key == "input":
                    texts.append(json.dumps(inner))
                elif key == "text":
                    texts.append(inner)
                else:
                    walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(body)
    return 100 + sum(map(len, texts))


def everything() -> Script:
    """One block of each kind."""
    call = ToolCall("a", "look", {"at": 1}, "The door is open.")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    return Script(
        "all",
        "All",
        (
            Turn(
                1,
                ({"type": "text", "text": "Is the door open?"}, image),
                steps=(Step((call,), "Let me see."),),
            ),
            Turn(2, ({"type": "text", "text": "Спасибо, это всё."},), reply="You are welcome."),
        ),
        system="Help.",
        tools=TOOLS,
    )


def cells(chosen: Plan) -> set[tuple[Kind, str]]:
    return {(one.kind, one.writing) for one in chosen.samples}


def test_every_kind_of_block_and_every_writing_is_counted() -> None:
    assert cells(plan([everything()], MODEL)) == {
        (Kind.SYSTEM, "Latin"),
        (Kind.TOOLS, "code or data"),
        (Kind.USER, "Latin"),
        (Kind.USER, "Cyrillic"),
        (Kind.ASSISTANT, "Latin"),
        (Kind.TOOL_USE, "code or data"),
        (Kind.TOOL_RESULT, "Latin"),
        (Kind.IMAGE, "–"),
    }


def test_a_block_is_isolated_from_what_frames_it() -> None:
    chosen = plan([everything()], MODEL)
    found = calibrate(chosen, characters, lambda body: 0)
    counted = {(one.kind, one.writing): (one.counted, one.characters) for one in found.rows}
    assert counted[Kind.SYSTEM, "Latin"] == (5, 5)
    assert counted[Kind.USER, "Latin"] == (17, 17)
    assert counted[Kind.USER, "Cyrillic"] == (17, 17)
    assert counted[Kind.ASSISTANT, "Latin"] == (11 + 16, 27)
    assert counted[Kind.TOOL_USE, "code or data"] == (len('{"at": 1}') - len("{}"), 9)
    assert counted[Kind.TOOL_RESULT, "Latin"] == (17, 17)


def test_the_error_is_relative_to_the_servers_count() -> None:
    found = calibrate(plan([everything()], MODEL), characters, lambda body: 2 * characters(body))
    assert {one.relative for one in found.by_writing if one.counted} == {1.0}
    assert {one.relative for one in found.by_kind if one.counted} == {1.0}
    assert found.total.relative == 1.0
    assert found.total.texts == 9
    (image,) = [one for one in found.rows if one.kind is Kind.IMAGE]
    assert (image.counted, image.relative, image.characters) == (0, None, None)


def test_each_body_is_counted_once() -> None:
    chosen = plan([everything()], MODEL)
    asked: list[Any] = []
    calibrate(chosen, lambda body: asked.append(body) or 1, lambda body: 1)
    assert len(asked) == chosen.calls == len({json.dumps(body) for body in asked})


def test_no_body_holds_a_thinking_block_or_asks_for_an_answer() -> None:
    for body in plan(find_scripts("support-tools"), MODEL).bodies:
        assert "thinking" not in json.dumps(body)
        assert "max_tokens" not in body


@pytest.mark.parametrize("script", ["trip-planning", "support-tools", "long-project", "big-tools"])
def test_a_bundled_script_takes_a_handful_of_calls(script: str) -> None:
    assert 2 <= plan(find_scripts(script), MODEL).calls <= MOST_CALLS


def test_of_many_texts_short_middling_and_long_ones_are_taken() -> None:
    turns = tuple(Turn(n, ({"type": "text", "text": "word " * n},)) for n in range(1, 61))
    chosen = plan([Script("long", "Long", turns)], MODEL)
    assert [one.characters for one in chosen.samples] == [5 * 11, 5 * 31, 5 * 51]


def test_where_there_are_too_many_groups_those_with_the_least_text_are_left_out() -> None:
    names = {
        "Latin": "A long sentence in plain words. ",
        "Cyrillic": "Длинное предложение. ",
        "CJK": "我们五月去里斯本。",
        "Hangul": "우리는 오월에 갑니다.",
        "Greek": "Πάμε στη Λισαβόνα.",
        "Arabic": "سنسافر إلى لشبونة",
        "Hebrew": "אנחנו נוסעים לליסבון",
        "Thai": "เราจะไปลิสบอน",
        "Devanagari": "हम लिस्बन जा रहे हैं",
        "Georgian": "ჩვენ მივდივართ",
        "Armenian": "մենք գնում ենք",
    }
    calls = [
        Step((ToolCall(str(n), "look", {"at": n}, text),), text) for n, text in enumerate(names.values())
    ]
    turns = tuple(
        Turn(n, ({"type": "text", "text": text * (n + 1)},), steps=(calls[n - 1],))
        for n, text in enumerate(names.values(), start=1)
    )
    chosen = plan([Script("babel", "Babel", turns, system="Help.", tools=TOOLS)], MODEL)
    assert chosen.calls <= MOST_CALLS
    assert chosen.left_out
    assert not cells(chosen) & set(chosen.left_out)


def test_the_simulators_counter_agrees_with_itself_and_says_its_name() -> None:
    count, name = simulated_counter("estimate")
    assert name == "estimate"
    found = calibrate(plan(find_scripts("support-tools"), MODEL), count, count)
    assert {one.relative for one in found.rows} == {0.0}
