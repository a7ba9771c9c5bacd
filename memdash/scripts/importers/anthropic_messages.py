"""Anthropic Messages JSON: a request body, or a log of requests with their responses.

Read are: an object with ``messages`` (and ``system``, ``tools``, ``max_tokens``, ``output_config``); a pair of ``request`` (or
``body``) and ``response``; a list of either, one of either a line; a bare list of messages; one message a line. In a log, a
request that a later one continues is left out, so that a conversation appears once, with its last answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memdash.scripts.importers.conversation import Conversation, Document, FixedPart, Message, Notes, Origin
from memdash.scripts.importers.request_log import LoggedRequest, latest_requests

_THINKING = ("thinking", "redacted_thinking")
_SOURCES = ("base64", "url", "text", "content")


def read(documents: Sequence[Document]) -> list[Conversation]:
    """Return the conversations in ``documents``, in order of their last requests.

    Raises:
        ScriptError: something is not in this format; names file, line and field.
    """
    if _are_messages([document.value for document in documents]):
        return [_bare([(document.value, document.origin) for document in documents])]
    conversations: list[Conversation] = []
    entries: list[LoggedRequest] = []
    for document in documents:
        if isinstance(document.value, list) and _are_messages(document.value):
            origin = document.origin
            conversations.append(
                _bare([(item, origin.item(index)) for index, item in enumerate(document.value)])
            )
        elif isinstance(document.value, list):
            entries += [
                _entry(item, document.origin.item(index)) for index, item in enumerate(document.value)
            ]
        else:
            entries.append(_entry(document.value, document.origin))
    return conversations + latest_requests(entries)


def _are_messages(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(value, dict) and "role" in value for value in values)


def _bare(items: list[tuple[Any, Origin]]) -> Conversation:
    notes = Notes()
    return Conversation([_message(item, origin, notes) for item, origin in items], items[0][1], notes)


def _entry(value: Any, origin: Origin) -> LoggedRequest:
    if not isinstance(value, dict):
        raise origin.error("must be an object with 'messages', or with 'request' and 'response'")
    body, at = value, origin
    for key in ("request", "body"):
        if isinstance(body.get(key), dict) and "messages" not in body:
            body, at = body[key], at.key(key)
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise at.error("'messages' is missing or no list; this is no request body of the Messages API")
    notes = Notes()
    read_messages = [
        _message(item, at.key("messages").item(index), notes) for index, item in enumerate(messages)
    ]
    response = value.get("response") if body is not value else None
    options = body.get("output_config")
    return LoggedRequest(
        messages=read_messages,
        answer=_answer(response, origin.key("response"), notes),
        fixed=FixedPart(
            _text(body.get("system"), at.key("system"), notes), _tools(body.get("tools"), at.key("tools"))
        ),
        origin=at,
        notes=notes,
        max_tokens=body["max_tokens"] if type(body.get("max_tokens")) is int else None,
        effort=options.get("effort") if isinstance(options, dict) else None,
    )


def _answer(response: Any, origin: Origin, notes: Notes) -> Message | None:
    """Return the assistant message of ``response``; None for an error, or where it was not logged."""
    for key in ("body", "message"):
        if isinstance(response, dict) and isinstance(response.get(key), dict):
            response, origin = response[key], origin.key(key)
    if response is None:
        return None
    if not isinstance(response, dict) or not isinstance(response.get("content"), list):
        notes.add(origin, "a response that is no message is left out")
        return None
    return _message({"role": "assistant", "content": response["content"]}, origin, notes)


def _tools(value: Any, origin: Origin) -> tuple[Mapping[str, Any], ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        raise origin.error("must be a list of tool definitions")
    return tuple(value)


def _message(value: Any, origin: Origin, notes: Notes) -> Message:
    if not isinstance(value, dict):
        raise origin.error("a message must be an object with 'role' and 'content'")
    role = value.get("role")
    if role not in ("user", "assistant", "system"):
        raise origin.error(f"the role is {str(role)[:40]!r}; the Messages API has user, assistant and system")
    content = value.get("content")
    if isinstance(content, str):
        return Message(role, [{"type": "text", "text": content}], origin)
    if content is None:
        content = []
    if not isinstance(content, list):
        raise origin.error("'content' must be text or a list of content blocks")
    read_blocks = (
        _block(block, origin.key("content").item(index), notes) for index, block in enumerate(content)
    )
    return Message(role, [block for block in read_blocks if block], origin)


def _block(block: Any, origin: Origin, notes: Notes) -> dict[str, Any] | None:
    """Return ``block`` as scripts keep it, None where it is left out."""
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if not isinstance(block, dict):
        raise origin.error("a content block must be an object with 'type'")
    kind = block.get("type")
    match kind:
        case "text":
            return {"type": "text", "text": _required(block, "text", origin)}
        case "image" | "document":
            source = block.get("source")
            if isinstance(source, dict) and source.get("type") in _SOURCES:
                return {
                    key: value for key, value in block.items() if key not in ("cache_control", "citations")
                }
            notes.add(origin, f"a block of type {kind} without its data is replaced by a note")
            return {"type": "text", "text": f"[{kind}]"}
        case "tool_use":
            name, given = _required(block, "name", origin), block.get("input")
            if given is not None and not isinstance(given, dict):
                raise origin.error("'input' of a tool call must be an object")
            return {
                "type": "tool_use",
                "id": _required(block, "id", origin),
                "name": name,
                "input": given or {},
            }
        case "tool_result":
            text = _text(block.get("content"), origin.key("content"), notes)
            called = _required(block, "tool_use_id", origin)
            return {
                "type": "tool_result",
                "tool_use_id": called,
                "content": text,
                "is_error": block.get("is_error") is True,
            }
        case _ if kind in _THINKING:
            notes.add(origin, "thinking is left out; its signature belongs to the conversation it came from")
            return None
        case _:
            notes.add(origin, f"a block of type {str(kind)[:40]} is left out; scripts have no such block")
            return None


def _required(block: dict[str, Any], key: str, origin: Origin) -> str:
    value = block.get(key)
    if not isinstance(value, str):
        raise origin.error(f"{key!r} of a block of type {block.get('type')} must be text")
    return value


def _text(value: Any, origin: Origin, notes: Notes) -> str:
    """Return the text of a system prompt or of a tool result, which may be given as blocks."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise origin.error("must be text or a list of content blocks")
    texts = []
    for index, block in enumerate(value):
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            texts.append(block["text"])
        else:
            kind = str(block.get("type"))[:40] if isinstance(block, dict) else "unknown"
            notes.add(origin.item(index), f"a part of type {kind} in a place for text is replaced by a note")
            texts.append(f"[{kind}]")
    return "\n".join(texts)
