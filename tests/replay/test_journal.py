from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.claude import Request
from memdash.errors import MemdashError
from memdash.records import EventKind, EventRecord, Status, StatusRecord
from memdash.replay.journal import BlockBook, Journal, entry_block, shared_length


def running(seq):
    return StatusRecord(seq, Status.RUNNING, 0, 0.0)


def trim(seq, turn=1):
    return EventRecord(seq, EventKind.TRIM, turn, 5.0)


def test_records_are_numbered_without_gaps_and_handed_on_once():
    journal = Journal(())
    journal.add(running)
    journal.add(trim)
    assert [record.seq for record in journal.drain()] == [0, 1]
    assert journal.drain() == []


def test_what_an_earlier_run_recorded_is_not_handed_on_again():
    journal = Journal([running(0), trim(1, turn=7)])
    journal.add(running)
    assert journal.add(trim).turn == 7
    journal.add(trim)
    assert [record.seq for record in journal.drain()] == [2]


def test_an_earlier_end_of_the_replay_is_passed_over():
    journal = Journal([running(0), StatusRecord(1, Status.FAILED, 0, 9.0, "no network")])
    journal.add(running)
    assert journal.peek() is None
    assert journal.add(trim).seq == 2


def test_the_workers_own_states_are_not_part_of_the_replay():
    journal = Journal([StatusRecord(-1, Status.INTERRUPTED, 0, 0.0), running(0)])
    journal.add(running)
    assert journal.peek() is None


def test_a_journal_with_gaps_or_of_another_replay_is_refused():
    with pytest.raises(MemdashError, match="has gaps"):
        Journal([running(0), trim(2)])
    journal = Journal([trim(0)])
    with pytest.raises(MemdashError, match="record 0 is 'event', not 'status'"):
        journal.add(running)


def test_a_request_is_asked_for_where_the_journal_holds_something_else():
    journal = Journal([running(0), trim(1)])
    journal.add(running)
    with pytest.raises(MemdashError, match="record 1 is 'event', not a turn request"):
        journal.recorded_request(None, "turn")


def test_a_context_is_written_as_roles_and_block_ids():
    book = BlockBook()
    one, two, three = ({"type": "text", "text": text} for text in ("one", "two", "three"))
    messages = [{"role": "user", "content": [one, two]}, {"role": "assistant", "content": [three]}]
    context = book.context(Request({"messages": messages}))
    ids = [book.id_of(block) for block in (one, two, three)]
    assert context.entries == (f"user:{ids[0]}", f"+{ids[1]}", f"assistant:{ids[2]}")
    assert [entry_block(entry) for entry in context.entries] == ids
    assert (context.system, context.tools) == (None, None)


def test_a_block_is_recorded_once_and_comes_back_as_it_was():
    book = BlockBook()
    block = {"type": "tool_use", "id": "t", "name": "look", "input": {"z": [1, None], "a": "é"}}
    block_id = book.id_of(block)
    assert json.loads(book.unrecorded([block_id])[block_id]) == block
    assert book.unrecorded([block_id, None]) == {}
    assert book.block(block_id) == block
    assert book.id_of(dict(block)) == block_id


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)))
def test_the_shared_length_is_the_longest_common_start(before, now):
    shared = shared_length(before, now)
    assert before[:shared] == now[:shared]
    assert shared == min(len(before), len(now)) or before[shared] != now[shared]
