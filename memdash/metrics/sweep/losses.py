"""What a setting loses that full history keeps, and how large that loss may be after so few scripts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Basis(StrEnum):
    """What a loss is counted in."""

    KEPT = "kept"
    """Facts whose text is still in the last context: exact, and all that a simulated replay can show."""
    RECALL = "recall"
    """Recall questions that a live model answered right."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The paired loss against full history: the share of what full history keeps and this setting does not.

    Compared on the same script, repeat, model, cache and marks; ``mean`` is over scripts, each counting the same. ``low`` and
    ``high`` are one-sided 95 % bounds. ``worst`` is the loss of the worst replay. ``facts`` is how many facts (or right
    answers) that is a conversation. ``scripts`` is how many it was seen on, ``scripts_needed`` how many in all would bring
    ``high`` under the largest loss allowed if the loss stayed as it is; None where it is too large for that.
    """

    mean: float
    low: float
    high: float
    worst: float
    facts: float
    scripts: int
    scripts_needed: int | None
