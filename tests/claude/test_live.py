"""The live client over real HTTP: against servers that do as the API does, and against those that do not."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic
import pytest

from memdash.claude import Refused, Request
from memdash.claude.clients import LiveClaude
from memdash.clock import RealClock
from memdash.records import Status, Usage
from memdash.replay import replay
from memdash.spec import Provider
from tests.replay.scripts import chat, spec

HELLO = Request(
    {
        "model": "llama-3",
        "max_tokens": 50,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
    },
    betas=("thinking-binding-controls-2026-08-01",),
)


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)


def stream(
    *blocks: tuple[dict[str, Any], list[dict[str, Any]]],
    usage: dict[str, Any],
    delta_usage: dict[str, Any] | None = None,
    stop_reason: str | None = "end_turn",
    message: dict[str, Any] | None = None,
) -> bytes:
    start = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
        **(message or {}),
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta: dict[str, Any] = {} if stop_reason is None else {"stop_reason": stop_reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": delta_usage or {"output_tokens": 2}})
    events.append({"type": "message_stop"})
    return sse(*events)


TEXT = ({"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in ("Hel", "lo")])


class Server:
    """Answers each POST with the next of ``answers``: (status, headers, body); keeps what it was sent."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
                server.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                status, headers, body = (
                    server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                )
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def says(
        self, body: bytes, *, status: int = 200, kind: str = "text/event-stream", **headers: str
    ) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.append((status, {"content-type": kind, **named}, body))

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def live(server):
    with anthropic.Anthropic(api_key="key", base_url=server.url, max_retries=1) as sdk:
        yield LiveClaude(sdk, RealClock())


def test_the_diagnosis_of_the_cache_comes_with_the_streams_first_event(server, live):
    reason = {"type": "tools_changed", "cache_missed_input_tokens": 700}
    start = {"diagnostics": {"cache_miss_reason": reason}}
    server.says(stream(TEXT, usage={"input_tokens": 3}, message=start))
    asking = Request({**HELLO.body, "diagnostics": {"previous_message_id": "msg_0"}}, HELLO.betas)
    assert live.send(asking).diagnosis == reason
    assert server.bodies[0]["diagnostics"] == {"previous_message_id": "msg_0"}
    server.answers.clear()
    server.says(stream(TEXT, usage={"input_tokens": 3}, message={"diagnostics": None}))
    assert live.send(asking).diagnosis == {"type": "nothing_changed"}
    server.answers.clear()
    server.says(stream(TEXT, usage={"input_tokens": 3}))
    assert live.send(HELLO).diagnosis is None


