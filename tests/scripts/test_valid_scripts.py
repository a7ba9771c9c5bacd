"""What a script file can say, what is warned of, and that scripts survive being written and read."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash import codec
from memdash.errors import ScriptError
from memdash.scripts import (
    Expectation,
    Fact,
    Grading,
    Script,
    Step,
    ToolCall,
    Turn,
    Value,
    ensure_valid,
    from_json,
    parse_script,
    script_hash,
    to_json,
    to_yaml,
)

EVERYTHING = """\
id: all
title: Everything a script can say
description: A test.
system: Be brief.
tools:
  - {name: look_up, description: Looks., input_schema: {type: object, properties: {q: {type: string}}}}
tool_defaults: {look_up: nothing}
max_tokens: 2048
effort: low
fixed_tokens: 3000
turns:
  - Our budget is 2,400 euros.
  - user: Look twice.
    pause: 420
    steps:
      - say: First this.
        calls:
          - {id: c1, name: look_up, input: {q: a}, result: We arrive on June 14th at 18:40.}
          - {name: look_up, input: {q: b}, result: "", error: true}
      - calls: [{name: look_up, result: Done}]
    reply: There it is.
  - user:
      - {type: text, text: And this?}
      - {type: image, source: {type: base64, media_type: image/png, data: aGk=}}
    system: Be even briefer.
    tools: []
  - user: Make it 1,900 then.
facts:
  - id: budget
    turn: 1
    kind: amount
    question: What is the budget?
    answer: {number: 2400}
    updates: [{turn: 4, answer: {number: 1900}}]
    probe_after: [1, 4]
  - {id: day, turn: 2, question: When?, answer: {date: 2026-06-14}, text: '18:40', probe_after: 3}
