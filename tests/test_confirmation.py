"""Which live comparison checks a simulated one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from memdash.confirmation import confirmable, confirmation_spec, default_settings
from memdash.errors import InputError
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Provider, Replies, Sweep
from memdash.store import StoredComparison
from memdash.store.store import as_launched_now
from memdash.strategies import parse, parse_family
from tests.builders import fact, script

TRIP = script("trip", turns=4, facts=[fact("budget")])
OPUS, SONNET = "claude-opus-5-5", "claude-sonnet-5-5"


def simulated(*strategies: str, **settings: Any) -> StoredComparison:
    chosen = tuple(parse(one) for one in strategies or ("full_history", "window:2", "compaction:500"))
    return as_launched_now(ComparisonSpec((TRIP,), chosen, title="A trip", **settings))


def done(stored: StoredComparison, unfinished: tuple[str, ...] = ()) -> set[str]:
    """The replays that finished: all but those of some settings."""
    return {one.id for one in stored.replays if one.series not in unfinished}


def test_everything_but_who_answers_and_the_limit_stays_as_it_was() -> None:
    stored = simulated(turns=3, repeats=2, check=True, pace=400.0, effort="low", max_tokens=500, warm=True)
    live = confirmation_spec(stored, ["full history", "compaction at 500"], 2.5)
    assert (live.provider, live.replies, live.budget, live.confirms) == (
        Provider.ANTHROPIC,
        Replies.FRESH,
        2.5,
        stored.id,
    )
    assert live.id != stored.id
    assert live.title == "A trip, confirmed live"
    for name in (
        "scripts", "models", "turns", "repeats", "check", "caches", "cache_marks", "pace", "effort", "max_tokens",
        "token_counter", "seed",
    ):  # fmt: skip
        assert getattr(live, name) == getattr(stored.spec, name), name
    assert [choice.label for choice in live.strategies] == ["full history", "compaction at 500"]
    assert {one.turns for one in live.replays()} == {3}


def test_think_time_that_nobody_typed_is_not_waited_for_live() -> None:
    assert confirmation_spec(simulated(), ["full history"], 1).replays()[0].pace == 0
    assert confirmation_spec(simulated(pace=30.0), ["full history"], 1).replays()[0].pace == 30


def test_a_sweep_is_confirmed_setting_by_setting_refined_ones_included() -> None:
    stored = simulated("full_history", "compaction:500", "compaction:1000")
    sweep = dataclasses.replace(
        stored.spec,
        sweep=Sweep((parse_family("compaction:500|1000"),)),
        refined=(parse("compaction:750"),),
    )
    live = confirmation_spec(as_launched_now(sweep), ["compaction at 750", "full history"], 1)
    assert (live.sweep, live.refined) == (None, ())
    assert [one.series for one in live.replays()] == ["full history", "compaction at 750"]


def test_only_the_models_caches_and_marks_that_were_chosen_are_played() -> None:
    stored = simulated(
        "full_history",
        "window:2",
        models=(OPUS, SONNET),
        caches=(CacheLifetime.FIVE_MINUTES, CacheLifetime.ONE_HOUR),
        cache_marks=tuple(CacheMarks),
    )
    labels = [
        f"full history · {SONNET} · 1h cache · auto marks",
        f"window of 2 · {SONNET} · 1h cache · auto marks",
    ]
    live = confirmation_spec(stored, labels, 1)
    assert (live.models, live.caches, live.cache_marks) == (
        (SONNET,),
        (CacheLifetime.ONE_HOUR,),
        (CacheMarks.AUTO,),
    )
    assert [one.series for one in live.replays()] == ["full history", "window of 2"]


def test_a_setting_of_one_model_is_not_played_on_another() -> None:
    stored = simulated("full_history", "window:2", models=(OPUS, SONNET))
    labels = [f"full history · {OPUS}", f"full history · {SONNET}", f"window of 2 · {SONNET}"]
    live = confirmation_spec(stored, labels, 1)
    assert sorted(one.series for one in live.replays()) == sorted(labels)


@pytest.mark.parametrize("budget", [0.0, -1.0, float("nan"), float("inf")])
def test_there_is_no_confirmation_without_a_limit(budget: float) -> None:
    with pytest.raises(InputError, match="needs a budget"):
        confirmation_spec(simulated(), ["full history"], budget)


@pytest.mark.parametrize(
    ("changes", "labels", "told"),
    [
        ({}, [], "choose at least one setting"),
        ({}, ["windows of 2"], "did you mean 'window of 2'"),
        ({}, ["xyz"], "there are full history, window of 2"),
        ({"relax_limits": True}, ["full history"], "relaxed the API's limits"),
        ({"provider": "anthropic", "budget": 1.0}, ["full history"], "live already"),
    ],
)
def test_what_cannot_be_confirmed_is_told_in_one_sentence(
    changes: dict[str, Any], labels: list[str], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        confirmation_spec(simulated(**changes), labels, 1)


def test_the_recommended_setting_and_its_full_history_are_confirmed_where_nobody_chose() -> None:
    stored = simulated("full_history", "window:2", "compaction:500", models=(OPUS, SONNET))
    whole, shorter = f"full history · {SONNET}", f"compaction at 500 · {SONNET}"
    assert default_settings(stored.replays, done(stored), [shorter]) == (whole, shorter)
    assert default_settings(stored.replays, done(stored), [whole]) == (whole,)


def test_where_full_history_is_recommended_the_runner_up_is_confirmed_beside_it() -> None:
    stored = simulated("full_history", "window:2", "compaction:500", models=(OPUS, SONNET))
    whole, nearest = f"full history · {SONNET}", f"window of 2 · {SONNET}"
    assert default_settings(stored.replays, done(stored), [whole, nearest]) == (whole, nearest)
    assert default_settings(stored.replays, done(stored, (nearest,)), [whole, nearest]) == (whole,)


def test_without_a_recommendation_full_history_and_the_first_others_are_confirmed() -> None:
    stored = simulated("window:2", "window:3", "window:4", "window:5", "full_history")
    assert default_settings(stored.replays, done(stored)) == (
        "full history",
        "window of 2",
        "window of 3",
        "window of 4",
    )
    without = simulated("window:2", "window:3")
    assert default_settings(without.replays, done(without)) == ("window of 2", "window of 3")


def test_a_setting_that_did_not_finish_everywhere_is_not_confirmed_unasked() -> None:
    stored = simulated(repeats=2)
    assert default_settings(stored.replays, done(stored, ("window of 2",))) == (
        "full history",
        "compaction at 500",
    )
    half = {one.id for one in stored.replays if one.repeat == 1}
    assert confirmable(stored.replays, half) == ()
    with pytest.raises(InputError, match="nothing to confirm"):
        default_settings(stored.replays, ())
