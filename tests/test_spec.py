from __future__ import annotations

import dataclasses

import pytest

from memdash.errors import InputError
from memdash.scripts.model import Script, Turn
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Provider
from memdash.strategies import parse


def script(id: str, turns: int = 3) -> Script:
    return Script(id, id, tuple(Turn(n, ({"type": "text", "text": f"{n}"},)) for n in range(1, turns + 1)))


FULL, WINDOW = parse("full_history"), parse("window:4")


def labels(**more):
    settings = {"scripts": (script("a"),), "strategies": (FULL, WINDOW), **more}
    return [replay.label for replay in ComparisonSpec(**settings).replays()]


def test_a_label_says_no_more_than_is_needed_to_be_unique():
    assert labels() == ["full history", "window of 4"]


def test_every_setting_with_several_values_is_named():
    assert labels(
        strategies=(FULL,),
        caches=(CacheLifetime.FIVE_MINUTES, CacheLifetime.OFF),
        cache_marks=(CacheMarks.AUTO, CacheMarks.FIXED_AND_AUTO),
    ) == [
        "full history · 5m cache · auto marks",
        "full history · 5m cache · fixed+auto marks",
        "full history · no caching · auto marks",
        "full history · no caching · fixed+auto marks",
    ]


def test_several_scripts_models_and_repeats_keep_labels_unique_and_the_series_short():
    spec = ComparisonSpec(
        (script("a"), script("b")), (FULL,), models=("claude-opus-5-5", "claude-haiku-5-5"), repeats=2
    )
    replays = spec.replays()
    assert len({replay.label for replay in replays}) == len(replays) == 8
    assert {replay.series for replay in replays} == {
        "full history · claude-opus-5-5",
        "full history · claude-haiku-5-5",
    }
    assert replays[0].label == "full history · claude-opus-5-5 · a · repeat 1"


def test_the_same_choice_twice_is_refused():
    with pytest.raises(InputError, match="'full history' is chosen twice"):
        labels(strategies=(FULL, FULL))
    with pytest.raises(InputError, match="script 'a' is chosen twice"):
        labels(scripts=(script("a"), script("a")))


@pytest.mark.parametrize("name", ["scripts", "strategies", "models"])
def test_something_must_be_chosen(name):
    with pytest.raises(InputError, match=f"choose at least one {name[:-1].replace('strategie', 'strategy')}"):
        labels(**{name: ()})


def test_every_strategy_gets_the_same_seed_and_repeats_differ():
    spec = ComparisonSpec((script("a"),), (FULL, WINDOW), repeats=2)
    seeds = [(replay.repeat, replay.seed) for replay in spec.replays()]
    assert len(set(seeds)) == 2


def test_turns_beyond_a_scripts_length_are_its_length():
    spec = ComparisonSpec((script("a", 3), script("b", 9)), (FULL,), turns=5)
    assert [replay.turns for replay in spec.replays()] == [3, 5]


def test_the_controls_are_asked_once_for_each_script_and_by_the_full_history():
    spec = ComparisonSpec((script("a"), script("b")), (WINDOW, FULL), caches=tuple(CacheLifetime))
    asking = [(replay.script.id, replay.strategy) for replay in spec.replays() if replay.controls]
    assert asking == [("a", "full_history"), ("b", "full_history")]


def test_without_the_full_history_the_first_strategy_asks_the_controls():
    spec = ComparisonSpec((script("a"),), (WINDOW, parse("compaction")))
    assert [replay.controls for replay in spec.replays()] == [True, False]


def test_think_time_is_half_a_minute_simulated_and_none_live_unless_it_is_given():
    spec = ComparisonSpec((script("a"),), (FULL,))
    live = dataclasses.replace(spec, provider=Provider.ANTHROPIC)
    assert [one.replays()[0].pace for one in (spec, live, dataclasses.replace(live, pace=5.0))] == [30, 0, 5]


def test_planning_twice_gives_the_same_replays():
    spec = ComparisonSpec((script("a"),), (FULL, WINDOW), provider=Provider.ANTHROPIC)
    assert spec.replays() == spec.replays()


def test_settings_may_be_given_by_value():
    spec = ComparisonSpec((script("a"),), (FULL,), caches=("5m", "1h", "off"), provider="anthropic")
    assert spec.caches == tuple(CacheLifetime)
    assert spec.provider is Provider.ANTHROPIC
    assert [replay.cache for replay in spec.replays()] == list(CacheLifetime)


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("turns", 0, "turns: 0 is not a number from 1 on"),
        ("repeats", 0, "repeats: 0 is not a number from 1 on"),
        ("max_tokens", -1, "max_tokens: -1 is not a number from 1 on"),
        ("pace", float("nan"), "pace: nan is not a number from 0 on"),
        ("budget", -0.5, "budget: -0.5 is not a number from 0 on"),
        ("budget", float("inf"), "budget: inf is not a number from 0 on"),
        ("caches", ("2h",), "'2h' is not one of 5m, 1h, off"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(setting, value, message):
    with pytest.raises(InputError) as error:
        ComparisonSpec((script("a"),), (FULL,), **{setting: value})
    assert str(error.value) == message


def recorded(number, reply):
    return Turn(number, ({"type": "text", "text": "x"},), reply=reply)


def test_recorded_replies_must_be_there_for_every_turn_that_is_played_live():
    half = Script("half", "Half", (recorded(1, "Hello."), recorded(2, None)))
    live = ComparisonSpec((half,), (FULL,), provider="anthropic", replies="recorded")
    with pytest.raises(InputError, match="script 'half' has no recorded reply for turn 2"):
        live.replays()
    assert len(dataclasses.replace(live, turns=1).replays()) == 1
    assert len(dataclasses.replace(live, provider="simulator").replays()) == 1


@pytest.mark.parametrize("written", ["server_compaction", "compact_on_demand"])
def test_what_the_api_signs_cannot_be_shared_between_simulator_and_api(written):
    whole = Script("whole", "Whole", (recorded(1, "Hello."),))
    with pytest.raises(InputError, match="cannot run live with recorded replies"):
        ComparisonSpec((whole,), (parse(written),), provider="anthropic", replies="recorded").replays()