"""


def test_every_field_is_read() -> None:
    look_up = {
        "name": "look_up",
        "description": "Looks.",
        "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
    }
    number = {n: Expectation(Grading.NUMBER, (n,)) for n in ("2400", "1900")}
    assert parse_script(EVERYTHING) == Script(
        id="all",
        title="Everything a script can say",
        description="A test.",
        system="Be brief.",
        tools=(look_up,),
        tool_defaults={"look_up": "nothing"},
        max_tokens=2048,
        effort="low",
        fixed_tokens=3000,
        turns=(
            Turn(1, ({"type": "text", "text": "Our budget is 2,400 euros."},)),
            Turn(
                2,
                ({"type": "text", "text": "Look twice."},),
                pause=420.0,
                steps=(
                    Step(
                        (
                            ToolCall("c1", "look_up", {"q": "a"}, "We arrive on June 14th at 18:40."),
                            ToolCall("turn-2-call-2", "look_up", {"q": "b"}, "", is_error=True),
                        ),
                        "First this.",
                    ),
                    Step((ToolCall("turn-2-call-3", "look_up", {}, "Done"),)),
                ),
                reply="There it is.",
            ),
            Turn(
                3,
                (
                    {"type": "text", "text": "And this?"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                    },
                ),
                system="Be even briefer.",
                tools=(),
            ),
            Turn(4, ({"type": "text", "text": "Make it 1,900 then."},)),
        ),
        facts=(
            Fact(
                "budget",
                "What is the budget?",
                (
                    Value(1, number["2400"], number["2400"]),
                    Value(4, number["1900"], number["1900"]),
                ),
                (1, 4),
                kind="amount",
            ),
            Fact(
                "day",
                "When?",
                (
                    Value(
                        2, Expectation(Grading.DATE, ("2026-06-14",)), Expectation(Grading.REGEX, ("18:40",))
                    ),
                ),
                (3,),
            ),
        ),
    )


def test_plain_words_numbers_and_dates_are_text_where_text_is_wanted() -> None:
    script = parse_script("id: 7\ntitle: 2026-06-14\nturns: [yes, 42, user: no]\n")
    assert (script.id, script.title) == ("7", "2026-06-14")
    assert [turn.text for turn in script.turns] == ["yes", "42", "no"]


def test_the_file_name_is_the_id_of_a_script_that_gives_none() -> None:
    assert parse_script("turns: [hi]", "my-trip.yaml").id == "my-trip"
    with pytest.raises(
        ScriptError, match=r"^my trip!\.yaml:1: 'id' is missing, and the file's name does not make one$"
    ):
        parse_script("turns: [hi]", "my trip!.yaml")


def warnings(facts: str = "", **changes: Any) -> tuple[str, ...]:
    fields = {
        "system": "Be brief.",
        "reply": "Noted.",
        "later": "Where to?",
        "question": "What is it?",
    } | changes
    return parse_script(
        f"id: w\nsystem: {fields['system']}\nturns:\n  - {{user: The code is 4711., reply: Noted.}}\n"
        f"  - {{user: {fields['later']}, reply: {fields['reply']}}}\n"
        f"facts: [{{id: code, turn: 1, question: {fields['question']}, answer: '4711'}}]\n"
    ).warnings


def test_a_recorded_reply_that_repeats_a_fact_is_warned_of() -> None:
    assert warnings() == ()
    assert warnings(reply="Code 4711 it is.") == (
        "fact 'code': the recorded reply of turn 2 repeats it; it leaks the fact to every window",
    )


def test_a_user_who_repeats_a_fact_is_warned_of() -> None:
    assert warnings(later="I said 4711.") == (
        "fact 'code': the user repeats it in turn 2; it is remembered from there",
    )


def test_a_fact_that_needs_no_memory_is_warned_of() -> None:
    assert warnings(system="The code is 4711.") == (
        "fact 'code': the system prompt says it, so no strategy can forget it",
    )
    assert warnings(question="Is it 4711?") == ("fact 'code': the question itself gives the answer away",)


def test_an_update_that_mentions_the_old_value_is_no_repetition() -> None:
    script = parse_script(
        "id: u\nturns: [The code is 4711., 'Not 4711, the code is 5822.']\n"
        "facts: [{id: code, turn: 1, question: Which?, answer: '4711', updates: [{turn: 2, answer: '5822'}]}]"
    )
    assert script.warnings == ()


def test_text_before_a_call_leaks_as_a_reply_does_but_a_result_does_not() -> None:
    text = (
        "id: s\ntools: [{name: t, input_schema: {type: object}}]\nturns:\n  - The code is 4711.\n"
        "  - {user: Go., steps: [{say: SAY, calls: [{name: t, result: 4711 found}]}]}\n"
        "facts: [{id: code, turn: 1, question: Which?, answer: '4711'}]\n"
    )
    assert parse_script(text).warnings == ()
    assert parse_script(text.replace("SAY", "I look for 4711")).warnings == (
        "fact 'code': the text before a tool call of turn 2 repeats it; it leaks the fact to every window",
    )


def test_a_script_survives_yaml_and_json() -> None:
    script = parse_script(EVERYTHING)
    assert parse_script(to_yaml(script)) == script
    assert from_json(to_json(script)) == script


def test_the_hash_is_that_of_the_content_and_not_of_the_warnings() -> None:
    script = parse_script(EVERYTHING)
    assert script_hash(script) == script_hash(dataclasses.replace(script, warnings=("odd",)))
    assert script_hash(script) != script_hash(dataclasses.replace(script, system="Be kind."))
    # Written out so that a change of the canonical form, which would part stored scripts from loaded ones, is seen.
    canonical = (
        '{"description":"","effort":null,"facts":[],"fixed_tokens":null,"id":"a","max_tokens":1024,"system":"",'
        '"title":"a","tool_defaults":{},"tools":[],"turns":[{"content":[{"text":"hé","type":"text"}],"number":1,'
        '"pause":null,"reply":null,"steps":[],"system":null,"tools":null}]}'
    )
    simple = parse_script("id: a\nturns: [hé]\n")
    assert script_hash(simple) == hashlib.sha256(canonical.encode()).hexdigest()


def test_the_kind_of_a_fact_is_what_the_script_says_or_what_its_answer_is_graded_as() -> None:
    budget, day = parse_script(EVERYTHING).facts
    assert (budget.kind, budget.fact_type) == ("amount", "amount")
    assert (day.kind, day.fact_type) == (None, "date")
    assert dataclasses.replace(budget, kind=None).fact_type == "number"


def test_a_script_that_was_stored_before_facts_had_kinds_is_read_as_ever() -> None:
    script = parse_script(EVERYTHING)
    bare = dataclasses.replace(
        script, facts=tuple(dataclasses.replace(fact, kind=None) for fact in script.facts)
    )
    older = json.loads(to_json(bare))
    for fact in older["facts"]:
        del fact["kind"]
    assert from_json(json.dumps(older)) == bare
    assert codec.load_script(json.dumps(older)) == bare
    assert script_hash(bare) == script_hash(script)


def test_json_that_is_no_script_is_refused() -> None:
    with pytest.raises(ScriptError, match="not a stored script"):
        from_json("{}")
    invalid = to_json(parse_script("id: a\nturns: [hi]\n")).replace('"number":1', '"number":2')
    with pytest.raises(ScriptError, match=r"^turns\[0\]: is numbered 2; turns are numbered from 1 in order$"):
        from_json(invalid)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(
    lambda text: text.strip()
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """A valid script with hostile texts in every place that holds text."""
    tools = ({"name": "t", "description": draw(TEXT), "input_schema": {"type": "object", "x": draw(JSON)}},)
    turns = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        calls = tuple(
            ToolCall(
                f"c{number}-{index}",
                "t",
                draw(st.dictionaries(st.text(max_size=8), JSON, max_size=3)),
                draw(TEXT),
            )
            for index in range(draw(st.integers(0, 2)))
        )
        turns.append(
            Turn(
                number,
                ({"type": "text", "text": draw(TEXT)},),
                steps=(Step(calls, draw(st.sampled_from(["", "Look"]))),) if calls else (),
                reply=draw(st.none() | TEXT),
                pause=draw(st.none() | st.floats(0, 1000)),
                system=draw(st.none() | TEXT),
            )
        )
    return ensure_valid(
        Script("a", draw(TEXT), tuple(turns), draw(st.text("a \n#", max_size=9)), draw(TEXT), tools)
    )


@settings(max_examples=100)
@given(scripts())
def test_any_script_survives_yaml_and_json(script: Script) -> None:
    assert parse_script(to_yaml(script)) == script
    assert from_json(to_json(script)) == script
    assert script_hash(from_json(to_json(script))) == script_hash(script)


def test_the_example_of_the_reference_is_valid_and_round_trips() -> None:
    reference = (Path(__file__).resolve().parents[2] / "docs" / "scripts.md").read_text(encoding="utf-8")
    example = re.search(r"```yaml\n(.*?)```", reference, re.DOTALL)
    assert example is not None
    script = parse_script(example.group(1), "docs/scripts.md")
    assert script.warnings == ()
    assert [fact.id for fact in script.facts] == ["budget", "code"]
    assert parse_script(to_yaml(script)) == script
