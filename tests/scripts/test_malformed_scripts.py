"""Every way a script file can be wrong has one clear message with file, line and field."""

# ruff: noqa: E501 - tables of inputs and their messages, one case a line

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.errors import ScriptError
from memdash.scripts import check_text, load_script, parse_script
from memdash.scripts.files import MAX_SCRIPT_BYTES

VALID = """\
id: trip
title: A trip
tools:
  - name: look_up
    input_schema: {type: object}
turns:
  - Our budget is 2,400 euros.
  - user: Please look.
    calls:
      - {id: c1, name: look_up, input: {q: x}, result: Room 7}
  - user: Thanks.
    reply: Gladly.
facts:
  - id: budget
    turn: 1
    question: What is our budget?
    answer: {number: 2400}
"""


def error_of(text: str | bytes) -> str:
    """The message of the first problem in ``text``, a file called t.yaml."""
    with pytest.raises(ScriptError) as caught:
        parse_script(text, "t.yaml")
    return str(caught.value)


def changed(old: str, new: str) -> str:
    """The valid script with ``old`` replaced."""
    assert VALID.count(old) == 1, old
    return VALID.replace(old, new)


def test_the_script_that_the_other_tests_break_is_valid() -> None:
    assert parse_script(VALID).warnings == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "t.yaml: the file is empty"),
        (b" \n\t\n", "t.yaml: the file is empty"),
        (b"# only a comment\n", "t.yaml: the file is empty"),
        (b"\xff\xfei\x00d\x00", "t.yaml:1: the file is UTF-16 or UTF-32; save it as UTF-8"),
        (b"i\x00d\x00", "t.yaml:1: there is a NUL byte; this is not a text file (or it is UTF-16: save it as UTF-8)"),
        (b"id: a\ntitle: \xe9t\xe9\n", "t.yaml:2: the byte 0xe9 is not UTF-8; save the file as UTF-8"),
        (b"\xef\xbb\xbfid: a\ntitle: \xe9\n", "t.yaml:2: the byte 0xe9 is not UTF-8; save the file as UTF-8"),
        (b"id: a\ntitle: \x07\n", "t.yaml:2: there is a control character (U+0007)"),
        (b"- a\n", "t.yaml:1: a script is a mapping (id: …, turns: …), not a list"),
        (b"hello\n", "t.yaml:1: a script is a mapping (id: …, turns: …), not the text 'hello'"),
        (b"id: a\nid: b\n", "t.yaml:2: the key 'id' stands twice (first in line 1)"),
        (b"id: a\n---\nid: b\n", "t.yaml:2: there is a second document; a file holds one"),
        (b"? [a]\n: b\n", "t.yaml:1: a key is a list or a mapping; keys are words"),
        (b"id: !!python/object:os.system x\n", "t.yaml:1: tags are not used here (tag:yaml.org,2002:python/object:os.system); leave it out"),
        (b"a: &x 1\nb: *x\n", "t.yaml:1: anchors and aliases are not used here (&x); write the value out"),
        (b"b: *x\n", "t.yaml:1: anchors and aliases are not used here (*x); write the value out"),
        (b"[" * 100_000, "t.yaml:1: lists and mappings are nested more than 100 deep"),
        (b"{a: " * 100_000, "t.yaml:1: lists and mappings are nested more than 100 deep"),
        (b"- " * 100_000, "t.yaml:1: lists and mappings are nested more than 100 deep"),
    ],
)  # fmt: skip
def test_what_is_no_script_file_at_all(data: bytes, message: str) -> None:
    assert error_of(data) == message


