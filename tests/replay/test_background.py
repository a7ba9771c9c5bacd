"""Extra model calls beside the conversation, on either clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from memdash.claude import Refused, connect
from memdash.clock import RealClock
from memdash.records import EventKind, EventRecord, JobRecord, Purpose, RequestRecord, Status, TurnRecord
from memdash.replay import replay
from memdash.strategies import registry
from memdash.strategies.base import Ask, RequestOptions
from tests.replay.clients import ScriptedClaude, refuse
from tests.replay.scripts import chat, spec
from tests.strategies.workspaces import user

ASK = Ask((user("Summarise the conversation in at most 20 words."),), max_tokens=200)


@dataclass(frozen=True)
class NoParams:
    pass


class Backgrounder:
    """Starts a job after turn 2, looks whether it is ready before every turn, and waits for it before turn 5."""

    name: ClassVar[str] = "test_backgrounder"
    title: ClassVar[str] = "backgrounder"
    description: ClassVar[str] = "A strategy of this test."
    Params: ClassVar[type] = NoParams
    fires: ClassVar[frozenset[EventKind]] = frozenset()

    def __init__(self, params: Any) -> None:
        self._job: Any = None
        self._messages: list[Any] = []

    @classmethod
    def label(cls, params: Any) -> str:
        return cls.title

    def open(self, message: Any, workspace: Any) -> None:
        if self._job is None:
            return
        ready = self._job.ready()
        if ready or workspace.turn == 5:
            answer = self._job.result()
            workspace.note(EventKind.SWAP, ready=ready, text=answer.text, problem=answer.problem)
            self._job = None

    def context(self) -> Sequence[Any]:
        return self._messages

    def options(self) -> RequestOptions:
        return RequestOptions()

    def close(self, exchange: Any, usage: Any, workspace: Any) -> None:
        self._messages.extend(exchange.messages)
        if exchange.turn == 2:
            self._job = workspace.start(ASK)
            workspace.note(EventKind.BACKGROUND_STARTED)


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    """The strategy is known in this file only."""
    monkeypatch.setitem(registry._registry, Backgrounder.name, Backgrounder)


def of(records, kind):
    return [record for record in records if isinstance(record, kind)]


def run(client, pace, **more):
    one = spec(chat(6), "test_backgrounder", pace=pace)
    return list(replay(one, client, client.clock, **more))


def swap(records):
    (event,) = [record for record in of(records, EventRecord) if record.event is EventKind.SWAP]
    return event


def test_a_job_that_ends_while_the_user_thinks_costs_no_wait():
    # The job takes 1 s and the user thinks for 30 s: it is ready before turn 3.
    records = run(ScriptedClaude(), pace=30.0)
    assert (swap(records).turn, swap(records).data["ready"]) == (3, True)
    assert [one.wait_ms for one in of(records, TurnRecord)] == [1_000] * 6
    (job,) = of(records, JobRecord)
    assert (job.started_ms, job.finished_ms) == (32_000, 33_000)


def test_waiting_for_a_job_is_wait_of_the_turn_that_waits():
    class Slow(ScriptedClaude):
        def start(self, request):
            self.clock, real = type(self.clock)(self.clock.now_ms()), self.clock
            self.clock.advance(8_000)
            started = super().start(request)
            self.clock = real
            started._clock = real
            return started

    # Nobody thinks: turn 5 begins at 4 s, and the job, started at 2 s, ends 9 s later.
    records = run(Slow(), pace=0.0)
    assert (swap(records).turn, swap(records).data["ready"]) == (5, False)
    assert [one.wait_ms for one in of(records, TurnRecord)] == [1_000] * 4 + [8_000, 1_000]


def test_a_background_call_is_billed_as_a_summary_beside_the_turns():
    (request,) = [one for one in of(run(ScriptedClaude(), 30.0), RequestRecord) if one.job is not None]
    assert (request.purpose, request.job, request.turn) == (Purpose.SUMMARY, 1, 2)


def test_a_background_call_that_fails_is_an_answer_with_a_problem():
    class Failing(ScriptedClaude):
        def start(self, request):
            try:
                refuse(529, "Overloaded")(request)
            except Refused as refused:
                return Ended(refused)

    class Ended:
        def __init__(self, refused):
            self._refused = refused

        def answer(self):
            return self._refused

    records = run(Failing(), pace=30.0)
    assert swap(records).data["problem"] == "the summary call failed: Overloaded"
    assert records[-1].status is Status.DONE


def test_cut_at_every_record_a_background_job_is_learned_of_at_the_same_point():
    one = spec(chat(6), "test_backgrounder", pace=1.0)
    whole = list(replay(one, *connect(one)))
    assert of(whole, JobRecord)
    for cut in range(len(whole)):
        rest = list(replay(one, *connect(one), resume_from=whole[:cut]))
        assert rest == whole[cut:], f"cut before record {cut}"


class RealTime(ScriptedClaude):
    """Real time, with a background call that is answered when the test says so."""

    def __init__(self):
        super().__init__()
        self.clock = RealClock()
        self.pending = None

    def send(self, request):
        response = self._answer(request, self.clock.now_ms() - 1000)
        if self.pending is not None and len(request.body["messages"]) == 7:  # the request of turn 4
            self.pending.known = True
        return response

    def start(self, request):
        self.pending = Waiting(self._answer(request, self.clock.now_ms() - 1000))
        return self.pending


class Waiting:
    def __init__(self, response):
        self._response = response
        self.known = False

    def answer(self):
        return self._response if self.known else None

    def wait(self):
        return self._response


def test_in_real_time_the_moment_the_replay_learned_of_it_is_what_a_resumed_one_goes_by():
    whole = run(RealTime(), pace=0.0)
    assert (swap(whole).turn, swap(whole).data["ready"]) == (5, True)
    at = whole.index(swap(whole))
    for cut in range(at + 1, len(whole)):
        client = RealTime()
        rest = run(client, pace=0.0, resume_from=whole[:cut])
        assert [type(record) for record in rest] == [type(record) for record in whole[cut:]]
        assert len(client.sent) == len(of(whole[cut:], RequestRecord))


def test_a_job_in_flight_when_the_process_died_is_started_again():
    whole = run(RealTime(), pace=0.0)
    third = next(record.seq for record in of(whole, RequestRecord) if record.turn == 3)
    client = RealTime()
    rest = run(client, pace=0.0, resume_from=whole[: third + 1])
    assert client.pending is not None
    assert swap(rest).turn == 5
    assert len(of(rest, JobRecord)) == 1
