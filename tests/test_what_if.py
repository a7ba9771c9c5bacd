"""A what-if of stored comparisons: what was charged stays, and what would have been comes from the store alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from memdash.claude import connect
from memdash.metrics import measure_all
from memdash.metrics.what_if import Answer, WhatIf
from memdash.prices import PriceTable
from memdash.records import Purpose, Record
from memdash.replay import replay
from memdash.scripts import find_scripts
from memdash.spec import CacheLifetime, ComparisonSpec
from memdash.store import MEMORY, Ownership, RemoteStore, Store
from memdash.store.owner import OwnerFile
from memdash.store.protocol import AnyStore
from memdash.store.remote import Owner
from memdash.strategies import parse
from memdash.what_if import ask
from tests import builders
from tests.builders import replay_log, request, turn, usage

OURS = PriceTable.load()
HOUR, OFF = CacheLifetime.ONE_HOUR, CacheLifetime.OFF


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(MEMORY) as opened:
        yield opened


def keep(store: Store, *replays: Sequence[Record | list[Record]], model: str = "claude-opus-5-5") -> str:
    """Store a comparison of full history and a window with these records."""
    strategies = tuple(parse(one) for one in ("full_history", "window:4"))[: len(replays)]
    spec = ComparisonSpec((builders.script(turns=2),), strategies, models=(model,), token_counter="estimate")
    store.save_comparison(spec)
    for one, records in zip(spec.replays(), replays, strict=True):
        log = replay_log(one, *records)
        store.append(
            one.id, sorted([*log.requests, *log.turns, *log.statuses], key=lambda record: record.seq)
        )
    store.flush()
    return spec.id


def asked(store: AnyStore, comparison: str, **question: object) -> Answer:
    return ask(store, store.comparison(comparison), WhatIf(**question), OURS)  # type: ignore[arg-type]


def costs(answer: Answer) -> list[tuple[float | None, float | None]]:
    return [(row.charged_usd, row.what_if_usd) for row in answer.rows]


FULL = [turn(1, write=1_000, output=100), turn(2, read=1_000, write=200, output=100)]
"""1,200 × $5 + 1,000 × $0.20 + 200 × $20 = $0.0102"""
WINDOW = [turn(1, write=1_000, output=100), turn(2, write=800, output=100)]
"""1,800 × $5 + 200 × $20 = $0.0130"""


@pytest.mark.parametrize(
    ("question", "full", "window"),
    [
        # 1,000 × $8 in place of × $0.20
        ({"prices": {"claude-opus-5-5": {"read": 8.0}}}, 0.0180, 0.0130),
        ({"batch": True}, 0.0051, 0.0065),
        # 1,200 × $6.25 + 1,000 × $0.50 + 200 × $25; 1,800 × $6.25 + 200 × $25
        ({"model": "claude-opus-5"}, 0.0130, 0.01625),
        # 2,200 × $4 + 200 × $20; 1,800 × $4 + 200 × $20
        ({"cache": OFF}, 0.0128, 0.0112),
        ({"cache": OFF, "batch": True}, 0.0064, 0.0056),
    ],
)
def test_every_token_is_priced_anew(
    store: Store, question: dict[str, object], full: float, window: float
) -> None:
    answer = asked(store, keep(store, FULL, WINDOW), **question)
    assert [row.charged_usd for row in answer.rows] == pytest.approx([0.0102, 0.0130], abs=1e-15)
    assert [row.what_if_usd for row in answer.rows] == pytest.approx([full, window], abs=1e-15)


def test_a_change_of_order_is_pointed_out(store: Store) -> None:
    answer = asked(store, keep(store, FULL, WINDOW), cache=OFF)
    assert answer.sentences == (
        "With no caching window of 4 becomes cheaper than full history: $0.0112 against $0.0128, "
        "as charged $0.0130 against $0.0102.",
    )
    assert [row.what_if_cache_share for row in answer.rows] == [0.0, 0.0]


def test_the_stored_comparison_is_never_priced_anew(store: Store) -> None:
    comparison = keep(store, FULL)
    asked(store, comparison, prices={"claude-opus-5-5": {"read": 8.0}})
    stored = store.comparison(comparison)
    (result,) = measure_all(store.replay_logs(comparison), stored.prices)
    assert result.cost_usd == pytest.approx(0.0102)
    assert stored.prices.models["claude-opus-5-5"].tiers[0].read == 0.2


def test_probes_are_left_out(store: Store) -> None:
    probe = request(2, Purpose.PROBE, of=usage(input=50_000, output=100))
    assert costs(asked(store, keep(store, [*FULL, probe]), cache=OFF)) == [(0.0102, pytest.approx(0.0128))]


def test_a_prompt_that_does_not_fit_the_other_models_window_is_said(store: Store) -> None:
    long = [turn(1, write=1_000), turn(2, read=1_000, write=250_000)]
    (row,) = asked(store, keep(store, long, model="claude-sonnet-4-6"), model="claude-haiku-4-5").rows
    assert row.what_if_usd is None
    assert row.problem == "the prompt of turn 2 has 251,000 tokens, and claude-haiku-4-5 takes 200,000"


def test_a_model_without_a_price_on_that_day_is_not_free(store: Store) -> None:
    (row,) = asked(store, keep(store, FULL), as_of=date(2026, 9, 21)).rows
    assert (row.what_if_usd, row.problem) == (None, "there was no price for a model that answered")


def test_records_without_contexts_say_nothing_about_another_lifetime(store: Store) -> None:
    (row,) = asked(store, keep(store, FULL), cache=HOUR).rows
    assert row.what_if_usd is None
    assert row.problem is not None
    assert "cannot be read again here" in row.problem


def test_another_lifetime_gives_what_a_run_with_it_costs(store: Store) -> None:
    """Pauses outlive five minutes but not an hour; the simulator's replies do not depend on the cache."""
    script = find_scripts("coffee-breaks")
    chosen = tuple(parse(one) for one in ("full_history", "window:3", "compaction:1500"))
    costs_of = {}
    for lifetime in (CacheLifetime.FIVE_MINUTES, HOUR):
        spec = ComparisonSpec(tuple(script), chosen, caches=(lifetime,), token_counter="estimate")
        store.save_comparison(spec)
        for one in spec.replays():
            client, clock = connect(one)
            store.append(one.id, list(replay(one, client, clock)))
        store.flush()
        costs_of[lifetime] = spec.id
    shares: list[float] = []
    answer = ask(
        store, store.comparison(costs_of[CacheLifetime.FIVE_MINUTES]), WhatIf(cache=HOUR), OURS, shares.append
    )
    ran = asked(store, costs_of[HOUR], cache=HOUR)
    assert [row.what_if_usd for row in answer.rows] == pytest.approx([row.charged_usd for row in ran.rows])
    assert [row.what_if_usd for row in ran.rows] == [row.charged_usd for row in ran.rows], "nothing changes"
    assert answer.rows[0].what_if_usd != answer.rows[0].charged_usd
    assert (
        answer.notes[-1]
        == "Contexts and times are those recorded; the cache follows the rules of the simulator."
    )
    assert shares == pytest.approx([1 / 3, 2 / 3, 1])


def test_another_lifetime_is_worked_out_while_the_app_owns_the_database(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    with Store.open(path) as owned, Ownership(owned):
        spec = ComparisonSpec(
            tuple(find_scripts("trip-planning")), (parse("window:3"),), turns=4, token_counter="estimate"
        )
        owned.save_comparison(spec)
        for one in spec.replays():
            owned.append(one.id, list(replay(one, *connect(one))))
        owned.flush()
        file = OwnerFile.read(path)
        assert file is not None
        with closing(RemoteStore(path, Owner(file), lambda: owned)) as remote:
            assert asked(remote, spec.id, cache=HOUR).rows == asked(owned, spec.id, cache=HOUR).rows
