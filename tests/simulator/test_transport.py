"""The simulator as the SDK's transport: the real SDK, a virtual clock, no network."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx2
import pytest

from memdash.clock import VirtualClock
from memdash.simulator.engine import Engine, SimulatorConfig, Timing
from memdash.simulator.errors import ApiError
from memdash.simulator.hint import HINT_HEADER, Hint
from memdash.simulator.routes import Wire
from memdash.simulator.transport import SimulatorTransport, read_timing

BODY: dict[str, Any] = {
    "model": "claude-opus-5-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Where to?"}],
}


def sdk(transport: SimulatorTransport) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        api_key="any-key",
        base_url="http://simulator",
        max_retries=0,
        http_client=httpx2.Client(transport=transport),
    )


@pytest.fixture
def transport(canned: Any) -> SimulatorTransport:
    return SimulatorTransport(Wire(canned, seed=1), VirtualClock(5000.0))


def test_a_plain_answer_takes_its_whole_time_on_the_clock(transport: SimulatorTransport) -> None:
    reply = sdk(transport).messages.create(**BODY)
    assert reply.content[0].to_dict() == {"type": "text", "text": "Lisbon, for the trams."}
    assert transport.clock.now_ms() == 6000.0


def test_a_plain_answer_says_when_its_first_text_would_have_come(transport: SimulatorTransport) -> None:
    raw = sdk(transport).messages.with_raw_response.create(**BODY)
    assert read_timing(raw.headers) == Timing(first_event_ms=100.0, first_text_ms=300.0, total_ms=1000.0)


def test_an_answer_without_text_has_no_first_text_time(transport: SimulatorTransport, canned: Any) -> None:
    canned.timing = Timing(100.0, None, 400.0)
    raw = sdk(transport).messages.with_raw_response.create(**BODY)
    assert read_timing(raw.headers) == Timing(100.0, None, 400.0)


def test_another_server_reports_no_timing() -> None:
    assert read_timing(httpx2.Headers({"request-id": "req_1"})) is None


def test_a_stream_moves_the_clock_as_it_is_read(transport: SimulatorTransport) -> None:
    seen = []
    for event in sdk(transport).messages.create(**BODY, stream=True):
        seen.append((event.type, transport.clock.now_ms()))
    # 22 characters are one piece, due when the first text is; the closing events come at the end
    assert seen == [
        ("message_start", 5100.0),
        ("content_block_start", 5300.0),
        ("content_block_delta", 5300.0),
        ("content_block_stop", 5300.0),
        ("message_delta", 6000.0),
        ("message_stop", 6000.0),
    ]


def test_a_stream_and_a_plain_answer_hold_the_same_message(transport: SimulatorTransport) -> None:
    client = sdk(transport)
    plain = client.messages.create(**BODY).to_dict()
    with client.messages.stream(**BODY) as stream:
        streamed = stream.get_final_message().to_dict()
    assert (plain.pop("id"), streamed.pop("id")) == ("msg_1", "msg_2")
    assert streamed == plain


def test_leaving_a_stream_early_leaves_the_clock_where_it_was_left(transport: SimulatorTransport) -> None:
    with sdk(transport).messages.create(**BODY, stream=True) as stream:
        next(stream)
    assert transport.clock.now_ms() == 5100.0


def test_a_refusal_is_the_sdks_own_error_and_takes_no_time(
    transport: SimulatorTransport, canned: Any
) -> None:
    canned.error = ApiError(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long: 9 tokens > 8 maximum") as caught:
        sdk(transport).messages.create(**BODY)
    assert caught.value.request_id is not None
    assert caught.value.request_id.startswith("req_")
    assert caught.value.type == "invalid_request_error"
    assert transport.clock.now_ms() == 5000.0


def test_overload_is_the_sdks_overloaded_error(transport: SimulatorTransport, canned: Any) -> None:
    canned.error = ApiError(529, "overloaded_error", "Overloaded")
    with pytest.raises(anthropic.APIStatusError) as caught:
        sdk(transport).messages.create(**BODY)
    assert (caught.value.status_code, caught.value.type) == (529, "overloaded_error")


def test_a_snapshot_asks_at_its_own_moment_and_changes_nothing(
    transport: SimulatorTransport, canned: Any
) -> None:
    probes = sdk(transport.snapshot())
    probes.messages.create(**BODY)
    with probes.messages.stream(**BODY) as stream:
        stream.until_done()
    assert transport.clock.now_ms() == 5000.0
    # every probe starts at the same moment, and none is committed
    assert [(now, commit) for _, _, now, commit in canned.asked] == [(5000.0, False), (5000.0, False)]


def test_a_snapshot_still_says_how_long_its_answer_took(transport: SimulatorTransport) -> None:
    raw = sdk(transport.snapshot()).messages.with_raw_response.create(**BODY)
    assert read_timing(raw.headers) == Timing(100.0, 300.0, 1000.0)


def test_background_work_has_a_clock_of_its_own(transport: SimulatorTransport, canned: Any) -> None:
    background = transport.background()
    client = sdk(background)
    client.messages.create(**BODY)
    client.messages.create(**BODY)
    assert background.clock.now_ms() == 7000.0
    assert transport.clock.now_ms() == 5000.0
    assert [(now, commit) for _, _, now, commit in canned.asked] == [(5000.0, True), (6000.0, True)]


def test_absorbing_hands_the_request_to_the_engine_under_its_caller(
    transport: SimulatorTransport, canned: Any
) -> None:
    headers = {
        "authorization": "Bearer any-key",
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "b-1, a-1",
    }
    transport.absorb(BODY, headers, started_ms=10.0, first_event_ms=110.0, message={"id": "msg_9"})
    ((body, caller, started_ms, first_event_ms, message),) = canned.absorbed
    assert (body, started_ms, first_event_ms, message) == (BODY, 10.0, 110.0, {"id": "msg_9"})
    assert (caller.key, caller.betas) == ("any-key", {"a-1", "b-1"})
    assert transport.clock.now_ms() == 5000.0


def test_the_engine_sees_the_body_the_betas_and_the_hint_of_the_sdks_request(
    transport: SimulatorTransport, canned: Any
) -> None:
    hint = Hint(seed=4, reply="Porto.")
    sdk(transport).beta.messages.create(
        **BODY,
        betas=["compact-2026-01-12", "cache-diagnosis-2026-04-07"],
        extra_headers={HINT_HEADER: hint.encode()},
    )
    ((body, caller, _, _),) = canned.asked
    assert body == BODY
    assert caller.betas == {"compact-2026-01-12", "cache-diagnosis-2026-04-07"}
    assert (caller.key, caller.api_version, caller.hint) == ("any-key", "2026-10-21", hint)


QUESTION: dict[str, Any] = {
    **BODY,
    "system": "You are a travel agent. " + "Prefer trains to planes. " * 200,
    "cache_control": {"type": "ephemeral"},
}
FIVE_MINUTES = 300_000.0


class TestWithTheRealEngine:
    """One cache behind several transports: probes read it, background work fills it, a resumed replay refills it."""

    @pytest.fixture
    def real(self) -> SimulatorTransport:
        return self._fresh()

    @staticmethod
    def _fresh() -> SimulatorTransport:
        engine = Engine(SimulatorConfig(seed=1, token_counter="estimate"))
        return SimulatorTransport(Wire(engine, seed=1), VirtualClock())

    @staticmethod
    def _cached(transport: SimulatorTransport, **change: Any) -> tuple[int, int]:
        """Return what a request wrote and read."""
        usage = sdk(transport).messages.create(**{**QUESTION, **change}).usage
        return usage.cache_creation_input_tokens or 0, usage.cache_read_input_tokens or 0

    def test_a_probe_writes_nothing(self, real: SimulatorTransport) -> None:
        written, read = self._cached(real.snapshot())
        assert (written > 512, read) == (True, 0)
        assert self._cached(real) == (written, 0)

    def test_a_probe_reads_the_cache_but_does_not_keep_it_alive(self, real: SimulatorTransport) -> None:
        written, _ = self._cached(real)
        real.clock.sleep_until(FIVE_MINUTES - 1)
        assert self._cached(real.snapshot()) == (0, written)
        real.clock.sleep_until(FIVE_MINUTES)
        assert self._cached(real) == (written, 0)

    def test_probes_leave_the_replies_that_follow_as_they_were(self, real: SimulatorTransport) -> None:
        undisturbed = self._fresh()
        for _ in range(3):
            sdk(real.snapshot()).messages.create(**QUESTION)
        replies = [sdk(transport).messages.create(**QUESTION).to_dict() for transport in (real, undisturbed)]
        assert replies[0] == replies[1]

    def test_what_background_work_writes_is_readable_once_its_answer_began(
        self, real: SimulatorTransport
    ) -> None:
        raw = sdk(real.background()).messages.with_raw_response.create(**QUESTION)
        written = raw.parse().usage.cache_creation_input_tokens
        timing = read_timing(raw.headers)
        assert timing is not None
        real.clock.sleep_until(timing.first_event_ms - 1)
        assert self._cached(real.snapshot()) == (written, 0)
        real.clock.sleep_until(timing.first_event_ms)
        assert self._cached(real.snapshot()) == (0, written)

    def test_an_absorbed_request_leaves_the_cache_as_the_answered_one_did(
        self, real: SimulatorTransport
    ) -> None:
        raw = sdk(real).messages.with_raw_response.create(**QUESTION)
        timing = read_timing(raw.headers)
        assert timing is not None
        resumed = self._fresh()
        resumed.absorb(
            QUESTION,
            {"authorization": "Bearer any-key", "anthropic-version": "2026-10-21"},
            started_ms=0.0,
            first_event_ms=timing.first_event_ms,
            message=raw.parse().to_dict(),
        )
        resumed.clock.sleep_until(real.clock.now_ms())
        assert self._cached(resumed) == self._cached(real)
        assert self._cached(real)[1] > 512
