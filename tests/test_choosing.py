"""Replays that are chosen from any comparisons, read with what their numbers need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from memdash.choosing import comparison_of, read_choice
from memdash.following import Follower
from memdash.records import Control, ProbeRecord, Survival
from memdash.store import MEMORY, Store
from tests.views.samples import sample_spec, sample_sweep, store_sample


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(MEMORY) as opened:
        yield opened


def test_a_replay_belongs_to_the_comparison_that_its_id_begins_with() -> None:
    assert comparison_of("cmp_0123456789ab_007") == "cmp_0123456789ab"


def test_replays_come_comparison_by_comparison_in_the_order_they_were_chosen(store: Store) -> None:
    one = store_sample(store, sample_spec(title="One"))
    other = store_sample(store, sample_spec())
    ids = [f"{other}_004", f"{one}_002", f"{other}_001", f"{other}_004"]
    found = read_choice(store, ids)
    assert [it.spec.id for it in found.chosen] == [f"{other}_004", f"{other}_001", f"{one}_002"]
    assert [it.origin.title for it in found.chosen] == [other, other, "One"], "without a title its id stands"
    assert found.missing == ()


def test_their_numbers_are_those_of_the_comparisons_own_page(store: Store) -> None:
    for spec in (sample_spec(), sample_sweep()):
        stored = store_sample(store, spec)
        results = {one.id: one for one in Follower(store, stored).read().results}
        found = read_choice(store, [f"{stored}_002", f"{stored}_005"] if spec.sweep else [f"{stored}_002"])
        assert [it.result for it in found.chosen] == [results[it.spec.id] for it in found.chosen]


def test_the_cost_is_held_against_the_full_history_that_was_not_chosen(store: Store) -> None:
    stored = store_sample(store, sample_spec())
    costs = {one.id: one.cost_usd for one in Follower(store, stored).read().results}
    window, refused = read_choice(store, [f"{stored}_002", f"{stored}_003"]).chosen
    full, cost = costs[f"{stored}_001"], costs[f"{stored}_002"]
    assert full is not None
    assert cost is not None
    assert window.against_full == pytest.approx(cost / full - 1)
    assert refused.against_full is None


def test_a_question_that_is_no_test_counts_in_none_of_them(store: Store) -> None:
    spec = sample_spec()
    stored = store_sample(store, spec)
    fact = spec.scripts[0].facts[0]
    asked = ProbeRecord(
        900,
        fact.id,
        12,
        Control.EMPTY,
        fact.question,
        "guessed",
        True,
        False,
        False,
        Survival.GONE,
        "regex",
        12,
    )
    store.append(f"{stored}_001", [asked])
    store.flush()
    [window] = read_choice(store, [f"{stored}_002"]).chosen
    assert window.result.recall_total == len(spec.scripts[0].facts) - 1


def test_what_is_not_there_is_named_and_the_rest_is_read(store: Store) -> None:
    kept, gone = (
        store_sample(store, sample_spec()),
        store_sample(store, replace(sample_spec(), id="cmp_gone")),
    )
    store.delete(gone)
    found = read_choice(store, [f"{gone}_001", f"{kept}_001", f"{kept}_099", "nonsense"])
    assert [it.spec.id for it in found.chosen] == [f"{kept}_001"]
    assert found.missing == (f"{gone}_001", f"{kept}_099", "nonsense")
