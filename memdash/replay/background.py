"""Extra model calls that run beside the conversation, on either clock."""

from __future__ import annotations

import contextlib

from memdash.claude import Pending, Refused, Request, Response, refused_by_api
from memdash.records import JobRecord, RequestRecord
from memdash.replay.calls import Answered, Calls, RequestFailed, Slot


class Background:
    """The background calls of one replay, numbered from 1 as they are started."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._started: list[BackgroundCall] = []

    def start(self, request: Request, slot: Slot) -> BackgroundCall:
        """Start a request beside the conversation. What the gate raises, it raises."""
        call = BackgroundCall(self._calls, request, slot, len(self._started) + 1)
        self._started.append(call)
        return call

    def settle(self) -> None:
        """Wait for calls nobody has waited for, so that what they cost is recorded."""
        for call in self._started:
            call.settle()


class BackgroundCall:
    """A request that runs beside the conversation.

    On a virtual clock its answer is known, and recorded, at once, and ready when the clock has come to its
    end. In real time it is
    recorded when the replay first sees it. In both cases the moment the replay learned of it is a record, so that an
    interrupted replay learns of it at the same point.
    """

    def __init__(self, calls: Calls, request: Request, slot: Slot, number: int) -> None:
        self._calls = calls
        self._request = request
        self._slot = slot
        self._number = number
        self._context = calls.book.context(request)
        self._answered: Answered | None = None
        self._announced = False
        self._pending: Pending | None = None
        self.started_ms = calls.timeline.now()
        self._collect()

    def ready(self) -> bool:
        """Whether the answer is there now."""
        self._collect()
        if self._answered is None:
            return False
        expected = self._calls.journal.peek()
        if expected is None:
            there = self._answered.record.finished_ms <= self._calls.timeline.now()
        else:
            there = isinstance(expected, JobRecord) and expected.job == self._number
        if there:
            self._announce()
        return there

    def result(self) -> Answered:
        """Wait for the answer; raises :class:`RequestFailed` where there is none."""
        if self._answered is None:
            self._collect()
        if self._answered is None:
            assert self._pending is not None
            try:
                outcome: Response | Refused = self._pending.wait()
            except Refused as refused:
                outcome = refused
            self._answered = self._keep(outcome)
        if self._calls.journal.peek() is None:
            self._calls.timeline.wait_until(self._answered.record.finished_ms)
        else:
            self._calls.timeline.jump_to(max(self._calls.timeline.now(), self._answered.record.finished_ms))
        self._announce()
        if self._answered.record.error_message is not None:
            raise RequestFailed(self._answered.record, refused_by_api(self._answered.record.error_status))
        return self._answered

    def settle(self) -> None:
        """Have the answer recorded, whenever it comes and whatever it is."""
        if not self._announced:
            with contextlib.suppress(RequestFailed):
                self.result()

    def _collect(self) -> None:
        """Take the answer in as soon as it is known: from the journal, else from the call, which is made
        when the journal has ended.
        """
        if self._answered is not None:
            return
        expected = self._calls.journal.peek()
        if isinstance(expected, RequestRecord) and expected.job == self._number:
            recorded = self._calls.journal.recorded_request(self._context, self._slot.purpose)
            assert recorded is not None
            self._answered = self._calls.recall(recorded, self._request, self._context, self._slot)
        elif expected is None:
            if self._pending is None:
                self._calls.check(self._request, self._slot)
                self._pending = self._calls.client.start(self._request)
            outcome = self._pending.answer()
            if outcome is not None:
                self._answered = self._keep(outcome)

    def _keep(self, outcome: Response | Refused) -> Answered:
        return self._calls.record(outcome, self._request, self._context, self._slot, job=self._number)

    def _announce(self) -> None:
        if self._announced:
            return
        self._announced = True
        assert self._answered is not None
        record = self._answered.record
        self._calls.journal.add(
            lambda seq: JobRecord(seq, self._number, record.number, record.started_ms, record.finished_ms)
        )
