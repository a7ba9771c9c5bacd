"""An HTTP request in, an HTTP answer out, with no input or output of its own: what both doors share."""

from __future__ import annotations

import json
import logging
import random
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn
from urllib.parse import parse_qs, unquote

from memdash.simulator.catalogue import get_model, list_models
from memdash.simulator.digests import as_written
from memdash.simulator.engine import Caller, Engine, Timing
from memdash.simulator.errors import ApiError, invalid
from memdash.simulator.hint import HINT_HEADER, Hint

MAX_BODY_BYTES = 32 * 1024 * 1024
"""The largest body the Messages API takes; a larger one gets 413."""

API_VERSIONS = frozenset({"2023-01-01", "2023-06-01", "2026-10-21"})
"""Values of ``anthropic-version`` that exist."""

_LOG = logging.getLogger(__name__)
_ID_LETTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_MESSAGES = "/v1/messages"
_COUNT_TOKENS = "/v1/messages/count_tokens"
_MODELS = "/v1/models"
_A_MODEL = "/v1/models/"


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to the client.

    ``data`` is the JSON body. ``timing`` is set for an answered message; with ``stream`` its events are to be sent
    instead of ``data``. ``request`` is the parsed body of a request for a message, refused or not.
    """

    status: int
    headers: Mapping[str, str]
    data: Mapping[str, Any]
    timing: Timing | None = None
    stream: bool = False
    request: Mapping[str, Any] | None = field(default=None, repr=False)

    def encode(self) -> bytes:
        """Return the JSON body as bytes."""
        return as_written(self.data).encode()


class Wire:
    """The API's routes over one engine: authentication, headers, JSON, errors and request ids.

    ``seed`` makes the request ids repeatable.
    """

    def __init__(self, engine: Engine, seed: int | None = None) -> None:
        self.engine = engine
        self._ids = random.Random(seed)

    def answer(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes,
        now_ms: float,
        *,
        commit: bool = True,
    ) -> Answer:
        """Answer one request; never raises.

        ``target`` is the path with its query as sent, the keys of ``headers`` are in lower case (or the mapping does not
        care), ``now_ms`` is the caller's clock. ``commit=False`` leaves the engine's state as it is.
        """
        request_id = new_request_id(self._ids)
        path, _, query = target.partition("?")
        try:
            allowed = _allowed_methods(path)
            if method == "OPTIONS":
                return _ok(request_id, {}, {"allow": f"{allowed}, OPTIONS"})
            if method not in allowed.split(", "):
                raise ApiError(405, "invalid_request_error", "Method Not Allowed", headers={"allow": allowed})
            caller = self.caller(headers)
            if path == _MESSAGES:
                return self._create_message(request_id, parse_body(body), caller, now_ms, commit)
            if path == _COUNT_TOKENS:
                return _ok(request_id, self.engine.count_tokens(parse_body(body), caller, now_ms))
            if path == _MODELS:
                return _ok(request_id, list_models(parse_qs(query, keep_blank_values=True)))
            return _ok(request_id, get_model(unquote(path.removeprefix(_A_MODEL))))
        except ApiError as error:
            return error_answer(error, request_id)
        except RecursionError:
            return error_answer(invalid("The request body is not valid JSON: nested too deeply"), request_id)
        except Exception:
            _LOG.exception("the simulator failed on %s %s (%s)", method, path, request_id)
            return error_answer(ApiError(500, "api_error", "Internal server error"), request_id)

    def caller(self, headers: Mapping[str, str]) -> Caller:
        """Read who asks from the request headers.

        Raises ApiError without a key, without a known ``anthropic-version``, or where the hint is not ours.
        """
        version = headers.get("anthropic-version", "").strip()
        key = _key(headers)
        if not version:
            raise invalid("anthropic-version: header is required")
        if version not in API_VERSIONS:
            raise invalid(f'anthropic-version: "{version}" is not a valid version')
        betas = frozenset(name.strip() for name in headers.get("anthropic-beta", "").split(",")) - {""}
        return Caller(key, version, betas, _hint(headers))

    def _create_message(
        self, request_id: str, request: dict[str, Any], caller: Caller, now_ms: float, commit: bool
    ) -> Answer:
        try:
            outcome = self.engine.create_message(request, caller, now_ms, commit=commit)
        except ApiError as error:
            return replace(error_answer(error, request_id), request=request)
        streamed = request.get("stream") is True
        return Answer(
            200, {"request-id": request_id}, outcome.message, outcome.timing, stream=streamed, request=request
        )


def new_request_id(source: random.Random) -> str:
    """Return a fresh id as the API's ``request-id`` header carries it."""
    return "req_" + "".join(source.choices(_ID_LETTERS, k=24))


