"""The simulator over real HTTP: the Python SDK, raw sockets, curl, and the process itself."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.clock import VirtualClock
from memdash.errors import InputError
from memdash.simulator import server
from memdash.simulator.engine import Engine, SimulatorConfig, Timing
from memdash.simulator.hint import HINT_HEADER, Hint
from memdash.simulator.routes import MAX_BODY_BYTES, Answer, Wire
from memdash.simulator.server import running, serve
from memdash.simulator.transport import SimulatorTransport

CONFIG = SimulatorConfig(token_counter="estimate")
BODY: dict[str, Any] = {
    "model": "claude-opus-5-5",
    "max_tokens": 1000,
    "messages": [{"role": "user", "content": "My name is Ada. Where should I go in spring?"}],
}
TOOLS: list[Any] = [
    {
        "name": "look_up",
        "description": "Look a word up.",
        "input_schema": {"type": "object", "properties": {"word": {"type": "string"}}},
    }
]
CALLS: dict[str, Any] = {
    "seed": 7,
    "steps": [{"text": "", "calls": [{"name": "look_up", "input": {"word": "spring"}}]}],
}
HEADERS = {"x-api-key": "any-key", "anthropic-version": "2026-10-21", "content-type": "application/json"}


@pytest.fixture
def client(simulator_server: str) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key="any-key", base_url=simulator_server, max_retries=0) as sdk:
        yield sdk


def hint(seed: int = 7, **more: Any) -> dict[str, str]:
    return {HINT_HEADER: Hint(seed, **more).encode()}


def without_ids(message: Any) -> dict[str, Any]:
    data: dict[str, Any] = message.to_dict()
    assert data.pop("id").startswith("msg_")
    for block in data["content"]:
        if block["type"] == "tool_use":
            assert block.pop("id").startswith("toolu_")
    return data


@pytest.fixture(scope="module")
def plain_client(simulator_server: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=simulator_server, timeout=60) as plain:
        yield plain


class TestTheRealSdk:
    def test_a_message(self, client: anthropic.Anthropic) -> None:
        reply = client.messages.create(**BODY)
        assert reply.stop_reason == "end_turn"
        assert reply.content[-1].type == "text"
        assert reply._request_id is not None
        assert reply._request_id.startswith("req_")

    def test_the_async_client(self, simulator_server: str) -> None:
        async def ask() -> list[str | None]:
            async with anthropic.AsyncAnthropic(api_key="any-key", base_url=simulator_server) as sdk:
                replies = await asyncio.gather(*(sdk.messages.create(**BODY) for _ in range(5)))
                return [reply.stop_reason for reply in replies]

        assert asyncio.run(ask()) == ["end_turn"] * 5

    def test_the_streaming_helper_ends_with_the_whole_message(self, client: anthropic.Anthropic) -> None:
        with client.messages.stream(**BODY) as stream:
            text = "".join(stream.text_stream)
            message = stream.get_final_message()
        assert message.content[-1].to_dict() == {"type": "text", "text": text}
        assert message.usage.output_tokens > 1
        assert message.stop_reason == "end_turn"

    def test_raw_events_come_in_order(self, client: anthropic.Anthropic) -> None:
        kinds = [event.type for event in client.messages.create(**BODY, stream=True)]
        assert kinds[0] == "message_start"
        assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]

    def test_a_tool_call_streams_like_it_answers(self, client: anthropic.Anthropic) -> None:
        request = {**BODY, "tools": TOOLS, "extra_headers": {HINT_HEADER: hint_header(CALLS)}}
        plain = client.messages.create(**request)
        with client.messages.stream(**request) as stream:
            streamed = stream.get_final_message()
        assert plain.stop_reason == "tool_use"
        assert without_ids(streamed) == without_ids(plain)

    def test_tokens_are_counted_as_they_are_billed(self, client: anthropic.Anthropic) -> None:
        counted = client.messages.count_tokens(model=BODY["model"], messages=BODY["messages"])
        assert counted.input_tokens == client.messages.create(**BODY).usage.input_tokens

    def test_beta_counting(self, client: anthropic.Anthropic) -> None:
        plain = client.messages.count_tokens(model=BODY["model"], messages=BODY["messages"])
        beta = client.beta.messages.count_tokens(model=BODY["model"], messages=BODY["messages"])
        assert beta.input_tokens == plain.input_tokens

    def test_models_are_listed_page_by_page_and_found_by_id(self, client: anthropic.Anthropic) -> None:
        pages = [model.id for model in client.models.list(limit=3)]
        assert pages == [model.id for model in client.models.list(limit=1000)]
        assert "claude-opus-5-5" in pages
        found = client.models.retrieve("claude-opus-5-5")
        assert (found.type, found.max_input_tokens, found.max_tokens) == ("model", 1_000_000, 128_000)

    @pytest.mark.parametrize(
        ("change", "error", "status", "kind"),
        [
            ({"messages": []}, anthropic.BadRequestError, 400, "invalid_request_error"),
            ({"model": "claude-unknown-1"}, anthropic.NotFoundError, 404, "not_found_error"),
            ({"extra_body": {"temperature": 1.0}}, anthropic.BadRequestError, 400, "invalid_request_error"),
        ],
    )
    def test_refusals_are_the_sdks_classes_with_a_request_id(
        self,
        client: anthropic.Anthropic,
        change: dict[str, Any],
        error: type[anthropic.APIStatusError],
        status: int,
        kind: str,
    ) -> None:
        with pytest.raises(error) as caught:
            client.messages.create(**{**BODY, **change})
        assert (caught.value.status_code, caught.value.type) == (status, kind)
        assert caught.value.request_id is not None
        assert caught.value.request_id.startswith("req_")

    def test_a_refused_stream_is_refused_before_it_starts(self, client: anthropic.Anthropic) -> None:
        with pytest.raises(anthropic.BadRequestError), client.messages.stream(**{**BODY, "messages": []}):
            pass


def hint_header(payload: dict[str, Any]) -> str:
    """Encode a hint as a client that does not have our class would."""
    return base64.urlsafe_b64encode(json.dumps(payload).encode()).decode()


class TestBothDoors:
    """The same requests over HTTP and over the transport give the same answers, but for ids."""

    @pytest.fixture
    def doors(self) -> Iterator[list[anthropic.Anthropic]]:
        transport = SimulatorTransport(Wire(Engine(CONFIG)), VirtualClock())
        in_process = httpx2.Client(transport=transport)
        with running(CONFIG) as url:
            yield [
                anthropic.Anthropic(api_key="any-key", base_url=url, max_retries=0),
                anthropic.Anthropic(
                    api_key="any-key", base_url="http://simulator", max_retries=0, http_client=in_process
                ),
            ]

    @staticmethod
    def _conversation(sdk: anthropic.Anthropic, streamed: bool) -> list[dict[str, Any]]:
        system = "You are a travel agent. " + "Prefer trains to planes. " * 100
        messages: list[Any] = []
        replies = []
        for seed, question in enumerate(["My name is Ada.", "Look up spring.", "What is my name?"]):
            messages.append({"role": "user", "content": question})
            while True:
                scripted = CALLS | {"seed": seed} if seed == 1 else {"seed": seed}
                request = {
                    **BODY,
                    "system": system,
                    "tools": TOOLS,
                    "messages": messages,
                    "cache_control": {"type": "ephemeral"},
                    "extra_headers": {HINT_HEADER: hint_header(scripted)},
                }
                if streamed:
                    with sdk.messages.stream(**request) as stream:
                        reply = stream.get_final_message()
                else:
                    reply = sdk.messages.create(**request)
                messages.append({"role": "assistant", "content": reply.content})
                replies.append(reply)
                calls = [block for block in reply.content if block.type == "tool_use"]
                if not calls:
                    break
                results = [
                    {"type": "tool_result", "tool_use_id": call.id, "content": "a season"} for call in calls
                ]
                messages.append({"role": "user", "content": results})
        return [without_ids(reply) for reply in replies]

    def test_plain_answers(self, doors: list[anthropic.Anthropic]) -> None:
        over_http, in_process = (self._conversation(sdk, streamed=False) for sdk in doors)
        assert over_http == in_process
        assert over_http[-1]["usage"]["cache_read_input_tokens"] > 0

    def test_streams(self, doors: list[anthropic.Anthropic]) -> None:
        over_http, in_process = (self._conversation(sdk, streamed=True) for sdk in doors)
        assert over_http == in_process

    def test_errors(self, doors: list[anthropic.Anthropic]) -> None:
        seen = []
        for sdk in doors:
            with pytest.raises(anthropic.BadRequestError) as caught:
                sdk.messages.create(**{**BODY, "messages": [{"role": "user", "content": ""}]})
            seen.append((caught.value.status_code, caught.value.type, caught.value.body["error"]))  # type: ignore[index]
        assert seen[0] == seen[1]


class TestReplies:
    def test_equal_requests_get_different_replies_and_do_not_warm_each_other(
        self, client: anthropic.Anthropic
    ) -> None:
        """Two strategies replayed by one client: equal first requests, their histories must part."""
        first, second = (client.messages.create(**BODY) for _ in range(2))
        assert without_ids(first)["content"] != without_ids(second)["content"]

    def test_a_seeded_server_repeats_itself(self) -> None:
        def three_replies() -> list[dict[str, Any]]:
            with running(SimulatorConfig(seed=5, token_counter="estimate")) as url:
                sdk = anthropic.Anthropic(api_key="any-key", base_url=url, max_retries=0)
                return [sdk.messages.create(**BODY).to_dict() for _ in range(3)]

        replies = three_replies()
        assert three_replies() == replies
        assert replies[0]["content"] != replies[1]["content"]

    def test_a_hint_repeats_a_reply(self, client: anthropic.Anthropic) -> None:
        first, second = (client.messages.create(**BODY, extra_headers=hint(3)) for _ in range(2))
        assert without_ids(first)["content"] == without_ids(second)["content"]

    def test_a_hint_brings_the_recorded_reply(self, client: anthropic.Anthropic) -> None:
        reply = client.messages.create(**BODY, extra_headers=hint(3, reply="Then Porto it is, Ada."))
        assert reply.content[-1].to_dict() == {"type": "text", "text": "Then Porto it is, Ada."}

    def test_what_one_request_wrote_the_next_one_reads_at_once(self, client: anthropic.Anthropic) -> None:
        request = {**BODY, "system": "Prefer trains. " * 400, "cache_control": {"type": "ephemeral"}}
        first, second = (client.messages.create(**request).usage for _ in range(2))
        assert first.cache_creation_input_tokens
        assert second.cache_read_input_tokens == first.cache_creation_input_tokens


class TestHttp:
    @pytest.fixture
    def connection(self, simulator_server: str) -> Iterator[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection(simulator_server.removeprefix("http://"), timeout=60)
        yield connection
        connection.close()

    def test_one_connection_serves_many_requests(self, connection: http.client.HTTPConnection) -> None:
        connection.request("POST", "/v1/messages", json.dumps(BODY), HEADERS)
        connection.getresponse().read()
        used = connection.sock
        for method, path, body, status in [
            ("POST", "/v1/messages", "not json", 400),
            ("POST", "/v1/messages", json.dumps({**BODY, "stream": True}), 200),
            ("GET", "/nothing", None, 404),
            ("GET", "/v1/models", None, 200),
        ]:
            connection.request(method, path, body, HEADERS)
            answer = connection.getresponse()
            answer.read()
            assert (answer.status, connection.sock) == (status, used)

    def test_a_stream_is_server_sent_events(self, connection: http.client.HTTPConnection) -> None:
        connection.request("POST", "/v1/messages", json.dumps({**BODY, "stream": True}), HEADERS)
        answer = connection.getresponse()
        assert answer.getheader("content-type") == "text/event-stream; charset=utf-8"
        assert answer.getheader("request-id", "").startswith("req_")
        assert answer.readline() == b"event: message_start\n"
        assert answer.read().endswith(b'event: message_stop\ndata: {"type":"message_stop"}\n\n')

    def test_no_header_of_ours_and_no_made_up_rate_limit(
        self, connection: http.client.HTTPConnection
    ) -> None:
        connection.request("POST", "/v1/messages", json.dumps(BODY), HEADERS)
        answer = connection.getresponse()
        answer.read()
        assert {name.lower() for name, _ in answer.getheaders()} == {
            "date",
            "content-type",
            "content-length",
            "request-id",
        }

    def test_head_is_get_without_the_body(self, connection: http.client.HTTPConnection) -> None:
        connection.request("GET", "/v1/models", headers=HEADERS)
        length = len(connection.getresponse().read())
        connection.request("HEAD", "/v1/models", headers=HEADERS)
        answer = connection.getresponse()
        assert (answer.status, answer.read(), answer.getheader("content-length")) == (200, b"", str(length))

    def test_a_chunked_body_is_read(self, connection: http.client.HTTPConnection) -> None:
        body = json.dumps(BODY).encode()
        connection.request("POST", "/v1/messages", iter([body[:9], body[9:]]), HEADERS, encode_chunked=True)
        assert connection.getresponse().status == 200

    def test_a_repeated_header_is_joined(self, connection: http.client.HTTPConnection) -> None:
        connection.putrequest("POST", "/v1/messages")
        body = json.dumps(BODY).encode()
        pairs = [*HEADERS.items(), ("anthropic-version", "2026-10-21"), ("content-length", str(len(body)))]
        for name, value in pairs:
            connection.putheader(name, value)
        connection.endheaders(body)
        error = json.loads(connection.getresponse().read())["error"]
        assert error["message"] == 'anthropic-version: "2026-10-21, 2026-10-21" is not a valid version'

    def test_a_body_over_32_mb_is_413(self, connection: http.client.HTTPConnection) -> None:
        connection.request("POST", "/v1/messages", b" " * (MAX_BODY_BYTES + 100_000), HEADERS)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["error"]["type"]) == (413, "request_too_large")

    @pytest.mark.parametrize(
        "junk", [b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET\r\n\r\n", b"POST /v1/messages HTTP/9\r\n\r\n"]
    )
    def test_what_is_not_http_gets_a_json_refusal_too(self, simulator_server: str, junk: bytes) -> None:
        host, _, port = simulator_server.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=60) as raw:
            raw.sendall(junk)
            answer = b"".join(iter(lambda: raw.recv(65536), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        data = json.loads(body)
        assert (data["type"], data["error"]["type"]) == ("error", "invalid_request_error")

    def test_a_client_that_leaves_in_the_middle_harms_nobody(self, simulator_server: str) -> None:
        host, _, port = simulator_server.removeprefix("http://").partition(":")
        body = json.dumps({**BODY, "stream": True})
        request = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\nanthropic-version: 2026-10-21\r\n"
        for sent in (
            f"{request}content-length: {len(body)}\r\n\r\n{body}",
            f"{request}content-length: 999\r\n\r\n{{",
        ):
            with socket.create_connection((host, int(port)), timeout=60) as raw:
                raw.sendall(sent.encode())
        answer = httpx2.post(f"{simulator_server}/v1/messages", json=BODY, headers=HEADERS)
        assert answer.status_code == 200

    def test_many_clients_at_once(self, simulator_server: str) -> None:
        def ask(number: int) -> tuple[int, str]:
            streamed = number % 2 == 0
            reply = f"Number {number}."
            answer = httpx2.post(
                f"{simulator_server}/v1/messages",
                json={**BODY, "stream": streamed},
                headers={**HEADERS, **hint(number, reply=reply)},
                timeout=60,
            )
            return answer.status_code, reply if reply in answer.text else answer.text

        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(ask, range(64))) == [(200, f"Number {number}.") for number in range(64)]

    @settings(max_examples=100, deadline=None)
    @given(
        body=st.one_of(
            st.binary(max_size=300),
            st.binary(max_size=100).map(lambda tail: json.dumps(BODY).encode()[:-1] + tail),
            st.recursive(
                st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
                lambda inner: st.one_of(
                    st.lists(inner, max_size=4),
                    st.dictionaries(
                        st.sampled_from(
                            [
                                "model",
                                "max_tokens",
                                "messages",
                                "role",
                                "content",
                                "type",
                                "text",
                                "system",
                                "tools",
                            ]
                        ),
                        inner,
                        max_size=6,
                    ),
                ),
                max_leaves=25,
            ).map(lambda value: json.dumps({**BODY, **value} if isinstance(value, dict) else value).encode()),
        ),
        path=st.sampled_from(["/v1/messages", "/v1/messages/count_tokens"]),
    )
    def test_any_body_gets_an_answer_in_the_apis_shape(
        self, plain_client: httpx2.Client, body: bytes, path: str
    ) -> None:
        answer = plain_client.post(path, content=body, headers=HEADERS)
        assert answer.status_code in {200, 400, 404}, answer.text
        data = answer.json()
        if answer.status_code != 200:
            assert data["type"] == "error"
            assert set(data["error"]) <= {"type", "message", "details"}
            assert data["request_id"] == answer.headers["request-id"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
class TestCurl:
    @staticmethod
    def _curl(*arguments: str, stdin: str = "") -> str:
        common = [
            "curl",
            "--silent",
            "--show-error",
            "--max-time",
            "60",
            "-H",
            "anthropic-version: 2026-10-21",
        ]
        done = subprocess.run([*common, *arguments], input=stdin, capture_output=True, text=True, check=True)
        return done.stdout

    def test_a_message_with_x_api_key(self, simulator_server: str) -> None:
        out = self._curl("-H", "x-api-key: k", "-d", json.dumps(BODY), f"{simulator_server}/v1/messages")
        assert json.loads(out)["role"] == "assistant"

    def test_a_stream(self, simulator_server: str) -> None:
        body = json.dumps({**BODY, "stream": True})
        out = self._curl("-N", "-H", "authorization: Bearer k", "-d", body, f"{simulator_server}/v1/messages")
        assert out.startswith("event: message_start\ndata: {")

    def test_a_chunked_upload_that_asks_first(self, simulator_server: str) -> None:
        out = self._curl(
            *("-H", "x-api-key: k", "-H", "transfer-encoding: chunked", "-H", "expect: 100-continue"),
            *("--data-binary", "@-", f"{simulator_server}/v1/messages"),
            stdin=json.dumps(BODY),
        )
        assert json.loads(out)["role"] == "assistant"

    def test_no_key(self, simulator_server: str) -> None:
        out = self._curl("-d", json.dumps(BODY), f"{simulator_server}/v1/messages")
        assert json.loads(out)["error"]["message"] == "x-api-key header is required"


class TestWaiting:
    def test_events_are_sent_when_they_are_due(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The event loop's clock is ours here: it moves by what is slept."""
        sent: list[tuple[float, bytes]] = []
        now = 50.0

        async def main() -> None:
            loop = asyncio.get_running_loop()
            monkeypatch.setattr(loop, "time", lambda: now)
            await server._send_events(send, answer, timing, started=50.0)
            monkeypatch.undo()

        async def sleep(seconds: float) -> None:
            nonlocal now
            now += seconds

        async def send(message: Any) -> None:
            sent.append((round(now, 6), message.get("body", b"")[:20]))

        timing = Timing(100.0, 300.0, 1000.0)
        message = {
            "content": [{"type": "text", "text": "Lisbon."}],
            "usage": {"output_tokens": 4},
            "stop_reason": "end_turn",
        }
        answer = Answer(200, {}, message, timing, stream=True)
        monkeypatch.setattr(server.asyncio, "sleep", sleep)
        asyncio.run(main())
        assert sent == [
            (50.1, b""),
            (50.1, b"event: message_start"),
            (50.1, b'event: ping\ndata: {"'[:20]),
            (50.3, b"event: content_block"),
            (50.3, b"event: content_block"),
            (50.3, b"event: content_block"),
            (51.0, b"event: message_delta"),
            (51.0, b"event: message_stop\n"),
            (51.0, b""),
        ]


