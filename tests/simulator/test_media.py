from __future__ import annotations

import base64
import struct

import pytest

from memdash.simulator.media import PDF_PAGE_TOKENS, UNSEEN_IMAGE_TOKENS, image_tokens, pdf_tokens


def encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\rIHDR" + struct.pack(">II", width, height)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height)


def jpeg(width: int, height: int) -> bytes:
    header = b"\xff\xd8\xff\xe0\x00\x10" + b"JFIF\x00" + bytes(9)
    return header + b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", height, width) + bytes(10)


def webp(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\x00\x00\x00\x00WEBPVP8X" + bytes(8) + size


@pytest.mark.parametrize("form", [png, gif, jpeg, webp])
def test_an_image_costs_its_pixels_by_750(form: object) -> None:
    # 750 × 400 / 750.
    assert image_tokens(encoded(form(750, 400))) == 400  # type: ignore[operator]


def test_a_large_image_is_scaled_down_first() -> None:
    # 3,136 × 1,000 becomes 1,568 × 500: 784,000 / 750.
    assert image_tokens(encoded(png(3_136, 1_000))) == 1_046
    assert image_tokens(encoded(png(4_000, 4_000))) == UNSEEN_IMAGE_TOKENS


@pytest.mark.parametrize(
    "data", ["", "no base64 at all!", encoded(b"BM" + bytes(40)), encoded(png(0, 5)), "é"]
)
def test_an_image_that_cannot_be_measured_counts_as_a_full_one(data: str) -> None:
    assert image_tokens(data) == UNSEEN_IMAGE_TOKENS


def test_a_pdf_costs_by_the_page() -> None:
    two_pages = b"%PDF-1.4 /Type /Pages /Type /Page x /Type/Page y"
    assert pdf_tokens(encoded(two_pages)) == 2 * PDF_PAGE_TOKENS
    assert pdf_tokens("") == PDF_PAGE_TOKENS
