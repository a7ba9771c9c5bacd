"""HTTP requests and answers without a network: status codes, headers, JSON rules and error texts."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from memdash.simulator.errors import ApiError
from memdash.simulator.hint import HINT_HEADER, Hint
from memdash.simulator.routes import MAX_BODY_BYTES, Answer, Wire

HEADERS = {"x-api-key": "any-key", "anthropic-version": "2026-10-21", "content-type": "application/json"}
BODY = (
    b'{"model": "claude-opus-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Where to?"}]}'
)


@pytest.fixture
def wire(canned: Any) -> Wire:
    return Wire(canned, seed=1)


def post(
    wire: Wire, body: bytes = BODY, path: str = "/v1/messages", headers: dict[str, str] = HEADERS
) -> Answer:
    return wire.answer("POST", path, headers, body, 0.0)


def get(wire: Wire, path: str, headers: dict[str, str] = HEADERS) -> Answer:
    return wire.answer("GET", path, headers, b"", 0.0)


def refusal(answer: Answer) -> tuple[int, str, str]:
    """Return status, type and text of an error after checking that its body has the API's shape."""
    data = json.loads(answer.encode())
    assert set(data) == {"type", "error", "request_id"}
    assert data["type"] == "error"
    assert data["request_id"] == answer.headers["request-id"]
    assert re.fullmatch(r"req_[0-9A-Za-z]{24}", data["request_id"])
    return answer.status, data["error"]["type"], data["error"]["message"]


def test_a_message_comes_back_with_a_request_id(wire: Wire) -> None:
    answer = post(wire)
    assert answer.status == 200
    assert answer.data["content"] == [{"type": "text", "text": "Lisbon, for the trams."}]
    assert re.fullmatch(r"req_[0-9A-Za-z]{24}", answer.headers["request-id"])


def test_request_ids_differ_and_a_seed_repeats_them(canned: Any) -> None:
    first, again, unseeded = Wire(canned, seed=1), Wire(canned, seed=1), Wire(canned)
    ids = [post(first).headers["request-id"] for _ in range(3)]
    assert len(set(ids)) == 3
    assert [post(again).headers["request-id"] for _ in range(3)] == ids
    assert post(unseeded).headers["request-id"] not in ids


@pytest.mark.parametrize("path", ["/v1/messages?beta=true", "/v1/messages"])
def test_a_query_does_not_change_the_route(wire: Wire, path: str) -> None:
    assert post(wire, path=path).status == 200


@pytest.mark.parametrize("path", ["/v1/messages/count_tokens", "/v1/messages/count_tokens?beta=true"])
def test_tokens_are_counted(wire: Wire, path: str) -> None:
    assert post(wire, path=path).data == {"input_tokens": 9}


def test_a_stream_is_asked_for_in_the_body(wire: Wire) -> None:
    assert not post(wire).stream
    assert post(wire, BODY[:-1] + b', "stream": true}').stream
    assert not post(wire, BODY[:-1] + b', "stream": false}').stream


@pytest.mark.parametrize(
    "credentials",
    [{"x-api-key": "k"}, {"authorization": "Bearer k"}, {"authorization": "bearer  k "}],
)
def test_any_key_is_accepted_in_either_header(wire: Wire, canned: Any, credentials: dict[str, str]) -> None:
    assert post(wire, headers={"anthropic-version": "2023-06-01", **credentials}).status == 200
    assert canned.asked[0][1].key == "k"


@pytest.mark.parametrize(
    ("credentials", "text"),
    [
        ({}, "x-api-key header is required"),
        ({"x-api-key": "  "}, "x-api-key header is required"),
        ({"authorization": "Bearer "}, "Invalid bearer token"),
        ({"authorization": "Basic azpw"}, "Invalid bearer token"),
    ],
)
def test_without_a_key_the_answer_is_401(wire: Wire, credentials: dict[str, str], text: str) -> None:
    answer = post(wire, headers={"anthropic-version": "2026-10-21", **credentials})
    assert refusal(answer) == (401, "authentication_error", text)


def test_the_key_is_asked_for_before_the_version(wire: Wire) -> None:
    assert refusal(post(wire, b"not json", headers={}))[0] == 401


def test_the_version_header_is_required(wire: Wire) -> None:
    answer = post(wire, headers={"x-api-key": "k"})
    assert refusal(answer) == (400, "invalid_request_error", "anthropic-version: header is required")


def test_an_unknown_version_is_named(wire: Wire) -> None:
    answer = post(wire, headers={"x-api-key": "k", "anthropic-version": "2023-06-01, 2023-06-01"})
    text = 'anthropic-version: "2023-06-01, 2023-06-01" is not a valid version'
    assert refusal(answer) == (400, "invalid_request_error", text)


def test_beta_names_come_comma_joined(wire: Wire, canned: Any) -> None:
    post(wire, headers={**HEADERS, "anthropic-beta": "compact-2026-01-12,  cache-diagnosis-2026-04-07,,"})
    assert canned.asked[0][1].betas == {"compact-2026-01-12", "cache-diagnosis-2026-04-07"}


def test_our_hint_is_read_from_its_header(wire: Wire, canned: Any) -> None:
    post(wire, headers={**HEADERS, HINT_HEADER: Hint(seed=3, reply="Porto.").encode()})
    assert canned.asked[0][1].hint == Hint(seed=3, reply="Porto.")


