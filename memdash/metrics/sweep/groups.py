"""The repeats of one setting on one script: the rows that ``--assert`` reads intervals from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.metrics.sweep.intervals import Estimate


@dataclass(frozen=True, slots=True)
class Group:
    """One setting on one script; ``label`` is the series.

    ``n`` are its finished replays, which the estimates are over (one with ``n`` 1 has no interval); ``unfinished`` are the
    others. An interval speaks of further repeats of this script, not of other scripts. ``kept``, ``recall`` and
    ``cache_share`` are shares; ``loss`` is the share of the facts kept by full history (or, live, of the questions it
    answered) that this setting lost.
    """

    label: str
    strategy: str
    params: Mapping[str, Any]
    script: str
    n: int
    unfinished: int
    cost_usd: Estimate | None
    prompt_tokens: Estimate | None
    cache_share: Estimate | None
    wait_p95_ms: Estimate | None
    kept: Estimate | None
    recall: Estimate | None
    loss: Estimate | None
