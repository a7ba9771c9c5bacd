"""The numbers of a comparison: pure functions from its replays' logs and a price table to typed results.

    results = measure_all(logs, PriceTable.load())
    rows = summarise(results)
    headlines(rows), sentences(rows), comparison_json(results, …)

Knows no store, no page and no chart.
"""

from memdash.metrics.background import (
    BackgroundJob,
    BackgroundSummary,
    Outcome,
    background_jobs,
    background_summaries,
)
from memdash.metrics.breakeven import break_even_turn, overtakes_at
from memdash.metrics.compactions import (
    Compaction,
    CompactionSummary,
    Payback,
    compaction_summaries,
    compactions,
)
from memdash.metrics.contract import comparison_json, replay_json, schema, settings_json
from memdash.metrics.findings import Headline, Headlines, headlines, sentences
from memdash.metrics.measure import SumError, measure, measure_all
from memdash.metrics.misses import REASONS, CacheMiss, Cause, MissGroup, cache_misses, miss_groups
from memdash.metrics.pricing import Prices
from memdash.metrics.recall import Controls, facts_stated, planned_probes
from memdash.metrics.recall_curve import RecallCurve, RecallPoint, recall_curves
from memdash.metrics.refusals import explain
from memdash.metrics.result import (
    Buckets,
    EventResult,
    IterationResult,
    Mark,
    Percentiles,
    ProbeResult,
    PurposeCosts,
    ReplayResult,
    TurnResult,
    Waits,
)
from memdash.metrics.summary import (
    BASELINE,
    DearerPair,
    SeriesSummary,
    Spread,
    costs_against_full_history,
    counted,
    dearer_with_fewer_tokens,
    summarise,
)
from memdash.metrics.verdicts import ReplayVerdict, Violation, verdicts
from memdash.metrics.waits import Ranks, WaitSummary, wait_summaries

__all__ = [
    "BASELINE",
    "REASONS",
    "BackgroundJob",
    "BackgroundSummary",
    "Buckets",
    "CacheMiss",
    "Cause",
    "Compaction",
    "CompactionSummary",
    "Controls",
    "DearerPair",
    "EventResult",
    "Headline",
    "Headlines",
    "IterationResult",
    "Mark",
    "MissGroup",
    "Outcome",
    "Payback",
    "Percentiles",
    "Prices",
    "ProbeResult",
    "PurposeCosts",
    "Ranks",
    "RecallCurve",
    "RecallPoint",
    "ReplayResult",
    "ReplayVerdict",
    "SeriesSummary",
    "Spread",
    "SumError",
    "TurnResult",
    "Violation",
    "WaitSummary",
    "Waits",
    "background_jobs",
    "background_summaries",
    "break_even_turn",
    "cache_misses",
    "compaction_summaries",
    "compactions",
    "comparison_json",
    "costs_against_full_history",
    "counted",
    "dearer_with_fewer_tokens",
    "explain",
    "facts_stated",
    "headlines",
    "measure",
    "measure_all",
    "miss_groups",
    "overtakes_at",
    "planned_probes",
    "recall_curves",
    "replay_json",
    "schema",
    "sentences",
    "settings_json",
    "summarise",
    "verdicts",
    "wait_summaries",
]
