"""The clients: the official SDK over the simulator's transport, over the network, or both at once.

Simulated and live differ in what the SDK is given to talk to, and in how time is taken. Everything else (headers, types, errors,
retries) is the SDK's own.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol, cast

import anthropic
import httpx2

from memdash.claude.request import Request
from memdash.claude.response import Refused, Response, in_whole_characters, read_message
from memdash.clock import Clock, RealClock, VirtualClock
from memdash.errors import InputError
from memdash.launch import Key
from memdash.records import Usage
from memdash.simulator.engine import Engine, SimulatorConfig
from memdash.simulator.hint import HINT_HEADER, SIMULATED_KEY
from memdash.simulator.pretend import HonestModel
from memdash.simulator.routes import Wire
from memdash.simulator.transport import SimulatorTransport, read_timing
from memdash.spec import Provider, ReplaySpec, Replies
from memdash.strategies.messages import strip_thinking
from memdash.usage import read_usage


class Pending(Protocol):
    """A call that runs beside the conversation."""

    def answer(self) -> Response | Refused | None:
        """Return its answer as soon as it is known (on a virtual clock before it is finished), None until then."""

    def wait(self) -> Response:
        """Let time pass until it is finished and return its answer; raises :class:`Refused` where it has none."""


class Claude(Protocol):
    """What a replay asks of the Messages API."""

    @property
    def clock(self) -> Clock:
        """The clock that its answers' times are on."""

    def send(self, request: Request) -> Response:
        """Make a call and wait for its answer; raises :class:`Refused` where there is none."""

    def start(self, request: Request) -> Pending:
        """Start a call beside the conversation."""

    def probe(self, request: Request) -> Response:
        """Make a call that must not change what it measures: neither the cache nor the clock of the conversation."""

    def absorb(
        self, request: Request, started_ms: float, first_event_ms: float, message: Mapping[str, Any]
    ) -> None:
        """Take in a call that was answered in an earlier run, so that the cache is as it was then."""

    def close(self) -> None:
        """Let go of its connections."""


def connect(spec: ReplaySpec, key: Key | None = None) -> tuple[Claude, Clock]:
    """Return the client that a replay needs, and the clock it runs on; ``key`` is a person's own for live requests.

    Raises :class:`InputError` where a live client lacks a key.
    """
    if spec.provider is Provider.SIMULATOR:
        client: Claude = SimulatedClaude(simulator_config(spec), VirtualClock())
    else:
        client = live = LiveClaude(_live_sdk(key), RealClock())
        if spec.replies is Replies.RECORDED:
            client = RecordedClaude(SimulatedClaude(simulator_config(spec), VirtualClock()), live)
    return client, client.clock


def simulator_config(spec: ReplaySpec) -> SimulatorConfig:
    """Return how the simulator of a replay behaves: an older account, which checks thinking only where it is asked to."""
    return SimulatorConfig(
        seed=spec.seed,
        relax_limits=spec.relax_limits,
        token_counter=spec.token_counter,
        warm_fixed_part=spec.warm,
    )


def _live_sdk(key: Key | None) -> anthropic.Anthropic:
    sdk = anthropic.Anthropic()
    if key is not None:  # at the same address, which an explicit key would hide where a profile gives it
        with sdk:
            return anthropic.Anthropic(api_key=key.reveal(), base_url=sdk.base_url)
    if sdk.api_key is None and sdk.auth_token is None and sdk.credentials is None:
        raise InputError(
            "a live replay needs a key: set ANTHROPIC_API_KEY (any text will do for a local server at "
            "ANTHROPIC_BASE_URL that asks for none)"
        )
    return sdk


class SimulatedClaude:
    """The SDK over a simulator of its own, on a virtual clock."""

    def __init__(self, config: SimulatorConfig, clock: VirtualClock) -> None:
        self.clock = clock
        self._transport = SimulatorTransport(Wire(Engine(config, HonestModel()), seed=config.seed), clock)
        self._sdk = _sdk_over(self._transport)
        self._snapshot = self._transport.snapshot()
        self._probing_sdk = _sdk_over(self._snapshot)

    def send(self, request: Request) -> Response:
        """Answer a call; the clock moves on by its modelled latency."""
        return _send_plain(self._sdk, request, self.clock)

    def start(self, request: Request) -> Pending:
        """Compute a call at its start time; its answer is ready when the clock has come to its end."""
        transport = self._transport.background()
        try:
            outcome: Response | Refused = _send_plain(_sdk_over(transport), request, transport.clock)
        except Refused as refused:
            outcome = refused
        return _VirtualPending(outcome, self.clock)

    def probe(self, request: Request) -> Response:
        """Answer a call from a copy of cache and clock."""
        self._snapshot.clock.sleep_until(self.clock.now_ms())
        return _send_plain(self._probing_sdk, request, self._snapshot.clock)

    def absorb(
        self, request: Request, started_ms: float, first_event_ms: float, message: Mapping[str, Any]
    ) -> None:
        """Warm the cache as this call did."""
        headers = {
            "x-api-key": SIMULATED_KEY,
            "anthropic-version": "2026-10-21",
            "anthropic-beta": ",".join(request.betas),
        }
        self._transport.absorb(
            request.body, headers, started_ms=started_ms, first_event_ms=first_event_ms, message=message
        )

    def close(self) -> None:
        """Nothing is open."""


