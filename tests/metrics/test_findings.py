"""The headline numbers and the sentences under the charts: computed, never guessed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memdash.metrics import headlines, measure_all, sentences, summarise
from memdash.metrics.summary import SeriesSummary
from memdash.prices import PriceTable
from memdash.records import Record, Status, Survival
from memdash.replay_log import ReplayLog
from memdash.spec import Provider
from tests.builders import (
    compaction_spec,
    fact,
    kept,
    replay_log,
    request,
    script,
    spec,
    status,
    turn,
    window_spec,
)

TRIP = script("trip", turns=2, facts=[fact("name"), fact("budget")])
BOUND = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."


def facts(name: Survival, budget: Survival) -> list[Record]:
    return [kept("name", name), kept("budget", budget)]


ALL = facts(Survival.VERBATIM, Survival.VERBATIM)
NONE = facts(Survival.GONE, Survival.GONE)


def full(*parts: Record | list[Record], **changes: Any) -> ReplayLog:
    # 100 + 900 read: 580 millionths
    return replay_log(spec(**{"script": TRIP, **changes}), *(parts or [turn(1, input=100, read=900), ALL]))


def window(*parts: Record | list[Record], **changes: Any) -> ReplayLog:
    # 400 input: 1,600 millionths
    return replay_log(
        window_spec(**{"script": TRIP, **changes}), *(parts or [turn(1, input=400, wait_ms=2500), NONE])
    )


def refused() -> ReplayLog:
    return replay_log(
        window_spec(script=TRIP, series="window of 4 (naive)"),
        turn(1, input=1),
        request(2, error=BOUND),
        status(Status.REJECTED, 1, BOUND),
        end=None,
    )


def rows(logs: Iterable[ReplayLog]) -> tuple[SeriesSummary, ...]:
    return summarise(measure_all(list(logs), PriceTable.load()))


def test_the_four_headlines_name_their_series() -> None:
    picks = headlines(rows([full(), window(), refused()]))
    assert (picks.cheapest.value, picks.cheapest.whose) == ("$0.00058", "full history")
    assert picks.cheapest.note == "simulated"
    assert (picks.fewest_tokens.value, picks.fewest_tokens.whose) == ("400", "window of 4")
    assert picks.fewest_tokens.note == "forgets name and budget"
    assert (picks.best_cache_share.value, picks.best_cache_share.whose) == ("90 %", "full history")
    assert (picks.longest_wait.value, picks.longest_wait.whose) == ("2.5 s", "window of 4")
    assert picks.longest_wait.note == "in turn 1"


def test_the_cheapest_must_have_kept_every_fact() -> None:
    cheap = window(turn(1, input=10), NONE)
    picks = headlines(rows([full(), cheap]))
    assert picks.cheapest.series == ("full history",)
    assert picks.fewest_tokens.series == ("window of 4",)


def test_a_saving_stands_beside_the_cheapest() -> None:
    short = replay_log(compaction_spec(script=TRIP), turn(1, input=100), ALL)  # 400 millionths
    pick = headlines(rows([full(), short])).cheapest
    assert (pick.whose, pick.note) == ("compaction at 2000", "simulated · −31 % against full history")


def test_live_results_are_called_live() -> None:
    assert headlines(rows([full(provider=Provider.ANTHROPIC)])).cheapest.note == "live"


def test_a_tie_names_all() -> None:
    pick = headlines(rows([full(), full(series="same")])).cheapest
    assert pick.series == ("full history", "same")
    assert pick.whose == "full history and same"


def test_nobody_is_picked_where_nobody_qualifies() -> None:
    lost = headlines(rows([window()]))
    assert (lost.cheapest.value, lost.cheapest.series) == ("–", ())
    assert lost.cheapest.note == "no strategy kept every fact"
    unseen = headlines(rows([full(turn(1, input=1))]))
    assert unseen.cheapest.note == "what was kept is not known"
    unfinished = headlines(rows([refused()]))
    assert {
        pick.note for pick in (unfinished.cheapest, unfinished.fewest_tokens, unfinished.longest_wait)
    } == {"no strategy has finished"}
    unpriced = headlines(rows([full(turn(1, input=1, model="unpriced"), ALL)]))
    assert unpriced.cheapest.note == "the price of a model is not known"
    silent = headlines(rows([full(turn(1, input=1, write=None, read=None), ALL)]))
    assert silent.best_cache_share.note == "the server does not report cache use"
    assert headlines(()).cheapest.value == "–"


def test_without_facts_the_cheapest_is_simply_the_cheapest() -> None:
    plain = script("plain", turns=1)
    picks = headlines(rows([full(turn(1, input=5), script=plain), window(turn(1, input=9), script=plain)]))
    assert (picks.cheapest.title, picks.cheapest.whose) == ("Cheapest", "full history")
    assert picks.fewest_tokens.note == "the script plants no facts"


def test_the_sentences_tell_cost_caching_and_loss() -> None:
    assert sentences(rows([full(), window()])) == (
        "Full history is the cheapest that kept every fact in this simulation: $0.00058 for one replay.",
        "Window of 4 sent 60 % fewer prompt tokens than full history, yet cost 176 % more: "
        "0 % of them came from the cache, against 90 %.",
        "Window of 4 lost 2 of 2 facts (name and budget).",
    )


def test_a_strategy_that_saves_both_is_said_to_save() -> None:
    short = replay_log(compaction_spec(script=TRIP), turn(1, input=100), ALL)
    told = sentences(rows([full(), short]))
    assert told[0].endswith(": $0.00040 for one replay, 31 % less than full history.")
    assert told[1] == "Compaction at 2000 sent 90 % fewer prompt tokens than full history and cost 31 % less."
    assert told[2] == "Every strategy that finished kept every fact."


def test_a_refusal_is_told_with_its_reason() -> None:
    told = sentences(rows([full(), refused()]))
    assert told[-1].startswith(
        "The API refused window of 4 (naive) in turn 2. Each thinking block is signed over"
    )


def test_several_losers_are_counted_and_the_worst_is_named() -> None:
    half = window(turn(1, input=400), facts(Survival.VERBATIM, Survival.STALE), series="window of 9")
    assert sentences(rows([full(), half, window()]))[-1] == (
        "2 of 3 strategies lost facts; window of 4 lost most, 2 of 2 facts (name and budget)."
    )


def test_nothing_is_said_of_what_is_not_known() -> None:
    assert sentences(()) == ()
    running = replay_log(spec(script=TRIP), turn(1), end=Status.RUNNING)
    assert sentences(rows([running])) == ()
    unpriced = rows(
        [full(turn(1, input=1, model="unpriced"), ALL), window(turn(1, input=1, model="unpriced"), ALL)]
    )
    assert sentences(unpriced) == ("Every strategy that finished kept every fact.",)


def test_facts_lost_over_several_repeats_are_counted_over_all() -> None:
    (told,) = (one for one in sentences(rows([window(repeat=1), window(repeat=2)])) if "lost" in one)
    assert told == "Window of 4 lost 4 of 4 facts over 2 replays (name and budget)."


def test_nobody_is_praised_for_keeping_nothing() -> None:
    told = sentences(rows([window(), window(series="window of 9")]))
    assert told[0] == "No strategy that finished kept a single fact."


def test_when_every_strategy_forgot_something_the_best_is_named() -> None:
    half = window(turn(1, input=400), facts(Survival.VERBATIM, Survival.GONE), series="window of 9")
    told = sentences(rows([half, window()]))
    assert told[0] == "No strategy that finished kept every fact; window of 9 kept most of them, 1 of 2."
