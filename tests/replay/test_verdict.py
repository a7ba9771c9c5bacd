"""Every rule of the verdict: kept by what the lab records, broken by records that were tampered with."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from memdash.claude import connect
from memdash.records import (
    EventKind,
    EventRecord,
    Iteration,
    Purpose,
    Record,
    RequestRecord,
    Status,
    StatusRecord,
    Usage,
)
from memdash.replay import replay
from memdash.replay.journal import BlockBook
from memdash.replay.legality import illegality
from memdash.replay.verdict import MOST_STORED, Rule, Verdict, Violation, judge, sums_that_fail
from memdash.spec import CacheMarks, ReplaySpec
from tests.replay.scripts import budget, chat, spec, with_tools

LONG = "Keep this in mind. " * 400
"""About 1,900 tokens: enough for everything after it to be cached."""


def played(one: ReplaySpec) -> list[Record]:
    return list(replay(one, *connect(one)))


def a_chat(strategy: str = "full_history", **changes: Any) -> tuple[ReplaySpec, list[Record]]:
    one = spec(chat(6, budget(), system=LONG), strategy, **changes)
    return one, played(one)


def a_tool_replay() -> tuple[ReplaySpec, list[Record]]:
    one = spec(dataclasses.replace(with_tools(), system=LONG))
    return one, played(one)


Change = Callable[[RequestRecord], RequestRecord]


def tampered(
    records: list[Record], change: Change, *, turn: int, purpose: Purpose = Purpose.TURN
) -> list[Record]:
    """Change the first request of a turn with this purpose."""
    done = False
    found: list[Record] = []
    for record in records:
        if (
            not done
            and isinstance(record, RequestRecord)
            and (record.turn, record.purpose) == (turn, purpose)
        ):
            record, done = change(record), True
        found.append(record)
    assert done
    return found


def with_usage(**tokens: int | None) -> Change:
    return lambda record: dataclasses.replace(record, usage=dataclasses.replace(record.usage, **tokens))


def with_block(record: RequestRecord, place: int, block: dict[str, Any]) -> RequestRecord:
    """Put another block in an entry's place, under its own id."""
    block_id = BlockBook().id_of(block)
    entry = record.entries[place]
    lead = "+" if entry.startswith("+") else entry.partition(":")[0] + ":"
    entries = list(record.entries)
    entries[place] = lead + block_id
    blocks = {**record.blocks, block_id: json.dumps(block, ensure_ascii=False, separators=(",", ":"))}
    return dataclasses.replace(record, entries=tuple(entries), blocks=blocks)


def broken(one: ReplaySpec, records: list[Record]) -> set[Rule]:
    return {violation.rule for violation in judge(one, records).violations}


def text_of(one: ReplaySpec, records: list[Record], rule: Rule) -> str:
    return next(violation.text for violation in judge(one, records).violations if violation.rule is rule)


# -- kept ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "strategy",
    [
        "full_history",
        "window:2",
        "window:keep=2,thinking=keep",
        "window:keep=2,thinking=drop_block",
        "truncate:2500",
        "truncate:budget=2500,mode=naive",
        "truncate:budget=2500,system=message",
        "compaction:2300,words=30",
        "compaction:trigger=2300,words=30,live_prefix=true",
        "running_brief:context_limit=2300,words=30",
        "blocking_compaction:2300",
        "instant_compaction:context_limit=2600,first_summary_at=2300,update_every=100",
    ],
)
@pytest.mark.parametrize(
    ("marks", "warm"),
    [(CacheMarks.AUTO, False), (CacheMarks.FIXED_AND_AUTO, False), (CacheMarks.FIXED_AND_AUTO, True)],
)
@pytest.mark.parametrize("tools", [False, True])
def test_every_strategy_keeps_every_rule(strategy: str, marks: CacheMarks, warm: bool, tools: bool) -> None:
    script = dataclasses.replace(with_tools(), system=LONG) if tools else chat(7, budget(), system=LONG)
    one = spec(script, strategy, cache_marks=marks, warm=warm)
    verdict = judge(one, played(one))
    assert verdict.violations == ()
    assert verdict.requests >= 5


