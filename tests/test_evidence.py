"""Which confirmation is told where: a comparison's own first, the live API's before another server's, and none of other rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memdash.answerer import Answerer
from memdash.confirmation import confirmation_spec
from memdash.evidence import evidence_for, latest_evidence
from memdash.records import Status
from memdash.report import basis, simulator_basis
from memdash.store import Store
from memdash.store.store import MEMORY
from tests.views.samples import sample_spec, store_sample

Confirm = Callable[..., str]


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(MEMORY) as one:
        yield one


@pytest.fixture
def confirm(store: Store, monkeypatch: pytest.MonkeyPatch) -> Confirm:
    """Store a live comparison that checks another one, answered by the live API or by a compatible server."""

    def stored(simulated: str, by: Answerer = Answerer.LIVE_API, end: Status = Status.DONE) -> str:
        monkeypatch.setattr("memdash.answerer.present_answerer", lambda: by)
        return store_sample(
            store, confirmation_spec(store.comparison(simulated), ["full history"], 1.0), end=end
        )

    return stored


def told(store: Store, comparison: str) -> tuple[str, bool] | None:
    """The live comparison whose result is told of one, and whether it is its own."""
    found = evidence_for(store, store.comparison(comparison))
    return None if found is None else (found.confirmation.live, found.own)


def test_nothing_is_told_where_nothing_was_compared(store: Store) -> None:
    one = store_sample(store, sample_spec(turns=2))
    assert told(store, one) is None
    assert latest_evidence(store) is None


def test_its_own_confirmation_comes_before_a_later_one_of_another(store: Store, confirm: Confirm) -> None:
    one, other = (store_sample(store, sample_spec(turns=2)) for _ in range(2))
    own = confirm(one)
    later = confirm(other)
    assert told(store, one) == (own, True)
    assert told(store, other) == (later, True)
    third = store_sample(store, sample_spec(turns=2))
    assert told(store, third) == (later, False)


def test_prices_that_changed_in_between_are_said(
    store: Store, confirm: Confirm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one = store_sample(store, sample_spec(turns=2))
    confirm(one)
    found = evidence_for(store, store.comparison(one))
    assert found is not None
    assert not any(note.startswith("prices:") for note in found.confirmation.notes)
    own = tmp_path / "prices.yaml"
    own.write_text("models: {claude-opus-5-5: {read: 4}}")
    monkeypatch.setenv("MEMDASH_PRICES", str(own))
    dearer = confirm(one)
    found = evidence_for(store, store.comparison(one))
    assert found is not None
    assert found.confirmation.live == dearer
    assert found.confirmation.notes[-1].startswith("prices: they have changed since the simulation")


def test_the_live_api_comes_before_a_later_compatible_server(store: Store, confirm: Confirm) -> None:
    one = store_sample(store, sample_spec(turns=2))
    api = confirm(one)
    server = confirm(one, Answerer.COMPATIBLE)
    assert told(store, one) == (api, True)
    store.delete(api)
    assert told(store, one) == (server, True)
    assert "not yet compared with the live API; compared with a compatible server" in basis(
        store.comparison(one), evidence_for(store, store.comparison(one))
    )


def test_one_that_finished_comes_before_a_later_one_that_did_not(store: Store, confirm: Confirm) -> None:
    one = store_sample(store, sample_spec(turns=2))
    finished = confirm(one)
    confirm(one, end=Status.STOPPED_BY_BUDGET)
    assert told(store, one) == (finished, True)
    store.delete(finished)
    found = evidence_for(store, store.comparison(one))
    assert found is not None
    assert not found.confirmation.pairs  # its page says why; the caption says nothing of it
    assert basis(store.comparison(one), found) == simulator_basis()


def test_an_error_of_another_token_counter_is_told_of_no_other_comparison(
    store: Store, confirm: Confirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirm(store_sample(store, sample_spec(turns=2)))
    monkeypatch.setattr("memdash.store.store.metadata.version", lambda package: "9.9")
    counted = store_sample(store, replace(sample_spec(turns=2), token_counter="auto"))
    assert store.comparison(counted).versions["ctok"] == "9.9"
    assert told(store, counted) is None


def test_what_was_confirmed_is_needed_to_tell_anything(store: Store, confirm: Confirm) -> None:
    one, other = (store_sample(store, sample_spec(turns=2)) for _ in range(2))
    confirm(one)
    assert told(store, other) is not None
    store.delete(one)
    assert told(store, other) is None
    assert latest_evidence(store) is None


def test_of_the_simulator_as_such_the_latest_result_is_told(store: Store, confirm: Confirm) -> None:
    confirm(store_sample(store, sample_spec(turns=2)), Answerer.COMPATIBLE)
    live = confirm(store_sample(store, sample_spec(turns=2)))
    found = latest_evidence(store)
    assert found is not None
    assert found.confirmation.live == live
    assert simulator_basis(found).startswith("Simulator rules of 2026-11-30, compared with the live API on ")


def test_a_live_comparison_is_its_own_evidence(store: Store, confirm: Confirm) -> None:
    live = confirm(store_sample(store, sample_spec(turns=2)))
    assert told(store, live) == (live, True)
