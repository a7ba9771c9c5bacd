"""Reading content blocks: the shape of every kind, and what of it the prompt shows.

A block is read once, when it is first seen; after that only its fingerprints and its token count are needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memdash.simulator import compaction_block, fields, media
from memdash.simulator.blocks import (
    COMPACTION_TOKENS,
    DOCUMENT_TOKENS,
    TOOL_RESULT_TOKENS,
    TOOL_USE_TOKENS,
    Block,
    block_of,
    text_block,
    without_mark,
)
from memdash.simulator.digests import as_written, digest, text_bytes
from memdash.simulator.errors import invalid
from memdash.simulator.marks import lifetime_of
from memdash.simulator.rules import COMPACTION_ON_DEMAND, THRESHOLD_COMPACTION, Rules
from memdash.simulator.thinking import read_signature

_REDACTED_CHARACTERS_PER_TOKEN = 6
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,200}")
_EMPTY_TEXT = "text content blocks must be non-empty"
_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands: its path in the request, the role of its message and the rules that hold."""

    path: str
    role: str
    rules: Rules

    def inside(self, part: str) -> Place:
        """Return the place of a part of this block."""
        return Place(f"{self.path}.{part}", self.role, self.rules)


def read_block(value: Any, place: Place) -> Block:
    """Read one block of a message.

    Raises ApiError where the API would refuse its shape.
    """
    kind = fields.tag(value, place.path, _READERS)
    if kind == "compaction":
        _check_compaction(value, place)
    if place.role == "user" and kind in _ASSISTANT_ONLY:
        raise invalid(f"{_message_path(place)}: `{kind}` blocks can only be in `assistant` messages")
    if place.role == "assistant" and (kind in _USER_ONLY or (kind == "document" and place.rules.strict)):
        raise invalid(f"{_message_path(place)}: `{kind}` blocks can only be in `user` messages")
    if place.role == "system" and kind != "text":
        raise invalid(f"{_message_path(place)}: `system` messages can only hold `text` blocks")
    return _READERS[kind](value, place)


def read_system_block(value: Any, place: Place) -> Block:
    """Read one block of the top-level ``system``."""
    fields.tag(value, place.path, ("text",))
    return _text(value, place)


def _message_path(place: Place) -> str:
    return place.path.rpartition(".content.")[0]


def _text(value: Mapping[str, Any], place: Place) -> Block:
    path = f"{place.path}.text"
    fields.closed_object(value, path, needs=("type", "text"), may=("cache_control", "citations"))
    text = fields.string(value["text"], f"{path}.text")
    lifetime = lifetime_of(value, path)
    if not text:
        if lifetime is not None:
            raise invalid(f"{path}: cache_control cannot be set for empty text blocks")
        raise invalid(f"{place.path.partition('.')[0]}: {_EMPTY_TEXT}")
    citations = value.get("citations")
    if not citations:
        if citations is not None:
            fields.array(citations, f"{path}.citations")
        return text_block(text)
    fields.array(citations, f"{path}.citations")
    if place.rules.strict and place.role == "user":
        raise invalid(f"{path}.citations: citations on a text block are not permitted in a user message")
    return block_of("text", value, texts=(text, as_written(citations)))


def _image(value: Mapping[str, Any], place: Place) -> Block:
    path = f"{place.path}.image"
    fields.closed_object(value, path, needs=("type", "source"), may=("cache_control", "transformations"))
    lifetime_of(value, path)
    source = value["source"]
    kind = fields.tag(source, f"{path}.source", ("base64", "url", "file"))
    tokens = media.UNSEEN_IMAGE_TOKENS
    if kind == "base64":
        fields.closed_object(source, f"{path}.source.base64", needs=("type", "media_type", "data"))
        fields.one_of(source["media_type"], f"{path}.source.base64.media_type", _IMAGE_TYPES)
        tokens = media.image_tokens(fields.string(source["data"], f"{path}.source.base64.data"))
    else:
        _reference(source, kind, f"{path}.source")
    return block_of("image", value, more_tokens=tokens, has_image=True)


