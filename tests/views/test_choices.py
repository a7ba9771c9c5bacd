"""The setup form as data: what a link holds, and the specification that follows from it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from memdash.errors import InputError
from memdash.scripts.model import Script, Turn
from memdash.spec import CacheLifetime, CacheMarks, Provider
from memdash.strategies import choose
from memdash.views.choices import (
    DEMO,
    Choices,
    needed,
    of_spec,
    read_strategy,
    spell,
    to_spec,
)
from memdash.views.links import from_query, to_query

SCRIPTS = {
    name: Script(name, name.title(), (Turn(1, ({"type": "text", "text": "Hello"},)),))
    for name in ("trip-planning", "other")
}


def test_a_strategy_is_spelled_with_its_main_parameter_and_what_differs_from_the_defaults() -> None:
    assert spell(choose("full_history")) == "full_history"
    assert spell(choose("window")) == "window:keep=4"
    assert spell(choose("window", {"keep": 6, "thinking": "keep"})) == "window:keep=6,thinking=keep"


def test_a_parameter_that_follows_another_is_left_open() -> None:
    """``trim_at`` settles to ``keep``; were it spelled out, raising ``keep`` in the form would be refused."""
    assert needed(choose("window", {"keep": 6})) == {"keep": 6}
    assert needed(choose("window", {"keep": 6, "trim_at": 9})) == {"keep": 6, "trim_at": 9}


@given(some.text(some.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_any_text_in_a_parameter_survives_the_spelling(text: str) -> None:
    choice = choose("compaction", {"instructions": text})
    if choice.params["instructions"] is None:  # "none" and "" are how "not given" is written
        return
    assert read_strategy(spell(choice)) == choice


def test_the_demo_needs_no_query() -> None:
    assert to_query(DEMO) == {}
    assert from_query({}, DEMO) == (DEMO, [])


def test_a_link_says_only_what_differs() -> None:
    changed = replace(
        DEMO, turns=12, strategies=("window:keep=2", "window:keep=8"), caches=(CacheLifetime.OFF,)
    )
    assert to_query(changed) == {"turns": ["12"], "s": ["window:keep=2", "window:keep=8"], "caches": ["off"]}


@given(
    some.builds(
        Choices,
        scripts=some.lists(some.sampled_from(["a", "b-2", "ç d"]), unique=True).map(tuple),
        strategies=some.sampled_from(
            [(), ("full_history",), ("window:keep=4", "window:keep=9,thinking=keep")]
        ),
        models=some.lists(some.sampled_from(["m1", "m 2"]), unique=True).map(tuple),
        provider=some.just(Provider.SIMULATOR),
        turns=some.none() | some.integers(1, 500),
        repeats=some.integers(1, 20),
        caches=some.lists(some.sampled_from(CacheLifetime), min_size=1, unique=True).map(tuple),
        marks=some.lists(some.sampled_from(CacheMarks), min_size=1, unique=True).map(tuple),
        pace=some.none() | some.integers(0, 3600).map(float),
        check=some.booleans(),
        warm=some.booleans(),
        effort=some.sampled_from([None, "low", "max"]),
        max_tokens=some.none() | some.integers(1, 128_000),
        counter=some.sampled_from(["auto", "ctok", "estimate"]),
        relax=some.booleans(),
        seed=some.integers(0, 2**31 - 1),
        title=some.text(some.characters(exclude_categories=["Cs"]), max_size=60),
        budget=some.none(),
        no_limit=some.just(False),
    )
)
def test_a_link_gives_back_what_was_chosen(choices: Choices) -> None:
    query = to_query(choices)
    if not all(
        query.values()
    ):  # "nothing chosen" has no spelling in an address; the form then shows the default
        return
    assert from_query(query, DEMO) == (choices, [])


def test_no_link_can_spend_money() -> None:
    live = replace(DEMO, provider=Provider.ANTHROPIC, budget=5.0, no_limit=True)
    assert to_query(live) == {}
    query = {"provider": ["anthropic"], "budget": ["100"], "no_limit": ["true"]}
    assert from_query(query, DEMO) == (DEMO, [])


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("turns", "many", "turns: 'many' is not a whole number"),
        ("repeats", "99", "repeats: 99 is not between 1 and 20"),
        ("pace", "nan", "pace: nan is not between 0 and 86,400 seconds"),
        ("caches", "2h", "caches: '2h' is not one of 5m, 1h, off"),
        ("check", "maybe", "check: 'maybe' is not true or false"),
        ("effort", "huge", "effort: 'huge' is not one of low, medium, high, xhigh, max"),
        ("s", "windw:4", "s: there is no strategy 'windw'; did you mean 'window'?"),
    ],
)
def test_what_a_link_gets_wrong_is_said_and_keeps_its_default(key: str, value: str, said: str) -> None:
    choices, (problem,) = from_query({key: [value]}, DEMO)
    assert choices == DEMO
    assert problem.startswith(said)


def test_a_specification_follows_from_the_choices_and_gives_them_back() -> None:
    choices = replace(DEMO, scripts=("other",), turns=3, repeats=2, seed=7, marks=tuple(CacheMarks))
    spec = to_spec(choices, SCRIPTS)
    assert len(spec.replays()) == 4 * 2 * 2
    assert spec.check is True
    assert of_spec(spec) == choices


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scripts": ("gone",)}, "there is no script 'gone' here"),
        ({"scripts": ()}, "choose at least one script"),
        ({"strategies": ()}, "choose at least one strategy"),
        ({"models": ()}, "choose at least one model"),
        ({"repeats": 21}, "repeats: 21 is not between 1 and 20"),
        ({"provider": Provider.ANTHROPIC}, "a live run spends real money"),
        ({"provider": Provider.ANTHROPIC, "budget": 0.0}, "the budget must be more than"),
        ({"strategies": ("window:keep=4", "window:keep=4")}, "chosen twice"),
        ({"repeats": 20, "models": tuple(f"m{n}" for n in range(6))}, "that makes 480 replays"),
    ],
)
def test_choices_are_checked_again_on_the_server(change: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        to_spec(replace(DEMO, **change), SCRIPTS)  # type: ignore[arg-type]


def test_a_live_run_takes_a_budget_or_an_explicit_no_limit() -> None:
    live = replace(DEMO, provider=Provider.ANTHROPIC)
    assert to_spec(replace(live, budget=2.5), SCRIPTS).budget == 2.5
    assert to_spec(replace(live, no_limit=True), SCRIPTS).budget is None


def test_a_simulated_run_has_no_budget() -> None:
    assert to_spec(replace(DEMO, budget=1.0), SCRIPTS).budget is None