class TestRecording:
    def test_every_message_asked_for_is_a_line_without_keys_or_headers(self, tmp_path: Path) -> None:
        path = tmp_path / "traffic.jsonl"
        with running(CONFIG, record_path=path) as url:
            for body in (BODY, {**BODY, "stream": True}, {**BODY, "messages": []}):
                httpx2.post(f"{url}/v1/messages", json=body, headers={**HEADERS, "x-api-key": "secret-key"})
            httpx2.post(f"{url}/v1/messages/count_tokens", json=BODY, headers=HEADERS)
        assert "secret-key" not in path.read_text(encoding="utf-8")
        plain, streamed, refused = (
            json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
        )
        assert set(plain) == {"provider", "body", "response"}
        assert (plain["provider"], plain["body"]) == ("simulator", BODY)
        assert streamed["body"] == {**BODY, "stream": True}
        assert [line["response"]["stop_reason"] for line in (plain, streamed)] == ["end_turn", "end_turn"]
        assert refused["body"] == {**BODY, "messages": []}
        assert refused["response"]["error"]["type"] == "invalid_request_error"

    def test_a_file_that_cannot_be_written_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "missing" / "traffic.jsonl"
        with (
            pytest.raises(InputError, match=f"cannot record to {path}: No such file"),
            running(CONFIG, record_path=path),
        ):
            pass


