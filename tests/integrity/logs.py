"""Logs for the tests of the check: requests and answers as a client would have them, with small whole numbers as usage."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memdash.integrity import LogCheck, check_calls
from memdash.integrity.log import LoggedCall

MODEL = "claude-opus-5-5"
Json = dict[str, Any]


def user(text: str) -> Json:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def answered(text: str, *, thought: str | None = None) -> list[Json]:
    """The content of an answer; ``thought`` is the signature of a thinking block before it."""
    thinking = [] if thought is None else [{"type": "thinking", "thinking": "", "signature": thought}]
    return [*thinking, {"type": "text", "text": text}]


def assistant(content: Sequence[Json]) -> Json:
    return {"role": "assistant", "content": list(content)}


def usage(read: int, written: int, plain: int = 3) -> Json:
    return {
        "input_tokens": plain,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": 10,
    }


def body(messages: Sequence[Json], **more: Any) -> Json:
    return {
        "model": MODEL,
        "max_tokens": 100,
        "system": "Be brief.",
        "messages": copy.deepcopy(list(messages)),
        **more,
    }


def message(content: Sequence[Json], counted: Json | None = None) -> Json:
    return {"type": "message", "role": "assistant", "content": list(content), "usage": counted or usage(0, 0)}


def line(request: Mapping[str, Any], response: Mapping[str, Any] | None) -> Json:
    return {"provider": "simulator", "body": request, "response": response}


def check(*lines: Mapping[str, Any]) -> LogCheck:
    """Check lines as :func:`line` makes them."""
    return check_calls(_call(number, one) for number, one in enumerate(lines, 1))


def _call(number: int, one: Mapping[str, Any]) -> LoggedCall:
    response = one["response"] or {}
    error = response.get("error")
    return LoggedCall(
        number,
        one["body"],
        response.get("content"),
        response.get("usage"),
        error["message"] if error else None,
    )


def refusal(text: str = "refused") -> Json:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": text}}


class Chat:
    """A client that only ever appends, and hands every answer back as it came; ``history`` can be tampered with."""

    def __init__(self, name: str, *, thinks: bool = False, first: str | None = None, **options: Any) -> None:
        self.name = name
        self.thinks = thinks
        self.options = options
        self.history: list[Json] = []
        self._first = first
        self._turn = 0
        self._size = 0

    def turn(self, text: str | None = None, *, read: int | None = None, **more: Any) -> Json:
        """Send the next message; returns the line of the log. By default everything sent before is read from the cache."""
        self._turn += 1
        if text is None:
            text = (
                self._first if self._turn == 1 and self._first else f"{self.name} asks question {self._turn}"
            )
        self.history.append(user(text))
        thought = f"signature-{self.name}-{self._turn}" if self.thinks else None
        content = answered(
            f"{self.name} is told answer {self._turn}, at some length so that it is telling", thought=thought
        )
        read = self._size if read is None else read
        sent = line(
            body(self.history, **{**self.options, **more}),
            message(content, usage(read, self._size + 100 - read)),
        )
        self._size += 100
        self.history.append(assistant(content))
        return copy.deepcopy(sent)


def write(path: Any, lines: Iterable[Any]) -> Any:
    path.write_text(
        "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines), "utf-8"
    )
    return path
