"""The terms of a what-if, and its answer: worked by hand, in dollars per million tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.errors import InputError
from memdash.metrics.what_if import (
    OtherTokenizer,
    Overtaking,
    Repriced,
    Terms,
    WhatIf,
    answer_to,
    overtakings,
    terms_for,
    with_requests,
)
from memdash.metrics.what_if.order import Priced, ranks
from memdash.prices import PriceTable, Tier
from memdash.records import Purpose, Status
from memdash.spec import CacheLifetime
from tests import builders
from tests.metrics.outcomes import outcome

OURS = PriceTable.load()
OPUS, OPUS_5, SONNET_46 = "claude-opus-5-5", "claude-opus-5", "claude-sonnet-4-6"
HOUR, FIVE, OFF = CacheLifetime.ONE_HOUR, CacheLifetime.FIVE_MINUTES, CacheLifetime.OFF


def terms(*models: str, charged: PriceTable = OURS, **asked: object) -> Terms:
    """The terms of a question about replays of these models."""
    replays = [builders.spec(model=model) for model in models or (OPUS,)]
    return terms_for(WhatIf(**asked), charged, replays, OURS)  # type: ignore[arg-type]


def tier(found: Terms, model: str = OPUS) -> Tier | None:
    price = found.prices.price(model)
    return None if price is None else price.tiers[0]


# -- terms -----------------------------------------------------------------------------------------------------------------


def test_what_is_not_asked_stays_as_charged() -> None:
    charged = OURS.with_prices({OPUS: OURS.models[OPUS].changed({"read": 0.3})})
    assert tier(terms(charged=charged, cache=HOUR)) == Tier(0, 4, 5, 8, 0.3, 20)
    assert tier(terms(charged=charged, as_of=date(2026, 11, 30))) == Tier(0, 4, 5, 8, 0.2, 20)


def test_some_of_a_models_prices_are_replaced() -> None:
    found = terms(prices={OPUS: {"read": 0.4, "output": 25.0}})
    assert tier(found) == Tier(0, 4, 5, 8, 0.4, 25)


def test_another_model_of_the_same_tokenizer_lends_its_prices() -> None:
    found = terms(model=OPUS_5)
    assert tier(found) == Tier(0, 5, 6.25, 10, 0.5, 25)
    assert found.smallest_prefix == {}
    assert not found.changes_cache(builders.spec())
    assert found.notes == (
        "The replies are those recorded: claude-opus-5 would write others, of other lengths.",
    )


def test_prices_for_the_model_that_stands_in_are_prices_of_those_it_stands_in_for() -> None:
    assert tier(terms(model=OPUS_5, prices={OPUS_5: {"input": 1.0}})) == Tier(0, 1, 6.25, 10, 0.5, 25)
    with pytest.raises(
        InputError, match="no request is priced for 'claude-opus-5-5'; there is claude-opus-5"
    ):
        terms(model=OPUS_5, prices={OPUS: {"input": 1.0}})


def test_a_model_that_caches_longer_prefixes_only_changes_the_cache() -> None:
    found = terms(model="claude-opus-4-7")
    assert found.smallest_prefix == {OPUS: 2_048}
    assert found.changes_cache(builders.spec())
    assert not found.changes_cache(builders.spec(cache=OFF)), "nothing was cached, and nothing would be"
    assert "caches prefixes from 2,048 tokens on (claude-opus-5-5: 512)" in found.notes[1]
    assert "5 tokens more around it" in found.notes[2], "11 against 6 around one user message"


@pytest.mark.parametrize(
    ("ran", "asked", "changes"),
    [(FIVE, HOUR, True), (HOUR, HOUR, False), (OFF, OFF, False), (FIVE, OFF, True)],
)
def test_a_cache_changes_where_it_lives_for_another_time(
    ran: CacheLifetime, asked: CacheLifetime, changes: bool
) -> None:
    assert terms(cache=asked).changes_cache(builders.spec(cache=ran)) is changes


def test_a_batch_halves_every_price() -> None:
    assert tier(terms(batch=True)) == Tier(0, 2, 2.5, 4, 0.1, 10)
    assert tier(terms(batch=True, prices={OPUS: {"read": 1.0}})) == Tier(0, 2, 2.5, 4, 0.5, 10)


def test_the_prices_of_a_day_are_those_that_held_then() -> None:
    assert tier(terms("claude-sonnet-5-5", as_of=date(2026, 10, 1)), "claude-sonnet-5-5") == Tier(
        0, 2, 2.5, 4, 0.2, 10
    )
    assert tier(terms("claude-sonnet-5-5", as_of=date(2026, 9, 1)), "claude-sonnet-5-5") is None


def test_a_model_of_another_tokenizer_has_to_run() -> None:
    with pytest.raises(OtherTokenizer, match="by another tokenizer than claude-opus-5-5") as refused:
        terms(model=SONNET_46)
    assert refused.value.model == SONNET_46


def test_where_some_of_the_models_have_its_tokenizer_the_others_are_named() -> None:
    found = terms(OPUS, SONNET_46, model=OPUS_5)
    assert set(found.stand_ins) == {OPUS}
    assert found.foreign == {SONNET_46}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"model": "claude-opus-5-6"},
            "how claude-opus-5-6 counts tokens is not known.*did you mean claude-opus-5",
        ),
        (
            {"prices": {"claude-haiku-5-5": {"input": 1.0}}},
            "no request is priced for 'claude-haiku-5-5'; there is",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        terms(**asked)


def test_a_model_without_a_price_needs_all_five() -> None:
    whole = {"input": 1.0, "write_5m": 2.0, "write_1h": 3.0, "read": 4.0, "output": 5.0}
    assert tier(terms("glm-9", prices={"glm-9": whole}), "glm-9") == Tier(0, 1, 2, 3, 4, 5)
    with pytest.raises(InputError, match=r"glm-9 has no price to change: give all five \(write_5m, "):
        terms("glm-9", prices={"glm-9": {"input": 1.0}})
    with pytest.raises(InputError, match="whether glm-9 can be asked in batches"):
        terms("glm-9", batch=True)


@pytest.mark.parametrize(
    ("asked", "words", "lead"),
    [
        ({"cache": HOUR}, "with a one-hour cache", "With a one-hour cache"),
        ({"model": OPUS_5}, "on claude-opus-5", "On claude-opus-5"),
        (
            {"prices": {OPUS: {"read": 0.4, "input": 4.0}}},
            "with claude-opus-5-5 at read $0.4, input $4",
            "At these prices",
        ),
        (
            {"as_of": date(2026, 10, 1), "batch": True},
            "at the prices of 1 October 2026, at batch prices",
            "At these prices",
        ),
        ({"cache": OFF, "batch": True}, "with no caching, at batch prices", "On these terms"),
    ],
)
def test_a_question_is_said_in_words(asked: dict[str, object], words: str, lead: str) -> None:
    question = WhatIf(**asked)  # type: ignore[arg-type]
    assert (question.words, question.lead) == (words, lead)
    assert question.changes_something
    assert not WhatIf().changes_something


# -- a replay with other requests ------------------------------------------------------------------------------------------


def test_other_requests_bring_their_cost_and_their_buckets_and_probes_stay_out() -> None:
    before = Repriced(outcome("full history", [0.01]), 0.01, 0, 2_000, 0)
    requests = [
        builders.request(of=builders.usage(input=1_000, write=0, read=2_000, output=100)),
        builders.request(purpose=Purpose.SUMMARY, of=builders.usage(input=500, output=50)),
        builders.request(purpose=Purpose.PROBE, of=builders.usage(input=9_000, output=50)),
    ]
    after = with_requests(before, requests, terms(batch=True))
    # (1,500 × $4 + 2,000 × $0.20 + 150 × $20) / 2 = (6,000 + 400 + 3,000) / 2 / 10⁶
    assert after.cost_usd == 0.0047
    assert (after.input_tokens, after.cache_creation_input_tokens, after.cache_read_input_tokens) == (
        1_500,
        0,
        2_000,
    )
    assert after.charged.cost_usd == 0.01


# -- order -----------------------------------------------------------------------------------------------------------------


def test_ranks_count_from_the_cheapest_and_ties_share_a_place() -> None:
    assert ranks([0.3, 0.1, None, 0.1 + 1e-17, 0.2]) == [4, 1, None, 1, 3]


def test_who_overtakes_whom_begins_with_the_new_cheapest() -> None:
    full, window, compaction = Priced("full", 1, 5), Priced("window", 3, 2), Priced("compaction", 2, 4)
    assert overtakings([full, window, compaction]) == [
        Overtaking(window, full),
        Overtaking(window, compaction),
        Overtaking(compaction, full),
    ]


def test_two_that_cost_the_same_before_overtake_when_one_becomes_cheaper() -> None:
    one, other = Priced("one", 1, 2), Priced("other", 1, 1.5)
    assert overtakings([one, other]) == [Overtaking(other, one)]
    assert overtakings([one, one._replace(name="twin", before=0.5)]) == [], "they end up alike"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6))
def test_pairs_and_ranks_tell_the_same(costs: Sequence[tuple[int, int]]) -> None:
    settings = [Priced(str(index), before, after) for index, (before, after) in enumerate(costs)]
    pairs = {(pair.cheaper.name, pair.dearer.name) for pair in overtakings(settings)}
    before, after = ranks([one.before for one in settings]), ranks([one.after for one in settings])
    for one, was, becomes in zip(settings, before, after, strict=True):
        for other, its_was, its_becomes in zip(settings, before, after, strict=True):
            overtakes = becomes < its_becomes and was >= its_was  # type: ignore[operator]
            assert overtakes == ((one.name, other.name) in pairs)


# -- the answer ------------------------------------------------------------------------------------------------------------


def repriced(series: str, before: float | None, after: float | None, **changes: object) -> Repriced:
    problem = changes.pop("problem", None)
    cached = {"prompt_tokens": 100, "cache_read_input_tokens": 40}
    charged = outcome(series, [0.0], **{**cached, "cost_usd": before, **changes})
    return Repriced(charged, after, 80, 10, 10, problem)  # type: ignore[arg-type]


def test_each_setting_stands_as_charged_beside_what_it_would_have_cost() -> None:
    answer = answer_to(
        terms(prices={OPUS: {"read": 4.0}}),
        [
            repriced("full history", 0.10, 0.30, kept=4, facts_total=4),
            repriced("compaction at 4000", 0.20, 0.15, kept=3, facts_total=4),
        ],
    )
    full, compaction = answer.rows
    assert (full.charged_usd, full.what_if_usd, full.rank, full.what_if_rank) == (0.10, 0.30, 1, 2)
    assert full.change == pytest.approx(2.0)
    assert (full.cache_share, full.what_if_cache_share) == (0.4, 0.1)
    assert (compaction.rank, compaction.what_if_rank) == (2, 1)
    assert answer.sentences == (
        "At these prices compaction at 4000, which kept 3 of 4 facts, becomes cheaper than full history: $0.1500 against "
        "$0.3000, as charged $0.2000 against $0.1000.",
    )


def test_repeats_are_one_row_with_their_means_and_scripts_are_ranked_apart() -> None:
    answer = answer_to(
        terms(cache=OFF),
        [
            repriced("full history", 0.1, 0.4, repeat=1),
            repriced("full history", 0.3, 0.2, repeat=2),
            repriced("window of 4", 0.3, 0.2),
            repriced("full history", 0.5, 0.5, script="shop"),
            repriced("window of 4", 0.1, 0.6, script="shop"),
        ],
    )
    assert [(row.label, row.replays, row.rank, row.what_if_rank) for row in answer.rows] == [
        ("full history · trip", 2, 1, 2),
        ("window of 4 · trip", 1, 2, 1),
        ("full history · shop", 1, 2, 1),
        ("window of 4 · shop", 1, 1, 2),
    ]
    assert answer.rows[0].charged_usd == pytest.approx(0.2)
    assert answer.rows[0].what_if_usd == pytest.approx(0.3)
    assert [sentence.partition(":")[0] for sentence in answer.sentences] == [
        "With no caching window of 4 becomes cheaper than full history on trip",
        "With no caching full history becomes cheaper than window of 4 on shop",
    ]


def test_what_is_not_known_or_not_finished_has_no_rank() -> None:
    answer = answer_to(
        terms(cache=HOUR),
        [
            repriced("full history", 0.1, 0.2),
            repriced("window of 4", 0.1, None, problem="it cannot be read again"),
            repriced("compaction at 2000", 0.01, 0.01, status=Status.REJECTED),
            repriced("tiny compaction", 0.01, 0.01, simulator_only=True),
            repriced("own model", None, None),
        ],
    )
    assert [row.rank for row in answer.rows] == [1, None, None, None, None]
    assert answer.rows[1].problem == "it cannot be read again"
    assert answer.rows[1].change is None
    assert [row.finished for row in answer.rows] == [True, True, False, True, True]
    assert answer.sentences == (), "one setting alone has no order"


def test_one_repeat_that_is_not_known_makes_the_mean_unknown() -> None:
    answer = answer_to(
        terms(cache=HOUR), [repriced("full history", 0.1, 0.2), repriced("full history", 0.1, None)]
    )
    assert answer.rows[0].what_if_usd is None


def test_an_order_that_stays_is_said_to_stay_and_many_changes_are_counted() -> None:
    same = answer_to(terms(batch=True), [repriced("a", 0.1, 0.05), repriced("b", 0.2, 0.1)])
    assert same.sentences == ("At these prices the order by cost stays as it was.",)
    turned = answer_to(terms(batch=True), [repriced(f"s{n}", 0.1 + n, 9.0 - n) for n in range(8)])
    assert len(turned.sentences) == 6
    assert turned.sentences[-1] == "2 more settings become cheaper than others that were cheaper."


def test_the_first_thing_said_is_who_is_cheapest_without_forgetting() -> None:
    whole, half = {"kept": 4, "facts_total": 4}, {"kept": 2, "facts_total": 4}
    full = repriced("full history", 0.10, 0.40, **whole)
    compaction = repriced("compaction at 1500", 0.20, 0.30, **whole)
    window = repriced("window of 2", 0.15, 0.10, **half)
    turned = answer_to(terms(cache=OFF), [full, window, compaction]).sentences
    assert turned[0] == (
        "With no caching compaction at 1500 becomes the cheapest of those that kept every fact, at $0.3000; "
        "as charged it was full history, at $0.1000."
    )
    assert [sentence.split(" becomes")[0] for sentence in turned[1:]] == [
        "With no caching compaction at 1500",
        "With no caching window of 2, which kept 2 of 4 facts,",
    ], "cheaper for having forgotten comes last"
    same = answer_to(terms(cache=OFF), [full, window, repriced("brief", 0.6, 0.5, **whole)]).sentences
    assert (
        same[0]
        == "With no caching full history stays the cheapest of those that kept every fact, at $0.4000."
    )


def test_the_same_news_of_several_scripts_and_settings_is_told_once() -> None:
    whole = {"kept": 4, "facts_total": 4}
    costs = {
        "full history": (0.10, 0.40),
        "compaction at 1500": (0.20, 0.30),
        "compaction at 2500": (0.15, 0.32),
        "brief": (0.30, 0.60),
    }
    rows = [
        repriced(name, before + extra, after + extra, script=script, **whole)
        for script, extra in (("trip", 0.0), ("shop", 0.01))
        for name, (before, after) in costs.items()
    ]
    assert answer_to(terms(cache=OFF), rows).sentences == (
        "With no caching compaction at 1500 becomes the cheapest of those that kept every fact on trip and shop, at $0.3000 to "
        "$0.3100; as charged it was full history, at $0.1000 to $0.1100.",
        "With no caching compaction at 1500 becomes cheaper than full history and compaction at 2500 on trip and shop: $0.3000 "
        "to $0.3100 against $0.3200 to $0.4100, as charged $0.2000 to $0.2100 against $0.1000 to $0.1600.",
        "With no caching compaction at 2500 becomes cheaper than full history on trip and shop: $0.3200 to $0.3300 against "
        "$0.4000 to $0.4100, as charged $0.1500 to $0.1600 against $0.1000 to $0.1100.",
    )


def test_settings_that_become_cheaper_than_the_same_others_share_a_sentence() -> None:
    rows = [
        repriced("full history", 0.10, 0.40),
        repriced("compaction at 1500", 0.20, 0.30),
        repriced("compaction at 2500", 0.20, 0.30),
        repriced("window of 4", 0.25, 0.25, kept=1, facts_total=4),
        repriced("window of 4", 0.05, 0.45, script="shop", kept=1, facts_total=4),
        repriced("full history", 0.10, 0.40, script="shop"),
    ]
    said = [one.partition(":")[0] for one in answer_to(terms(cache=OFF), rows).sentences]
    assert said == [
        "With no caching compaction at 1500 and compaction at 2500 become cheaper than full history on trip",
        "With no caching full history becomes cheaper than window of 4 on shop",
        "With no caching window of 4, which kept 1 of 4 facts, becomes cheaper than full history, compaction at 1500 and "
        "compaction at 2500 on trip",
    ]


def test_settings_that_cost_the_same_are_named_together() -> None:
    whole, half = {"kept": 4, "facts_total": 4}, {"kept": 2, "facts_total": 4}
    full, unreached = (repriced(name, 0.2, 0.1, **whole) for name in ("full history", "compaction at 8000"))
    window = repriced("window of 2", 0.1, 0.3, **half)
    said = answer_to(terms(cache=OFF), [full, window, unreached]).sentences[0]
    assert said == (
        "With no caching full history and compaction at 8000 stay the cheapest of those that kept every fact, at $0.1000."
    )
    dear = repriced("brief", 0.1, 0.3, **whole)
    said = answer_to(terms(cache=OFF), [full, dear, unreached]).sentences[0]
    assert said == (
        "With no caching full history and compaction at 8000 become the cheapest of those that kept every fact, at $0.1000; "
        "as charged it was brief, at $0.1000."
    )
