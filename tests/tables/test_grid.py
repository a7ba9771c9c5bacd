from __future__ import annotations

from memdash.tables.grid import Grid


def test_columns_are_aligned_and_numbers_set_flush_right() -> None:
    grid = Grid(
        ("name", "prompt\ntokens"), [("a", "1,200"), ("longer", "7")], numeric=frozenset({"prompt\ntokens"})
    )
    assert grid.plain().splitlines() == [
        "name    prompt",
        "        tokens",
        "──────  ──────",
        "a        1,200",
        "longer       7",
    ]


def test_wide_and_combining_characters_take_the_cells_they_take() -> None:
    grid = Grid(("name", "n"), [("東京", "1"), ("ab", "2"), ("e\u0301t", "3")])
    assert grid.plain().splitlines()[2:] == ["東京  1", "ab    2", "e\u0301t    3"]


def test_notes_stand_under_their_row() -> None:
    grid = Grid(("name",), [("a",), ("b",)], notes={0: ["refused:\nbad request"]})
    assert grid.plain().splitlines()[2:] == ["a", "  ↳ refused: bad request", "b"]


def test_what_a_script_wrote_is_text_in_markdown_and_not_markup() -> None:
    grid = Grid(("na\nme",), [("<b>[x](y)|*`_",)], notes={0: ["<img>"]})
    assert grid.markdown().splitlines() == [
        "| na me |",
        "| --- |",
        r"| \<b\>\[x\](y)\|\*\`\_ |",
        "",
        r"- **\<b\>\[x\](y)\|\*\`\_**: \<img\>",
    ]


def test_control_characters_are_not_passed_on() -> None:
    assert "\x1b" not in Grid(("name",), [("a\x1b[2Jb",)]).plain()


def test_an_empty_table_has_its_head() -> None:
    assert Grid(("name", "n"), []).plain().splitlines() == ["name  n", "────  ─"]
