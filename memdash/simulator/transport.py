"""The simulator as the SDK's HTTP transport, on a virtual clock."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2

from memdash.clock import VirtualClock
from memdash.simulator.engine import Timing
from memdash.simulator.routes import Answer, Wire
from memdash.simulator.sse import stream_events

TIMING_HEADER = "memdash-timing"
"""Extension response header with the modelled latency as JSON: when the first event, the first text and the
last byte would have arrived, in milliseconds from the request's start. With it a client knows them without
streaming."""


def read_timing(headers: Mapping[str, str]) -> Timing | None:
    """Return the modelled latency from response headers, None where another server answered."""
    value = headers.get(TIMING_HEADER)
    return Timing(**json.loads(value)) if value is not None else None


class SimulatorTransport(httpx2.BaseTransport):
    """Answers the SDK's requests from a simulator in this process; ``httpx2.Client(transport=…)`` takes it.

    The clock moves as a real one would: to the end of a plain answer before it is handed over, event by event while a
    stream is read. One transport belongs to one thread.
    """

    def __init__(self, wire: Wire, clock: VirtualClock, *, frozen: bool = False) -> None:
        self.clock = clock
        self._wire = wire
        self._frozen = frozen

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request."""
        clock = self.clock.fork() if self._frozen else self.clock
        answer = self._wire.answer(
            request.method,
            request.url.raw_path.decode("ascii"),
            request.headers,
            request.read(),
            clock.now_ms(),
            commit=not self._frozen,
        )
        headers = [(name.encode(), value.encode()) for name, value in answer.headers.items()]
        if answer.timing is not None:
            headers.append((TIMING_HEADER.encode(), _timing_value(answer.timing)))
            if answer.stream:
                headers.append((b"content-type", b"text/event-stream; charset=utf-8"))
                return httpx2.Response(
                    answer.status, headers=headers, stream=_EventStream(answer, answer.timing, clock)
                )
            clock.advance(answer.timing.total_ms)
        content = answer.encode()
        headers += [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        return httpx2.Response(answer.status, headers=headers, stream=httpx2.ByteStream(content))

    def snapshot(self) -> SimulatorTransport:
        """Return a transport for questions that must not change what they measure.

        Each of its requests starts at this moment, on a clock of its own, and leaves cache and clocks as they are. It
        reads the engine's present cache, so ask before the replay goes on.
        """
        return SimulatorTransport(self._wire, self.clock.fork(), frozen=True)

    def background(self) -> SimulatorTransport:
        """Return a transport for work beside the conversation: the same simulator, but a clock of its own.

        What it writes to the cache becomes readable on the main clock at the moment its response began; its own
        ``clock`` says when it was finished.
        """
        return SimulatorTransport(self._wire, self.clock.fork())

    def absorb(
        self,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        started_ms: float,
        first_event_ms: float,
        message: Mapping[str, Any],
    ) -> None:
        """Take in a request that was answered before a replay was cut, without answering it again.

        ``headers`` are the request's, in lower case; both times are on this transport's clock, which is left alone.
        """
        self._wire.engine.absorb(body, self._wire.caller(headers), started_ms, first_event_ms, message)


class _EventStream(httpx2.SyncByteStream):
    """Server-sent events that put the clock forward to each event's time as they are read."""

    def __init__(self, answer: Answer, timing: Timing, clock: VirtualClock) -> None:
        self._answer = answer
        self._timing = timing
        self._clock = clock
        self._started_ms = clock.now_ms()

    def __iter__(self) -> Iterator[bytes]:
        for event in stream_events(self._answer.data, self._timing):
            self._clock.sleep_until(self._started_ms + event.at_ms)
            yield event.encode()


def _timing_value(timing: Timing) -> bytes:
    return json.dumps(
        {
            "first_event_ms": timing.first_event_ms,
            "first_text_ms": timing.first_text_ms,
            "total_ms": timing.total_ms,
        },
        separators=(",", ":"),
    ).encode()
