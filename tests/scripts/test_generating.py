"""Long tool results are made from a recipe: always the same text, within bounds, and saying no fact by accident."""

# ruff: noqa: E501 - texts as they are, and one mistake a line

from __future__ import annotations

import dataclasses
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.errors import ScriptError
from memdash.scripts import (
    Material,
    Recipe,
    Script,
    check_text,
    from_json,
    parse_script,
    script_hash,
    to_json,
    to_yaml,
)
from memdash.scripts.generating import generate

RECIPE = "{kind: log, lines: 40, seed: 7, include: ['INFO  the code is XK-9']}"
VALID = f"""\
id: s
tools:
  - name: read
    input_schema: {{type: object}}
turns:
  - user: Please read.
    calls:
      - name: read
        result: {{generate: {RECIPE}}}
  - Thanks.
facts:
  - id: code
    turn: 1
    question: What is the code?
    answer: 'XK-9'
"""


def with_recipe(recipe: str) -> str:
    assert VALID.count(RECIPE) == 1
    return VALID.replace(RECIPE, recipe)


def errors_of(text: str) -> list[str]:
    return [str(error) for error in check_text(text, "t.yaml")[1]]


def result_of(script: Script) -> str:
    return script.turns[0].steps[0].calls[0].result


# -- the text -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            Material.LOG,
            (
                "08:00:39.211 INFO  gate-b  verify /vol-68/town-plans/kiln/meadow-1466.tif sum 8cb35dc2 agrees\n"
                "08:00:42.477 DEBUG mover-1 index  870 entries of weather-logs written"
            ),
        ),
        (
            Material.TABLE,
            (
                "batch    | collection     |  files | size in GB | state     | checked     | shelf\n"
                "---------------------------------------------------------------------------------\n"
                "b978b4   | weather-logs   |  61563 |       78.7 | moved     | by hand     | C86\n"
                "b9d720   | herbarium      |  27508 |      299.1 | moved     | by hand     | C72"
            ),
        ),
        (
            Material.LISTING,
            (
                "   11394672  2019-08-03 04:43  /vol-36/posters/kiln/inlet-9684.csv\n"
                "   48399847  2019-11-22 17:15  /vol-55/herbarium/dune/thistle-7125.xml"
            ),
        ),
        (
            Material.JSON,
            (
                "[\n"
                '{"job": "j-cc22c7", "kind": "fixity", "collection": "ship-registers", "volume": "vol-21", "state": "moved", "files": 249, "seconds": 1151, "note": "second attempt"},\n'
                '{"job": "j-f1eec7", "kind": "index", "collection": "newsreels", "volume": "vol-72", "state": "moved", "files": 4704, "seconds": 2480, "note": "empty folders left out"}\n'
                "]"
            ),
        ),
    ],
)
def test_a_recipe_gives_this_text_on_every_machine_and_python(kind: Material, text: str) -> None:
    assert generate(Recipe(kind, 2, 7)) == text


@settings(max_examples=50)
@given(
    kind=st.sampled_from(Material),
    lines=st.integers(1, 200),
    seed=st.integers(0, 1_000_000),
    wanted=st.integers(0, 5),
)
def test_a_result_has_its_lines_and_what_is_included_in_order(
    kind: Material, lines: int, seed: int, wanted: int
) -> None:
    include = tuple(f'{{"included": {number}}}' for number in range(min(wanted, lines)))
    recipe = Recipe(kind, lines, seed, include)
    text = generate(recipe)
    assert generate(recipe) == text
    around = {Material.TABLE: 2, Material.JSON: 2}.get(kind, 0)  # a head and a rule; two brackets
    assert len(text.split("\n")) == lines + around
    assert re.findall(r'\{"included": \d+\}', text) == list(include)


def test_the_lines_of_a_log_are_in_order_of_time_included_ones_too() -> None:
    lines = generate(Recipe(Material.LOG, 300, 7, ("INFO  planted",))).split("\n")
    times = [line.split(" ", 1)[0] for line in lines]
    assert all(re.fullmatch(r"\d\d:\d\d:\d\d\.\d\d\d", time) for time in times)
    assert times == sorted(times)
    assert [line.split(" ", 1)[1] for line in lines].count("INFO  planted") == 1


def test_json_can_be_read_as_json() -> None:
    data = json.loads(generate(Recipe(Material.JSON, 30, 7, ('{"job": "planted"}',))))
    assert len(data) == 30
    assert {"job": "planted"} in data
    assert all(isinstance(entry, dict) for entry in data)


@pytest.mark.parametrize("kind", Material)
def test_lines_are_no_filler_that_repeats(kind: Material) -> None:
    lines = generate(Recipe(kind, 500, 7)).split("\n")
    assert len(set(lines)) > 0.98 * len(lines)


@pytest.mark.parametrize("kind", Material)
def test_another_seed_gives_another_text(kind: Material) -> None:
    assert generate(Recipe(kind, 5, 7)) != generate(Recipe(kind, 5, 8))


# -- in a script ----------------------------------------------------------------------------------------------------------


def test_the_result_of_a_call_is_the_text_of_its_recipe() -> None:
    script = parse_script(VALID)
    assert script.warnings == ()
    recipe = Recipe(Material.LOG, 40, 7, ("INFO  the code is XK-9",))
    assert script.turns[0].steps[0].calls[0].generated == recipe
    assert result_of(script) == generate(recipe)


def test_the_yaml_form_keeps_the_recipe_and_the_stored_form_the_text() -> None:
    script = parse_script(VALID)
    assert "generate:" in to_yaml(script)
    assert parse_script(to_yaml(script)) == script
    stored = from_json(to_json(script))
    assert stored == script
    assert result_of(stored) == result_of(script)


