"""What is said of replays that are held against each other and are not alike."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest

from memdash.answerer import VERSION_KEY
from memdash.metrics import measure_all
from memdash.metrics.side_by_side import Chosen, Origin, named
from memdash.metrics.unlike import unlike
from memdash.prices import PriceTable
from memdash.spec import CacheLifetime, CacheMarks, Provider, ReplaySpec
from tests.builders import MODEL, replay_log, script, spec, window_spec

PRICES = PriceTable.load()


def one(comparison: str, of: ReplaySpec | None = None, **about: Any) -> Chosen:
    """A replay of a comparison; ``about`` replaces what is known of that."""
    its = of or spec()
    its = dataclasses.replace(its, comparison_id=comparison, id=f"{comparison}_{its.series}")
    (result,) = measure_all([replay_log(its, end=None)], PRICES)
    origin = Origin(
        comparison, comparison, datetime(2026, 11, 30, tzinfo=UTC), "estimate", {"memdash": "0.5"}, PRICES
    )
    return Chosen(dataclasses.replace(origin, **about), its, result)


def told(*chosen: Chosen) -> list[str]:
    names = {it.id: it.label for it in named(chosen)}
    return [found.sentence for found in unlike(chosen, names)]


def test_nothing_is_said_of_replays_that_differ_in_their_strategy_alone() -> None:
    assert told(one("cmp_1"), one("cmp_2", window_spec()), one("cmp_2", spec(repeat=2, seed=7))) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "claude-sonnet-5"}, f"Model: {MODEL} (A); claude-sonnet-5 (B)."),
        ({"effort": "low"}, "Effort: the model's own (A); low (B)."),
        ({"max_tokens": 4096}, "Longest answer: 1,024 tokens (A); 4,096 tokens (B)."),
        ({"script": script("other")}, "Script: trip (A); other (B)."),
        ({"script": script(turns=3), "turns": 2}, "Turns: 3 (A); 2 (B)."),
        ({"cache": CacheLifetime.OFF}, "Cache lifetime: 5m (A); no caching (B)."),
        ({"cache_marks": CacheMarks.FIXED_AND_AUTO}, "Cache marks: auto (A); fixed+auto (B)."),
        ({"warm": True}, "First use of the fixed part: written (A); read, as if warm (B)."),
        ({"pace": 0.0}, "Think time: 30 s (A); 0 s (B)."),
        ({"check": True}, "History check: off (A); on (B)."),
        ({"seed": 9}, "Seed of the replies: 0 (A); 9 (B)."),
    ],
)
def test_a_setting_that_differs_is_told_with_its_values(changes: dict[str, Any], said: str) -> None:
    [sentence] = told(one("cmp_1"), one("cmp_2", spec(**changes)))
    assert sentence.startswith(said)
    assert len(sentence) > len(said), "and what follows from it"


def test_live_against_simulated_comes_first() -> None:
    live = one("cmp_2", spec(provider=Provider.ANTHROPIC, pace=0.0), versions={"memdash": "0.5"})
    assert [sentence.partition(":")[0] for sentence in told(one("cmp_1"), live)] == [
        "Live against simulated",
        "Think time",
    ]


def test_a_compatible_server_is_told_from_the_live_api() -> None:
    live = spec(provider=Provider.ANTHROPIC)
    [sentence] = told(
        one("cmp_1", live, versions={VERSION_KEY: "the live API"}),
        one("cmp_2", live, versions={VERSION_KEY: "a compatible server"}),
    )
    assert sentence.startswith("Answered by: the live API (A); a compatible server (B).")


def test_the_token_counter_matters_where_the_simulator_counts() -> None:
    counted = one("cmp_2", token_counter="ctok 1.3.0")
    [sentence] = told(one("cmp_1"), counted)
    assert sentence.startswith("Token counter: estimate (A); ctok 1.3.0 (B).")
    live = spec(provider=Provider.ANTHROPIC)
    assert told(one("cmp_1", live), one("cmp_2", live, token_counter="ctok 1.3.0")) == []


def test_another_version_of_memdash_is_told() -> None:
    [sentence] = told(one("cmp_1"), one("cmp_2", versions={"memdash": "0.6", "python": "3.12"}))
    assert sentence.startswith("memdash: 0.5 (A); 0.6 (B).")


def test_prices_of_the_same_model_that_differ_are_told_in_full() -> None:
    price = PRICES.price(MODEL)
    assert price is not None
    dearer = PRICES.with_prices({MODEL: price.changed({"input": 6.0})})
    [sentence] = told(one("cmp_1"), one("cmp_2", prices=dearer))
    assert sentence.startswith(
        f"Prices of {MODEL}: input $4, 5 min write $5, 1 h write $8, read $0.2, output $20 (A); "
        "input $6, 5 min write $5, 1 h write $8, read $0.2, output $20 (B)."
    )


def test_the_prices_of_the_model_that_writes_summaries_count_too() -> None:
    summarised = spec(strategy="compaction", params={"summary_model": "claude-haiku-5-5"})
    without = PriceTable({name: price for name, price in PRICES.models.items() if name != "claude-haiku-5-5"})
    [sentence] = told(one("cmp_1", summarised), one("cmp_2", summarised, prices=without))
    assert sentence.startswith("Prices of claude-haiku-5-5: input $0.1")
    assert "not known (B)" in sentence


def test_a_script_that_was_changed_under_its_name_is_told() -> None:
    [sentence] = told(
        one("cmp_1", spec(script=script(turns=4), turns=3)),
        one("cmp_2", spec(script=script(turns=5), turns=3)),
    )
    assert sentence.startswith("Text of the script trip: text 1 (A); text 2 (B).")


def test_what_differs_within_a_comparison_names_its_replays() -> None:
    some = [one("cmp_1"), one("cmp_1", window_spec(model="claude-sonnet-5")), one("cmp_2", window_spec())]
    [sentence] = told(*some)
    assert sentence.startswith(f"Model: {MODEL} (B and A · full history); claude-sonnet-5 (A · window of 4).")
