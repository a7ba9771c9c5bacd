"""Outcomes read as columns are those of the records, replay by replay and field by field."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.claude import connect
from memdash.metrics import measure_all
from memdash.metrics.columns import outcomes_of
from memdash.metrics.ledger import Ledger
from memdash.metrics.outcome import ProbeOutcome, ReplayOutcome, TurnColumns
from memdash.metrics.result import ReplayResult
from memdash.metrics.tokens import total
from memdash.prices import PriceTable
from memdash.records import (
    Control,
    EventKind,
    Purpose,
    Record,
    RequestRecord,
    Status,
    Survival,
    Usage,
)
from memdash.replay import replay
from memdash.replay_log import ReplayLog
from memdash.scripts import find_scripts
from memdash.spec import ComparisonSpec
from memdash.store import MEMORY, Store
from memdash.strategies import parse
from tests import builders

PRICES = PriceTable.load()
EVERY_STRATEGY = (
    "full_history",
    "window:4",
    "window:keep=4,thinking=keep",
    "truncate:1500",
    "compaction:1500",
    "running_brief:2500",
    "blocking_compaction:2500",
    "instant_compaction:context_limit=3000,first_summary_at=1500,update_every=500",
    "server_compaction:2000",
    "compact_on_demand:2000",
    "context_editing:trigger=1500",
    "cap_results:300",
)


@pytest.fixture(scope="module")
def store() -> Store:
    with Store.open(MEMORY) as opened:
        yield opened


def expected(log: ReplayLog, result: ReplayResult) -> ReplayOutcome:
    """The outcome of a measured replay, with what rate limits count added up from its records."""
    pages = Ledger.of(log.requests, PRICES).pages
    counted = {}
    for turn, page in pages.items():
        sums = total([*page.own, *page.summaries])
        counted[turn] = (
            None if sums.input_tokens is None else sums.prompt_tokens - (sums.cache_read_input_tokens or 0)
        )
    turns = TurnColumns(
        np.array([row.turn for row in result.turns], int),
        _floats(
            None if None in (row.cost_usd, row.summary_cost_usd) else row.cost_usd + row.summary_cost_usd
            for row in result.turns
        ),
        _floats(counted.get(row.turn, 0) for row in result.turns),
        _floats(row.output_tokens for row in result.turns),
    )
    into_use = [
        event.turn
        for event in log.events
        if event.event in (EventKind.COMPACTION, EventKind.SWAP) and event.data.get("used", True) is not False
    ]
    waits = result.wait_ms
    same = {
        one.name: getattr(result, one.name)
        for one in dataclasses.fields(ReplayOutcome)
        if hasattr(result, one.name) and one.name not in ("turns", "probes")
    }
    return ReplayOutcome(
        **same,
        wait_p50_ms=waits and waits.p50,
        wait_p95_ms=waits and waits.p95,
        wait_total_ms=waits and waits.total,
        probes=tuple(
            ProbeOutcome(*(getattr(one, name) for name in ProbeOutcome._fields)) for one in result.probes
        ),
        summary_turns=tuple(sorted(into_use)),
        turns=turns,
    )


def _floats(values):
    return np.array([math.nan if value is None else value for value in values], float)


def check(store: Store, comparison: ComparisonSpec, journals: Sequence[Sequence[Record]]) -> None:
    """Keep the records and compare both roads from them."""
    store.save_comparison(comparison)
    for spec, records in zip(comparison.replays(), journals, strict=True):
        store.append(spec.id, records)
    store.flush()
    logs = store.replay_logs(comparison.id)
    wanted = [expected(*pair) for pair in zip(logs, measure_all(logs, PRICES), strict=True)]
    found = outcomes_of(store.columns(comparison.id), comparison.replays(), PRICES)
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        for field in dataclasses.fields(ReplayOutcome):
            one, other = getattr(ours, field.name), getattr(theirs, field.name)
            if field.name == "turns":
                for name in TurnColumns._fields:
                    np.testing.assert_array_equal(
                        getattr(one, name), getattr(other, name), err_msg=f"turns.{name}"
                    )
            else:
                assert one == other, field.name


# -- any logs at all -----------------------------------------------------------------------------------------------------

_count = st.none() | st.integers(0, 5) | st.integers(0, 400_000)
_usages = st.builds(Usage, *[_count] * 6)
_turns = st.integers(0, 4)
_models = st.sampled_from([builders.MODEL, "claude-haiku-4-5", "claude-sonnet-4-5", "somebody's own"])
_iterations = st.lists(st.tuples(st.sampled_from(["message", "compaction", "news"]), _usages), max_size=3)


@st.composite
def _requests(draw: st.DrawFn) -> RequestRecord:
    made = builders.request(
        draw(_turns),
        draw(st.sampled_from(Purpose)),
        of=draw(_usages),
        iterations=draw(_iterations),
        model=draw(_models),
        error=draw(st.none() | st.just("no")),
    )
    iterations = [
        dataclasses.replace(one, model=draw(st.none() | st.just("") | _models)) for one in made.iterations
    ]
    usage = draw(st.sampled_from([made.usage, draw(_usages)]))
    return dataclasses.replace(made, iterations=tuple(iterations), usage=usage)


@st.composite
def _probes(draw: st.DrawFn) -> Record:
    return builders.probe(
        draw(st.sampled_from(["budget", "name", "else"])),
        draw(st.sampled_from([2, 3])),
        passed=draw(st.booleans()),
        control=draw(st.sampled_from(Control)),
        stale=draw(st.booleans()),
        visible=draw(st.booleans()),
    )[1]


def _event(kind: EventKind, turn: int, used: object) -> Record:
    verdict = {"requests": 1, "violated": 0, "violations": []} if kind is EventKind.VERDICT else {}
    return builders.event(
        kind, turn, **verdict, **({} if used == "" else {"used": used}), summary='"used":false'
    )


_records = st.lists(
    _requests()
    | _probes()
    | st.builds(_event, st.sampled_from(EventKind), _turns, st.sampled_from([True, False, None, 0, "false", ""]))
    | st.builds(lambda turn, wait: builders.turn_end(turn, wait_ms=wait), _turns, st.floats(0, 1e7))
    | st.builds(builders.kept, st.sampled_from(["budget", "name"]), st.sampled_from(Survival))
    | st.builds(builders.status, st.sampled_from(Status), st.integers(0, 4)),
    max_size=12,
)  # fmt: skip


def _numbered(records: list[Record]) -> list[Record]:
    return [dataclasses.replace(record, seq=seq) for seq, record in enumerate(records)]


@given(journals=st.lists(_records, min_size=4, max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_records_come_to_the_same_outcomes(store: Store, journals: list[list[Record]]) -> None:
    facts = [builders.fact("budget", probe_after=(2,)), builders.fact("name")]
    comparison = ComparisonSpec(
        scripts=(builders.script(facts=facts), builders.script("other", turns=2, facts=facts)),
        strategies=(parse("full_history"), parse("compaction:2000")),
    )
    check(store, comparison, [_numbered(records) for records in journals])


def test_amounts_beyond_whole_floats_are_added_up_without_rounding(store: Store) -> None:
    huge = [builders.request(1, of=builders.usage(input=2**60 + one, output=3)) for one in range(3)]
    comparison = ComparisonSpec(scripts=(builders.script(),), strategies=(parse("full_history"),))
    check(store, comparison, [_numbered([*huge, builders.status()])])


# -- what really happens -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "turns"),
    [
        ("trip-planning", 14),
        ("trip-change", 14),
        ("coffee-breaks", 14),
        ("support-tools", 14),
        ("long-project", 14),
        ("big-tools", 3),
    ],
)
def test_every_strategy_on_a_bundled_script_comes_to_the_same_outcome(
    store: Store, script: str, turns: int
) -> None:
    comparison = ComparisonSpec(
        scripts=tuple(find_scripts(script)),
        strategies=tuple(map(parse, EVERY_STRATEGY)),
        turns=turns,
        check=True,  # so that the naive window is refused
        relax_limits=True,
    )
    check(store, comparison, [list(replay(spec, *connect(spec))) for spec in comparison.replays()])
