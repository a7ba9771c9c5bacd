"""What a text is written in."""

from __future__ import annotations

import pytest

from memdash.writing import writing_of


@pytest.mark.parametrize(
    ("text", "writing"),
    [
        ("We leave for Lisbon on 14 May, and the budget is 2,400 euros.", "Latin"),
        ("Der Zug fährt über München, und wir möchten früh dort sein.", "Latin with accents"),
        ("A café, and then three days of walking through the old town by the river.", "Latin with accents"),
        ("Мы едем в Лиссабон в мае, бюджет 2400 евро.", "Cyrillic"),
        ("我们五月去里斯本。预算是两千四百欧元。", "CJK"),
        ("五月にリスボンへ行きます。よろしくお願いします。", "CJK"),
        ("우리는 오월에 리스본에 갑니다.", "Hangul"),
        ("Πάμε στη Λισαβόνα τον Μάιο.", "Greek"),
        ("سنسافر إلى لشبونة في مايو", "Arabic"),
        ('{"city": "Lisbon", "nights": 4}', "code or data"),
        ('["plain", "words", "only"]', "code or data"),
        ("for (let i = 0; i < n; i++) { total += a[i]; }", "code or data"),
        ("2026-11-30T12:00:01Z GET /v1/orders/4711 200 13ms", "code or data"),
        ("4711", "code or data"),
        ("", "code or data"),
        ("[" * 100_000, "code or data"),
    ],
)
def test_a_text_is_known_by_its_letters_and_symbols(text: str, writing: str) -> None:
    assert writing_of(text) == writing


def test_a_word_of_another_language_does_not_make_a_text_one() -> None:
    assert writing_of("The word for peace on that plate was мир, and everyone liked it.") == "Latin"
