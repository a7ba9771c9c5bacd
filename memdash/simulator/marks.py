"""Cache marks: ``cache_control`` as it stands on a block or at the top of a request (Messages API, prompt
caching).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memdash.simulator.errors import ApiError, invalid
from memdash.simulator.fields import closed_object, one_of

MOST_MARKS = 4


class Lifetime(StrEnum):
    """How long a cache entry lives after the last request that wrote or read it began."""

    FIVE_MINUTES = "5m"
    ONE_HOUR = "1h"

    @property
    def milliseconds(self) -> float:
        """The lifetime on the simulator's clock."""
        return 300_000.0 if self is Lifetime.FIVE_MINUTES else 3_600_000.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on the block at ``index`` of its message, of ``system`` or of ``tools``; ``path`` is that
    block's.
    """

    index: int
    lifetime: Lifetime
    path: str


def lifetime_of(fields: Mapping[str, Any], path: str) -> Lifetime | None:
    """Return the lifetime that the object's ``cache_control`` asks for, None without one."""
    value = fields.get("cache_control")
    if value is None:
        return None
    path = f"{path}.cache_control" if path else "cache_control"
    control = closed_object(value, path, needs=("type",), may=("ttl",))
    one_of(control["type"], f"{path}.type", ("ephemeral",))
    return Lifetime(one_of(control.get("ttl", "5m"), f"{path}.ttl", ("5m", "1h")))


def too_many(found: int) -> ApiError:
    """Return the error for more marks than there are slots; an automatic mark takes one too."""
    return invalid(f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {found}.")


def check_order(marks: list[Mark]) -> None:
    """Raise where a 1h mark comes after a 5m mark; ``marks`` are in the order tools, system, messages."""
    short_before = False
    for mark in marks:
        if mark.lifetime is Lifetime.FIVE_MINUTES:
            short_before = True
        elif short_before:
            path = f"{mark.path}.cache_control.ttl" if mark.path else "cache_control.ttl"
            raise invalid(
                f"{path}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
                "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
