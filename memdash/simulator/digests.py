"""Fingerprints of request content; two contents are the same exactly where their fingerprints are."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

DIGEST_SIZE = 16


def digest(*parts: bytes) -> bytes:
    """Return the fingerprint of these parts in this order.

    All parts but the last must be of a length known beforehand (a tag, another fingerprint), or two different
    splits would agree.
    """
    return blake2b(b"".join(parts), digest_size=DIGEST_SIZE).digest()


def text_bytes(text: str) -> bytes:
    """Return UTF-8, also for the lone surrogates that JSON can carry."""
    return text.encode("utf-8", "surrogatepass")


def as_written(value: Any) -> str:
    """Return JSON with keys in the order they were sent, as the prompt shows them."""
    return _AS_WRITTEN.encode(value)


def in_any_order(value: Any) -> str:
    """Return JSON that does not depend on the order of keys."""
    return _IN_ANY_ORDER.encode(value)


# ``json.dumps`` makes an encoder anew for every call that asks for anything but its defaults.
_AS_WRITTEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_IN_ANY_ORDER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)
