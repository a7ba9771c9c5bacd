"""A setting over its scripts and repeats."""

from __future__ import annotations

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.result import Mark
from memdash.metrics.sweep import Setting, analyse
from memdash.records import Status
from tests.metrics.sweep.outcomes import on_scripts, outcome

WINDOW = "window of 4"


def settings(*outcomes: ReplayOutcome) -> dict[str, Setting]:
    return {one.series: one for one in analyse(outcomes).settings}


def mean(estimate: object) -> float:
    return estimate.mean  # type: ignore[attr-defined,no-any-return]


def test_every_number_is_for_one_conversation_and_every_script_counts_the_same() -> None:
    it = settings(
        outcome(script="short", cost=1.0, prompt_tokens=1000, lost=["budget"]),
        outcome(script="long", cost=4.0, prompt_tokens=9000),
        outcome(script="long", repeat=2, cost=6.0, prompt_tokens=11_000),
    )["full history"]
    assert (mean(it.cost_usd), mean(it.prompt_tokens), mean(it.kept), mean(it.recall)) == (
        3.0,
        5500.0,
        0.875,
        0.875,
    )
    assert (it.scripts, it.replays, it.finished) == (("short", "long"), 3, 3)


def test_the_worst_replay_is_the_dearest_the_slowest_or_the_one_that_kept_least() -> None:
    it = settings(outcome(cost=1.0, lost=["budget"]), outcome(repeat=2, cost=2.0, wait_p95_ms=12_000.0))[
        "full history"
    ]
    assert it.cost_usd is not None
    assert it.wait_p95_ms is not None
    assert it.kept is not None
    assert (it.cost_usd.worst, it.wait_p95_ms.worst, it.kept.worst) == (2.0, 12_000.0, 0.75)


def test_cache_share_is_reads_over_prompt_tokens() -> None:
    it = settings(outcome(prompt_tokens=1000, cache_read_input_tokens=800))["full history"]
    assert mean(it.cache_share) == 0.8


def test_what_is_not_known_of_one_replay_is_not_known_of_the_setting() -> None:
    it = settings(
        outcome(), outcome(repeat=2, cost=None, cache_read_input_tokens=None, wait_p95_ms=None, kept=None)
    )
    full = it["full history"]
    assert (full.cost_usd, full.cache_share, full.wait_p95_ms, full.kept) == (None, None, None, None)
    assert mean(full.prompt_tokens) == 1000


def test_a_script_without_facts_says_nothing_of_what_is_kept() -> None:
    it = settings(outcome(script="a", lost=["budget"]), outcome(script="b", facts=()))["full history"]
    assert it.kept is not None
    assert (it.kept.mean, it.kept.n) == (0.75, 1)


def test_only_finished_replays_are_measured_and_a_setting_that_lacks_one_is_not_ranked() -> None:
    it = settings(
        outcome(script="a"),
        outcome(script="b"),
        outcome(WINDOW, script="a", cost=0.5),
        outcome(WINDOW, script="b", cost=0.1, status=Status.REJECTED),
    )
    assert (it["full history"].ranked, it[WINDOW].ranked) == (True, False)
    assert (it[WINDOW].finished, it[WINDOW].replays, it[WINDOW].status) == (1, 2, Status.REJECTED)
    assert mean(it[WINDOW].cost_usd) == 0.5


def test_a_setting_that_was_not_played_everywhere_is_not_ranked() -> None:
    it = settings(outcome(script="a"), outcome(script="b"), outcome(WINDOW, script="a"))
    assert (it["full history"].ranked, it[WINDOW].ranked) == (True, False)


def test_what_exists_in_the_simulator_only_is_never_ranked_with_what_can_run_live() -> None:
    it = settings(outcome(), outcome(WINDOW, simulator_only=True))
    assert (it["full history"].ranked, it[WINDOW].ranked, it[WINDOW].simulator_only) == (True, False, True)


def test_a_saving_is_paired_so_that_long_scripts_do_not_hide_it() -> None:
    it = settings(*on_scripts("full history", [1.0, 10.0, 100.0]), *on_scripts(WINDOW, [0.9, 9.9, 99.9]))[
        WINDOW
    ]
    assert it.cost_usd is not None
    assert it.saving_usd is not None
    assert it.saving_usd.low is not None
    assert it.saving_usd.high is not None
    assert round(it.saving_usd.low, 9) == round(it.saving_usd.high, 9) == 0.1
    assert it.saving is not None
    assert round(it.saving, 9) == round(0.3 / 111, 9)


def test_a_setting_is_measured_against_the_full_history_with_the_same_cache() -> None:
    it = settings(
        outcome("full history · 5m", cost=1.0),
        outcome("full history · 1h", cost=2.0, cache="1h"),
        outcome("window of 4 · 1h", cost=0.5, cache="1h"),
        outcome("window of 4 · off", cost=0.5, cache="off"),
    )
    assert (it["window of 4 · 1h"].baseline, mean(it["window of 4 · 1h"].saving_usd)) == (
        "full history · 1h",
        1.5,
    )
    assert (it["window of 4 · off"].baseline, it["window of 4 · off"].saving_usd) == (None, None)
    assert it["window of 4 · off"].loss is None


def test_full_history_loses_nothing_against_itself_however_few_the_scripts() -> None:
    loss = settings(outcome())["full history"].loss
    assert loss is not None
    assert (loss.mean, loss.high, loss.facts, loss.scripts_needed) == (0.0, 0.0, 0.0, 0)


def test_a_loss_that_is_not_known_of_one_replay_is_not_known_of_the_setting() -> None:
    it = settings(
        outcome(), outcome(repeat=2), outcome(WINDOW), outcome(WINDOW, repeat=2, survival={}, kept=None)
    )
    assert it[WINDOW].loss is None


def test_marks_name_the_scripts_they_are_true_of() -> None:
    never, always = (Mark.NEVER_FIRES,), (Mark.FIRES_EVERY_TURN,)
    it = settings(
        outcome(script="a", marks=never), outcome(script="b", marks=always), outcome(script="c", marks=never)
    )["full history"]
    assert it.marks == {Mark.NEVER_FIRES: ("a", "c"), Mark.FIRES_EVERY_TURN: ("b",)}


def test_settings_come_in_the_order_they_first_appear() -> None:
    assert list(settings(outcome("b"), outcome("a"), outcome("b", repeat=2))) == ["b", "a"]
