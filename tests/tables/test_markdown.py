from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.tables.markdown import escaped, paragraph

_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
JOINER = "\u2060"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", r"\<script\>alert(1)\</script\>"),
        ("**bold** _x_ `code` ~gone~", r"\*\*bold\*\* \_x\_ \`code\` \~gone\~"),
        ("[a](javascript:b)", r"\[a\](javascript:b)"),
        ("a | b", r"a \| b"),
        ("$x$ costs $4", r"\$x\$ costs $4"),
        ("&lt; &amp & co", r"\&lt; &amp & co"),
        ("@team", f"@{JOINER}team"),
        ("fixes #12 and GH-3", f"fixes #{JOINER}12 and GH{JOINER}-3"),
        (":tada:", f":{JOINER}tada:"),
        ("https://evil.example", f"https:{JOINER}//evil.example"),
        ("www.evil.example", f"www{JOINER}.evil.example"),
        ("two\nlines", "two lines"),
    ],
)
def test_a_text_is_shown_as_it_is(text: str, shown: str) -> None:
    assert escaped(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# no heading", r"\# no heading"),
        ("- no list", r"\- no list"),
        ("+1", r"\+1"),
        ("1. no", r"1\. no"),
        ("=", r"\="),
    ],
)
def test_a_paragraph_is_nothing_else(text: str, shown: str) -> None:
    assert paragraph(text) == shown


def test_a_number_at_the_start_of_a_sentence_stays() -> None:
    assert paragraph("3 of 4 facts") == "3 of 4 facts"


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S", "Zs"])))
def test_a_reader_has_back_every_character(text: str) -> None:
    assert _ESCAPE.sub(r"\1", escaped(text)).replace(JOINER, "") == text
