"""What differs between two requests, block by block."""

from __future__ import annotations

import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

from memdash.inspection.alignment import Stretch, align
from memdash.inspection.blocks import Kind
from memdash.inspection.differences import (
    Change,
    Differences,
    Word,
    details_changed,
    differences,
    side_kind,
    side_text,
    words_changed,
)
from tests.inspection.replays import Played, play
from tests.replay.scripts import chat, spec, with_tools


def between(before: Played, turn: int, now: Played, turn_now: int) -> Differences:
    return differences((before.log, before.opening(turn)), (now.log, now.opening(turn_now)))


def told(found: Differences) -> list[tuple[str, str | None, str | None]]:
    return [
        (one.change.value, one.before and one.before.path, one.now and one.now.path) for one in found.lines
    ]


def test_full_history_only_adds() -> None:
    played = play(spec(with_tools()))
    assert told(between(played, 1, played, 2)) == [
        ("same", "tools", "tools"),
        ("same", "system", "system"),
        ("same", "messages.0.content.0", "messages.0.content.0"),
        ("added", None, "messages.1.content.0"),
        ("added", None, "messages.1.content.1"),
        ("added", None, "messages.2.content.0"),
    ]


def test_a_window_removes_what_it_trims() -> None:
    played = play(spec(chat(4), "window:2"))
    assert told(between(played, 3, played, 4)) == [
        ("removed", "messages.0.content.0", None),
        ("removed", "messages.1.content.0", None),
        ("same", "messages.2.content.0", "messages.0.content.0"),
        ("added", None, "messages.1.content.0"),
        ("added", None, "messages.2.content.0"),
    ]


def test_another_strategy_at_the_same_turn() -> None:
    full, window = play(spec(chat(4))), play(spec(chat(4), "window:2"))
    found = between(full, 4, window, 4)
    assert (found.count(Change.REMOVED), found.count(Change.SAME), found.count(Change.ADDED)) == (7, 3, 0)
    assert not found.none
    assert between(full, 4, full, 4).none


def test_settings_and_fixed_part_are_compared() -> None:
    plain = play(spec(chat(1), max_tokens=100))
    other = play(spec(dataclasses.replace(chat(1), system="Help."), max_tokens=200, check=True))
    found = between(plain, 1, other, 1)
    assert {one.name: (one.before, one.now) for one in found.settings} == {
        "max_tokens": ("100", "200"),
        "thinking": (
            None,
            json.dumps(
                {"block_binding": {"prefix_mismatch_behavior": "error"}, "type": "adaptive"}, indent=2
            ),
        ),
    }
    assert told(found) == [
        ("added", None, "system"),
        ("same", "messages.0.content.0", "messages.0.content.0"),
    ]


def test_blocks_in_each_others_place_are_one_changed_block() -> None:
    before = play(spec(dataclasses.replace(chat(1), system="Help.")))
    now = play(spec(dataclasses.replace(chat(1), system="Help me.")))
    line, _ = between(before, 1, now, 1).lines
    assert line.change is Change.CHANGED
    assert line.before is not None
    assert line.now is not None
    texts = before.texts[line.before.block], now.texts[line.now.block]
    assert side_kind(line.now, texts[1]) is Kind.SYSTEM
    assert words_changed(side_text(line.before, texts[0]), side_text(line.now, texts[1])) == [
        Word(Change.SAME, "Help"),
        Word(Change.ADDED, " me"),
        Word(Change.SAME, "."),
    ]


def test_the_same_words_signed_anew_differ_in_their_signature_alone() -> None:
    one, other = (json.dumps({"type": "thinking", "thinking": "Hm.", "signature": sign}) for sign in "ab")
    assert details_changed(one, other) == [("signature", '"a"', '"b"')]


def test_texts_too_long_to_compare_differ_between_their_ends() -> None:
    before, now = "start " + "a " * 3_000 + "end", "start " + "b " * 3_000 + "end"
    assert words_changed(before, now) == [
        Word(Change.SAME, "start"),
        Word(Change.REMOVED, " a" * 3_000),
        Word(Change.ADDED, " b" * 3_000),
        Word(Change.SAME, " end"),
    ]


@given(st.text("ab .\n"), st.text("ab .\n"))
def test_the_words_of_either_side_are_all_there(before: str, now: str) -> None:
    words = words_changed(before, now)
    assert "".join(one.text for one in words if one.change is not Change.ADDED) == before
    assert "".join(one.text for one in words if one.change is not Change.REMOVED) == now


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)))
def test_an_alignment_covers_both_and_what_is_the_same_is_equal(before: list[int], now: list[int]) -> None:
    at, at_now = 0, 0
    for one in align(before, now):
        assert (one.before, one.now) == (at, at_now)
        at, at_now = one.before_end, one.now_end
        assert (before[one.before : at] == now[one.now : at_now]) is one.same
    assert (at, at_now) == (len(before), len(now))


def test_a_conversation_that_repeats_itself_without_end_is_aligned_at_its_ends() -> None:
    before = [0, *[1] * 3_000, 2, 9]
    now = [0, 3, *[1] * 3_000, 4, 9]
    assert align(before, now) == [
        Stretch(True, 0, 1, 0, 1),
        Stretch(False, 1, 3_002, 1, 3_003),
        Stretch(True, 3_002, 3_003, 3_003, 3_004),
    ]