def _document(value: Mapping[str, Any], place: Place) -> Block:
    path = f"{place.path}.document"
    may = ("cache_control", "citations", "context", "title")
    fields.closed_object(value, path, needs=("type", "source"), may=may)
    lifetime_of(value, path)
    texts = [
        fields.string(value[name], f"{path}.{name}")
        for name in ("title", "context")
        if value.get(name) is not None
    ]
    cites = _citations_switch(value, path)
    source = value["source"]
    kind = fields.tag(source, f"{path}.source", ("base64", "text", "content", "url", "file"))
    tokens, has_image = DOCUMENT_TOKENS, False
    if kind == "base64":
        fields.closed_object(source, f"{path}.source.base64", needs=("type", "media_type", "data"))
        fields.one_of(source["media_type"], f"{path}.source.base64.media_type", ("application/pdf",))
        tokens += media.pdf_tokens(fields.string(source["data"], f"{path}.source.base64.data"))
    elif kind == "text":
        fields.closed_object(source, f"{path}.source.text", needs=("type", "media_type", "data"))
        fields.one_of(source["media_type"], f"{path}.source.text.media_type", ("text/plain",))
        texts.append(fields.string(source["data"], f"{path}.source.text.data"))
    elif kind == "content":
        fields.closed_object(source, f"{path}.source.content", needs=("type", "content"))
        parts = _parts(source["content"], place.inside("document.source.content.content"), ("text", "image"))
        texts += [text for part in parts for text in part.texts]
        tokens += sum(part.more_tokens for part in parts)
        has_image = any(part.has_image for part in parts)
        value = {**value, "source": {**source, "content": [part.content.hex() for part in parts]}}
    else:
        _reference(source, kind, f"{path}.source")
        tokens += media.PDF_PAGE_TOKENS
    return block_of(
        "document",
        value,
        texts=tuple(texts),
        more_tokens=tokens,
        has_image=has_image,
        has_citations=cites,
    )


def _search_result(value: Mapping[str, Any], place: Place) -> Block:
    path = f"{place.path}.search_result"
    fields.closed_object(
        value, path, needs=("type", "content", "source", "title"), may=("cache_control", "citations")
    )
    lifetime_of(value, path)
    cites = _citations_switch(value, path)
    texts = [fields.string(value[name], f"{path}.{name}") for name in ("source", "title")]
    fields.array(value["content"], f"{path}.content")
    parts = _parts(value["content"], place.inside("search_result.content"), ("text",))
    texts += [text for part in parts for text in part.texts]
    value = {**value, "content": [part.content.hex() for part in parts]}
    return block_of(
        "search_result", value, texts=tuple(texts), more_tokens=DOCUMENT_TOKENS, has_citations=cites
    )


def _thinking(value: Mapping[str, Any], place: Place) -> Block:
    path = f"{place.path}.thinking"
    fields.closed_object(value, path, needs=("type", "signature", "thinking"))
    text = fields.string(value["thinking"], f"{path}.thinking")
    signature = fields.string(value["signature"], f"{path}.signature")
    thought = read_signature(signature, text)
    fingerprint = digest(b"thinking ", text_bytes(as_written([text, signature])))
    if thought is None:
        return Block("thinking", fingerprint, fingerprint, (text,))
    return Block("thinking", fingerprint, fingerprint, more_tokens=thought.tokens, thought=thought)