def test_an_alias_bomb_is_refused_before_it_expands() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(97 + n)}: &{chr(97 + n)} [*{chr(96 + n)}, *{chr(96 + n)}]\n" for n in range(1, 26)
    )
    assert error_of(bomb) == "t.yaml:1: anchors and aliases are not used here (&a); write the value out"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("id: a\n\ttitle: b\n", "t.yaml:2: not valid YAML: "),
        (
            "id: a\nturns:\n  - What: now: then\n",
            "t.yaml:3: not valid YAML: mapping values are not allowed in this context",
        ),
        ("id: [a\n", "t.yaml:2: not valid YAML: "),
        ('id: "a\n', "t.yaml:2: not valid YAML: "),
    ],
)
def test_what_is_no_yaml_names_its_line(text: str, start: str) -> None:
    assert error_of(text).startswith(start)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # The script as a whole
        ("title: A trip", "titel: A trip", "t.yaml:2: titel: unknown key; did you mean 'title'?"),
        ("id: trip", "id: a/b", "t.yaml:1: id: 'a/b' is no id; use letters, digits, '_', '.' and '-', at most 80, a letter or digit first"),
        ("title: A trip", "title: [A]", "t.yaml:2: title: must be text, not a list"),
        ("title: A trip", "title:", "t.yaml:2: title: is empty; write the text, or leave the key out"),
        ("title: A trip", "max_tokens: 0", "t.yaml:2: max_tokens: must be from 1 to 128,000, not 0"),
        ("title: A trip", "max_tokens: 1.5", "t.yaml:2: max_tokens: must be a whole number, not the number 1.5"),
        ("title: A trip", "max_tokens: true", "t.yaml:2: max_tokens: must be a whole number, not the truth value true"),
        ("title: A trip", "fixed_tokens: -1", "t.yaml:2: fixed_tokens: must be from 0 to 1,000,000, not -1"),
        ("title: A trip", "effort: hihg", "t.yaml:2: effort: 'hihg' is no effort; did you mean 'high'?"),
        ("title: A trip", "tool_defaults: {look_upp: none}", "t.yaml:2: tool_defaults.look_upp: there is no tool of this name; did you mean 'look_up'?"),
        ("title: A trip", "tool_defaults: [a]", "t.yaml:2: tool_defaults: must be a mapping (key: value), not a list"),
        # Tools
        ("name: look_up\n", "name: look up\n", "t.yaml:4: tools[0].name: a tool's name has letters, digits, '_' and '-', at most 128; this one is 'look up'"),
        ("{type: object}", "{type: string}", "t.yaml:5: tools[0].input_schema: must have type: object"),
        ("input_schema: {type: object}", "description: d", "t.yaml:4: tools[0].input_schema: a tool needs 'input_schema', a JSON schema of type object"),
        ("input_schema: {type: object}", "input_shema: {type: object}", "t.yaml:5: tools[0].input_shema: unknown key; did you mean 'input_schema'?"),
        ("{type: object}", "{type: object, minimum: .inf}", "t.yaml:5: tools[0].input_schema.minimum: must be a finite number, not .inf"),
        # Turns
        ("user: Thanks.", "usr: Thanks.", "t.yaml:11: turns[2].usr: unknown key; did you mean 'user'?"),
        ("- user: Thanks.\n    reply", "- reply", "t.yaml:11: turns[2]: 'user' is missing"),
        ("user: Thanks.", "user:", "t.yaml:11: turns[2].user: is empty; write the text, or leave the key out"),
        ("user: Thanks.", "user: {text: Thanks.}", "t.yaml:11: turns[2].user: must be text, not a mapping"),
        ("user: Thanks.", "user: [{type: txt}]", "t.yaml:11: turns[2].user: a content block has 'type': text, image, document; not 'txt'"),
        ("user: Thanks.", "user: [{type: tool_result, tool_use_id: c1}]", "t.yaml:11: turns[2].user: a tool result without its call; results stand with their calls under 'calls'"),
        ("reply: Gladly.", 'reply: " "', "t.yaml:12: turns[2].reply: is empty; write the text, or leave the key out"),
        ("reply: Gladly.", "pause: -1", "t.yaml:12: turns[2].pause: must be from 0 to 2.592e+06, not '-1'"),
        ("reply: Gladly.", "pause: .nan", "t.yaml:12: turns[2].pause: must be from 0 to 2.592e+06, not '.nan'"),
        ("reply: Gladly.", "pause: .inf", "t.yaml:12: turns[2].pause: must be from 0 to 2.592e+06, not '.inf'"),
        ("reply: Gladly.", "pause: soon", "t.yaml:12: turns[2].pause: must be a number, not the text 'soon'"),
        ("reply: Gladly.", "calls: []", "t.yaml:12: turns[2].calls: is empty; leave it out"),
        ("reply: Gladly.", "steps: [{say: Well}]", "t.yaml:12: turns[2].steps[0]: 'calls' is missing"),
        # Tool calls
        (", result: Room 7", "", "t.yaml:10: turns[1].calls[0]: a tool call without its result; give 'result' (\"\" for an empty one)"),
        ("name: look_up, ", "", "t.yaml:10: turns[1].calls[0]: a tool result without its call; give the call's 'name' and 'input' beside 'result'"),
        ("name: look_up, ", "name: lookup, ", "t.yaml:10: turns[1].calls[0].name: there is no tool 'lookup' at turn 2; did you mean 'look_up'?"),
        ("{q: x}", "[x]", "t.yaml:10: turns[1].calls[0].input: must be a mapping, not a list"),
        ("{q: x}", "{q: .inf}", "t.yaml:10: turns[1].calls[0].input.q: must be a finite number, not .inf"),
        ("result: Room 7", "result: [7]", "t.yaml:10: turns[1].calls[0].result: must be text, not a list"),
        ("result: Room 7", "result: ok, error: maybe", "t.yaml:10: turns[1].calls[0].error: must be true or false, not the text 'maybe'"),
        # Facts
        ("    turn: 1\n", "    turn: 4\n", "t.yaml:15: facts[0].turn: there is no turn 4; the script has 3"),
        ("    turn: 1\n", "    turn: 2\n", "t.yaml:15: facts[0].turn: turn 2 does not say this: the number '2400' is found neither in the user's text nor in a tool result"),
        ("    turn: 1\n", "    turn: one\n", "t.yaml:15: facts[0].turn: must be a whole number, not the text 'one'"),
        ("    turn: 1\n", "", "t.yaml:14: facts[0]: 'turn' is missing"),
        ("    turn: 1\n", "    turn: 1\n    kind: An Amount\n", "t.yaml:16: facts[0].kind: 'An Amount' is no kind; a kind is a word in small letters, at most 30 characters, such as name, amount or date"),
        ("    turn: 1\n", "    turn: 1\n    kind: [amount]\n", "t.yaml:16: facts[0].kind: must be text, not a list"),
        ("    turn: 1\n", "    turn: 1\n    knd: amount\n", "t.yaml:16: facts[0].knd: unknown key; did you mean 'kind'?"),
        ("question: What is our budget?", "question: ''", "t.yaml:16: facts[0].question: is empty; write the text, or leave the key out"),
        ("answer: {number: 2400}", "answer: 2400", "t.yaml:17: facts[0].answer: is the number 2400; write {number: 2400}, or quote it for a pattern"),
        ("answer: {number: 2400}", "answer: 2026-06-14", "t.yaml:17: facts[0].answer: is a date; write {date: 2026-06-14}, or quote it for a pattern"),
        ("answer: {number: 2400}", "answer: {number: '2,400'}", "t.yaml:17: facts[0].answer: '2,400' is no number; write digits without separators (2400 or 2400.50)"),
        ("answer: {number: 2400}", "answer: {date: 14 June}", "t.yaml:17: facts[0].answer: '14 June' is no date; write YYYY-MM-DD (2026-06-14)"),
        ("answer: {number: 2400}", "answer: {nmber: 2400}", "t.yaml:17: facts[0].answer: must be a pattern, or one of {number: 2400}, {date: 2026-06-14}, {all_of: [a, b]}, {f1: reference}, {regex: pattern}, not a mapping of 'nmber'"),
        ("answer: {number: 2400}", "answer: {all_of: []}", "t.yaml:17: facts[0].answer: is an empty list"),
        ("answer: {number: 2400}", "answer: {f1: budget}", "t.yaml:14: facts[0]: needs 'text': the words that show that the fact is still in a request (f1 only grades answers)"),
        ("answer: {number: 2400}", "answer: '['", "t.yaml:17: facts[0].answer: not a valid regular expression: missing ]: ["),
        ("answer: {number: 2400}", "answer: '(?=2)400'", "t.yaml:17: facts[0].answer: not a valid regular expression: invalid perl operator: (?= (lookarounds and backreferences are not supported, so that every pattern runs in linear time)"),
        ("answer: {number: 2400}", "answer: 'x*'", "t.yaml:17: facts[0].answer: the pattern 'x*' matches an empty answer, so every answer would pass"),
        ("answer: {number: 2400}", "answer: {number: 2400}\n    text: 'no such words'", "t.yaml:15: facts[0].turn: turn 1 does not say this: the pattern 'no such words' is found neither in the user's text nor in a tool result"),
        ("answer: {number: 2400}", "answer: {number: 2400}\n    probe_after: 4", "t.yaml:18: facts[0].probe_after: there is no turn 4; the script has 3"),
        ("answer: {number: 2400}", "answer: {number: 2400}\n    probe_after: [2, 2]", "t.yaml:18: facts[0].probe_after[1]: turn 2 stands twice"),
        ("answer: {number: 2400}", "answer: {number: 2400}\n    updates: [{turn: 1, answer: {number: 7}}]", "t.yaml:18: facts[0].updates[0].turn: turn 1 does not say this: the number '7' is found neither in the user's text nor in a tool result"),
        ("answer: {number: 2400}", "answer: {number: 2400}\n    updates: [{turn: 2, answer: {number: 7}}, {turn: 2, answer: Room}]", "t.yaml:18: facts[0].updates[1].turn: an update comes after what it changes: turn 2 is not after turn 2"),
        ("answer: {number: 2400}", "answer: {number: 2400}\n    updates: [{turn: 2, answer: {number: 2400}, text: Room}]", "t.yaml:18: facts[0].updates[0].answer: is the same as before; an update changes the answer"),
    ],
)  # fmt: skip
def test_one_mistake_is_one_message(old: str, new: str, message: str) -> None:
    assert error_of(changed(old, new)) == message