def test_a_stream_is_put_together_and_timed(server, live):
    thinking = (
        {"type": "thinking", "thinking": "", "signature": ""},
        [{"type": "signature_delta", "signature": "sig"}],
    )
    server.says(
        stream(
            thinking,
            TEXT,
            usage={"input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 5},
            delta_usage={"output_tokens": 7, "output_tokens_details": {"thinking_tokens": 4}},
        ),
        request_id="req_9",
    )
    response = live.send(HELLO)
    assert [dict(block) for block in response.content] == [
        {"type": "thinking", "thinking": "", "signature": "sig"},
        {"type": "text", "text": "Hello"},
    ]
    assert response.usage == Usage(3, 5, None, None, 10, 7, 4)
    assert (response.stop_reason, response.message_id, response.request_id) == ("end_turn", "msg_1", "req_9")
    assert response.started_ms <= response.first_event_ms <= response.first_text_ms <= response.finished_ms
    assert not response.modelled
    assert server.headers[0]["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
    assert "memdash-hint" not in server.headers[0]
    assert server.bodies[0]["stream"] is True


def test_a_tool_call_comes_back_with_its_input(server, live):
    tool = (
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
        [{"type": "input_json_delta", "partial_json": part} for part in ('{"at"', ": 1}")],
    )
    server.says(stream(tool, usage={"input_tokens": 3}, stop_reason="tool_use"))
    block = live.send(HELLO).content[0]
    assert (block["type"], block["id"], block["name"], block["input"]) == (
        "tool_use",
        "toolu_1",
        "look",
        {"at": 1},
    )


def test_a_server_without_cache_fields_stop_reason_and_request_id_reads_as_not_reported(server, live):
    server.says(stream(TEXT, usage={"input_tokens": 12, "output_tokens": 1}, stop_reason=None))
    response = live.send(HELLO)
    assert response.usage == Usage(input_tokens=12, output_tokens=2)
    assert (response.stop_reason, response.request_id) == (None, None)


def test_such_a_server_carries_a_whole_replay(server, live):
    server.says(stream(TEXT, usage={"input_tokens": 12, "output_tokens": 1}, stop_reason=None))
    one = spec(chat(3), provider=Provider.ANTHROPIC, model="llama-3", pace=0.0)
    records = list(replay(one, live, live.clock))
    assert records[-1].status is Status.DONE
    assert server.bodies[-1]["system"][0]["text"].startswith(f"[{one.salt}]")


def test_iterations_are_read_from_the_end_of_the_stream(server, live):
    iterations = [
        {"type": "compaction", "input_tokens": 100, "output_tokens": 9},
        {"type": "message", "input_tokens": 3, "output_tokens": 2},
    ]
    server.says(
        stream(TEXT, usage={"input_tokens": 3}, delta_usage={"output_tokens": 2, "iterations": iterations})
    )
    kinds = [(one.type, one.usage.input_tokens) for one in live.send(HELLO).iterations]
    assert kinds == [("compaction", 100), ("message", 3)]


def error(type: str, message: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": type, "message": message}}).encode()


def test_a_refusal_carries_the_apis_own_words(server, live):
    message = "prompt is too long: 205000 tokens > 200000 maximum"
    server.says(
        error("invalid_request_error", message), status=400, kind="application/json", request_id="req_2"
    )
    with pytest.raises(Refused) as refused:
        live.send(HELLO)
    assert (refused.value.message, refused.value.status) == (message, 400)
    assert (refused.value.type, refused.value.request_id) == ("invalid_request_error", "req_2")
    assert refused.value.by_api


def test_a_plain_text_404_is_read_as_well(server, live):
    server.says(b"not here", status=404, kind="text/plain")
    with pytest.raises(Refused) as refused:
        live.send(HELLO)
    assert (refused.value.status, refused.value.type) == (404, None)
    assert "404" in refused.value.message or "not here" in refused.value.message


def test_retries_are_the_sdks_and_counted(server, live):
    server.says(
        error("overloaded_error", "Overloaded"), status=529, kind="application/json", retry_after_ms="1"
    )
    server.says(stream(TEXT, usage={"input_tokens": 3}))
    assert live.send(HELLO).retries == 1


def test_a_service_that_stays_overloaded_is_a_failure_and_no_refusal(server, live):
    server.says(
        error("overloaded_error", "Overloaded"), status=529, kind="application/json", retry_after_ms="1"
    )
    with pytest.raises(Refused) as refused:
        live.send(HELLO)
    assert (refused.value.by_api, refused.value.message) == (False, "Overloaded")


def test_an_error_in_the_middle_of_a_stream_keeps_the_usage_that_was_reported(server, live):
    whole = stream(TEXT, usage={"input_tokens": 12, "cache_read_input_tokens": 8})
    cut = whole[: whole.index(b"event: content_block_stop")]
    broken = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    server.says(cut + sse(broken))
    with pytest.raises(Refused) as refused:
        live.send(HELLO)
    assert (refused.value.by_api, refused.value.message) == (False, "Overloaded")
    assert refused.value.usage == Usage(input_tokens=12, cache_read_input_tokens=8)


@pytest.mark.parametrize("upto", [b"event: content_block_stop", b"event: message_delta"])
def test_a_stream_that_ends_before_the_answer_does_is_no_answer(server, live, upto):
    """A connection that is closed in the middle, as a proxy does it: the SDK takes what came by then for the whole."""
    whole = stream(TEXT, usage={"input_tokens": 12, "output_tokens": 1})
    server.says(whole[: whole.index(upto)])
    with pytest.raises(Refused, match="it ends before the answer does") as refused:
        live.send(HELLO)
    assert (refused.value.by_api, refused.value.usage) == (False, Usage(input_tokens=12, output_tokens=1))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"event: message_start\ndata: not json\n\n",
        sse({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}),
        sse({"type": "message_stop"}),
    ],
    ids=["nothing", "no json", "out of order", "only an end"],
)
def test_a_stream_that_is_none_is_a_failure_with_a_clear_message(server, live, body):
    server.says(body)
    with pytest.raises(Refused) as refused:
        live.send(HELLO)
    assert not refused.value.by_api
    assert refused.value.message


def test_a_server_that_cannot_stream_is_understood(server, live):
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "usage": {"input_tokens": 12},
    }
    body = json.dumps({**message, "content": [{"type": "text", "text": "Hello"}]}).encode()
    server.says(body, kind="application/json; charset=utf-8")
    response = live.send(HELLO)
    assert response.content == ({"type": "text", "text": "Hello"},)
    assert (response.usage, response.stop_reason) == (Usage(input_tokens=12), None)
    # There was no first event to take the time of.
    assert (response.first_event_ms, response.first_text_ms) == (None, None)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("cut \ud83d", "\ude00 in two"), "cut \U0001f600 in two"),
        (("half a \ud83d", " pair"), "half a \ufffd pair"),
    ],
)
def test_a_server_that_sends_half_characters_is_understood(server, live, parts, text):
    answer = ({"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in parts])
    server.says(stream(answer, usage={"input_tokens": 3}))
    assert live.send(HELLO).content == ({"type": "text", "text": text},)
    done = list(replay(spec(chat(2), provider=Provider.ANTHROPIC), live, live.clock))
    assert done[-1].status is Status.DONE  # kept, sent again with the next turn, and kept again
    assert server.bodies[-1]["messages"][1]["content"] == [{"type": "text", "text": text}]


def test_half_characters_in_a_refusal_are_unknown_ones(server, live):
    server.says(error("invalid_request_error", "bad \ud83d"), status=400, kind="application/json")
    with pytest.raises(Refused, match="bad \ufffd"):
        live.send(HELLO)


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        ("text/html", b"<html>Sign in</html>", "it is a web page"),
        ("application/json", b'{"status": "fine"}', "it is JSON, but no message"),
        ("text/event-stream", b"", "it holds no message"),
    ],
)
def test_an_answer_that_is_no_message_says_what_it_is(server, live, kind, body, reason):
    server.says(body, kind=kind)
    with pytest.raises(Refused, match=reason):
        live.send(HELLO)


def test_an_address_where_nobody_listens_is_a_failure():
    with anthropic.Anthropic(api_key="key", base_url="http://127.0.0.1:9", max_retries=0) as sdk:
        live = LiveClaude(sdk, RealClock())
        with pytest.raises(Refused) as refused:
            live.send(HELLO)
    assert (refused.value.status, refused.value.by_api) == (None, False)


def test_a_call_beside_the_conversation_runs_in_its_own_thread(server, live):
    server.says(stream(TEXT, usage={"input_tokens": 3}))
    pending = live.start(HELLO)
    assert pending.wait().content[0]["text"] == "Hello"
    assert pending.answer() is not None


def test_a_field_the_sdk_does_not_know_travels_all_the_same(server, live):
    server.says(stream(TEXT, usage={"input_tokens": 3}))
    live.send(Request({**HELLO.body, "field_of_tomorrow": {"a": 1}}))
    assert server.bodies[0]["field_of_tomorrow"] == {"a": 1}


def test_without_a_key_there_is_no_live_client_and_it_says_what_to_do():
    from memdash.claude import connect
    from memdash.errors import InputError

    with pytest.raises(InputError, match="set ANTHROPIC_API_KEY"):
        connect(spec(chat(1), provider=Provider.ANTHROPIC))
