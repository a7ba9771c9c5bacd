"""OpenAI chat JSON: messages with ``role``, ``content``, ``tool_calls`` and ``tool`` results.

Read are: an object with ``messages`` (and ``tools``); a bare list of messages; a list of runs, each an object with
``messages`` or ``traj``, or a list of messages; one conversation a line; one message a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memdash.scripts.importers.conversation import (
    Conversation,
    Document,
    FixedPart,
    Message,
    Notes,
    Origin,
    Role,
)
from memdash.scripts.importers.json_files import BadJson, loads

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "user",
    "function": "user",
}
_TEXT_PARTS = ("text", "input_text", "output_text")
_MESSAGE_KEYS = ("messages", "traj")


def read(documents: Sequence[Document]) -> list[Conversation]:
    """Return the conversations in ``documents``, in order.

    Raises:
        ScriptError: something is not in this format; names file, line and field.
    """
    if _are_messages([document.value for document in documents]):
        return [
            _conversation(
                [(document.value, document.origin) for document in documents], {}, documents[0].origin
            )
        ]
    return [
        conversation for document in documents for conversation in _document(document.value, document.origin)
    ]


def _are_messages(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(value, dict) and "role" in value for value in values)


def _document(value: Any, origin: Origin) -> list[Conversation]:
    if isinstance(value, list) and not _are_messages(value):
        if not value:
            raise origin.error("the list is empty; there is no conversation in it")
        return [_run(item, origin.item(index)) for index, item in enumerate(value)]
    return [_run(value, origin)]


def _run(value: Any, origin: Origin) -> Conversation:
    """Read one conversation: a list of messages, or an object that has one."""
    body: Mapping[str, Any] = {}
    at = origin
    if isinstance(value, dict):
        key = next((key for key in _MESSAGE_KEYS if isinstance(value.get(key), list)), None)
        if key is None:
            raise origin.error(
                "must be a conversation: an object with a list 'messages' or 'traj', or a list of messages"
            )
        body, value, at = value, value[key], origin.key(key)
    if not isinstance(value, list):
        raise origin.error(
            "must be a conversation: an object with a list 'messages' or 'traj', or a list of messages"
        )
    return _conversation([(item, at.item(index)) for index, item in enumerate(value)], body, origin)


def _conversation(items: list[tuple[Any, Origin]], body: Mapping[str, Any], origin: Origin) -> Conversation:
    notes = Notes()
    reader = _Reader(notes)
    messages = [reader.message(item, place) for item, place in items]
    max_tokens = body.get("max_completion_tokens", body.get("max_tokens"))
    return Conversation(
        messages=messages,
        origin=origin,
        notes=notes,
        fixed=FixedPart("", _tools(body, origin)),
        max_tokens=max_tokens if type(max_tokens) is int else None,
    )


def _tools(body: Mapping[str, Any], origin: Origin) -> tuple[Mapping[str, Any], ...]:
    """Return the tool definitions in the Messages API's form; ``functions`` is the older key."""
    given = body.get("tools") or body.get("functions") or []
    if not isinstance(given, list) or not all(isinstance(tool, dict) for tool in given):
        raise origin.key("tools").error("must be a list of tool definitions")
    tools = []
    for tool in given:
        function = tool.get("function") if isinstance(tool.get("function"), dict) else tool
        kind = tool.get("type", "function")
        definition = {"name": function.get("name"), "description": function.get("description")}
        definition |= {"input_schema": function.get("parameters")}
        definition |= {} if kind == "function" else {"type": kind}
        tools.append({key: part for key, part in definition.items() if part is not None})
    return tuple(tools)


