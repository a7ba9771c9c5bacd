from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash import tokens
from memdash.errors import InputError
from memdash.models import TokenFamily
from memdash.tokens import at_hand, counter

HAS_CTOK = importlib.util.find_spec("ctok") is not None
needs_ctok = pytest.mark.skipif(not HAS_CTOK, reason="ctok needs Python 3.12 or later")

CHAT = (
    "Thanks, that helps. We would rather not drive after dark, so let us split the long leg in two and stay the "
    "night somewhere near the coast. Is there a town on the way with a decent bakery and a place to swim? My "
    "sister joins us on the third day, and she gets tired of museums quickly."
)
CODE = '''def longest_run(values: list[int]) -> int:
    """Return the length of the longest run of equal values."""
    best = current = 0
    previous = None
    for value in values:
        current = current + 1 if value == previous else 1
        best = max(best, current)
        previous = value
    return best
'''
LOG = (
    "2026-11-30T09:14:02.118Z WARN  [gateway-7] upstream checkout-svc timed out after 3000ms (attempt 2/3)\n"
    "2026-11-30T09:14:05.420Z ERROR [gateway-7] request 8f3c-77a1 failed: HTTP 504 from 10.2.14.9:8443\n"
)
DATA = json.dumps(
    [
        {"order_id": f"A-{10_000 + index}", "status": "shipped", "total": 19.9 * index, "gift": False}
        for index in range(6)
    ]
)
TEXTS = {"chat": CHAT, "code": CODE, "log": LOG * 3, "json": DATA}
PINNED_OLD = [65, 85, 315, 194]
PINNED_NEW = [86, 107, 341, 221]


@pytest.mark.parametrize("family", TokenFamily)
@pytest.mark.parametrize("name", ["estimate", pytest.param("ctok", marks=needs_ctok)])
def test_an_empty_text_has_no_tokens_and_any_other_at_least_one(name: str, family: TokenFamily) -> None:
    assert counter(name).count("", family) == 0
    assert counter(name).count("a", family) == 1
    assert counter(name).count("\ud800", family) >= 1


@pytest.mark.parametrize("name", ["estimate", pytest.param("ctok", marks=needs_ctok)])
def test_newer_models_count_more_tokens_for_the_same_text(name: str) -> None:
    old, new = (len(CHAT) / counter(name).count(CHAT, family) for family in TokenFamily)
    assert 3.6 < old < 4.8
    assert 2.6 < new < 3.5


def test_the_estimate_is_pinned() -> None:
    # Exact-value tests elsewhere rest on it: a new weight changes them all.
    assert [counter("estimate").count(text, TokenFamily.OLD) for text in TEXTS.values()] == PINNED_OLD
    assert [counter("estimate").count(text, TokenFamily.NEW) for text in TEXTS.values()] == PINNED_NEW


@needs_ctok
@pytest.mark.parametrize("family", TokenFamily)
@pytest.mark.parametrize("kind", TEXTS)
def test_the_estimate_is_close_to_ctok_on_every_kind_of_text(kind: str, family: TokenFamily) -> None:
    text = TEXTS[kind]
    assert counter("estimate").count(text, family) == pytest.approx(
        counter("ctok").count(text, family), rel=0.2
    )


@needs_ctok
@pytest.mark.parametrize("family", TokenFamily)
def test_the_estimate_is_right_on_average_on_our_own_texts(family: TokenFamily) -> None:
    root = Path(__file__).resolve().parents[1]
    files = [*root.glob("*.md"), *root.glob("memdash/*.py"), *root.glob("data/scripts/*.yaml")]
    ratios = []
    for path in files:
        text = path.read_text(encoding="utf-8")[:4_000]
        if len(text) > 500:
            ratios.append(counter("estimate").count(text, family) / counter("ctok").count(text, family))
    assert len(ratios) >= 5
    assert mean(ratios) == pytest.approx(1.0, abs=0.08)
    assert 0.75 < min(ratios) <= max(ratios) < 1.25


@needs_ctok
@given(
    st.lists(
        st.sampled_from(["the", "Tram", "NASA", "don't", "2,400", "é", "x", "\n", "foo.", "(bar)", "'n", " "])
    )
)
@settings(max_examples=100, deadline=None)
def test_counting_piece_by_piece_is_counting_the_whole(parts: list[str]) -> None:
    from ctok import token_count

    text = " ".join(parts)
    for family, version in ((TokenFamily.OLD, "3.0"), (TokenFamily.NEW, "4.8")):
        whole = token_count(text, version) - token_count("a", version) + 1 if text else 0
        assert counter("ctok").count(text, family) == whole


def test_auto_takes_ctok_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert counter().name.startswith("ctok " if HAS_CTOK else "estimate")
    monkeypatch.setattr(tokens, "_has_ctok", lambda: False)
    assert counter("auto").name == "estimate"
    with pytest.raises(InputError, match=r"ctok is not installed.*Python 3\.12"):
        counter("ctok")


def test_what_ctok_counted_elsewhere_is_counted_by_the_estimate_where_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tokens, "_has_ctok", lambda: False)
    assert [at_hand(name) for name in ("auto", "ctok", "estimate")] == ["auto", "estimate", "estimate"]
    monkeypatch.setattr(tokens, "_has_ctok", lambda: True)
    assert at_hand("ctok") == "ctok"


def test_an_unknown_counter_is_named_with_the_choices() -> None:
    with pytest.raises(
        InputError, match="unknown token counter 'tiktoken': choose one of auto, ctok, estimate"
    ):
        counter("tiktoken")