def error_answer(error: ApiError, request_id: str) -> Answer:
    """Return the API's error body for a refusal (Messages API, errors)."""
    detail: dict[str, Any] = {"type": error.type, "message": error.message}
    if error.error_code is not None:
        detail["details"] = {"error_code": error.error_code}
    body = {"type": "error", "error": detail, "request_id": request_id}
    return Answer(error.status, {**error.headers, "request-id": request_id}, body)


def too_large() -> ApiError:
    """Return the refusal of a body over :data:`MAX_BODY_BYTES`."""
    return ApiError(413, "request_too_large", "Request exceeds the maximum size")


def parse_body(body: bytes) -> dict[str, Any]:
    """Parse a request body as strictly as the API does: UTF-8, real numbers, whole characters, an object at
    the top.

    Raises ApiError otherwise. RecursionError escapes where it is nested too deeply.
    """
    if len(body) > MAX_BODY_BYTES:
        raise too_large()
    try:
        data = _DECODER.decode(body.decode("utf-8"))
        if _SURROGATE.search(body):
            _whole_characters(data)
    except UnicodeDecodeError as error:
        raise invalid(f"The request body is not valid JSON: invalid UTF-8 at byte {error.start}") from None
    except ValueError as error:
        raise invalid(f"The request body is not valid JSON: {_lower_first(str(error))}") from None
    if not isinstance(data, dict):
        raise invalid("Input should be an object")
    return data


def _not_a_number(literal: str) -> NoReturn:
    raise ValueError(f"not a JSON number: {literal}")


def _finite(literal: str) -> float:
    number = float(literal)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"number is infinity when parsed as double: {literal[:40]}")
    return number


_DECODER = json.JSONDecoder(parse_constant=_not_a_number, parse_float=_finite)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def _whole_characters(data: Any) -> None:
    """Refuse half a surrogate pair: no text can hold it, and the API refuses it too."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("no low surrogate in string") from None


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _allowed_methods(path: str) -> str:
    if path in (_MESSAGES, _COUNT_TOKENS):
        return "POST"
    if path == _MODELS or (path.startswith(_A_MODEL) and path != _A_MODEL):
        return "GET, HEAD"
    raise ApiError(404, "not_found_error", "Not Found")


def _ok(request_id: str, data: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(200, {"request-id": request_id, **(headers or {})}, data)


def _key(headers: Mapping[str, str]) -> str:
    """Return the key, from ``x-api-key`` or a Bearer token; any will do, but there must be one."""
    if key := headers.get("x-api-key", "").strip():
        return key
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    if not scheme:
        raise ApiError(401, "authentication_error", "x-api-key header is required")
    if scheme.lower() != "bearer" or not token.strip():
        raise ApiError(401, "authentication_error", "Invalid bearer token")
    return token.strip()


def _hint(headers: Mapping[str, str]) -> Hint | None:
    value = headers.get(HINT_HEADER)
    if value is None:
        return None
    try:
        return Hint.decode(value)
    except ValueError as error:
        raise invalid(f"{HINT_HEADER}: {error}") from None