def test_a_probe_for_a_fact_not_yet_stated() -> None:
    text = VALID + "  - {id: room, turn: 2, question: Which room?, answer: Room 7, probe_after: 1}\n"
    assert (
        error_of(text)
        == "t.yaml:18: facts[1].probe_after: the fact is not yet stated after turn 1; turn 2 states it"
    )


def test_ids_stand_once() -> None:
    twice = VALID + VALID[VALID.index("  - id: budget") :]
    assert error_of(twice) == "t.yaml:18: facts[1].id: the fact id 'budget' is taken by facts[0]"
    calls = changed(
        "    reply: Gladly.", "    calls:\n      - {id: c1, name: look_up, input: {}, result: ''}"
    )
    assert (
        error_of(calls)
        == "t.yaml:13: turns[2].calls[0].id: the tool call id 'c1' is taken by turns[1].steps[0].calls[0]"
    )


def test_a_tool_that_a_turn_took_away_cannot_be_called() -> None:
    text = changed(
        "  - user: Please look.\n",
        "  - user: Please look.\n    tools: [{name: other, input_schema: {type: object}}]\n",
    )
    assert (
        error_of(text)
        == "t.yaml:11: turns[1].calls[0].name: there is no tool 'look_up' at turn 2; known are other"
    )


def test_calls_and_steps_exclude_each_other() -> None:
    text = changed("    calls:\n", "    steps: [{calls: []}]\n    calls:\n")
    assert (
        error_of(text)
        == "t.yaml:10: turns[1].calls: give either 'calls' (one step) or 'steps' (several), not both"
    )


