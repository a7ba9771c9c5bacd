"""Signed thinking blocks: what a signature holds, and when a block may be shown to the model again.

A signature can be verified by any process that knows these rules, with no memory of the reply it came with:
it carries a keyed hash of itself and of the block's text, and with it everything the binding rules ask for
(Messages API, preserved thinking).
"""

from __future__ import annotations

import base64
import binascii
import hmac
import struct
from dataclasses import dataclass
from hashlib import blake2b

from memdash.simulator.digests import DIGEST_SIZE, digest, text_bytes
from memdash.simulator.errors import ApiError, invalid

ID_SIZE = 8
NO_THOUGHT = bytes(ID_SIZE)
"""The predecessor of a block that had no thinking block before it."""

_MARK_SIZE = 4
_SECRET = b"memdash simulated Messages API, thinking signatures, 1"
_MAC_SIZE = 24
_FORM = struct.Struct(
    f">B{ID_SIZE}sI{DIGEST_SIZE}s{_MARK_SIZE}s{_MARK_SIZE}s{_MARK_SIZE}sI{ID_SIZE}s{ID_SIZE}s"
)
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Thought:
    """What a signature says about its thinking block.

    ``previous`` and ``count`` are the last thinking block shown before it and how many there were.
    ``binding`` is the fingerprint of everything else before it; ``tools`` and ``system`` are short ones of
    these two alone, to say what changed. ``tokens`` is what the thinking cost, whatever is displayed of it.
    """

    id: bytes
    model: str
    account: bytes
    previous: bytes
    count: int
    binding: bytes
    tools: bytes
    system: bytes
    tokens: int


def mark_of(value: bytes) -> bytes:
    """Return a short fingerprint, long enough to tell changes apart but not to prove them."""
    return digest(value)[:_MARK_SIZE]


def sign(thought: Thought, text: str) -> str:
    """Return the signature of a thinking block with this displayed text."""
    payload = _FORM.pack(
        _VERSION,
        thought.previous,
        thought.count,
        thought.binding,
        thought.tools,
        thought.system,
        thought.account,
        thought.tokens,
        _text_mark(text),
        thought.id,
    ) + thought.model.encode("ascii")
    return base64.b64encode(_mac(payload) + payload).decode("ascii")


def read_signature(signature: str, text: str) -> Thought | None:
    """Return what the signature says, None where it is not one of ours or the block was altered."""
    try:
        raw = base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return None
    mac, payload = raw[:_MAC_SIZE], raw[_MAC_SIZE:]
    if len(payload) <= _FORM.size or not hmac.compare_digest(mac, _mac(payload)):
        return None
    version, previous, count, binding, tools, system, account, tokens, mark, id = _FORM.unpack_from(payload)
    if version != _VERSION or mark != _text_mark(text):
        return None
    return Thought(
        id=id,
        model=payload[_FORM.size :].decode("ascii"),
        account=account,
        previous=previous,
        count=count,
        binding=binding,
        tools=tools,
        system=system,
        tokens=tokens,
    )


def fits(thought: Thought, binding: bytes, previous: bytes, count: int) -> bool:
    """Whether a block stands where it was made.

    Everything else before it must be as it was. Of the thinking blocks before it, the first ones or all may
    have gone, but none from the middle and none may have come back: so its nearest predecessor, if there is
    one, is the one it was made after, and no more stand before it than did then.
    """
    return thought.binding == binding and (
        count == 0 or (previous == thought.previous and count <= thought.count)
    )


def altered(path: str) -> ApiError:
    """Return the error for a signature that does not verify."""
    return invalid(f"{path}: Invalid `signature` in `thinking` block")


def altered_in_latest_turn(path: str) -> ApiError:
    """Return the error for an altered block in the assistant message whose tool results are being handed in."""
    return invalid(
        f"{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
        "These blocks must remain as they were in the original response."
    )


def bound_elsewhere(
    path: str, thought: Thought, *, binding: bytes, tools: bytes, system: bytes, controls: bool
) -> ApiError:
    """Return the error for a block under a changed history; ``controls`` says that the beta header was sent."""
    hint = (
        "" if controls else " That setting requires the `thinking-binding-controls-2026-08-01` beta header."
    )
    if thought.tools != tools:
        change = "The tool definitions have changed since the block was created."
    elif thought.system != system:
        change = "The system prompt has changed since the block was created."
    elif thought.binding != binding:
        change = "The messages before the block have changed since it was created."
    else:
        change = "A thinking block before it was removed or put back since it was created."
    return invalid(
        f"{path}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, "
        f'or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".{hint} {change}'
    )


def _mac(payload: bytes) -> bytes:
    return blake2b(payload, key=_SECRET, digest_size=_MAC_SIZE).digest()


def _text_mark(text: str) -> bytes:
    return digest(text_bytes(text))[:ID_SIZE]
