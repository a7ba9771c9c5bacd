"""What of one sequence stands in another too, in the same order: blocks of contexts by their ids, words of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from memdash.replay.journal import shared_length

_MOST_PAIRS = 2_000_000
"""Pairs of equal ones that are looked at; a conversation that says the same thing a thousand times over has more."""


class Stretch(NamedTuple):
    """Blocks ``before`` to ``before_end`` of the one became ``now`` to ``now_end`` of the other; ``same`` ones are equal."""

    same: bool
    before: int
    before_end: int
    now: int
    now_end: int


def align(
    before: Sequence[Hashable], now: Sequence[Hashable], *, most_pairs: int = _MOST_PAIRS
) -> list[Stretch]:
    """Return two sequences as stretches that are the same and stretches that are not, in order, without gaps.

    Where more than ``most_pairs`` pairs of equal ones stand between the ends that are the same, what is between is not compared.
    """
    front = shared_length(before, now)  # type: ignore[arg-type]  # it only compares
    most = min(len(before), len(now)) - front
    back = 0
    while back < most and before[-1 - back] == now[-1 - back]:
        back += 1
    middle = _middle(before[front : len(before) - back], now[front : len(now) - back], most_pairs)
    stretches = [Stretch(True, 0, front, 0, front)]
    stretches += [
        Stretch(one.same, one.before + front, one.before_end + front, one.now + front, one.now_end + front)
        for one in middle
    ]
    stretches.append(Stretch(True, len(before) - back, len(before), len(now) - back, len(now)))
    return [one for one in stretches if one.before < one.before_end or one.now < one.now_end]


def _middle(before: Sequence[Hashable], now: Sequence[Hashable], most_pairs: int) -> list[Stretch]:
    counts = Counter(now)
    if sum(counts[one] for one in before) > most_pairs:
        return [Stretch(False, 0, len(before), 0, len(now))]
    matcher = SequenceMatcher(None, before, now, autojunk=False)
    return [Stretch(tag == "equal", *places) for tag, *places in matcher.get_opcodes()]