def other_text(script: Script, text: str) -> Script:
    """``script`` as stored by a version whose generator made ``text``."""
    call = dataclasses.replace(script.turns[0].steps[0].calls[0], result=text)
    step = dataclasses.replace(script.turns[0].steps[0], calls=(call,))
    return dataclasses.replace(
        script, turns=(dataclasses.replace(script.turns[0], steps=(step,)), *script.turns[1:])
    )


def test_a_text_that_its_recipe_no_longer_makes_is_written_out() -> None:
    older = other_text(parse_script(VALID), "00:00:00.000 INFO  the code is XK-9")
    written = parse_script(to_yaml(older))
    assert "generate" not in to_yaml(older)
    assert result_of(written) == result_of(older)
    assert script_hash(written) == script_hash(older)


def test_the_hash_is_that_of_the_text() -> None:
    script = parse_script(VALID)
    written = parse_script(to_yaml(other_text(script, result_of(script) + "\n.")))
    assert script_hash(written) != script_hash(script)
    other = parse_script(with_recipe(RECIPE.replace("seed: 7", "seed: 8")))
    assert script_hash(other) != script_hash(script)


# -- mistakes -------------------------------------------------------------------------------------------------------------

AT = "t.yaml:9: turns[0].calls[0].result"


@pytest.mark.parametrize(
    ("recipe", "messages"),
    [
        ("{}", ["'kind' is missing", "'lines' is missing", "'seed' is missing"]),
        ("[log]", ["must be a mapping"]),
        ("{kind: prose, lines: 4, seed: 1}", ["generate.kind: there is no kind 'prose'; known are json, listing, log, table"]),
        ("{kind: logs, lines: 4, seed: 1}", ["generate.kind: there is no kind 'logs'; did you mean 'log'?"]),
        ("{kind: log, lines: 0, seed: 1}", ["generate.lines: must be from 1 to 10,000, not 0"]),
        ("{kind: log, lines: 10001, seed: 1}", ["generate.lines: must be from 1 to 10,000, not 10001"]),
        ("{kind: log, lines: 4.5, seed: 1}", ["generate.lines: must be a whole number"]),
        ("{kind: log, lines: 4, seed: -1}", ["generate.seed: must be from 0 to 1,000,000, not -1"]),
        ("{kind: log, lines: 4, sed: 1}", ["generate.sed: unknown key; did you mean 'seed'?"]),
        ("{kind: log, lines: 4, seed: 1, include: XK-9}", ["generate.include: must be a list"]),
        ("{kind: log, lines: 4, seed: 1, include: [XK-9, '']}", ["generate.include[1]: is empty"]),
        ("{kind: log, lines: 1, seed: 1, include: [XK-9, b]}", ["2 lines do not fit into a result of 1"]),
        (r'{kind: log, lines: 4, seed: 1, include: ["XK-9\nb"]}', ["generate.include[0]: is more than one line"]),
        (f"{{kind: log, lines: 4, seed: 1, include: [XK-9 {'x' * 500}]}}", ["has 505 characters; at most 500"]),
        (f"{{kind: log, lines: 99, seed: 1, include: {['XK-9'] * 51}}}", ["there are 51 lines; at most 50"]),
        ("{kind: json, lines: 4, seed: 1, include: [XK-9]}", ["is no JSON object, and the result is to be JSON: 'XK-9'"]),
        ("{kind: json, lines: 4, seed: 1, include: ['[\"XK-9\"]']}", ["is no JSON object"]),
        ("{kind: log, lines: 4, seed: 1}", ["turn 1 does not say this: the pattern 'XK-9' is found neither"]),
    ],
)  # fmt: skip
def test_a_recipe_that_is_wrong_is_refused_with_its_place(recipe: str, messages: list[str]) -> None:
    errors = errors_of(with_recipe(recipe))
    assert len(errors) == len(messages)
    for error, message in zip(errors, messages, strict=True):
        assert message in error
        assert error.startswith(AT) or "facts[0]" in error


def test_a_result_is_a_text_or_one_recipe_and_nothing_beside_it() -> None:
    [error] = errors_of(VALID.replace(f"{{generate: {RECIPE}}}", f"{{generate: {RECIPE}, text: x}}"))
    assert error.startswith(AT + ": must be text, or {generate:")
    assert error.endswith("not a mapping of 'generate', 'text'")


def test_what_is_made_up_may_not_say_a_fact() -> None:
    # Every second line of a log says INFO, in turn 1 as in any other turn.
    [error] = errors_of(VALID.replace("answer: 'XK-9'", "answer: 'INFO'"))
    assert error == (
        "t.yaml:9: turns[0].calls[0].result.generate.seed: says the fact 'code' by accident; "
        "choose another seed, or a rarer answer"
    )


def test_all_results_together_are_bounded_before_any_is_made() -> None:
    turn = "  - {user: Go., calls: [{name: read, result: {generate: {kind: log, lines: 10000, seed: 1}}}]}\n"
    errors = errors_of(VALID.replace("  - Thanks.\n", turn * 5))
    assert errors == [
        "t.yaml:5: turns: the generated results have 50,040 lines together; at most 50,000 are accepted"
    ]


def test_a_stored_recipe_is_bounded_as_a_written_one() -> None:
    stored = to_json(parse_script(VALID)).replace('"lines":40', '"lines":4000000000')
    with pytest.raises(ScriptError, match="the generated results have 4,000,000,000 lines together"):
        from_json(stored)
    stored = to_json(parse_script(VALID)).replace('"lines":40', '"lines":-3')
    with pytest.raises(ScriptError, match=r"turns\[0\].+generate\.lines: must be from 1 to 10,000, not -3"):
        from_json(stored)
