from __future__ import annotations

from memdash.tables.lines import one_line


def test_a_text_comes_out_on_one_line_without_control_characters() -> None:
    assert one_line("a\nb\x1b[2J\u2028c\x00") == "a b [2J c "


def test_no_text_turns_the_direction_of_the_words_after_it() -> None:
    assert one_line("\u202egnol\u2066 is long") == "gnol is long"
    assert one_line("שלום") == "שלום"


def test_half_a_surrogate_pair_is_shown_as_unknown() -> None:
    assert one_line("a\ud800b") == "a\ufffdb"
