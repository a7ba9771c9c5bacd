"""The numbers of a comparison: pure functions from its replays' logs and a price table to typed results.

    results = measure_all(logs, PriceTable.load())
    rows = summarise(results)
    headlines(rows), sentences(rows), comparison_json(results, …)

Knows no store, no page and no chart.
"""

from memdash.metrics.breakeven import break_even_turn, overtakes_at
from memdash.metrics.contract import comparison_json, replay_json, schema, settings_json
from memdash.metrics.findings import Headline, Headlines, headlines, sentences
from memdash.metrics.measure import SumError, measure, measure_all
from memdash.metrics.pricing import Prices
from memdash.metrics.recall import Controls, facts_stated, planned_probes
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
    cost_against_full_history,
    dearer_with_fewer_tokens,
    summarise,
)

__all__ = [
    "BASELINE",
    "Buckets",
    "Controls",
    "DearerPair",
    "EventResult",
    "Headline",
    "Headlines",
    "IterationResult",
    "Mark",
    "Percentiles",
    "Prices",
    "ProbeResult",
    "PurposeCosts",
    "ReplayResult",
    "SeriesSummary",
    "Spread",
    "SumError",
    "TurnResult",
    "Waits",
    "break_even_turn",
    "comparison_json",
    "cost_against_full_history",
    "dearer_with_fewer_tokens",
    "explain",
    "facts_stated",
    "headlines",
    "measure",
    "measure_all",
    "overtakes_at",
    "planned_probes",
    "replay_json",
    "schema",
    "sentences",
    "settings_json",
    "summarise",
]