def test_a_refused_strategy_keeps_every_rule_too() -> None:
    one, records = a_chat("window:keep=2,thinking=keep", check=True)
    assert [record.status for record in records if isinstance(record, StatusRecord)][-1] is Status.REJECTED
    assert judge(one, records).ok


def test_a_pause_beyond_the_lifetime_is_no_violation() -> None:
    one = spec(chat(4, system=LONG), pace=400)
    records = played(one)
    reads = [record.usage.cache_read_input_tokens for record in records if isinstance(record, RequestRecord)]
    assert set(reads) == {0}
    assert judge(one, records).ok


def test_a_script_may_change_its_system_prompt_and_tools() -> None:
    script = chat(4, system=LONG)
    later = dataclasses.replace(
        script.turns[2], system="Be brief.", tools=({"name": "look", "input_schema": {"type": "object"}},)
    )
    one = spec(dataclasses.replace(script, turns=(*script.turns[:2], later, script.turns[3])))
    assert judge(one, played(one)).ok


# -- broken -------------------------------------------------------------------------------------------------------------


def test_a_user_message_in_other_words_is_a_violation() -> None:
    one, records = a_chat()
    changed = tampered(records, lambda r: with_block(r, -1, {"type": "text", "text": "message four"}), turn=4)
    assert Rule.USER_TURN in broken(one, changed)
    assert "turn 4, word for word" in text_of(one, changed, Rule.USER_TURN)


def test_a_message_put_before_the_first_is_a_violation() -> None:
    one, records = a_chat()
    block = {"type": "text", "text": "Ignore the rest."}
    block_id = BlockBook().id_of(block)

    def put_first(record: RequestRecord) -> RequestRecord:
        blocks = {**record.blocks, block_id: json.dumps(block, separators=(",", ":"))}
        return dataclasses.replace(record, entries=(f"user:{block_id}", *record.entries), blocks=blocks)

    assert Rule.DECLARED in broken(one, tampered(records, put_first, turn=1))


def edit_history(record: RequestRecord) -> RequestRecord:
    """Forget the first exchange: the context is told anew, without its first two messages' blocks."""
    return dataclasses.replace(record, shared=0, entries=record.entries)


def test_a_history_edited_without_an_event_is_a_violation() -> None:
    one, records = a_chat()
    changed = tampered(records, edit_history, turn=4)
    assert Rule.DECLARED in broken(one, changed)
    assert "no event says so" in text_of(one, changed, Rule.DECLARED)


def test_taking_the_event_out_makes_a_declared_edit_a_violation() -> None:
    one, records = a_chat("window:2")
    kept = [r for r in records if not (isinstance(r, EventRecord) and r.event is EventKind.TRIM)]
    kept = [r for r in kept if not (isinstance(r, EventRecord) and r.event is EventKind.STRIP_THINKING)]
    assert Rule.DECLARED in broken(one, kept)


def test_an_event_that_only_leaves_out_does_not_cover_other_words() -> None:
    one, records = a_chat("window:2")
    changed = tampered(
        records, lambda r: with_block(r, 0, {"type": "text", "text": "not what was said"}), turn=4
    )
    assert "only leaves blocks out" in text_of(one, changed, Rule.DECLARED)


def test_a_summary_that_was_not_used_declares_nothing() -> None:
    one, records = a_chat("compaction:2300,words=30")
    unused = [
        dataclasses.replace(r, data={**r.data, "used": False})
        if isinstance(r, EventRecord) and r.event is EventKind.COMPACTION
        else r
        for r in records
    ]
    unused = [r for r in unused if not (isinstance(r, EventRecord) and r.event is EventKind.STRIP_THINKING)]
    assert judge(one, records).ok
    assert Rule.DECLARED in broken(one, unused)


@pytest.mark.parametrize("field", ["system_block", "tools_block"])
def test_another_fixed_part_is_a_violation(field: str) -> None:
    one, records = a_tool_replay()
    changed = tampered(records, lambda r: dataclasses.replace(r, **{field: "0" * 24}), turn=3)
    assert Rule.DECLARED in broken(one, changed)


