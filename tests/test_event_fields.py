from __future__ import annotations

from typing import Any

import pytest

from memdash.event_fields import misfit
from memdash.records import EventKind

VERDICT = {"ok": True, "requests": 3, "violated": 0, "violations": []}


def test_what_an_event_says_of_its_own_is_nobodys_business() -> None:
    assert (
        misfit(EventKind.TRIM, {"mine": [{}], "used": "yes", "blocks": [], "dropped_turns": [1, 2]}) is None
    )
    assert misfit(EventKind.COMPACTION, {"problem": None, "elapsed_ms": 0.5, "before_tokens": 3000}) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dropped_turns", 4),
        ("replaced_turns", ["4"]),
        ("request", [1]),
        ("request", True),
        ("before_tokens", "many"),
        ("elapsed_ms", -1),
        ("after_tokens", 10**30),
        ("problem", {}),
        ("tool_use_id", ["a"]),
        ("violations", [{"request": 1, "rule": "a"}]),
    ],
)
def test_a_field_that_is_read_is_what_it_is_read_as(name: str, value: Any) -> None:
    assert misfit(EventKind.TRIM, {name: value}) == name


@pytest.mark.parametrize("name", ["requests", "violated", "violations"])
def test_a_verdict_says_everything(name: str) -> None:
    assert misfit(EventKind.VERDICT, VERDICT) is None
    assert misfit(EventKind.VERDICT, {key: value for key, value in VERDICT.items() if key != name}) == name
