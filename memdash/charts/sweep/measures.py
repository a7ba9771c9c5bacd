"""What the charts of a sweep show of a setting: cost, kept, cache share, wait and recall, each with its spelling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from memdash import numbers
from memdash.metrics.sweep import Estimate, Setting


class Measure(StrEnum):
    """What is drawn against the threshold, in the order it is shown."""

    COST = "cost"
    KEPT = "kept"
    CACHE = "cache"
    WAIT = "wait"
    RECALL = "recall"


class Look(NamedTuple):
    """How a measure is drawn: what stands on its axis, what its values are times ``scale``, and how one is spelled."""

    axis: str
    value: Callable[[Setting], Estimate | None]
    scale: float
    spell: Callable[[float], str]


LOOKS: Mapping[Measure, Look] = {
    Measure.COST: Look("US dollars a conversation", lambda one: one.cost_usd, 1, numbers.usd),
    Measure.KEPT: Look("facts kept", lambda one: one.kept, 100, numbers.percent),
    Measure.CACHE: Look("share of prompt tokens", lambda one: one.cache_share, 100, numbers.percent),
    Measure.WAIT: Look("seconds", lambda one: one.wait_p95_ms, 1e-3, numbers.seconds),
    Measure.RECALL: Look("questions answered right", lambda one: one.recall, 100, numbers.percent),
}


def is_share(measure: Measure) -> bool:
    """Whether its axis goes from 0 to 100 %."""
    return LOOKS[measure].scale == 100


def in_words(measure: Measure, setting: Setting) -> str:
    """Spell a setting's value with its interval: ``$0.1200 (95 %: $0.1100 to $0.1300)``."""
    look = LOOKS[measure]
    found = look.value(setting)
    if found is None:
        return numbers.NOTHING
    told = look.spell(found.mean)
    if found.low is None or found.high is None or found.low == found.high:
        return told
    return f"{told} (95 %: {numbers.span(found.low, found.high, look.spell)})"


def rankable(settings: Sequence[Setting]) -> list[Setting]:
    """The settings that a title may speak of: those that may be ranked, all that have numbers while none may."""
    return [one for one in settings if one.ranked] or list(settings)