class _Reader:
    """Reads the messages of one conversation in order: a result may name its call by the function only."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._open: list[tuple[str, str]] = []  # (id, name) of the calls that wait for a result
        self._calls = 0

    def message(self, value: Any, origin: Origin) -> Message:
        if not isinstance(value, dict):
            raise origin.error("a message must be an object with 'role' and 'content'")
        role = value.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            raise origin.error(f"the role is {str(role)[:40]!r}; known are {', '.join(_ROLES)}")
        content = self._content(value.get("content"), origin.key("content"))
        if role in ("tool", "function"):
            return Message("user", [self._result(value, content, origin)], origin)
        if role == "assistant":
            refusal = value.get("refusal")
            if isinstance(refusal, str) and not content:
                content = [_text(refusal)]
            content = [block for block in content if block["type"] == "text"]
            content += self._tool_calls(value, origin)
        return Message(_ROLES[role], content, origin)

    def _content(self, content: Any, origin: Origin) -> list[dict[str, Any]]:
        if content is None:
            return []
        if isinstance(content, str):
            return [_text(content)]
        if not isinstance(content, list):
            raise origin.error("must be text or a list of content parts")
        return [self._part(part, origin.item(index)) for index, part in enumerate(content)]

    def _part(self, part: Any, origin: Origin) -> dict[str, Any]:
        if isinstance(part, str):
            return _text(part)
        if not isinstance(part, dict):
            raise origin.error("a content part must be an object with 'type'")
        kind = part.get("type")
        if kind in _TEXT_PARTS and isinstance(part.get("text"), str):
            return _text(part["text"])
        if kind == "refusal" and isinstance(part.get("refusal"), str):
            return _text(part["refusal"])
        if kind == "image_url":
            image = _image(part.get("image_url"))
            if image:
                return image
        self._notes.add(origin, f"a content part of type {str(kind)[:40]} is replaced by a note")
        return _text(f"[{str(kind)[:40]}]")

    def _tool_calls(self, value: Mapping[str, Any], origin: Origin) -> list[dict[str, Any]]:
        """Return the calls of an assistant message; ``function_call`` is the older form, with one call and no id."""
        given = value.get("tool_calls")
        at = origin.key("tool_calls")
        if not given:
            legacy = value.get("function_call")
            given = [{"function": legacy}] if legacy else []
            at = origin.key("function_call") if legacy else at
        if not isinstance(given, list):
            raise at.error("must be a list of tool calls")
        return [
            self._tool_call(call, at.item(index) if value.get("tool_calls") else at)
            for index, call in enumerate(given)
        ]

    def _tool_call(self, call: Any, origin: Origin) -> dict[str, Any]:
        function = call.get("function", call.get("custom")) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise origin.error("a tool call must be an object with 'function', and that one with 'name'")
        self._calls += 1
        identifier = call.get("id") or f"call-{self._calls}"
        self._open.append((str(identifier), function["name"]))
        given = self._arguments(function.get("arguments", function.get("input")), origin)
        return {"type": "tool_use", "id": str(identifier), "name": function["name"], "input": given}

    def _arguments(self, arguments: Any, origin: Origin) -> dict[str, Any]:
        """Return the arguments of a call as an object; text that is none is kept under ``arguments``."""
        if isinstance(arguments, str):
            if not arguments.strip():
                return {}
            try:
                parsed = loads(arguments)
            except BadJson:
                parsed = None
            if isinstance(parsed, dict):
                return parsed
            self._notes.add(
                origin, "the arguments of a tool call are no JSON object; their text is kept as 'arguments'"
            )
            return {"arguments": arguments}
        if arguments is None:
            return {}
        if isinstance(arguments, dict):
            return arguments
        raise origin.error("the arguments of a tool call must be JSON text")

    def _result(
        self, value: Mapping[str, Any], content: list[dict[str, Any]], origin: Origin
    ) -> dict[str, Any]:
        identifier = self._called(value)
        self._open = [call for call in self._open if call[0] != identifier]
        texts = []
        for block in content:
            if block["type"] != "text":
                self._notes.add(
                    origin, f"a part of type {block['type']} in a tool result is replaced by a note"
                )
            texts.append(block["text"] if block["type"] == "text" else f"[{block['type']}]")
        return {"type": "tool_result", "tool_use_id": identifier, "content": "\n".join(texts)}

    def _called(self, value: Mapping[str, Any]) -> str:
        """Return the id of the call that a result answers: the one it gives, else the first open call of its name, or any."""
        if value.get("tool_call_id"):
            return str(value["tool_call_id"])
        name = value.get("name")
        fitting = [identifier for identifier, called in self._open if name in (None, called)]
        return fitting[0] if fitting else ""


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(image: Any) -> dict[str, Any] | None:
    """Return an image part as a block of the Messages API: data URLs as base64, others as url; None for anything else."""
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        return None
    if url.startswith(("https://", "http://")):
        return {"type": "image", "source": {"type": "url", "url": url}}
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:image/") and head.endswith(";base64"):
        media_type = head.removeprefix("data:").removesuffix(";base64")
        return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
    return None