@pytest.mark.parametrize("value", ["???", "e30=", "bm90IGpzb24=", "W10="])
def test_a_hint_that_is_not_ours_is_refused(wire: Wire, value: str) -> None:
    status, kind, text = refusal(post(wire, headers={**HEADERS, HINT_HEADER: value}))
    assert (status, kind) == (400, "invalid_request_error")
    assert text.startswith("memdash-hint: ")


@pytest.mark.parametrize(
    "path",
    ["/", "/v1", "/v1/complete", "/v1/messages/", "/v1/messages/batches", "/v1/models/", "/v1/modelsx"],
)
def test_an_unknown_path_is_404(wire: Wire, path: str) -> None:
    assert refusal(post(wire, path=path)) == (404, "not_found_error", "Not Found")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/v1/messages", "POST"),
        ("DELETE", "/v1/messages/count_tokens", "POST"),
        ("HEAD", "/v1/messages", "POST"),
        ("POST", "/v1/models", "GET, HEAD"),
        ("PUT", "/v1/models/claude-opus-5-5", "GET, HEAD"),
    ],
)
def test_another_method_is_405_and_says_which_are_allowed(
    wire: Wire, method: str, path: str, allow: str
) -> None:
    answer = wire.answer(method, path, HEADERS, BODY, 0.0)
    assert refusal(answer) == (405, "invalid_request_error", "Method Not Allowed")
    assert answer.headers["allow"] == allow


def test_options_tells_the_methods(wire: Wire) -> None:
    answer = wire.answer("OPTIONS", "/v1/messages", {}, b"", 0.0)
    assert (answer.status, answer.headers["allow"]) == (200, "POST, OPTIONS")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "The request body is not valid JSON: expecting value: line 1 column 1 (char 0)"),
        (b'{"model": ', "The request body is not valid JSON: expecting value: line 1 column 11 (char 10)"),
        (b'{"model": "a"} x', "The request body is not valid JSON: extra data: line 1 column 16 (char 15)"),
        (b'{"max_tokens": NaN}', "The request body is not valid JSON: not a JSON number: NaN"),
        (b'{"max_tokens": -Infinity}', "The request body is not valid JSON: not a JSON number: -Infinity"),
        (
            b'{"n": 1e999}',
            "The request body is not valid JSON: number is infinity when parsed as double: 1e999",
        ),
        (b'{"model": "\xff"}', "The request body is not valid JSON: invalid UTF-8 at byte 11"),
        (b'{"model": "\\ud83d"}', "The request body is not valid JSON: no low surrogate in string"),
        (b"[]", "Input should be an object"),
        (b'"text"', "Input should be an object"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_a_body_that_is_no_json_object_is_400(wire: Wire, path: str, body: bytes, text: str) -> None:
    assert refusal(post(wire, body, path)) == (400, "invalid_request_error", text)


def test_a_whole_surrogate_pair_is_one_character(wire: Wire, canned: Any) -> None:
    post(wire, b'{"messages": "\\ud83c\\udf37"}')
    assert canned.asked[0][0] == {"messages": "\N{TULIP}"}


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_deep_nesting_is_400(wire: Wire, opening: bytes) -> None:
    status, kind, text = refusal(post(wire, b'{"messages": ' + opening * 100_000))
    assert (status, kind) == (400, "invalid_request_error")
    assert text.startswith("The request body is not valid JSON: ")


def test_an_integer_without_end_is_400(wire: Wire) -> None:
    assert refusal(post(wire, b'{"max_tokens": ' + b"9" * 5000 + b"}"))[:2] == (400, "invalid_request_error")


def test_nesting_that_only_the_engine_finds_too_deep_is_400(wire: Wire, canned: Any) -> None:
    canned.error = RecursionError("maximum recursion depth exceeded")
    assert refusal(post(wire))[:2] == (400, "invalid_request_error")


def test_a_body_over_32_mb_is_413(wire: Wire) -> None:
    answer = post(wire, b" " * (MAX_BODY_BYTES + 1))
    assert refusal(answer) == (413, "request_too_large", "Request exceeds the maximum size")


def test_a_body_of_32_mb_is_taken(wire: Wire) -> None:
    assert post(wire, BODY + b" " * (MAX_BODY_BYTES - len(BODY))).status == 200


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_the_content_type_does_not_matter(wire: Wire, content_type: str) -> None:
    assert post(wire, headers={**HEADERS, "content-type": content_type}).status == 200


def test_the_engines_refusal_keeps_its_code_and_headers(wire: Wire, canned: Any) -> None:
    canned.error = ApiError(
        529, "overloaded_error", "Compaction is unavailable", "compaction_unavailable", {"retry-after": "2"}
    )
    answer = post(wire)
    assert refusal(answer) == (529, "overloaded_error", "Compaction is unavailable")
    assert answer.data["error"]["details"] == {"error_code": "compaction_unavailable"}
    assert answer.headers["retry-after"] == "2"


def test_a_fault_of_ours_is_a_500_in_the_apis_shape(
    wire: Wire, canned: Any, caplog: pytest.LogCaptureFixture
) -> None:
    canned.error = ZeroDivisionError("ours")
    assert refusal(post(wire)) == (500, "api_error", "Internal server error")
    assert "the simulator failed on POST /v1/messages" in caplog.text
