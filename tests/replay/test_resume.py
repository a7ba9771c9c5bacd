"""A replay that was cut anywhere goes on as if nothing had happened, and pays for no answer twice."""

from __future__ import annotations

import dataclasses

import pytest

from memdash.claude import connect
from memdash.errors import MemdashError
from memdash.records import RequestRecord, Status, StatusRecord, from_line, to_line
from memdash.replay import replay
from memdash.scripts.model import Script, Step, ToolCall
from tests.replay.clients import ScriptedClaude, refuse
from tests.replay.scripts import budget, chat, spec, turn

STRATEGIES = [
    "full_history",
    "window:2",
    "window:keep=2,trim_at=4",
    "window:keep=2,thinking=keep",
    "window:keep=2,thinking=drop_block",
    "truncate:400",
    "truncate:budget=200,mode=naive",
    "truncate:budget=300,mode=naive,system=message",
    "compaction:300,words=40",
    "compaction:300,when=cold",
]
COMPACTING = [
    "server_compaction:500",
    "server_compaction:trigger=500,pause=true",
    "server_compaction:trigger=900,instructions=Keep the budget.",
    "compact_on_demand:500",
    "compact_on_demand:trigger=500,tail=2",
    "compact_on_demand:trigger=500,tail=1,background=true",
    "context_editing:trigger=500,keep=1",
    "context_editing:trigger=500,keep=0,edits=both,clear_tool_inputs=true",
    "context_editing:edits=thinking,keep_thinking=2",
]
"""Strategies that have the API compact or clear; their thresholds here lie below its floors."""


def eventful_script():
    """Seven turns with tools, a pause beyond the cache lifetime, a change of prompt and probes along the way."""
    tool = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
    steps = (
        Step((ToolCall("a", "look", {"at": 1}, "one " * 60), ToolCall("b", "look", {"at": 2}, "two"))),
        Step((ToolCall("c", "look", {"at": 3}, "three"),), "And one more."),
    )
    return Script(
        "eventful",
        "Eventful",
        (
            turn(1, "Hi! Our budget is 2,400 euros for everything."),
            turn(2, "Please look around."),
            turn(3, "Look around again, please.", steps=steps),
            turn(4, "Make it 3,100 euros for the whole budget.", pause=900.0),
            turn(5, "Thanks, let us go on.", system="You help with plans. Use at most 60 words."),
            turn(6, "What would you do on a rainy day?"),
            turn(7, "Lovely, thank you."),
        ),
        system="You help with plans. Use at most 80 words. " + "Be kind and precise. " * 120,
        tools=(tool,),
        facts=(budget(t4="3100", probe_after=(3, 7)),),
    )


class Counting:
    """Counts the calls that really go out."""

    def __init__(self, client):
        self._client = client
        self.calls = 0

    def __getattr__(self, name):
        value = getattr(self._client, name)
        if name not in ("send", "probe", "start"):
            return value

        def counted(request):
            self.calls += 1
            return value(request)

        return counted


def play(one, resume_from=()):
    client, clock = connect(one)
    counting = Counting(client)
    return list(replay(one, counting, clock, resume_from=resume_from)), counting.calls


CASES = [(strategy, False) for strategy in STRATEGIES + COMPACTING] + [
    ("window:keep=2,thinking=keep", True),
    ("window:keep=2,thinking=drop_block", True),
    ("server_compaction:500", True),
    ("compact_on_demand:trigger=500,tail=2", True),
    ("context_editing:trigger=500,keep=0,edits=both", True),
]


@pytest.mark.parametrize(("strategy", "check"), CASES)
def test_cut_at_every_record_it_ends_the_same_without_sending_an_answered_request_again(strategy, check):
    one = spec(eventful_script(), strategy, check=check, controls=True, relax_limits=True)
    whole, calls = play(one)
    assert calls == sum(isinstance(record, RequestRecord) for record in whole)
    for cut in range(len(whole) + 1):
        # Through the wire form, as a journal is kept.
        kept = [from_line(to_line(record)) for record in whole[:cut]]
        rest, calls = play(one, kept)
        if cut == len(whole):
            # Even a finished replay can be gone through again; it only says once more what was found and how it ended.
            assert [record.kind for record in rest] == ["event", "status"]
            assert calls == 0
            continue
        assert rest == whole[cut:], f"cut before record {cut} ({whole[cut].kind})"
        assert calls == sum(isinstance(record, RequestRecord) for record in whole[cut:])


def test_after_a_failure_of_the_network_the_failed_request_is_made_again():
    one = spec(chat(4), controls=False)
    client = ScriptedClaude()
    failing = ScriptedClaude(
        lambda request: (
            refuse(None, "no network")(request)
            if len(request.body["messages"]) > 3
            else [{"type": "text", "text": "fine"}]
        )
    )
    first = list(replay(one, failing, failing.clock))
    assert (first[-1].status, first[-1].turns_completed) == (Status.FAILED, 2)
    rest = list(replay(one, client, client.clock, resume_from=first))
    assert len(client.sent) == 2
    assert [record.turn for record in rest if isinstance(record, RequestRecord)] == [3, 4]
    assert rest[-1].status is Status.DONE
    assert [record.seq for record in [*first, *rest]] == list(range(len(first) + len(rest)))


def test_a_journal_of_another_strategy_is_refused():
    whole, _ = play(spec(eventful_script(), "compaction:300,words=40"))
    with pytest.raises(MemdashError, match="start the replay anew"):
        play(spec(eventful_script(), "full_history"), whole[:-1])


def test_the_workers_own_states_may_stand_in_the_journal():
    one = spec(chat(3))
    whole, _ = play(one)
    marks = [
        StatusRecord(-1, Status.QUEUED, 0, 0.0),
        *whole[:4],
        StatusRecord(-1, Status.INTERRUPTED, 1, 0.0),
    ]
    rest, _ = play(one, marks)
    assert rest == whole[4:]


def test_the_same_specification_always_gives_the_same_records():
    one = spec(eventful_script(), "compaction:300,words=40")
    assert play(one)[0] == play(one)[0]
    assert play(one)[0] != play(dataclasses.replace(one, seed=one.seed + 1))[0]
