"""``memdash calibrate`` against servers that count tokens, in their own way or not at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memdash.simulator.engine import SimulatorConfig
from memdash.simulator.server import running
from tests.cli.conftest import Ended

Memdash = Callable[..., Ended]
KEY = "sk-ant-very-secret"

SCRIPT = """
title: A door
system: Help.
turns:
  - user: Is the door open?
  - user: Спасибо, это всё.
"""


class Counting:
    """Counts a token for every character of the texts, ten for every message, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.refusal: tuple[int, bytes] | None = None
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.asked.append({"path": self.path, **body})
                status, answer = server.refusal or (200, json.dumps({"input_tokens": count(body)}).encode())
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def count(body: dict[str, Any]) -> int:
    blocks = [block for message in body["messages"] for block in message["content"]] + body.get("system", [])
    return 10 * len(body["messages"]) + sum(len(block["text"]) for block in blocks)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    counting = Counting()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", counting.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    yield counting
    counting.close()


@pytest.fixture
def door(tmp_path: Path) -> str:
    path = tmp_path / "door.yaml"
    path.write_text(SCRIPT, "utf-8")
    return str(path)


def refused(message: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": "some_error", "message": message}}).encode()


def test_the_table_tells_the_error_by_block_and_writing(
    memdash: Memdash, server: Counting, door: str
) -> None:
    ended = memdash("calibrate", "--script", door, "--token-counter", "estimate")
    assert ended.code == 0
    rows = [line.split() for line in ended.out.splitlines()]
    system = next(row for row in rows if row[:2] == ["system", "Latin"])
    assert system[2:5] == ["1", "5", "5"]  # one text of five characters, five tokens by this server
    cyrillic = next(row for row in rows if row[:3] == ["user", "text", "Cyrillic"])
    assert cyrillic[3:6] == ["1", "17", "17"]
    assert any(row[:2] == ["all", "all"] for row in rows)
    assert "as a compatible server counts them, against estimate" in ended.out
    assert ended.complaint == "4 calls of count_tokens to a compatible server, which cost nothing"


def test_the_json_holds_the_counts_of_both(memdash: Memdash, server: Counting, door: str) -> None:
    found = json.loads(
        memdash("calibrate", "--script", door, "--token-counter", "estimate", "--format", "json").out
    )
    assert (found["scripts"], found["model"], found["token_counter"]) == (
        ["door"],
        "claude-opus-5-5",
        "estimate",
    )
    assert (found["answered_by"], found["calls"]) == ("a compatible server", len(server.asked))
    (system,) = [row for row in found["rows"] if row["kind"] == "system"]
    assert (system["api_tokens"], system["characters"]) == (5, 5)
    assert system["error"] == system["counter_tokens"] - 5
    assert system["relative"] == pytest.approx(system["error"] / 5)
    total = found["total"]
    assert total["api_tokens"] == 5 + 17 + 17 == sum(row["api_tokens"] for row in found["rows"])
    assert total["counter_tokens"] == sum(row["counter_tokens"] for row in found["rows"])
    jsonschema.validate(found["left_out"], {"type": "array", "maxItems": 0})


def test_only_tokens_are_counted_and_no_answer_is_asked_for(
    memdash: Memdash, server: Counting, door: str
) -> None:
    assert memdash("calibrate", "--script", door, "--model", "claude-haiku-5-5").code == 0
    assert {one["path"] for one in server.asked} == {"/v1/messages/count_tokens"}
    assert {one["model"] for one in server.asked} == {"claude-haiku-5-5"}


def test_a_simulator_with_the_same_counter_has_no_error(
    memdash: Memdash, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with running(SimulatorConfig(token_counter="estimate")) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        ended = memdash(
            "calibrate", "--script", "support-tools", "--token-counter", "estimate", "--format", "json"
        )
    found = json.loads(ended.out)
    assert {row["error"] for row in found["rows"]} == {0}
    assert {row["kind"] for row in found["rows"]} >= {"system", "tools", "tool use", "tool result"}


def test_the_key_is_never_shown(memdash: Memdash, server: Counting, door: str) -> None:
    server.refusal = (401, refused("invalid x-api-key"))
    ended = memdash("calibrate", "--script", door)
    assert KEY not in ended.out + ended.err
    assert server.url not in ended.out + ended.err


@pytest.mark.parametrize(
    ("status", "message", "told"),
    [
        (401, "invalid x-api-key", "the server refused to count tokens (401: invalid x-api-key)"),
        (404, "no such route", "the server does not count tokens for this model (404: no such route)"),
        (400, "messages: too odd", "the server refused to count tokens (400: messages: too odd)"),
    ],
)
def test_a_refusal_is_one_clear_line(
    memdash: Memdash, server: Counting, door: str, status: int, message: str, told: str
) -> None:
    server.refusal = (status, refused(message))
    ended = memdash("calibrate", "--script", door)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[1:] == [f"memdash: {told}"]


@pytest.mark.parametrize("answer", [b'{"tokens": 3}', b"[]", b"not json", b'{"input_tokens": "many"}'])
def test_an_answer_that_is_no_count_is_one_clear_line(
    memdash: Memdash, server: Counting, door: str, answer: bytes
) -> None:
    server.refusal = (200, answer)
    ended = memdash("calibrate", "--script", door)
    assert ended.code == 1
    assert len(ended.err.splitlines()) == 2
    assert ended.err.splitlines()[1].startswith("memdash: the server's answer to a count of tokens")


def test_a_server_that_is_not_there_is_one_clear_line(
    memdash: Memdash, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("anthropic._base_client.MAX_RETRY_DELAY", 0.0)
    monkeypatch.setattr("anthropic._base_client.INITIAL_RETRY_DELAY", 0.0)
    ended = memdash("calibrate", "--script", door)
    assert ended.code == 1
    assert ended.err.splitlines()[1].startswith("memdash: there is no server to count tokens")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "memdash calibrate needs a key: set ANTHROPIC_API_KEY"),
        (("--model", "claude-opus-5-6"), "did you mean 'claude-opus-5-5'?"),
        (("--script", "no-such-script"), "no-such-script"),
        (("--token-counter", "words"), "'words' is not one of"),
    ],
)
def test_bad_input_is_one_clear_line_before_anything_is_asked(
    memdash: Memdash, arguments: tuple[str, ...], told: str
) -> None:
    ended = memdash("calibrate", *arguments)
    assert ended.code == 2
    assert told in ended.complaint
