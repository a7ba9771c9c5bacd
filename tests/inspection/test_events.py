"""Events in words."""

from __future__ import annotations

import pytest

from memdash.inspection.events import NAMES, details, turns_in_words
from memdash.records import EventKind


def test_every_kind_has_a_name_of_its_own():
    assert set(NAMES) == set(EventKind)
    assert len(set(NAMES.values())) == len(NAMES)


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        ([], "no turn"),
        ([4], "turn 4"),
        ([4, 2, 3], "turns 2 to 4"),
        ([2, 4, 9], "turns 2, 4 and 9"),
        ([1, 3, 5, 7, 9, 11, 13], "turns 1, 3, 5, 7, 9 and 2 more"),
    ],
)
def test_turns_in_words(turns, words):
    assert turns_in_words(turns) == words


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        (
            EventKind.TRIM,
            {"dropped_turns": [1, 2], "kept_turns": [3], "dropped_tokens": 1234},
            "dropped turns 1 to 2; 1,234 tokens dropped",
        ),
        (
            EventKind.COMPACTION,
            {"used": True, "replaced_turns": [1], "before_tokens": 2000, "after_tokens": 300},
            "in place of turn 1; 2,000 → 300 tokens",
        ),
        (EventKind.COMPACTION, {"used": False, "problem": "it was empty"}, "not used: it was empty"),
        (EventKind.SWAP, {"used": False}, "not used"),
        (EventKind.BACKGROUND_READY, {"held_up": True, "problem": None}, "a turn waited for it"),
        (EventKind.BACKGROUND_STARTED, {"covers_through": 7}, "covers turns up to 7"),
        (
            EventKind.CLEAR,
            {"cleared_tool_uses": 2, "cleared_input_tokens": 900},
            "2 tool uses cleared; 900 tokens cleared",
        ),
        (EventKind.STRIP_THINKING, {"blocks": 1}, "1 block"),
        (EventKind.REJECTED, {"message": "no"}, "no"),
        (EventKind.VERDICT, {"ok": True, "requests": 3, "violated": 0}, "3 requests checked, no rule broken"),
        (EventKind.VERDICT, {"ok": False, "requests": 3, "violated": 2}, "3 requests checked, 2 violations"),
        (EventKind.BRIEF_GROWING, {"words": [1, 2]}, ""),
    ],
)
def test_what_an_event_says_beyond_its_kind(kind, data, words):
    assert details(kind, data) == words