def test_a_tool_loop_that_does_not_only_grow_is_a_violation() -> None:
    one, records = a_tool_replay()
    assert judge(one, records).ok
    changed = tampered(
        records, lambda r: dataclasses.replace(r, shared=r.shared - 1), turn=2, purpose=Purpose.TOOL
    )
    assert Rule.EXCHANGE in broken(one, changed)


def test_a_result_without_its_call_that_was_answered_is_a_violation() -> None:
    one, records = a_tool_replay()
    stray = {"type": "tool_result", "tool_use_id": "toolu_none", "content": "one"}
    changed = tampered(records, lambda r: with_block(r, -1, stray), turn=2, purpose=Purpose.TOOL)
    assert "which the message before it did not call" in text_of(one, changed, Rule.LEGAL)


def test_the_same_result_refused_by_the_api_is_none() -> None:
    one, records = a_tool_replay()
    stray = {"type": "tool_result", "tool_use_id": "toolu_none", "content": "one"}

    def refused(record: RequestRecord) -> RequestRecord:
        return dataclasses.replace(
            with_block(record, -1, stray), error_message="no", error_status=400, usage=Usage()
        )

    at = next(i for i, r in enumerate(records) if isinstance(r, RequestRecord) and r.purpose is Purpose.TOOL)
    assert Rule.LEGAL not in broken(one, tampered(records[: at + 1], refused, turn=2, purpose=Purpose.TOOL))


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ({"input_tokens": -1}, "input_tokens is -1"),
        ({"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 1}, "do not come to"),
    ],
)
def test_counts_that_do_not_add_up_are_a_violation(tokens: dict[str, int], text: str) -> None:
    one, records = a_chat()
    assert text in text_of(one, tampered(records, with_usage(**tokens), turn=3), Rule.TOTALS)


def test_iterations_that_do_not_come_to_the_total_are_a_violation() -> None:
    one, records = a_chat()

    def split(record: RequestRecord) -> RequestRecord:
        parts = (
            Iteration("message", Usage(input_tokens=1, output_tokens=record.usage.output_tokens)),
            Iteration("compaction", Usage(input_tokens=5_000, output_tokens=200)),
        )
        return dataclasses.replace(record, iterations=parts)

    changed = tampered(records, split, turn=3)
    assert "its iterations come to 1" in text_of(one, changed, Rule.TOTALS)
    (request,) = (r for r in changed if isinstance(r, RequestRecord) and r.iterations)
    assert len(sums_that_fail(request)) == 1


def test_more_read_than_was_ever_written_is_a_violation() -> None:
    one, records = a_chat()
    read = next(
        r.usage.cache_read_input_tokens for r in records if isinstance(r, RequestRecord) and r.turn == 3
    )
    assert read
    changed = tampered(records, with_usage(cache_read_input_tokens=read + 1), turn=3)
    assert f"{read + 1} tokens were read, but no earlier request wrote more than {read}" in text_of(
        one, changed, Rule.CACHE_READ
    )


def test_a_first_request_that_reads_is_a_violation() -> None:
    one, records = a_chat()
    assert Rule.CACHE_READ in broken(one, tampered(records, with_usage(cache_read_input_tokens=7), turn=1))


def test_a_read_across_an_edit_is_a_violation() -> None:
    """The window begins anew at turn 4: nothing of its prefix was ever written."""
    one, records = a_chat("window:2")
    assert Rule.CACHE_READ in broken(
        one, tampered(records, with_usage(cache_read_input_tokens=2_000), turn=4)
    )


def test_a_miss_that_nothing_explains_is_a_violation_in_the_simulator_alone() -> None:
    one, records = a_chat()
    changed = tampered(records, with_usage(cache_read_input_tokens=0), turn=3)
    assert "were not read, and nothing had changed" in text_of(one, changed, Rule.CACHE_MISS)
    live = [dataclasses.replace(r, modelled=False) if isinstance(r, RequestRecord) else r for r in changed]
    assert Rule.CACHE_MISS not in broken(one, live)


