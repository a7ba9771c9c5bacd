"""A client that answers at once from a list of rules, for tests of the loop that need no simulator."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from memdash.claude import Refused, Request, Response
from memdash.claude.response import read_message
from memdash.clock import VirtualClock

Reply = Callable[[Request], list[dict[str, Any]]]


def say(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


class ScriptedClaude:
    """Answers with what ``reply`` returns; every call takes 1,000 ms, its first event 200 ms.

    ``sent`` holds every request, ``absorbed`` every one that was taken in instead.
    """

    def __init__(
        self, reply: Reply | None = None, *, usage: Callable[[Request], dict[str, Any]] | None = None
    ):
        self.clock = VirtualClock()
        self.sent: list[Request] = []
        self.absorbed: list[Request] = []
        self._reply = reply or (lambda request: say("fine"))
        self._usage = usage or (lambda request: {"input_tokens": 100 * len(request.body["messages"])})
        self._ids = itertools.count(1)

    def send(self, request: Request) -> Response:
        response = self._answer(request, self.clock.now_ms())
        self.clock.sleep_until(response.finished_ms)
        return response

    def probe(self, request: Request) -> Response:
        return self._answer(request, self.clock.now_ms())

    def start(self, request: Request) -> Started:
        return Started(self._answer(request, self.clock.now_ms()), self.clock)

    def absorb(
        self, request: Request, started_ms: float, first_event_ms: float, message: Mapping[str, Any]
    ) -> None:
        self.absorbed.append(request)

    def _answer(self, request: Request, now: float) -> Response:
        self.sent.append(request)
        content = self._reply(request)
        calls = any(block["type"] == "tool_use" for block in content)
        return read_message(
            {
                "id": f"msg_{next(self._ids)}",
                "content": content,
                "stop_reason": "tool_use" if calls else "end_turn",
                "usage": self._usage(request),
            },
            request_id="req_1",
            retries=0,
            modelled=True,
            started_ms=now,
            first_event_ms=now + 200,
            first_text_ms=now + 300,
            finished_ms=now + 1000,
        )


class Started:
    def __init__(self, response: Response, clock: VirtualClock) -> None:
        self._response = response
        self._clock = clock

    def answer(self) -> Response:
        return self._response

    def wait(self) -> Response:
        self._clock.sleep_until(self._response.finished_ms)
        return self._response


def refuse(status: int | None, message: str) -> Reply:
    def reply(request: Request) -> list[dict[str, Any]]:
        raise Refused(
            message, status=status, type="invalid_request_error", request_id=None, started_ms=0, finished_ms=0
        )

    return reply
