"""Outcomes read as columns are those of the records, replay by replay and field by field; so are results of outlines."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.claude import connect
from memdash.errors import StoreError
from memdash.metrics import measure_all
from memdash.metrics.columns import outcomes_of
from memdash.metrics.outcome import ReplayOutcome, TurnColumns, outcome_of
from memdash.metrics.sweep.refinement import Proposal, ProposedSetting
from memdash.prices import ModelPrice, PriceTable, Tier
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
from memdash.scripts import find_scripts
from memdash.spec import ComparisonSpec, Sweep
from memdash.store import MEMORY, Store
from memdash.strategies import parse, parse_family, swept
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


def check(store: Store, comparison: ComparisonSpec, journals: Sequence[Sequence[Record]]) -> None:
    """Keep the records and compare all roads from them."""
    store.save_comparison(comparison)
    for spec, records in zip(comparison.replays(), journals, strict=True):
        store.append(spec.id, records)
    store.flush()
    logs = store.replay_logs(comparison.id)
    results = measure_all(logs, PRICES)
    assert measure_all(store.replay_outlines(comparison.id), PRICES) == results
    wanted = [outcome_of(result) for result in results]
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


TIERED = PriceTable(
    {
        builders.MODEL: ModelPrice(
            builders.MODEL, (Tier(0, 4, 5, 8, 0.2, 20), Tier(1_000, 6.3, 7.9, 12, 0.31, 27.7)), "here"
        ),
        "claude-haiku-4-5": ModelPrice("claude-haiku-4-5", (Tier(0, 1, 1.25, 2, 0.1, 5),), "here"),
    }
)


@given(requests=st.lists(_requests(), max_size=12))
@settings(max_examples=60, deadline=None)
def test_a_bill_is_what_each_request_costs_alone(store: Store, requests: list[RequestRecord]) -> None:
    comparison = ComparisonSpec(scripts=(builders.script(),), strategies=(parse("full_history"),))
    store.save_comparison(comparison)
    (spec,) = comparison.replays()
    store.append(spec.id, _numbered([*requests]))
    store.flush()
    bills = TIERED.bills(store.columns(comparison.id).requests)
    for request, own, summary in zip(requests, bills.own.tolist(), bills.summary.tolist(), strict=True):
        shares = TIERED.cost_by_purpose(request)
        if shares is None:
            assert math.isnan(own)
            assert math.isnan(summary)
        else:
            inside = 0.0 if request.purpose is Purpose.SUMMARY else shares.get(Purpose.SUMMARY, 0.0)
            assert (own, summary) == (shares.get(request.purpose, 0.0), inside)


def test_amounts_beyond_whole_floats_are_added_up_without_rounding(store: Store) -> None:
    huge = [builders.request(1, of=builders.usage(input=2**60 + one, output=3)) for one in range(3)]
    comparison = ComparisonSpec(scripts=(builders.script(),), strategies=(parse("full_history"),))
    check(store, comparison, [_numbered([*huge, builders.status()])])


def test_replays_of_others_that_were_stored_in_between_are_not_among_the_columns(store: Store) -> None:
    family = parse_family("window:2|8")
    choices = swept([family], [builders.MODEL]).choices
    comparison = ComparisonSpec((builders.script(),), choices, sweep=Sweep((family,), refine=True))
    other = ComparisonSpec((builders.script(),), (parse("full_history"),))
    store.save_comparison(comparison)
    store.save_comparison(other)
    store.extend(comparison.id, Proposal((ProposedSetting(parse("window:4"), "between"),), ("window of 2",)))
    replays = store.comparison(comparison.id).replays
    for tokens, spec in enumerate((*other.replays(), *replays), start=1):
        store.append(spec.id, _numbered([*builders.turn(1, input=tokens), builders.status()]))
    store.flush()
    columns = store.columns(comparison.id)
    assert columns.ids == tuple(spec.id for spec in replays)
    assert [one.input_tokens for one in outcomes_of(columns, replays, PRICES)] == [2, 3, 4, 5]


def test_a_replay_of_which_nothing_is_known_yet_is_queued(store: Store) -> None:
    comparison = ComparisonSpec((builders.script(),), (parse("full_history"), parse("window:2")))
    check(store, comparison, [[], _numbered([builders.request(1)])])
    statuses = [one.status for one in outcomes_of(store.columns(comparison.id), comparison.replays(), PRICES)]
    assert statuses == [Status.QUEUED, Status.RUNNING]


def test_what_was_deleted_has_no_columns(store: Store) -> None:
    comparison = ComparisonSpec((builders.script(),), (parse("full_history"),))
    store.save_comparison(comparison)
    store.delete(comparison.id)
    with pytest.raises(StoreError, match="there is no comparison"):
        store.columns(comparison.id)


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
