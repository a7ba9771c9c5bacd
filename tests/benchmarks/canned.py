"""The SDK calls of a replay by themselves: what is asked, and a transport that answers it at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anthropic
import httpx2

from memdash.claude import Claude, Pending, Request, Response, connect
from memdash.claude.clients import _arguments
from memdash.clock import Clock
from memdash.replay import replay
from memdash.spec import ReplaySpec


class Recorder:
    """A client that notes every request on its way."""

    def __init__(self, claude: Claude) -> None:
        self._claude = claude
        self.requests: list[Request] = []

    @property
    def clock(self) -> Clock:
        return self._claude.clock

    def send(self, request: Request) -> Response:
        self.requests.append(request)
        return self._claude.send(request)

    def probe(self, request: Request) -> Response:
        self.requests.append(request)
        return self._claude.probe(request)

    def start(self, request: Request) -> Pending:
        self.requests.append(request)
        return self._claude.start(request)

    def absorb(self, *arguments: Any) -> None:
        self._claude.absorb(*arguments)

    def close(self) -> None:
        self._claude.close()


class Canned(httpx2.BaseTransport):
    """Answers every call with the same message."""

    BODY = (
        b'{"id":"msg_01","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"'
        + b"Noted. " * 60
        + b'"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":20,"cache_creation_input_tokens":90,'
        b'"cache_read_input_tokens":2000,"output_tokens":90}}'
    )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        return httpx2.Response(
            200, content=self.BODY, headers={"content-type": "application/json", "request-id": "req_01"}
        )


def requests_of(spec: ReplaySpec) -> list[Request]:
    """Return the requests that a replay makes, probes included."""
    client, clock = connect(spec)
    recorder = Recorder(client)
    for _ in replay(spec, recorder, clock):
        pass
    return recorder.requests


def canned_call() -> Callable[[Request], None]:
    """Return what makes one call through the SDK, as a simulated replay does, and reads its canned answer."""
    sdk = anthropic.Anthropic(
        api_key="none",
        base_url="http://canned.invalid",
        http_client=httpx2.Client(transport=Canned()),
        max_retries=0,
    )

    def call(request: Request) -> None:
        raw = sdk.beta.messages.with_raw_response.create(**_arguments(request))
        raw.http_response.json()

    return call
