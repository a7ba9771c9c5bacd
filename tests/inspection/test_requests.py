"""A request block by block: what each is, whether it is new, and how it was billed, against what the simulator reports."""

from __future__ import annotations

import dataclasses
import json

import pytest

from memdash.inspection.blocks import Kind
from memdash.inspection.buckets import Bucket
from memdash.inspection.requests import InspectedRequest, opening_request, request_before, requests_of
from memdash.models import facts
from memdash.records import Purpose
from memdash.scripts.model import Script, Step, ToolCall
from memdash.spec import CacheLifetime, CacheMarks
from tests.inspection.replays import Played, play
from tests.replay.scripts import budget, chat, spec, turn, with_tools

MODEL = "claude-opus-5-5"
LONG = "Please keep in mind what I told you about the trip, the hotel and the train. " * 30
"""Long enough for the cache of the model, which takes 512 tokens at least."""


def long_chat(turns: int = 8) -> Script:
    return Script("long", "Long", tuple(turn(n, f"{n}: {LONG}") for n in range(1, turns + 1)), system="Help.")


def written(found: InspectedRequest) -> list[tuple[str, Kind, bool]]:
    return [(one.path, one.kind, one.kept) for one in found.pieces]


def test_a_first_request_is_all_new() -> None:
    assert written(play(spec(with_tools())).at(1)) == [
        ("tools.0", Kind.TOOL, False),
        ("system.0", Kind.SYSTEM, False),
        ("messages.0.content.0", Kind.TEXT, False),
    ]


def test_a_later_request_keeps_what_the_one_before_held_and_adds_its_answer_and_the_new_message() -> None:
    assert written(play(spec(with_tools())).at(2)) == [
        ("tools.0", Kind.TOOL, True),
        ("system.0", Kind.SYSTEM, True),
        ("messages.0.content.0", Kind.TEXT, True),
        ("messages.1.content.0", Kind.THINKING, False),
        ("messages.1.content.1", Kind.TEXT, False),
        ("messages.2.content.0", Kind.TEXT, False),
    ]


def test_tool_calls_and_their_results_are_told_apart() -> None:
    played = play(spec(with_tools()))
    second = requests_of(played.log, 2)[1]
    assert second.purpose is Purpose.TOOL
    new = [one for one in played.inspect(second).pieces if not one.kept]
    assert [one.kind for one in new[-4:]] == [Kind.CALL, Kind.CALL, Kind.RESULT, Kind.RESULT]
    assert [one.role for one in new[-4:]] == ["assistant", "assistant", "user", "user"]


def test_a_window_keeps_its_blocks_although_they_moved() -> None:
    found = play(spec(chat(6), "window:2")).at(4)
    # Turn 2 went. Turn 3's message stands first now; its answer was no part of the request before, its thinking is stripped.
    assert [(one.path, one.kind, one.kept) for one in found.pieces] == [
        ("messages.0.content.0", Kind.TEXT, True),
        ("messages.1.content.0", Kind.TEXT, False),
        ("messages.2.content.0", Kind.TEXT, False),
    ]


def test_a_summary_is_marked_where_it_stands_for_older_turns() -> None:
    played = play(spec(chat(8, budget()), "compaction:300,words=30"))
    (event, *_) = [one for one in played.log.events if one.event == "compaction"]
    first, *_ = played.at(event.turn + 1).pieces
    assert (first.path, first.kind, first.kept) == ("messages.0.content.0", Kind.SUMMARY, False)
    assert event.data["summary"] in json.loads(played.texts[first.block])["text"]


def test_a_result_that_was_shortened_says_from_what_size() -> None:
    steps = (Step((ToolCall("a", "look", {"at": 1}, LONG), ToolCall("b", "look", {"at": 2}, "short"))),)
    script = dataclasses.replace(with_tools(), turns=(turn(1, "Look.", steps=steps), turn(2)))
    played = play(spec(script, "cap_results:50"))
    (event,) = [one for one in played.log.events if one.event == "cap"]
    notes = [one.note for one in played.at(2).pieces if one.kind is Kind.RESULT]
    before, after = event.data["before_tokens"], event.data["after_tokens"]
    assert notes == [f"shortened by the strategy from {before} to {after} tokens", None]


