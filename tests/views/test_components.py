"""What somebody else wrote is shown as these characters, wherever it stands."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from memdash.views.components import HELP, clip, plain

HOSTILE = "**x** [a](javascript:alert(1)) :material/home: :smile: $x$ <img src=x onerror=alert(1)> :red[r] https://evil.example"

TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that show nothing and turn the direction of what follows."""


def seen(markdown: str) -> str:
    """What is left on the page of escaped text: the escapes and the characters of no width are not seen."""
    return markdown.replace("\\", "").replace("\u2060", "")


@given(
    some.text(
        some.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="\\\u2060" + TURNS),
        max_size=80,
    )
)
def test_escaping_keeps_every_character(text: str) -> None:
    assert seen(plain(text)) == text


@given(some.text("ab*_`[]()<>$:~|#!\\&./@-", max_size=40))
def test_no_mark_of_punctuation_is_left_unescaped(text: str) -> None:
    escaped = plain(text)
    position = 0
    while position < len(escaped):
        character = escaped[position]
        if character == "\\":
            assert escaped[position + 1] in "*_`[]()<>$:~|#!\\&./@-"
            position += 2
            continue
        assert character in "ab\u2060"
        position += 1


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("**x**", r"\*\*x\*\*"),
        ("[a](javascript:..)", r"\[a\]\(javascript\:\.\.\)"),
        (":material/x:", "\\:\u2060material\\/x\\:"),
        (":smile:", "\\:\u2060smile\\:"),
        ("$x$", r"\$x\$"),
        ("<img>", r"\<img\>"),
        ("https://a.b", "https\\:\u2060\\/\\/a\\.b"),
        ("www.a.b", "www\u2060\\.a\\.b"),
        ("a@b.c", "a\u2060\\@b\\.c"),
        ("a -> b -- c", "a \\-\u2060\\> b \\-\u2060\\- c"),
        ("\u202egnp.exe\u2066", r"gnp\.exe"),
        ("\u05e9\u05dc\u200f", "\u05e9\u05dc\u200f"),
        ("two\n# lines", r"two \# lines"),
    ],
)
def test_what_markdown_would_take_for_markup(text: str, escaped: str) -> None:
    assert plain(text) == escaped


def test_a_clipped_text_is_no_longer_than_asked() -> None:
    assert clip("short", 10) == "short"
    assert clip("a rather long text", 10) == "a rather…"
    assert clip("two\nlines", 20) == "two lines"


def test_every_help_mark_has_exactly_two_sentences() -> None:
    for name, text in HELP.items():
        ends = [
            place
            for place in range(len(text))
            if text[place] in ".;" and text[place + 1 : place + 2] in ("", " ")
        ]
        assert len([place for place in ends if text[place] == "."]) == 2, name
        assert text.endswith("."), name


def test_a_script_with_markup_in_every_field_is_shown_as_text() -> None:
    def page() -> None:
        from memdash.scripts import check_text
        from memdash.views.script_reader import read_script

        hostile = "**x** [a](javascript:..) :material/x: $x$ <img src=x>"
        script, errors = check_text(
            "id: odd\n"
            f"title: '{hostile}'\n"
            f"description: '{hostile}'\n"
            f"system: '{hostile}'\n"
            "turns:\n"
            f"  - '{hostile}'\n"
            f"  - user: 'again'\n    reply: '{hostile}'\n"
            "facts:\n"
            f"  - {{id: a, turn: 1, question: '{hostile}', answer: 'x'}}\n"
        )
        assert script is not None, errors
        read_script(script)

    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.exception
    drawn = [element.value for kind in (at.markdown, at.caption, at.subheader, at.header) for element in kind]
    for text in drawn:
        assert not re.search(r"(?<!\\)(\*\*x|\[a|:material/x|\$x|<img)", text)
    assert "**x** [a](javascript:..) :material/x: $x$ <img src=x>" in [one.value for one in at.text]


def test_times_are_told_in_words_near_today() -> None:
    def page() -> None:
        from datetime import UTC, datetime, timedelta

        import streamlit as st

        from memdash.views.components import moment

        now = datetime.now(UTC)
        st.text(moment(now))
        st.text(moment(now - timedelta(days=1)))
        st.text(moment(datetime(2026, 1, 5, 9, 30)))

    at = AppTest.from_function(page, default_timeout=30).run()
    now = datetime.now(UTC)
    today, yesterday, older = (one.value for one in at.text)
    assert today.startswith("today, ")
    assert yesterday.startswith(("yesterday, ", f"{now - timedelta(days=1):%-d %b}"))
    assert older == "5 Jan 2026, 09:30"
