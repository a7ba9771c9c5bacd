"""The simulator behind real HTTP, for any client: other languages, curl, users' own test suites.

It runs on uvicorn, which comes with Streamlit: it starts in 0.1 s, speaks all of HTTP/1.1 that clients use (chunked
bodies, 100-continue, pipelining), and a paced stream costs no thread.
"""

from __future__ import annotations

import asyncio
import errno
import json
import math
import random
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from memdash.clock import RealClock
from memdash.errors import InputError
from memdash.simulator.engine import Engine, SimulatorConfig, Timing
from memdash.simulator.errors import invalid
from memdash.simulator.routes import MAX_BODY_BYTES, Answer, Wire, error_answer, new_request_id
from memdash.simulator.sse import stream_events

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_GRACE_S = 1
"""How long a stop waits for answers under way."""

_MAX_HEADER_BYTES = 8 * 1024 * 1024
"""Room for a hint header with a long recorded reply."""


def serve(
    host: str,
    port: int,
    config: SimulatorConfig,
    latency_factor: float = 0.0,
    record_path: Path | None = None,
    *,
    on_ready: Callable[[str], None],
) -> None:
    """Serve the simulator until SIGINT or SIGTERM, then return.

    ``port`` 0 takes a free one. ``on_ready`` gets the address once connections are accepted. ``latency_factor`` 0
    answers at once, 1 waits as long as modelled. ``record_path`` gets one JSON line per request for a
    message with its answer or refusal, without keys or headers. Raises InputError where the address cannot be had or
    the record cannot be written.
    """
    with (
        _assembled(host, port, config, latency_factor, record_path) as (server, sock, url),
        _stopped_by_signals(server),
    ):
        on_ready(url)
        server.run(sockets=[sock])


@contextmanager
def running(
    config: SimulatorConfig,
    latency_factor: float = 0.0,
    record_path: Path | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
) -> Iterator[str]:
    """Serve the simulator on a thread for as long as the ``with`` block lasts, and give its address.

    Raises InputError as :func:`serve` does.
    """
    with _assembled(host, port, config, latency_factor, record_path) as (server, sock, url):
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [sock]}, name="memdash-simulator", daemon=True
        )
        thread.start()
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def _assembled(
    host: str, port: int, config: SimulatorConfig, latency_factor: float, record_path: Path | None
) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    if not (math.isfinite(latency_factor) and latency_factor >= 0):
        raise InputError(f"latency factor {latency_factor}: give 0 (answer at once) or a positive number")
    record = None if record_path is None else _Record(record_path)
    try:
        with (
            _listening(host, port) as sock,
            # one thread answers: requests are computed in the order they came, and paced streams are not
            # held up meanwhile
            ThreadPoolExecutor(1, "memdash-simulator-engine") as engine_thread,
        ):
            engine = Engine(replace(config, latency_factor=latency_factor))
            app = _App(Wire(engine, config.seed), engine_thread, record)
            settings = uvicorn.Config(
                app,
                http=_Protocol,
                h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=_GRACE_S,
            )
            shown_host = f"[{host}]" if ":" in host else host
            yield uvicorn.Server(settings), sock, f"http://{shown_host}:{sock.getsockname()[1]}"
    finally:
        if record is not None:
            record.close()


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    if not 0 <= port <= 65535:
        raise InputError(f"cannot serve on {host}:{port}: a port is a number from 0 to 65535")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError(f"cannot serve on {host}:{port}: {error}") from None
    with sock:
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.listen(1024)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise InputError(
                    f"port {port} on {host} is in use; choose another, or 0 for any free one"
                ) from None
            raise InputError(f"cannot serve on {host}:{port}: {error}") from None
        yield sock


@contextmanager
def _stopped_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Make SIGINT and SIGTERM a plain return: uvicorn stops on them, but then sends them again to whoever
    listened before."""

    def stop(_signal: int, _frame: object) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Record:
    """A JSON Lines file of requests for a message, each with its answer or its refusal."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot record to {path}: {error.strerror}") from None

    def append(self, body: Mapping[str, Any], response: Mapping[str, Any]) -> None:
        line = {"provider": "simulator", "body": body, "response": response}
        self._file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class _App:
    """The ASGI application: reads a request, has it answered on the engine's thread, sends the answer when
    it is due."""

    def __init__(self, wire: Wire, engine_thread: ThreadPoolExecutor, record: _Record | None) -> None:
        self._wire = wire
        self._engine_thread = engine_thread
        self._record = record
        self._clock = RealClock()

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Serve one request."""
        body = await _read_body(receive)
        if body is None:
            return
        started = asyncio.get_running_loop().time()
        answer, content = await asyncio.get_running_loop().run_in_executor(
            self._engine_thread, self._answer, scope, body, self._clock.now_ms()
        )
        if answer.stream and answer.timing is not None:
            await _send_events(send, answer, answer.timing, started)
            return
        if answer.timing is not None:
            await _due(started, answer.timing.total_ms)
        length = str(len(content)).encode()
        await send(_head(answer, [(b"content-type", b"application/json"), (b"content-length", length)]))
        await send({"type": "http.response.body", "body": content})

    def _answer(self, scope: _Scope, body: bytes, now_ms: float) -> tuple[Answer, bytes]:
        headers: dict[str, str] = {}
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        target = b"?".join(part for part in (scope["raw_path"], scope["query_string"]) if part).decode(
            "latin-1"
        )
        answer = self._wire.answer(scope["method"], target, headers, body, now_ms)
        if self._record is not None and answer.request is not None:
            self._record.append(answer.request, answer.data)
        return answer, b"" if answer.stream else answer.encode()


async def _read_body(receive: _Receive) -> bytes | None:
    """Return the request's body, None where the client left meanwhile.

    Of a body over the limit it keeps one byte more than that, enough to be refused, and reads on: a client that is
    still sending would not see the refusal.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")[: MAX_BODY_BYTES + 1 - len(body)]
        if not message.get("more_body", False):
            return bytes(body)


def _head(answer: Answer, more: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
    return {"type": "http.response.start", "status": answer.status, "headers": [*headers, *more]}


async def _send_events(send: _Send, answer: Answer, timing: Timing, started: float) -> None:
    await _due(started, timing.first_event_ms)
    await send(
        _head(
            answer, [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
        )
    )
    for event in stream_events(answer.data, timing):
        await _due(started, event.at_ms)
        await send({"type": "http.response.body", "body": event.encode(), "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _due(started: float, at_ms: float) -> None:
    """Wait until ``at_ms`` after ``started`` (seconds of the event loop's clock)."""
    wait_s = started + at_ms / 1000.0 - asyncio.get_running_loop().time()
    if wait_s > 0:
        await asyncio.sleep(wait_s)


class _Protocol(H11Protocol):
    """uvicorn's HTTP/1.1, but for what is not HTTP at all: the refusal is the API's JSON there too."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be parsed as HTTP, and hang up."""
        content = error_answer(invalid(msg), new_request_id(random.Random())).encode()
        head = (
            "HTTP/1.1 400 Bad Request\r\n"
            "content-type: application/json\r\n"
            f"content-length: {len(content)}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + content)
        self.transport.close()