STRATEGIES = [
    "full_history",
    "window:2",
    "window:keep=2,trim_at=4",
    "truncate:budget=3000",
    "compaction:2500,words=60",
    "compaction:trigger=2500,words=60,live_prefix=true",
    "instant_compaction:context_limit=3500,first_summary_at=2000,update_every=800",
    "running_brief:context_limit=4000,tail=2",
]


def around(played: Played, found: InspectedRequest, bucket: Bucket) -> int:
    """What the simulator writes around the blocks of a bucket: three tokens a message, three for a system prompt, its
    prompt for tools, and three that open the answer and are never cached."""
    known = facts(MODEL)
    assert known is not None
    tokens = 3 if bucket is Bucket.UNCACHED else 0
    roles = [None, *(one.role for one in found.pieces)]
    for before, piece in zip(roles, found.pieces, strict=False):
        if piece.bucket is bucket and piece.role != before:
            tokens += {"tools": known.tool_prompt.auto}.get(piece.role, 3)
    return tokens


@pytest.mark.parametrize("marks", CacheMarks)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_buckets_blocks_and_what_stands_around_them_come_to_what_is_reported(
    strategy: str, marks: CacheMarks
) -> None:
    played = play(spec(long_chat(), strategy, cache_marks=marks))
    looked_at = 0
    for record in played.log.requests:
        found = played.inspect(record)
        assert found.split is not None
        assert not found.split.estimated
        reported = [one.reported for one in found.split.shares]
        usage = record.usage
        assert reported == [
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
            usage.input_tokens,
        ]
        assert [one.around for one in found.split.shares] == [
            around(played, found, one.bucket) for one in found.split.shares
        ]
        looked_at += sum(one is not None and one > 0 for one in reported)
    assert looked_at > 16


def test_tools_are_counted_with_their_own_prompt_around_them() -> None:
    played = play(spec(with_tools()))
    for record in played.log.requests:
        found = played.inspect(record)
        assert found.split is not None
        assert [one.around for one in found.split.shares] == [
            around(played, found, one.bucket) for one in found.split.shares
        ]


def test_without_caching_all_is_plain_input() -> None:
    played = play(spec(long_chat(3), cache=CacheLifetime.OFF))
    assert {one.bucket for one in played.at(3).pieces} == {Bucket.UNCACHED}


def test_runs_put_together_what_is_alike() -> None:
    found = play(spec(long_chat())).at(8)
    assert [(one.fixed, one.kept, one.bucket, len(one.pieces)) for one in found.runs] == [
        (True, True, Bucket.READ, 1),
        (False, True, Bucket.READ, 19),
        (False, False, Bucket.WRITTEN, 3),
    ]
    assert sum(run.tokens for run in found.runs) == sum(one.tokens or 0 for one in found.pieces)


def test_a_refused_request_is_looked_at_without_a_bill() -> None:
    played = play(spec(chat(4), "window:keep=2,thinking=keep", check=True))
    (refused,) = [one for one in played.log.requests if one.error_message]
    found = played.inspect(refused)
    assert found.split is None
    assert {one.bucket for one in found.pieces} == {None}
    assert found.pieces


def test_what_a_turn_begins_with_and_what_came_before_it() -> None:
    played = play(spec(chat(3, budget())))
    second = played.opening(2)
    assert (second.turn, second.purpose) == (2, Purpose.TURN)
    before = request_before(played.log, second)
    assert before is not None
    assert before.turn == 1
    assert request_before(played.log, played.opening(1)) is None
    assert opening_request(played.log, 9) is None
    assert {one.purpose for one in requests_of(played.log, 3)} == {Purpose.TURN, Purpose.PROBE}
