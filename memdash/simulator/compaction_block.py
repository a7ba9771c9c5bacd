"""Compaction blocks as they come back: their shape, and the signature of those that were made on demand.

A signature can be verified by any process that knows these rules. It carries what binding needs to know of the
conversation that was summarised, so that turns kept behind the block stay as they were (Messages API, compaction).
"""

from __future__ import annotations

import base64
import binascii
import hmac
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from memdash.simulator import fields
from memdash.simulator.digests import DIGEST_SIZE, as_written, digest, text_bytes
from memdash.simulator.errors import ApiError, invalid
from memdash.simulator.rules import COMPACTION_ON_DEMAND
from memdash.simulator.thinking import ID_SIZE

_SECRET = b"memdash simulated Messages API, compaction signatures, 1"
_MAC_SIZE = 24
_MARK_SIZE = 8
_FORM = struct.Struct(f">B?c{_MARK_SIZE}s{_MARK_SIZE}s{DIGEST_SIZE}s{DIGEST_SIZE}sI{ID_SIZE}s")
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Seal:
    """What the signature of a compaction block says about the conversation it stands for.

    ``preserves`` says that the model that made it binds thinking to its prefix. ``last_role`` is the role of the last
    message summarised; ``opening`` and ``meaning`` are the fingerprints of the fixed part and of everything up to the
    end of that message, ``thoughts`` and ``last_thought`` the thinking blocks among it.
    """

    preserves: bool
    last_role: str
    opening: bytes
    meaning: bytes
    thoughts: int
    last_thought: bytes


def sign(seal: Seal, text: str, tool_changes: Any) -> str:
    """Return the signature of a compaction block with this text and these tool changes."""
    payload = _FORM.pack(
        _VERSION,
        seal.preserves,
        seal.last_role[0].encode("ascii"),
        _mark(text),
        _mark(as_written(tool_changes)),
        seal.opening,
        seal.meaning,
        seal.thoughts,
        seal.last_thought,
    )
    return base64.b64encode(_mac(payload) + payload).decode("ascii")


def read_fields(value: Mapping[str, Any], path: str) -> tuple[str | None, Seal | None]:
    """Return the text of a compaction block and what its signature says; a block without text is a failed compaction.

    Raises ApiError where the API would refuse the block's shape, or where it is signed and was altered.
    """
    path = f"{path}.compaction"
    signed = "signature" in value
    may = ("signature", "tool_changes") if signed else ("encrypted_content",)
    fields.closed_object(value, path, needs=("type", "content"), may=(*may, "cache_control"))
    for name in may:
        if name in value and value[name] is None and (signed or name != "encrypted_content"):
            raise fields.extra(f"{path}.{name}")
    if value.get("encrypted_content") is not None:
        fields.string(value["encrypted_content"], f"{path}.encrypted_content")
    if value["content"] is None and not signed:
        return None, None
    text = fields.string(value["content"], f"{path}.content")
    if not text:
        raise invalid(f"{path}.content: compaction content must be non-empty")
    if not signed:
        return text, None
    return text, _verified(value, text, path)


def unsigned(path: str) -> ApiError:
    """Return the error for a block without signature where only on-demand compaction could have made it."""
    return invalid(
        f"{path}.compaction: Invalid `signature` in `compaction` block", "compaction_signature_invalid"
    )


def header_missing(path: str) -> ApiError:
    """Return the error for a signed block without the beta header."""
    return invalid(f"{path}: a signed `compaction` block requires anthropic-beta: {COMPACTION_ON_DEMAND}")


def misplaced(path: str) -> ApiError:
    """Return the error for a signed block that does not open the conversation, or stands in a system message."""
    return invalid(
        f"{path}: a `compaction` block must be the first block of the first message",
        "compaction_block_misplaced",
    )


def ambiguous(path: str) -> ApiError:
    """Return the error for a second block with content beside a signed one."""
    return invalid(
        f"{path}: `messages` holds more than one `compaction` block with content. Send only the latest.",
        "compaction_block_ambiguous",
    )


def _verified(value: Mapping[str, Any], text: str, path: str) -> Seal:
    signature = fields.string(value["signature"], f"{path}.signature")
    seal = _read(signature)
    if seal is None:
        raise invalid(f"{path}: Invalid `signature` in `compaction` block", "compaction_signature_invalid")
    found, text_mark, changes_mark = seal
    if text_mark != _mark(text):
        raise invalid(
            f"{path}.content: the content differs from the text that was signed. Send the block back unchanged.",
            "compaction_content_mismatch",
        )
    if changes_mark != _mark(as_written(value.get("tool_changes"))):
        raise invalid(
            f"{path}.tool_changes: the tool changes differ from those that were returned. Send the block back unchanged.",
            "compaction_tool_changes_mismatch",
        )
    return found


def _read(signature: str) -> tuple[Seal, bytes, bytes] | None:
    try:
        raw = base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return None
    mac, payload = raw[:_MAC_SIZE], raw[_MAC_SIZE:]
    if len(payload) != _FORM.size or not hmac.compare_digest(mac, _mac(payload)):
        return None
    version, preserves, role, text, changes, opening, meaning, thoughts, last = _FORM.unpack(payload)
    if version != _VERSION:
        return None
    return Seal(preserves, _ROLES[role], opening, meaning, thoughts, last), text, changes


_ROLES = {b"u": "user", b"a": "assistant", b"s": "system"}


def _mac(payload: bytes) -> bytes:
    return blake2b(payload, key=_SECRET, digest_size=_MAC_SIZE).digest()


def _mark(text: str) -> bytes:
    return digest(text_bytes(text))[:_MARK_SIZE]
