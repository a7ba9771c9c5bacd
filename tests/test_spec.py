from __future__ import annotations

import dataclasses
import json

import pytest

from memdash import codec
from memdash.errors import InputError
from memdash.scripts.model import Script, Turn
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Provider, Sweep
from memdash.strategies import choose, parse, parse_family, swept


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


OPUS, HAIKU = "claude-opus-5-5", "claude-haiku-4-5"


def sweep(*written: str, models=(OPUS,), scripts=("a",), **more) -> ComparisonSpec:
    families = tuple(map(parse_family, written))
    return ComparisonSpec(
        tuple(map(script, scripts)),
        swept(families, models).choices,
        models=models,
        sweep=Sweep(families, **more),
    )


def test_a_sweep_has_the_full_history_and_every_setting_of_its_families():
    assert [replay.label for replay in sweep("compaction:1000..4000*2", "window:2|4").replays()] == [
        "full history",
        "compaction at 1000",
        "compaction at 2000",
        "compaction at 4000",
        "window of 2",
        "window of 4",
    ]


def test_a_share_of_the_window_is_played_by_the_model_it_is_a_share_for():
    replays = sweep("compaction:5%", models=(OPUS, HAIKU)).replays()
    assert [(replay.label, replay.params.get("trigger")) for replay in replays] == [
        (f"full history · {OPUS}", None),
        (f"compaction at 50000 · {OPUS}", 50_000),
        (f"full history · {HAIKU}", None),
        (f"compaction at 10000 · {HAIKU}", 10_000),
    ]


def test_without_full_history_each_model_has_one_replay_that_asks_the_controls():
    choices = parse_family("compaction:5%|10%").choices((OPUS, HAIKU))
    spec = ComparisonSpec((script("a"),), choices, models=(OPUS, HAIKU))
    assert [(replay.model, replay.controls) for replay in spec.replays()] == [
        (OPUS, True),
        (OPUS, False),
        (HAIKU, True),
        (HAIKU, False),
    ]


def test_replays_that_a_refinement_added_come_last_and_the_others_stay_what_they_were():
    spec = sweep("compaction:1000|2000", scripts=("a", "b"))
    refined = spec.with_refined([choose("compaction", {"trigger": 1500})])
    assert refined.replays()[: len(spec.replays())] == spec.replays()
    assert [(replay.label, replay.id) for replay in refined.replays()[len(spec.replays()) :]] == [
        ("compaction at 1500 · a", f"{spec.id}_007"),
        ("compaction at 1500 · b", f"{spec.id}_008"),
    ]
    again = refined.with_refined([choose("compaction", {"trigger": 1200})])
    assert again.replays()[: len(refined.replays())] == refined.replays()


def test_a_refinement_that_was_played_already_is_refused():
    spec = sweep("compaction:1000|2000").with_refined([choose("compaction", {"trigger": 2000})])
    with pytest.raises(InputError, match="'compaction at 2000' is chosen twice"):
        spec.replays()


@pytest.mark.parametrize("wrong", [{"max_loss": -0.01}, {"max_loss": 1.01}, {"limit": 0}])
def test_what_a_sweep_may_lose_is_a_share_and_its_limit_a_number(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        sweep("window:2|4", **wrong)


def test_a_sweep_is_read_as_it_was_stored():
    spec = sweep("compaction:trigger=1%..16%*2,words=150|300", "truncate:down_to=0.5..1/0.1", refine=True)
    spec = spec.with_refined([choose("compaction", {"trigger": 1500})])
    assert codec.load_settings(codec.dump_settings(spec), spec.scripts) == spec


def test_settings_stored_before_there_were_sweeps_are_still_read():
    spec = ComparisonSpec((script("a"),), (FULL, WINDOW))
    stored = json.loads(codec.dump_settings(spec))
    for later in ("sweep", "refined", "confirms"):
        del stored[later]
    for choice in stored["strategies"]:
        del choice["model"]
    assert codec.load_settings(json.dumps(stored), spec.scripts) == spec


def test_more_replays_than_anybody_means_are_refused_before_they_are_made():
    with pytest.raises(InputError, match="20,002 replays are more than 20,000"):
        labels(repeats=10_001)