class TestTheProcess:
    PROGRAM = textwrap.dedent(
        """
        import sys
        from memdash.simulator.engine import SimulatorConfig
        from memdash.simulator.server import serve

        config = SimulatorConfig(token_counter="estimate")
        serve("127.0.0.1", 0, config, on_ready=lambda url: print(url, file=sys.stderr, flush=True))
        """
    )

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_it_tells_its_address_and_stops_cleanly(self, number: signal.Signals) -> None:
        process = subprocess.Popen([sys.executable, "-c", self.PROGRAM], stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        url = process.stderr.readline().strip()
        assert httpx2.post(f"{url}/v1/messages", json=BODY, headers=HEADERS, timeout=60).status_code == 200
        process.send_signal(number)
        _, rest = process.communicate(timeout=60)
        assert (process.returncode, rest) == (0, "")

    def test_a_port_in_use_is_named(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(InputError, match=f"port {port} on 127.0.0.1 is in use; choose another"):
                serve("127.0.0.1", port, CONFIG, on_ready=print)

    @pytest.mark.parametrize(
        ("host", "port"), [("127.0.0.1", 70_000), ("127.0.0.1", -1), ("no such host", 0), ("203.0.113.1", 0)]
    )
    def test_an_address_that_cannot_be_had_is_named(self, host: str, port: int) -> None:
        with pytest.raises(InputError, match=f"cannot serve on {host}:{port}: "):
            serve(host, port, CONFIG, on_ready=print)

    @pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
    def test_a_latency_factor_that_is_none_is_refused(self, factor: float) -> None:
        with pytest.raises(InputError, match="latency factor"), running(CONFIG, factor):
            pass
