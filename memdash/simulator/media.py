"""Token costs of images and PDF documents, as far as they can be told without rendering them."""

from __future__ import annotations

import base64
import binascii
import re
from math import ceil
from typing import NamedTuple

UNSEEN_IMAGE_TOKENS = 1_600
"""An image we cannot measure (behind a URL or a file id, or of a form we do not read) counts as a full-size
one.
"""

PDF_PAGE_TOKENS = 2_250
"""A PDF page as text and image: the middle of the 1,500 to 3,000 tokens that the documentation gives."""

_LONGEST_EDGE = 1_568
_PIXELS_PER_TOKEN = 750
_HEADER_CHARACTERS = 96 * 1_024
_PDF_PAGE = re.compile(rb"/Type\s*/Page\b")


class _Size(NamedTuple):
    width: int
    height: int


def image_tokens(data: str) -> int:
    """Return the tokens of a base64 image: width × height / 750 after scaling its longer edge to 1,568
    pixels.
    """
    size = _image_size(_decode(data[:_HEADER_CHARACTERS]))
    if size is None or min(size) < 1:
        return UNSEEN_IMAGE_TOKENS
    scale = min(1.0, _LONGEST_EDGE / max(size))
    return min(
        UNSEEN_IMAGE_TOKENS, max(1, ceil(size.width * scale * size.height * scale / _PIXELS_PER_TOKEN))
    )


def pdf_tokens(data: str) -> int:
    """Return the tokens of a base64 PDF by its number of pages; at least one page."""
    return PDF_PAGE_TOKENS * max(1, len(_PDF_PAGE.findall(_decode(data))))


def _decode(data: str) -> bytes:
    try:
        return base64.b64decode(data[: len(data) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _image_size(raw: bytes) -> _Size | None:
    if raw.startswith(b"\x89PNG\r\n\x1a\n") and len(raw) >= 24:
        return _Size(int.from_bytes(raw[16:20], "big"), int.from_bytes(raw[20:24], "big"))
    if raw[:6] in (b"GIF87a", b"GIF89a") and len(raw) >= 10:
        return _Size(int.from_bytes(raw[6:8], "little"), int.from_bytes(raw[8:10], "little"))
    if raw.startswith(b"\xff\xd8"):
        return _jpeg_size(raw)
    if raw[:4] == b"RIFF" and raw[8:16] == b"WEBPVP8X" and len(raw) >= 30:
        return _Size(int.from_bytes(raw[24:27], "little") + 1, int.from_bytes(raw[27:30], "little") + 1)
    return None


def _jpeg_size(raw: bytes) -> _Size | None:
    at = 2
    while at + 9 < len(raw) and raw[at] == 0xFF:
        marker = raw[at + 1]
        # Start-of-frame segments hold the size; C4, C8 and CC are tables in the same range.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return _Size(
                int.from_bytes(raw[at + 7 : at + 9], "big"), int.from_bytes(raw[at + 5 : at + 7], "big")
            )
        at += 2 + int.from_bytes(raw[at + 2 : at + 4], "big")
    return None