def _sdk_over(transport: SimulatorTransport) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        api_key=SIMULATED_KEY,
        base_url="http://simulator.invalid",
        http_client=httpx2.Client(transport=transport),
        max_retries=0,
    )


class _VirtualPending:
    def __init__(self, outcome: Response | Refused, clock: VirtualClock) -> None:
        self._outcome = outcome
        self._clock = clock

    def answer(self) -> Response | Refused | None:
        return self._outcome

    def wait(self) -> Response:
        self._clock.sleep_until(self._outcome.finished_ms)
        if isinstance(self._outcome, Refused):
            raise self._outcome
        return self._outcome


class LiveClaude:
    """The SDK over the network, in real time. It streams, so that the time to the first text is known."""

    def __init__(self, sdk: anthropic.Anthropic, clock: Clock) -> None:
        self.clock = clock
        self._sdk = sdk

    def send(self, request: Request) -> Response:
        """Make a call; retries are the SDK's."""
        return _send_streaming(self._sdk, request, self.clock)

    def start(self, request: Request) -> Pending:
        """Make a call in a thread of its own."""
        return _ThreadPending(lambda: self.send(request))

    def probe(self, request: Request) -> Response:
        """Make a call; it can only be kept apart by asking it after the last turn, which the replay does."""
        return self.send(request)

    def absorb(
        self, request: Request, started_ms: float, first_event_ms: float, message: Mapping[str, Any]
    ) -> None:
        """Nothing is done: the cache is the server's."""

    def close(self) -> None:
        """Close the SDK's connections."""
        self._sdk.close()


class _ThreadPending:
    def __init__(self, call: Callable[[], Response]) -> None:
        self._outcome: Response | BaseException | None = None
        self._thread = threading.Thread(
            target=self._run, args=(call,), daemon=True, name="memdash-background-call"
        )
        self._thread.start()

    def _run(self, call: Callable[[], Response]) -> None:
        try:
            self._outcome = call()
        except BaseException as error:  # handed to whoever waits
            self._outcome = error

    def answer(self) -> Response | Refused | None:
        if self._thread.is_alive():
            return None
        try:
            return self.wait()
        except Refused as refused:
            return refused

    def wait(self) -> Response:
        self._thread.join()
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        assert self._outcome is not None
        return self._outcome


class RecordedClaude:
    """Recorded replies for the turns, from the simulator; live calls for everything else.

    Time is the simulator's virtual clock, which a live call moves on by what it really took.
    """

    def __init__(self, modelled: SimulatedClaude, live: LiveClaude) -> None:
        self._modelled = modelled
        self._live = live
        self.clock = modelled.clock

    def send(self, request: Request) -> Response:
        """Answer a turn from its recorded reply; make any other call live."""
        if request.hint is not None and (request.hint.reply is not None or request.hint.steps):
            return self._modelled.send(request)
        response = self._on_virtual_clock(self._live.send(_without_thinking(request)))
        self.clock.sleep_until(response.finished_ms)
        return response

    def start(self, request: Request) -> Pending:
        """Make a live call; how long it really took decides when it is ready on the virtual clock."""
        try:
            outcome: Response | Refused = self._on_virtual_clock(self._live.send(_without_thinking(request)))
        except Refused as refused:
            outcome = refused
        return _VirtualPending(outcome, self.clock)

    def probe(self, request: Request) -> Response:
        """Make a live call; the virtual clock stands still."""
        return self._on_virtual_clock(self._live.send(_without_thinking(request)))

    def absorb(
        self, request: Request, started_ms: float, first_event_ms: float, message: Mapping[str, Any]
    ) -> None:
        """Warm the simulator's cache where it answered."""
        if request.hint is not None and (request.hint.reply is not None or request.hint.steps):
            self._modelled.absorb(request, started_ms, first_event_ms, message)

    def close(self) -> None:
        """Close the live client."""
        self._live.close()

    def _on_virtual_clock(self, response: Response) -> Response:
        shift = self.clock.now_ms() - response.started_ms
        return dataclasses.replace(
            response,
            started_ms=response.started_ms + shift,
            first_event_ms=_plus(response.first_event_ms, shift),
            first_text_ms=_plus(response.first_text_ms, shift),
            finished_ms=response.finished_ms + shift,
        )


def _plus(time_ms: float | None, shift: float) -> float | None:
    return None if time_ms is None else time_ms + shift


def _without_thinking(request: Request) -> Request:
    """Leave out thinking blocks the simulator signed: the live API cannot verify them."""
    messages = list(strip_thinking(request.body["messages"]).messages)
    return Request({**request.body, "messages": messages}, request.betas, None)