def _redacted_thinking(value: Mapping[str, Any], place: Place) -> Block:
    path = f"{place.path}.redacted_thinking"
    fields.closed_object(value, path, needs=("type", "data"))
    data = fields.string(value["data"], f"{path}.data")
    return block_of("redacted_thinking", value, more_tokens=1 + len(data) // _REDACTED_CHARACTERS_PER_TOKEN)


def _tool_use(value: Mapping[str, Any], place: Place) -> Block:
    path = f"{place.path}.tool_use"
    may = ("cache_control", "caller", "toolset_name")
    fields.closed_object(value, path, needs=("type", "id", "name", "input"), may=may)
    lifetime_of(value, path)
    call = fields.pattern(value["id"], f"{path}.id", _ID)
    name = fields.pattern(value["name"], f"{path}.name", _NAME)
    fields.open_object(value["input"], f"{path}.input")
    if value.get("caller") is not None:
        fields.open_object(value["caller"], f"{path}.caller")
    if value.get("toolset_name") is not None:
        fields.string(value["toolset_name"], f"{path}.toolset_name")
    return block_of(
        "tool_use", value, texts=(name, as_written(value["input"])), more_tokens=TOOL_USE_TOKENS, call=call
    )


def _tool_result(value: Mapping[str, Any], place: Place) -> Block:
    path = f"{place.path}.tool_result"
    may = ("cache_control", "content", "is_error", "toolset_name")
    fields.closed_object(value, path, needs=("type", "tool_use_id"), may=may)
    lifetime_of(value, path)
    answers = fields.pattern(value["tool_use_id"], f"{path}.tool_use_id", _ID)
    if "is_error" in value:
        fields.boolean(value["is_error"], f"{path}.is_error")
    if value.get("toolset_name") is not None:
        fields.string(value["toolset_name"], f"{path}.toolset_name")
    kinds = ("text", "image", "search_result", "document", "tool_reference")
    parts = _parts(value.get("content", ""), place.inside("tool_result.content"), kinds)
    shown = {
        "id": answers,
        "error": value.get("is_error", False),
        "parts": [part.content.hex() for part in parts],
    }
    fingerprint = digest(b"tool_result ", text_bytes(as_written(shown)))
    return Block(
        "tool_result",
        fingerprint,
        fingerprint,
        texts=tuple(text for part in parts for text in part.texts),
        more_tokens=TOOL_RESULT_TOKENS + sum(part.more_tokens for part in parts),
        answers=answers,
        has_image=any(part.has_image for part in parts),
        has_citations=any(part.has_citations for part in parts),
    )


def _tool_reference(value: Mapping[str, Any], place: Place) -> Block:
    path = f"{place.path}.tool_reference"
    fields.closed_object(value, path, needs=("type", "tool_name"), may=("cache_control",))
    lifetime_of(value, path)
    return block_of("tool_reference", value, texts=(fields.string(value["tool_name"], f"{path}.tool_name"),))


def _container_upload(value: Mapping[str, Any], place: Place) -> Block:
    path = f"{place.path}.container_upload"
    fields.closed_object(value, path, needs=("type", "file_id"), may=("cache_control",))
    lifetime_of(value, path)
    return block_of("container_upload", value, texts=(fields.string(value["file_id"], f"{path}.file_id"),))


def _server_block(value: Mapping[str, Any], place: Place) -> Block:
    """Read a block of a server tool, which came from a real API and is only carried along."""
    lifetime_of(value, f"{place.path}.{value['type']}")
    return block_of(value["type"], value, texts=(as_written(without_mark(value)),))


def _check_compaction(value: Mapping[str, Any], place: Place) -> None:
    """Check that a compaction block may stand here: the two kinds of it have a beta header each."""
    on_demand = place.rules.allows(COMPACTION_ON_DEMAND)
    if "signature" in value:
        if not on_demand:
            raise compaction_block.header_missing(place.path)
        if place.role == "system":
            raise compaction_block.misplaced(place.path)
    elif not place.rules.allows(THRESHOLD_COMPACTION):
        if not on_demand:
            fields.tag(value, place.path, [kind for kind in _READERS if kind != "compaction"])
        if value.get("content") is not None:
            raise compaction_block.unsigned(place.path)
    elif place.role == "user":
        raise invalid(f"{_message_path(place)}: `compaction` blocks can only be in `assistant` messages")


def _compaction(value: Mapping[str, Any], place: Place) -> Block:
    text, seal = compaction_block.read_fields(value, place.path)
    lifetime_of(value, f"{place.path}.compaction")
    if text is None:
        fingerprint = digest(b"no compaction")
        return Block("compaction", fingerprint, fingerprint)
    fingerprint = digest(b"compaction ", text_bytes(text))
    return Block("compaction", fingerprint, fingerprint, (text,), COMPACTION_TOKENS, seal=seal)


def _parts(value: Any, place: Place, kinds: tuple[str, ...]) -> list[Block]:
    """Read content inside a block: a string, or blocks of these kinds. Empty texts are allowed here."""
    if isinstance(value, str):
        return [text_block(value)] if value else []
    parts = []
    for index, part in enumerate(fields.array(value, place.path)):
        inner = Place(f"{place.path}.{index}", place.role, place.rules)
        kind = fields.tag(part, inner.path, kinds)
        if kind == "text" and part.get("text") == "" and part.get("cache_control") is None:
            continue
        parts.append(
            _READERS[kind](part, inner) if kind != "tool_reference" else _tool_reference(part, inner)
        )
    return parts


def _reference(source: Mapping[str, Any], kind: str, path: str) -> None:
    name = "url" if kind == "url" else "file_id"
    fields.closed_object(source, f"{path}.{kind}", needs=("type", name))
    fields.string(source[name], f"{path}.{kind}.{name}")


def _citations_switch(value: Mapping[str, Any], path: str) -> bool:
    citations = value.get("citations")
    if citations is None:
        return False
    switch = fields.closed_object(citations, f"{path}.citations", may=("enabled",))
    return "enabled" in switch and fields.boolean(switch["enabled"], f"{path}.citations.enabled")


_READERS: dict[str, Callable[[Mapping[str, Any], Place], Block]] = {
    "text": _text,
    "image": _image,
    "document": _document,
    "search_result": _search_result,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "container_upload": _container_upload,
    "compaction": _compaction,
}
_ASSISTANT_ONLY = frozenset({"thinking", "redacted_thinking", "tool_use"})
_USER_ONLY = frozenset({"tool_result"})
_SERVER_BLOCKS = (
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
)
_READERS |= dict.fromkeys(_SERVER_BLOCKS, _server_block)