def test_a_script_needs_a_turn() -> None:
    assert error_of("id: a\n") == "t.yaml:1: 'turns' is missing"
    assert error_of("id: a\nturns: []\n") == "t.yaml:2: turns: a script needs at least one turn"
    assert error_of("id: a\nturns: hello\n") == "t.yaml:2: turns: must be a list, not the text 'hello'"


def test_every_problem_of_a_file_is_told_in_order_of_line() -> None:
    text = (
        changed("title: A trip", "titel: A trip").replace("Gladly.", "[]").replace("turn: 1", "turn: first")
    )
    script, errors = check_text(text, "t.yaml")
    assert script is None
    assert [str(error) for error in errors] == [
        "t.yaml:2: titel: unknown key; did you mean 'title'?",
        "t.yaml:12: turns[2].reply: must be text, not a list",
        "t.yaml:15: facts[0].turn: must be a whole number, not the text 'first'",
    ]


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(
            60 * 1024 * 1024
        )  # a sparse file: were it read, the message would be about its NUL bytes
    with pytest.raises(ScriptError) as caught:
        load_script(path)
    assert str(caught.value) == f"{path}: the file has 60.0 MB; at most 8 MB are read"


def test_text_that_is_too_large_is_refused() -> None:
    assert error_of("#" * (MAX_SCRIPT_BYTES + 1)) == "t.yaml: the script has more than 8 MB"


def test_a_path_that_is_no_file(tmp_path: Path) -> None:
    for path, problem in (
        (tmp_path / "none.yaml", "there is no such file"),
        (tmp_path, "this is not a file; give a script or a conversation file"),
        (Path("/dev/null"), "this is not a file; give a script or a conversation file"),
    ):
        with pytest.raises(ScriptError) as caught:
            load_script(path)
        assert str(caught.value) == f"{path}: {problem}"


def test_a_surrogate_from_a_form_is_refused() -> None:
    assert (
        error_of("id: a\ntitle: \ud800\n") == "t.yaml:2: the byte 0xed is not UTF-8; save the file as UTF-8"
    )


YAMLISH = st.lists(
    st.sampled_from(["id: a", "turns:", "  - user: x", "  - hi", "facts:", "    calls: [{", "{", "[", "]", "}", "&a", "*a", "!!str",
                     "\n", "\t", " ", ":", "- ", '"', "'", "|", ">", "%", "@", "é", "\u2028", "\x85", "null", ".inf", "0x1F", "1e999"]),
    max_size=30,
).map("".join)  # fmt: skip


@settings(max_examples=100)
@given(st.one_of(st.binary(max_size=200), YAMLISH.map(str.encode)))
def test_any_bytes_are_a_script_or_one_clear_error(data: bytes) -> None:
    script, errors = check_text(data, "t.yaml")
    assert (script is None) == bool(errors)
    for error in errors:
        assert str(error).startswith("t.yaml")
        assert "\n" not in str(error)
