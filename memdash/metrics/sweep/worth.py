"""What forgetting is worth: what a lost fact may cost before a cheaper setting no longer pays."""

from __future__ import annotations

from dataclasses import dataclass

from memdash.metrics.sweep.intervals import Estimate


@dataclass(frozen=True, slots=True)
class Worth:
    """A setting that loses more facts than full history.

    ``facts_lost`` is how many a conversation. ``break_even_usd`` is the price of a lost fact at which it costs as much
    as full history; None where it costs no less to begin with, so that it never pays.
    """

    series: str
    saving_usd: Estimate
    facts_lost: float
    break_even_usd: float | None
    sentence: str