def test_a_journal_that_cannot_be_read_back_is_a_violation() -> None:
    one, records = a_chat()
    changed = tampered(records, lambda r: dataclasses.replace(r, base_request=1), turn=4)
    assert judge(one, changed).violations[-1].rule is Rule.JOURNAL


def test_every_rule_was_seen_broken_above() -> None:
    """A rule that is added must come with a test that breaks it."""
    with open(__file__, encoding="utf-8") as file:
        source = file.read()
    assert {rule for rule in Rule if f"Rule.{rule.name}" not in source} == set()


# -- the order of messages ----------------------------------------------------------------------------------------------

CALL = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "one"}
TEXT = {"type": "text", "text": "hello"}
COMPACTION = {"type": "compaction", "content": "so far"}


@pytest.mark.parametrize(
    "blocks",
    [
        [("user", TEXT)],
        [("user", TEXT), ("user", TEXT)],
        [("user", TEXT), ("assistant", TEXT), ("assistant", CALL), ("user", RESULT), ("user", TEXT)],
        [("assistant", COMPACTION), ("user", TEXT)],
        [("user", RESULT), ("assistant", COMPACTION), ("user", TEXT)],
        [("user", TEXT), ("assistant", COMPACTION)],
        [("user", TEXT), ("assistant", {**COMPACTION, "content": None})],
        [("user", TEXT), ("system", TEXT), ("user", TEXT)],
    ],
)
def test_legal_orders(blocks: Any) -> None:
    assert illegality(blocks) is None


@pytest.mark.parametrize(
    ("blocks", "problem"),
    [
        ([], "no messages"),
        ([("system", TEXT), ("user", TEXT)], "first message is a system"),
        ([("user", TEXT), ("assistant", TEXT)], "the last message is the assistant's"),
        ([("user", TEXT), ("assistant", CALL)], "tool call a has no result"),
        ([("user", TEXT), ("assistant", CALL), ("user", TEXT)], "tool call a has no result"),
        ([("user", RESULT)], "did not call"),
        (
            [("user", TEXT), ("assistant", CALL), ("user", TEXT), ("user", RESULT)],
            "stands before the results",
        ),
        ([("user", TEXT), ("assistant", CALL), ("user", RESULT), ("user", RESULT)], "has two results"),
        ([("user", CALL)], "the user calls a tool"),
        ([("assistant", {**COMPACTION, "content": None}), ("user", RESULT)], "did not call"),
    ],
)
def test_illegal_orders(blocks: Any, problem: str) -> None:
    found = illegality(blocks)
    assert found is not None
    assert problem in found


def test_a_compaction_may_be_asked_for_after_the_assistant_but_not_after_an_open_call() -> None:
    assert illegality([("user", TEXT), ("assistant", TEXT)], open_end=True) is None
    assert illegality([("user", TEXT), ("assistant", CALL)], open_end=True) is not None


# -- kept with the replay -----------------------------------------------------------------------------------------------


def test_what_an_interrupted_run_recorded_is_judged_with_the_rest() -> None:
    one, records = a_chat()
    changed = tampered(records, with_usage(input_tokens=-1), turn=2)
    cut = next(i for i, r in enumerate(records) if isinstance(r, RequestRecord) and r.turn == 4)
    *_, verdict, end = replay(one, *connect(one), resume_from=changed[:cut])
    assert isinstance(verdict, EventRecord)
    assert isinstance(end, StatusRecord)
    assert (verdict.event, end.status) == (EventKind.VERDICT, Status.DONE)
    assert (verdict.data["ok"], verdict.data["violated"]) == (False, 1)
    assert verdict.data["violations"] == [{"request": 2, "rule": "totals", "text": "input_tokens is -1"}]


def test_of_many_violations_the_first_are_kept_and_all_are_counted() -> None:
    verdict = Verdict(99, tuple(Violation(n, Rule.TOTALS, "no") for n in range(99)))
    data = verdict.data()
    assert (data["violated"], len(data["violations"])) == (99, MOST_STORED)
