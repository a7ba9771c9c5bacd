"""Reading a log of requests: one JSON object a line, a request with what was answered.

A line is ``{"provider", "body", "response"}`` as ``memdash simulate --record`` writes it, ``{"request", "response"}``, or a bare
request body. ``response`` is the complete message (also of a streamed answer), or the error that came instead; it may be wrapped
as ``{"status", "body"}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from memdash.errors import InputError
from memdash.scripts.importers.json_files import BadJson, loads

MAX_BYTES = 200 * 1024 * 1024
"""How large a log may be."""

MAX_LINE_BYTES = 80 * 1024 * 1024
"""How long a line may be: the API takes bodies of 32 MB, and JSON may write a character in several bytes."""

_ROLES = ("user", "assistant", "system")
_FIRST_ERROR_STATUS = 400


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """One line of a log. ``reply`` and ``usage`` are None where they are not known; ``error`` is set where the API refused."""

    line: int
    body: Mapping[str, Any]
    reply: Sequence[Mapping[str, Any]] | None
    usage: Mapping[str, Any] | None
    error: str | None


def read_log(path: Path) -> Iterator[LoggedCall]:
    """Yield the requests of a log, line by line; blank lines and token counts are passed over.

    Raises :class:`InputError` with the line where the file cannot be read, is too large, or holds something else.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if size > MAX_BYTES:
                raise InputError(
                    f"{path}: has {size:,} bytes; a log of up to {MAX_BYTES:,} bytes can be checked: split it by conversation"
                )
            file.seek(0)
            yield from _read_lines(file, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _read_lines(file: BinaryIO, path: Path) -> Iterator[LoggedCall]:
    number = 0
    while raw := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(raw) > MAX_LINE_BYTES:
            raise InputError(f"{path}:{number}: the line is longer than {MAX_LINE_BYTES:,} bytes")
        if not raw.strip():
            continue
        try:
            call = _read_line(raw, number)
        except _BadLine as problem:
            raise InputError(f"{path}:{number}: {problem}") from None
        if call is not None:
            yield call


class _BadLine(Exception):
    """What is wrong with a line, before it is said where."""


def _read_line(raw: bytes, number: int) -> LoggedCall | None:
    """Read one line; None for a token count, which is no request of a conversation."""
    try:
        value = loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _BadLine(f"is not UTF-8 text (byte {error.start})") from None
    except BadJson as error:
        cut = "" if raw.endswith(b"\n") else "; the file ends in this line, perhaps it is still being written"
        raise _BadLine(f"is not JSON: {error}{cut}") from None
    if not isinstance(value, dict):
        raise _BadLine(f"holds {_kind(value)}, not an object with a request")
    body, response = _split(value)
    if isinstance(response, dict):
        status, inner = response.get("status", response.get("status_code")), response.get("body")
        if isinstance(inner, dict):
            response = inner
        refusal = _error_of(response, status)
        if refusal is not None:
            return LoggedCall(number, _refused_body(body), None, None, refusal)
    _check_body(body)
    if isinstance(response, dict):
        content, usage = response.get("content"), response.get("usage")
        if content is None and "input_tokens" in response:
            return None
        if content is not None:
            _check_blocks(content, "response.content")
        return LoggedCall(number, body, content, usage if isinstance(usage, dict) else None, None)
    if response is not None:
        raise _BadLine(f"`response` is {_kind(response)}; it must be the message object, or the error object")
    return LoggedCall(number, body, None, None, None)


def _split(value: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    for name in ("body", "request"):
        inner = value.get(name)
        if isinstance(inner, dict):
            wrapped = inner.get("body")
            return (wrapped if isinstance(wrapped, dict) else inner), value.get("response")
    if "messages" in value:
        return value, None
    raise _BadLine(
        'holds no request: expected {"body": …, "response": …}, {"request": …, "response": …} or a body'
    )


def _error_of(response: Mapping[str, Any], status: Any) -> str | None:
    error = response.get("error")
    if error is None and not (isinstance(status, int) and status >= _FIRST_ERROR_STATUS):
        return None
    if isinstance(error, dict):
        return str(error.get("message") or error.get("type") or "an error without a message")
    return str(error) if error else f"HTTP status {status}"


def _refused_body(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the body of a refused request; one that is no request at all, which may be why, says nothing."""
    try:
        _check_body(body)
    except _BadLine:
        return {"model": str(body.get("model")), "messages": []}
    return body


def _check_body(body: Mapping[str, Any]) -> None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _BadLine(
            "the request has no list of `messages`; only requests to the Messages API can be checked"
        )
    if not isinstance(body.get("model"), str):
        raise _BadLine("the request names no `model`")
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            raise _BadLine(f"messages.{index}: expected an object with role user, assistant or system")
        _check_content(message.get("content"), f"messages.{index}.content")
    system, tools = body.get("system"), body.get("tools")
    if system is not None:
        _check_content(system, "system")
    if tools is not None:
        _check_blocks(tools, "tools")


def _check_content(content: Any, where: str) -> None:
    if not isinstance(content, str):
        _check_blocks(content, where)


def _check_blocks(blocks: Any, where: str) -> None:
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise _BadLine(f"{where}: expected a list of objects, found {_kind(blocks)}")


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool() | int() | float():
            return "a number or a truth value"
        case str():
            return "a text"
        case list():
            return "a list" if all(isinstance(one, dict) for one in value) else "a list of other things"
        case _:
            return "an object"