@cache
def _known_arguments() -> frozenset[str]:
    return frozenset(inspect.signature(anthropic.resources.beta.messages.Messages.create).parameters)


def _arguments(request: Request) -> dict[str, Any]:
    """The SDK's keyword arguments; fields this version of the SDK does not know travel in ``extra_body``."""
    known = _known_arguments()
    arguments = {key: value for key, value in request.body.items() if key in known}
    extra = {key: value for key, value in request.body.items() if key not in known}
    if extra:
        arguments["extra_body"] = extra
    if request.betas:
        arguments["betas"] = list(request.betas)
    return arguments


def _send_plain(sdk: anthropic.Anthropic, request: Request, clock: Clock) -> Response:
    """Make a call to the simulator, whose answer says how long it would have taken."""
    started = clock.now_ms()
    headers = {HINT_HEADER: request.hint.encode()} if request.hint is not None else None
    try:
        raw = sdk.beta.messages.with_raw_response.create(**_arguments(request), extra_headers=headers)
    except anthropic.APIError as error:
        raise _refused(error, started, clock.now_ms(), modelled=True) from None
    answer = raw.http_response
    timing = read_timing(answer.headers)
    assert timing is not None, "the simulator's transport always says how long an answer takes"
    return read_message(
        answer.json(),
        request_id=None,  # it serves to ask about a request at the API; the simulator keeps no such log
        retries=0,
        modelled=True,
        started_ms=started,
        first_event_ms=started + timing.first_event_ms,
        first_text_ms=None if timing.first_text_ms is None else started + timing.first_text_ms,
        finished_ms=started + timing.total_ms,
    )


def _send_streaming(sdk: anthropic.Anthropic, request: Request, clock: Clock) -> Response:
    """Make a live call with streaming; a server that answers with the whole message at once is understood, too."""
    started = clock.now_ms()
    first_event: float | None = None
    first_text: float | None = None
    seen: Mapping[str, Any] | None = None
    ended = False
    try:
        with sdk.beta.messages.stream(**_arguments(request)) as stream:
            whole = _whole_message(stream.response)
            for event in stream if whole is None else ():
                now = clock.now_ms()
                first_event = now if first_event is None else first_event
                if event.type == "message_start":
                    seen = cast("Mapping[str, Any] | None", event.message.to_dict().get("usage"))
                ended = ended or event.type == "message_stop"
                text = event.type == "content_block_delta" and event.delta.type == "text_delta"
                first_text = now if text and first_text is None else first_text
            message = stream.get_final_message().to_dict() if whole is None else whole
            if whole is None and not ended and message.get("stop_reason") is None:
                # The SDK takes what came by then for a whole answer.
                raise ValueError("it ends before the answer does")
            request_id = stream.request_id
            retries = _retries(stream.response.request)
    except anthropic.APIError as error:
        raise _refused(error, started, clock.now_ms(), usage=read_usage(seen)) from None
    except (
        httpx2.HTTPError,
        RuntimeError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        AssertionError,
    ) as error:
        # What the SDK's stream reader raises when a server breaks off or does not keep to the order of events.
        raise Refused(
            f"the server's stream could not be read: {type(error).__name__}: {str(error) or 'it holds no message'}",
            status=None,
            type=None,
            request_id=None,
            started_ms=started,
            finished_ms=clock.now_ms(),
            usage=read_usage(seen),
        ) from None
    return read_message(
        in_whole_characters(message),
        request_id=request_id,
        retries=retries,
        modelled=False,
        started_ms=started,
        first_event_ms=first_event,
        first_text_ms=first_text,
        finished_ms=clock.now_ms(),
    )


def _whole_message(answer: httpx2.Response) -> dict[str, Any] | None:
    """Return the message of a server that cannot stream, None where a stream follows.

    Raises ValueError where there is neither.
    """
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        raise ValueError("it is a web page; does ANTHROPIC_BASE_URL name a Messages API?")
    if kind != "application/json":
        return None
    message = json.loads(answer.read())
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        raise ValueError("it is JSON, but no message")
    return message


def _retries(request: httpx2.Request) -> int:
    """How often the SDK had to try again: it says so in a header of the last attempt."""
    return int(request.headers.get("x-stainless-retry-count", "0"))


def _refused(
    error: anthropic.APIError,
    started: float,
    finished: float,
    *,
    usage: Usage | None = None,
    modelled: bool = False,
) -> Refused:
    status = error if isinstance(error, anthropic.APIStatusError) else None
    message = (status.api_message if status is not None else None) or str(error)
    return Refused(
        in_whole_characters(message),
        # A stream that breaks off with an error event has status 200; that is not the API refusing a request.
        status=status.status_code if status is not None else None,
        type=status.type if status is not None else None,
        request_id=status.request_id if status is not None and not modelled else None,
        started_ms=started,
        finished_ms=finished,
        retries=_retries(error.request),
        usage=usage,
        modelled=modelled,
    )
